//! The URL of a tap in its parts, and whether it belongs to one of a service's tags.

use url::Url;

use inlay::template::{Request, is_scheme};

/// The URL of a tap, in its parts.
#[derive(Clone, Debug)]
pub struct TapUrl<'a> {
    /// The text as the caller gave it.
    pub(super) text: &'a str,
    url: Url,
    /// Whether the text has a scheme. People may leave it out, but a chip may not.
    has_scheme: bool,
    pub(super) slug: String,
    /// The intended path and query, corrected as for a tap.
    path: String,
    query: String,
}

/// Why a text is not the URL of a tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTapUrl {
    /// It is not a whole URL.
    #[error(
        "This is no URL of a tap. Send all of it, as in https://example.com/t/k3v9qa?uid=...&token=..."
    )]
    Incomplete,
    /// No tag has a URL of this scheme.
    #[error("This is no web address: the URL of a tag begins with https:// or http://.")]
    NoWebAddress,
}

impl<'a> TapUrl<'a> {
    /// Reads a URL, with or without its scheme. Its slug is the last segment of its path.
    pub fn parse(text: &'a str) -> Result<Self, NoTapUrl> {
        let text = text.trim();
        let whole = |text: &str| {
            let url = Url::parse(text).ok()?;
            (url.has_host() && url.username().is_empty() && url.password().is_none()).then_some(url)
        };
        let (url, has_scheme) = whole(text)
            .map(|url| (url, true))
            .or_else(|| Some((whole(&format!("https://{text}"))?, false)))
            .filter(|_| !text.starts_with('/'))
            .ok_or(NoTapUrl::Incomplete)?;
        if !is_scheme(url.scheme()) {
            return Err(NoTapUrl::NoWebAddress);
        }
        let sent = Request {
            host: "",
            path: url.path(),
            query: url.query().unwrap_or_default(),
        };
        let (path, query) = match sent.forgiven() {
            Some((path, query)) => (path, query.into_owned()),
            None => (sent.path, sent.query.to_owned()),
        };
        let mut segments = path.split('/');
        let slug = segments.rfind(|segment| !segment.is_empty());
        Ok(Self {
            text,
            slug: slug.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query,
            url,
            has_scheme,
        })
    }

    /// Whether this is the URL of a tag at `tag_url`: the same scheme, host and port, and the path
    /// of that base followed by the slug. The query and the fragment do not matter.
    pub fn is_at(&self, tag_url: &str) -> bool {
        let Ok(base) = Url::parse(tag_url) else {
            return false;
        };
        let path = format!("{}/{}", base.path().trim_end_matches('/'), self.slug);
        self.has_scheme
            && !self.slug.is_empty()
            && self.url.origin() == base.origin()
            && self.path == path
    }

    /// The slug: the last segment of the path, as a tap reads it.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// The query, as a tap reads it: with what an app appended to the path.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Host and port, as they are in the URL.
    pub(super) fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The URL without its query; also without a scheme if the text had none.
    pub(super) fn place(&self) -> String {
        let rest = format!("{}{}", self.host(), self.url.path());
        if self.has_scheme {
            format!("{}://{rest}", self.url.scheme())
        } else {
            rest
        }
    }

    /// Whether it can lead to `tag_url`: a text without a scheme may mean `http` or `https`.
    pub(super) fn may_be_at(&self, tag_url: &str) -> bool {
        let same = |scheme: &str| {
            let whole = format!("{scheme}://{}", self.text);
            TapUrl::parse(&whole).is_ok_and(|whole| whole.is_at(tag_url))
        };
        self.is_at(tag_url) || !self.has_scheme && (same("https") || same("http"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_at_a_tag_url_by_scheme_host_port_and_path() {
        let is_at = |url: &str, base: &str| TapUrl::parse(url).is_ok_and(|url| url.is_at(base));
        for url in [
            "https://tags.example/t/k3v9qa",
            "https://tags.example/t/k3v9qa?uid=1&token=2",
            "https://tags.example:443/t/k3v9qa#top",
            "HTTPS://Tags.Example/t/k3v9qa",
            "https://tags.example/t/k3v9qa/",
            "https://tags.example/t/k3v9qa&brid=abc",
        ] {
            assert!(is_at(url, "https://tags.example/t"), "{url}");
            assert!(is_at(url, "https://tags.example/t/"), "{url}");
        }
        for url in [
            "http://tags.example/t/k3v9qa",
            "https://staging.tags.example/t/k3v9qa",
            "https://tags.example:8443/t/k3v9qa",
            "https://tags.example/k3v9qa",
            "https://tags.example/T/k3v9qa",
            "https://tags.example/t/more/k3v9qa",
            "https://tags.example/t/../admin/k3v9qa",
            "https://tags.example/t/k3v9qa//",
            "https://tags.example/t/",
            "https://tags.example/t",
            "https://tags.example.evil.example/t/k3v9qa",
            "https://tags.example@evil.example/t/k3v9qa",
            "https://someone@tags.example/t/k3v9qa",
            "https://:secret@tags.example/t/k3v9qa",
            "tags.example/t/k3v9qa",
        ] {
            assert!(!is_at(url, "https://tags.example/t"), "{url}");
        }
        assert!(is_at("http://[::1]:8787/k3v9qa", "http://[::1]:8787"));
        assert!(!is_at("https://tags.example/t/k3v9qa", "no url"));
    }
}
