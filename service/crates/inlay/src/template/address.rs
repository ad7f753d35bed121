//! The part of a template's URL that is not one-time.

use super::request::host_name;
use super::syntax::{Pattern, Piece, Token};
use super::{Field, Template};

/// The slug in an example of a host.
const SAMPLE_SLUG: &str = "000000";

/// Marks the place of a chip's values while an address is made. No template contains this
/// character.
const ONE_TIME: char = '\0';

impl Template {
    /// Whether a phone opens its URLs by https.
    pub fn is_https(&self) -> bool {
        !self.settings.template.starts_with("http://")
    }

    /// Its host, if it has no placeholder.
    pub fn literal_host(&self) -> Option<&str> {
        match self.parts.host.as_slice() {
            [Piece::Text(host)] => Some(host),
            _ => None,
        }
    }

    /// An example of a host at which the template answers.
    pub fn sample_host(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Field(_) => SAMPLE_SLUG.to_owned(),
        };
        self.parts.host.iter().map(piece).collect()
    }

    /// Whether the template answers at this host, which may include a port.
    pub fn answers_at(&self, host: &str) -> bool {
        self.host_values(&host_name(host)).is_some()
    }

    /// The address of the tag with this slug: the URL without its one-time part.
    pub fn address(&self, slug: &str) -> String {
        let mut url = String::new();
        for unit in &self.parts.units {
            match unit.token {
                Token::Char(c) => url.push(c),
                Token::Field(Field::Slug) => url.push_str(slug),
                Token::Field(_) => url.push(ONE_TIME),
            }
        }
        let (place, query) = url.split_once('?').unwrap_or((&url, ""));
        let lasting = place.split('/').take_while(|part| !part.contains(ONE_TIME));
        let place = lasting.collect::<Vec<_>>().join("/");
        let lasting = query.split('&');
        let lasting = lasting.filter(|part| !part.is_empty() && !part.contains(ONE_TIME));
        match lasting.collect::<Vec<_>>().join("&") {
            query if query.is_empty() => place,
            query => format!("{place}?{query}"),
        }
    }

    /// The path of its URLs, with `*` for each placeholder.
    pub fn path_pattern(&self) -> String {
        let character = |token| match token {
            Token::Char(c) => c,
            Token::Field(_) => '*',
        };
        let units = self.parts.units.iter();
        let url: String = units.map(|unit| character(unit.token)).collect();
        let place = url.split('?').next().unwrap_or_default();
        let after = place.split_once("://").map_or(place, |(_, after)| after);
        let path = after.find('/').map_or("/", |at| &after[at..]);
        path.to_owned()
    }

    /// Whether the slug is in the path.
    pub fn has_slug_in_path(&self) -> bool {
        self.parts.path.iter().any(has_slug)
    }

    /// Whether the slug is in the host.
    pub(super) fn has_slug_in_host(&self) -> bool {
        has_slug(&self.parts.host)
    }

    /// The cookie path of a tap at `path`: the tag's own path if it contains the slug, or else the
    /// common beginning of all URLs of the template, up to the last `/`.
    pub fn cookie_path(&self, path: &str) -> String {
        let segments: Vec<_> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
        let patterns = &self.parts.path;
        let own = if let Some(slug) = patterns.iter().position(has_slug) {
            format!("/{}", segments[..segments.len().min(slug + 1)].join("/"))
        } else {
            let is_field = |piece: &Piece| matches!(piece, Piece::Field(_));
            let variable = |pattern: &Pattern| pattern.iter().any(is_field);
            let last = patterns.len() - 1;
            let literal = patterns.iter().position(variable).unwrap_or(last).min(last);
            let literal = segments.iter().take(literal);
            literal.fold("/".to_owned(), |path, segment| path + segment + "/")
        };
        // A semicolon would end the cookie's attribute.
        if own.contains(';') {
            "/".to_owned()
        } else {
            own
        }
    }
}

fn has_slug(pattern: &Pattern) -> bool {
    pattern.contains(&Piece::Field(Field::Slug))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Technology;
    use crate::template::TemplateSettings;

    fn template(text: &str) -> Template {
        Template::new(TemplateSettings::new(text, Technology::Ntag424Dna)).unwrap()
    }

    #[test]
    fn the_address_of_a_tag_has_nothing_of_its_one_time_part() {
        for (text, address) in [
            (
                "https://tags.example:8443/v?picc_data={picc}&cmac={mac}",
                "https://tags.example:8443/v",
            ),
            (
                "https://x.example/a/{slug}/{picc}{mac}",
                "https://x.example/a/bottle-41",
            ),
            (
                "https://x.example/?n=1&p={picc}&c={mac}&t={slug}",
                "https://x.example/?n=1&t=bottle-41",
            ),
            ("https://x.example?{picc}{mac}", "https://x.example"),
            (
                "https://{slug}.x.example/{picc}/{mac}",
                "https://bottle-41.x.example",
            ),
        ] {
            assert_eq!(template(text).address("bottle-41"), address, "{text}");
        }
    }

    #[test]
    fn a_path_has_a_star_for_each_value() {
        for (text, path) in [
            ("https://x.example/v?p={picc}&c={mac}", "/v"),
            ("https://x.example?p={picc}&c={mac}", "/"),
            ("https://x.example/a/{slug}/{picc}{mac}", "/a/*/**"),
            ("https://{slug}.x.example/b%20c?{picc}{mac}", "/b%20c"),
        ] {
            assert_eq!(template(text).path_pattern(), path, "{text}");
        }
    }

    #[test]
    fn a_cookie_is_for_the_tag_or_for_what_all_urls_begin_with() {
        for (text, path, cookie) in [
            ("https://x.example/v?p={picc}&c={mac}", "/v", "/"),
            ("https://x.example/a/v?p={picc}&c={mac}", "/a/v", "/a/"),
            ("https://x.example/a/{picc}{mac}", "/a/0011", "/a/"),
            ("https://x.example/a/{picc}/{mac}", "/a/00/11", "/a/"),
            ("https://x.example?p={picc}&c={mac}", "/", "/"),
            (
                "https://x.example/a/{slug}/{picc}{mac}",
                "/a/bottle-41/0011",
                "/a/bottle-41",
            ),
            (
                "https://x.example/a;b/{slug}?{picc}{mac}",
                "/a;b/bottle-41",
                "/",
            ),
        ] {
            assert_eq!(template(text).cookie_path(path), cookie, "{text}");
        }
    }

    #[test]
    fn a_host_is_the_templates_own_in_any_case_and_with_any_port() {
        let own = template("https://Tags.Example/v?p={picc}&c={mac}");
        assert_eq!(own.literal_host(), Some("tags.example"));
        assert!(own.answers_at("TAGS.example:8443"));
        assert!(own.answers_at("tags.example.") && own.answers_at("tags.example.:8443"));
        assert!(!own.answers_at("tags.example.."));
        assert!(!own.answers_at("x.tags.example"));
        let own = template("http://[2001:DB8:0::1]:8080/v?p={picc}&c={mac}");
        assert_eq!(own.literal_host(), Some("[2001:db8::1]"));
        assert!(own.answers_at("[2001:db8::1]:8080") && own.answers_at("[2001:db8::0:1]"));
        assert!(!own.answers_at("[2001:db8::2]") && !own.answers_at("2001:db8::1"));
        let own = template("http://0xC0.0.2.1/v?p={picc}&c={mac}");
        assert_eq!(own.literal_host(), Some("192.0.2.1"));
        assert!(own.answers_at("192.0.2.1:8080"));
        let labelled = template("https://{slug}.tags.example/v?p={picc}&c={mac}");
        assert_eq!(labelled.literal_host(), None);
        assert_eq!(labelled.sample_host(), "000000.tags.example");
        assert!(labelled.answers_at("bottle-41.tags.example"));
        assert!(!labelled.answers_at("tags.example"));
        assert!(!labelled.answers_at("a.bottle-41.tags.example"));
    }
}
