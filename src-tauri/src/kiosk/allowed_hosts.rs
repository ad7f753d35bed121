//! The pages that a visitor may see: the service's own pages, and the hosts that the owner allows.
//! Pure; everything else is refused.

use url::Url;

use crate::kiosk_settings::host::host;

/// The paths of the service that visitors need. Missing on purpose: the administration, its
/// documentation, the metrics.
const PUBLIC: [&str; 4] = ["/t/", "/v2/", "/media/", "/stand-in"];

/// The pages and hosts that one kiosk shows.
#[derive(Clone, Debug)]
pub(super) struct AllowedHosts {
    /// The local address of the embedded service.
    pub address: Url,
    /// Base of the tag URLs, as it is written on chips.
    pub tag_url: Option<Url>,
    /// The hosts that the owner allows, in lower case; `host` or `host:port`.
    pub hosts: Vec<String>,
}

impl AllowedHosts {
    /// The page with which the visit of a tag's URL begins; `None` if it is not allowed. Tags of
    /// the service are loaded from the service on this machine, so that their experiences open
    /// without a network.
    pub(super) fn of_tag(&self, url: &str) -> Option<Url> {
        let url = Url::parse(url).ok()?;
        let base = self
            .tag_url
            .as_ref()
            .filter(|base| below(&url, base).is_some());
        let Some(base) = base else {
            return self.allows(&url).then_some(url);
        };
        let slug = below(&url, base)?;
        let mut here = self.address.clone();
        here.set_path(&format!("/t/{slug}"));
        here.set_query(url.query());
        Some(here)
    }

    /// Whether a page is the service's own, by the URL that [`Self::of_tag`] returns.
    pub(super) fn is_of_service(&self, page: &Url) -> bool {
        page.origin() == self.address.origin()
    }

    /// Whether a page may be shown.
    pub(super) fn allows(&self, url: &Url) -> bool {
        if url.origin() == self.address.origin() {
            return PUBLIC.iter().any(|path| url.path().starts_with(path))
                && url.username().is_empty();
        }
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && host(url).is_some_and(|host| self.hosts.contains(&host))
    }
}

/// The part of `url` below `base`, which has the same origin.
fn below<'a>(url: &'a Url, base: &Url) -> Option<&'a str> {
    let folder = format!("{}/", base.path().trim_end_matches('/'));
    let rest = url.path().strip_prefix(&folder)?;
    (url.origin() == base.origin() && !rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed_hosts() -> AllowedHosts {
        AllowedHosts {
            address: "http://127.0.0.1:8787".parse().unwrap(),
            tag_url: Some("https://tags.example.com/t".parse().unwrap()),
            hosts: vec!["shop.example.com".to_owned(), "127.0.0.1:9000".to_owned()],
        }
    }

    #[test]
    fn tags_of_the_service_are_read_from_this_machine() {
        let begins = |url: &str| allowed_hosts().of_tag(url).map(|url| url.to_string());
        assert_eq!(
            begins("https://tags.example.com/t/k3v9qa?uid=04&mac=1").as_deref(),
            Some("http://127.0.0.1:8787/t/k3v9qa?uid=04&mac=1")
        );
        assert_eq!(
            begins("http://127.0.0.1:8787/t/k3v9qa").as_deref(),
            Some("http://127.0.0.1:8787/t/k3v9qa")
        );
        assert_eq!(
            begins("https://shop.example.com/a").as_deref(),
            Some("https://shop.example.com/a")
        );
        for other in [
            "https://tags.example.com/t/",
            "https://tags.example.com/team/k3v9qa",
            "https://example.org/t/k3v9qa",
            "tel:+49123",
            "",
        ] {
            assert_eq!(begins(other), None, "{other}");
        }
    }

    #[test]
    fn only_public_pages_and_allowed_hosts_are_shown() {
        let allows = |url: &str| allowed_hosts().allows(&url.parse().unwrap());
        for url in [
            "http://127.0.0.1:8787/t/k3v9qa",
            "http://127.0.0.1:8787/v2/interactions/form",
            "https://shop.example.com/register?x=1",
            "http://shop.example.com/",
            "http://127.0.0.1:9000/landing",
        ] {
            assert!(allows(url), "{url}");
        }
        for url in [
            "http://127.0.0.1:8787/admin/v1/tags",
            "http://127.0.0.1:8787/docs",
            "http://127.0.0.1:8787/metrics",
            "http://127.0.0.1:8787/t/../admin/v1/tags",
            "http://127.0.0.1:9001/",
            "https://shop.example.com:444/",
            "https://shop.example.com.evil.example/",
            "https://shop.example.com@evil.example/",
            "https://user@shop.example.com/",
            "file:///etc/passwd",
            "tauri://localhost/",
            "tapdesk://localhost/admin/v1/tags",
            "javascript:alert(1)",
            "data:text/html,x",
            "about:blank",
        ] {
            assert!(!allows(url), "{url}");
        }
    }
}
