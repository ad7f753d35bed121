//! Completes the tag URL that a person typed.

use std::net::Ipv6Addr;

use url::{Host, Url};

use domain::settings::host;

/// Longest address, in bytes.
const TYPED_MAX: usize = 300;

/// Completes a typed address: a host with or without scheme, port and path becomes a whole tag URL.
/// The default path is `/t`. Without a scheme, a public internet name gets `https`; a local name or
/// address, and any address with another port than 443, gets `http`.
///
/// # Errors
///
/// Why it is not an address: a sentence for people.
pub fn complete(typed: &str) -> Result<String, String> {
    let text = typed.trim();
    if text.is_empty() {
        return Err("Type the host name or address at which phones reach this service, such as tags.example.com.".to_owned());
    }
    if text.len() > TYPED_MAX {
        return Err(format!("An address has at most {TYPED_MAX} characters."));
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!(
            "\"{text}\" is no address: an address has no spaces."
        ));
    }
    let no_address = || {
        format!(
            "\"{text}\" is no address. An address is a host name or IP address, such as tags.example.com or 192.168.1.20:8787."
        )
    };
    let (rest, whole) = match text.split_once("://") {
        None => {
            let rest = text.trim_start_matches('/');
            let is_ipv6 = rest.parse::<Ipv6Addr>().is_ok();
            let whole = if is_ipv6 {
                format!("http://[{rest}]")
            } else {
                format!("http://{rest}")
            };
            (rest, whole)
        }
        Some((scheme, rest)) => {
            let known = ["http", "https"];
            if !known.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
                return Err(format!(
                    "Phones open http:// and https:// addresses, not {scheme}://."
                ));
            }
            (rest, text.to_owned())
        }
    };
    let mut url = Url::parse(&whole).map_err(|_| no_address())?;
    if host::of_url(&whole).is_none() || url.port() == Some(0) {
        return Err(no_address());
    }
    if let Some(Host::Ipv4(address)) = url.host() {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let typed = authority.rsplit('@').next().unwrap_or_default();
        let typed = typed.split(':').next().unwrap_or_default();
        if typed != address.to_string() {
            return Err(format!(
                "{typed} is no whole IP address: it has four numbers from 0 to 255, such as 192.168.1.20."
            ));
        }
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("The address of tags has no user name: phones open it as it is.".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(
            "The address of tags ends before ? and #: Tapdesk adds a part of its own for each tag."
                .to_owned(),
        );
    }
    if !text.contains("://") && is_of_internet(&url) {
        let _ = url.set_scheme("https");
        let _ = url.set_port(None);
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(if path.is_empty() { "/t" } else { &path });
    Ok(url.into())
}

/// Whether a URL has a public internet name, and the port of `https` or none.
fn is_of_internet(url: &Url) -> bool {
    const LOCAL: [&str; 7] = [
        "localhost",
        "local",
        "lan",
        "home",
        "internal",
        "arpa",
        "test",
    ];
    let Some(Host::Domain(name)) = url.host() else {
        return false;
    };
    let name = name.trim_end_matches('.');
    let top = name.rsplit_once('.').map(|(_, top)| top);
    top.is_some_and(|top| !LOCAL.contains(&top)) && matches!(url.port(), None | Some(443))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_type_hosts_with_or_without_scheme_port_and_path() {
        for (typed, whole) in [
            ("192.0.2.2:8787", "http://192.0.2.2:8787/t"),
            ("http://192.0.2.2:8787", "http://192.0.2.2:8787/t"),
            ("http://192.0.2.2:8787/", "http://192.0.2.2:8787/t"),
            ("http://192.0.2.2:8787/t", "http://192.0.2.2:8787/t"),
            ("192.0.2.2:8787/t/", "http://192.0.2.2:8787/t"),
            ("192.0.2.2", "http://192.0.2.2/t"),
            (" tags.example.com ", "https://tags.example.com/t"),
            ("Tags.Example.COM/x", "https://tags.example.com/x"),
            ("//tags.example.com", "https://tags.example.com/t"),
            ("tags.example.com:443", "https://tags.example.com/t"),
            ("tags.example.com:8443", "http://tags.example.com:8443/t"),
            ("http://tags.example.com", "http://tags.example.com/t"),
            (
                "HTTPS://tags.example.com:443/a/b/",
                "https://tags.example.com/a/b",
            ),
            ("cellar", "http://cellar/t"),
            ("cellar.local:8787", "http://cellar.local:8787/t"),
            ("fd00::2", "http://[fd00::2]/t"),
            ("[fd00::2]:8787", "http://[fd00::2]:8787/t"),
            ("bücher.example.com", "https://xn--bcher-kva.example.com/t"),
        ] {
            assert_eq!(complete(typed).as_deref(), Ok(whole), "{typed}");
        }
    }

    #[test]
    fn a_text_that_is_no_address_is_refused_in_words() {
        for (typed, word) in [
            ("", "host name"),
            ("my shop", "spaces"),
            ("ftp://tags.example.com", "ftp"),
            ("javascript://alert(1)", "javascript"),
            ("mailto:ada@example.com", "user name"),
            ("https://*.example.com", "no address"),
            ("https://", "no address"),
            ("192.168.1", "four numbers"),
            ("http://3232235777/t", "four numbers"),
            ("192.168.1.300", "no address"),
            ("192.168.1.20:99999", "no address"),
            ("192.168.1.20:0", "no address"),
            ("ada@tags.example.com", "user name"),
            ("https://shop.example.com/?utm=1", "before ?"),
            ("https://shop.example.com/#top", "before ?"),
        ] {
            let why = complete(typed).unwrap_err();
            assert!(why.contains(word), "{typed}: {why}");
        }
        assert!(complete(&"a".repeat(TYPED_MAX + 1)).is_err());
    }
}
