//! The paths of the service's own routes. They take precedence on every host, so no URL template
//! may match one of them.

use inlay::template::{RouteSegment, Template};

use RouteSegment::{Any, Literal, Rest};

/// The paths of all routes. One prefix covers the admin API.
const ROUTES: [&[RouteSegment<'static>]; 10] = [
    &[Literal("t"), Any],
    &[Literal("v2"), Rest],
    &[Literal("media"), Any],
    &[Literal("stand-in")],
    &[Literal("health")],
    &[Literal("ready")],
    &[Literal("admin"), Rest],
    &[Literal("openapi.json")],
    &[Literal("docs")],
    &[Literal("metrics")],
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
    use super::*;
    use inlay::Technology;
    use inlay::template::TemplateSettings;

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
