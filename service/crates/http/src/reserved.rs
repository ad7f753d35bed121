//! The paths of the service's own routes, now and as they are planned. They take precedence on every
//! host, so no URL template may match one of them. Their first segments are no slugs.

use inlay::template::{RouteSegment, Template};

use RouteSegment::{Any, Literal, Rest};

/// The paths of all routes. One prefix covers the admin API.
const ROUTES: [&[RouteSegment<'static>]; 17] = [
    &[Literal("t"), Any],
    &[Literal("T"), Any],
    &[Literal("v2"), Rest],
    &[Literal("media"), Any],
    &[Literal("stand-in")],
    &[Literal("staff"), Rest],
    &[Literal("health")],
    &[Literal("ready")],
    &[Literal("admin"), Rest],
    &[Literal("openapi.json")],
    &[Literal("docs"), Rest],
    &[Literal("llms.txt")],
    &[Literal("metrics")],
    &[Literal("kit"), Rest],
    &[Literal(".well-known"), Rest],
    &[Literal("favicon.ico")],
    &[Literal("robots.txt")],
];

/// The route that a URL of the template could match, in a form for messages.
pub(super) fn reached(template: &Template) -> Option<String> {
    let reached = ROUTES.iter().find(|route| template.overlaps_route(route));
    reached.map(|route| {
        let segment = |segment: &RouteSegment<'_>| match segment {
            Literal(text) => format!("/{text}"),
            Any => "/...".to_owned(),
            Rest => "/*".to_owned(),
        };
        route.iter().map(segment).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use domain::tag::{RESERVED, Slug};
    use inlay::Technology;
    use inlay::template::TemplateSettings;

    #[test]
    fn the_first_segment_of_each_route_is_no_slug() {
        let first = |route: &&[RouteSegment<'static>]| match route[0] {
            Literal("T") => "t",
            Literal(text) => text,
            Any | Rest => panic!("a route takes a whole host"),
        };
        let first: BTreeSet<_> = ROUTES.iter().map(first).collect();
        assert_eq!(first, BTreeSet::from(RESERVED));
        for path in crate::openapi().paths.paths.keys() {
            let segment = path.split('/').nth(1).unwrap_or_default();
            assert!(first.contains(segment), "{path}");
            assert!(Slug::parse(segment).is_err(), "{path}");
        }
    }

    #[test]
    fn a_slug_can_be_the_first_segment_and_nothing_else_takes_a_whole_host() {
        for (path, is_free) in [
            ("/{slug}", true),
            ("/{slug}/more", true),
            ("/{slug}.html", true),
            ("/{slug}.json", false),
            ("/a{slug}", false),
            ("/{*}", false),
            ("/{*}/{slug}", false),
            ("/t/{slug}", false),
            ("/T/{slug}", false),
            ("/s/{slug}", true),
            ("/.well-known/{slug}", false),
            ("/favicon.ico", false),
        ] {
            let text = format!("https://m.example{path}?uid={{uid}}&token={{counter}}{{mac}}");
            let template = Template::new(TemplateSettings::new(text, Technology::Ntag424Dna));
            assert_eq!(reached(&template.unwrap()).is_none(), is_free, "{path}");
        }
    }

    #[test]
    fn no_template_reaches_a_route_of_the_service() {
        for path in crate::openapi().paths.paths.keys() {
            let place = path.replace("{slug}", "abcdef").replace(['{', '}'], "");
            let text = format!("https://tags.example{place}?p={{picc}}&c={{mac}}");
            let settings = TemplateSettings::new(text, Technology::Ntag424Dna);
            let template = Template::new(settings).unwrap();
            assert!(reached(&template).is_some(), "{path} can be reached");
        }
        let settings = TemplateSettings::new(
            "https://tags.example/v?p={picc}&c={mac}",
            Technology::Ntag424Dna,
        );
        assert_eq!(reached(&Template::new(settings).unwrap()), None);
    }
}
