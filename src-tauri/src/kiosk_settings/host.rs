//! Hosts that visitors may see, as the owner writes them.

use url::{Host, Url};

/// The host of a URL in the spelling of browsers, with its port if the URL has one.
pub(crate) fn host(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

/// Parses a host as the owner writes it: `example.com`, `example.com:8080`, or a whole URL. An
/// `Err` is a sentence for people.
pub(super) fn parse_host(text: &str) -> Result<String, String> {
    let text = text.trim();
    let url = if text.contains("://") {
        Url::parse(text)
    } else {
        Url::parse(&format!("https://{text}"))
    };
    let refused = || format!("“{text}” is not a host. Enter one such as shop.example.com.");
    let url = url.map_err(|_| refused())?;
    match url.host() {
        Some(Host::Domain(name)) if name.contains('*') => Err(refused()),
        Some(_) if matches!(url.scheme(), "http" | "https") => host(&url).ok_or_else(refused),
        _ => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_taken_as_owners_write_them() {
        for (text, host) in [
            ("shop.example.com", "shop.example.com"),
            (" Shop.Example.com ", "shop.example.com"),
            ("https://shop.example.com/register", "shop.example.com"),
            ("localhost:9000", "localhost:9000"),
            ("http://127.0.0.1:9000/x", "127.0.0.1:9000"),
        ] {
            assert_eq!(parse_host(text).as_deref(), Ok(host));
        }
        for text in [
            "",
            "*.example.com",
            "ftp://example.com",
            "a b",
            "javascript:alert(1)",
        ] {
            assert!(parse_host(text).is_err(), "{text}");
        }
    }
}
