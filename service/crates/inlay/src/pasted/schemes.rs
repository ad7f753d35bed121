//! Schemes that are missing or mistyped: people copy an address without its beginning, and apps
//! show the text behind the prefix of an NDEF record, or with another prefix.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{has_value, split};
use crate::ndef::PREFIXES;
use crate::template::host_without_port;

/// Texts that people and programs have for `https`, in small letters.
const HTTPS: [&str; 11] = [
    "https", "ttps", "tps", "ps", "s", "htps", "htpps", "htttps", "hhttps", "httpss", "hxxps",
];
/// The same for `http`.
const HTTP: [&str; 8] = ["http", "ttp", "tp", "p", "htp", "htttp", "hhttp", "hxxp"];

/// The text with the schemes that its addresses lack; `None` if none is missing. Of several words
/// only one with the values of a chip is an address.
pub(super) fn completed(text: &str) -> Option<String> {
    let mut pieces = text.split(split::is_end).filter(|piece| !piece.is_empty());
    let is_only = pieces.next().is_some() && pieces.next().is_none();
    let mut whole = String::new();
    let mut is_changed = false;
    for chunk in text.split_inclusive(split::is_end) {
        let piece = chunk.trim_end_matches(split::is_end);
        // The bracket of an IPv6 address is no bracket around an address.
        let inner = piece.trim_start_matches(is_opening);
        let found = [piece, inner]
            .into_iter()
            .find_map(|address| Some((address, url(address, is_only)?)));
        if let Some((address, url)) = found {
            whole += &piece[..piece.len() - address.len()];
            whole += &url;
            is_changed = true;
        } else {
            whole += piece;
        }
        whole += &chunk[piece.len()..];
    }
    is_changed.then_some(whole)
}

fn is_opening(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_control() && !matches!(c, ':' | '/')
}

/// The URL that a piece of text stands for; `None` if it is no address, or a whole URL already.
fn url(piece: &str, is_only: bool) -> Option<String> {
    let is_meant = |address: &str| is_address(address) && (is_only || has_value(address));
    typed(piece, is_meant)
        .or_else(|| intended(piece))
        .or_else(|| prefixed(piece))
        .or_else(|| is_meant(piece).then(|| format!("https://{piece}")))
        .or_else(|| {
            let address = labelled(piece)?;
            has_value(address).then(|| format!("https://{address}"))
        })
}

/// The URL of a piece of text whose scheme is mistyped, or lacks its first letters.
fn typed(piece: &str, is_meant: impl Fn(&str) -> bool) -> Option<String> {
    let word = piece.find(|c: char| !c.is_ascii_alphabetic())?;
    let (word, rest) = piece.split_at(word);
    let address = rest.trim_start_matches([':', '/']);
    let marks = &rest[..rest.len() - address.len()];
    let word = word.to_ascii_lowercase();
    let is_whole = matches!(&*word, "https" | "http");
    let scheme = if word.is_empty() || HTTPS.contains(&word.as_str()) {
        "https"
    } else if HTTP.contains(&word.as_str()) {
        "http"
    } else {
        return None;
    };
    let is_scheme = marks.len() > 1 || (is_whole && marks.len() == 1);
    let is_right = is_whole && marks == "://";
    (is_scheme && !is_right && is_meant(address)).then(|| format!("{scheme}://{address}"))
}

/// The URL of an intent, by which Android opens apps: `intent://...#Intent;scheme=https;end`.
fn intended(piece: &str) -> Option<String> {
    let (address, intent) = piece.strip_prefix("intent://")?.split_once("#Intent;")?;
    let mut values = intent.split(';');
    let scheme = values.find_map(|value| value.strip_prefix("scheme="))?;
    (matches!(scheme, "https" | "http") && is_address(address))
        .then(|| format!("{scheme}://{address}"))
}

/// The URL of the payload of an NDEF record, whose first byte stands for its prefix.
fn prefixed(piece: &str) -> Option<String> {
    let code = *piece.as_bytes().first()?;
    let prefix = PREFIXES.get(usize::from(code))?;
    let address = &piece[1..];
    (prefix.starts_with("http") && is_address(address)).then(|| format!("{prefix}{address}"))
}

/// The address behind words such as `URL:`, `Link=` or `tel:`.
fn labelled(piece: &str) -> Option<&str> {
    let word = piece.find(|c: char| !c.is_ascii_alphabetic())?;
    let address = piece[word..].strip_prefix([':', '='])?;
    match word {
        0 => None,
        _ if is_address(address) => Some(address),
        _ => labelled(address),
    }
}

/// Whether a text begins with a host, and has a path or a query behind it. The scheme of an app can
/// look like a host: `com.example.app://`.
pub(super) fn is_address(text: &str) -> bool {
    let Some(end) = text.find(['/', '?']) else {
        return false;
    };
    let (host, rest) = text.split_at(end);
    let is_scheme = host.ends_with(':') && rest.starts_with("//");
    !is_scheme && is_host(host)
}

/// Whether a text is the name or the address of a server, with a port or without.
fn is_host(text: &str) -> bool {
    let name = host_without_port(text);
    let ipv6 = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    if let Some(address) = ipv6 {
        return address.parse::<Ipv6Addr>().is_ok();
    }
    let is_label = |label: &str| {
        let is_legal = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        !label.is_empty() && label.chars().all(is_legal)
    };
    let Some((_, domain)) = name.rsplit_once('.') else {
        return name == "localhost";
    };
    let is_domain = domain.starts_with("xn--")
        || domain.chars().all(char::is_alphabetic) && domain.chars().nth(1).is_some();
    name.parse::<Ipv4Addr>().is_ok() || is_domain && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "tags.example.com/v?e=EF963FF7828658A5&c=94EED9EE65337086";

    fn completed_to(text: &str) -> String {
        completed(text).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn a_missing_or_mistyped_scheme_is_completed() {
        for before in [
            "",
            "//",
            "://",
            "https:/",
            "https//",
            "https:",
            "https:///",
            "ttps://",
            "s://",
            "htps://",
            "HXXPS://",
            "\u{4}",
            "URL:",
            "tel:",
            "urn:nfc:",
            "link=",
        ] {
            let url = completed_to(&format!("{before}{ADDRESS}"));
            assert_eq!(url, format!("https://{ADDRESS}"), "{before}");
        }
        for before in ["http:/", "ttp://", "hxxp://", "http//", "\u{3}"] {
            let url = completed_to(&format!("{before}{ADDRESS}"));
            assert_eq!(url, format!("http://{ADDRESS}"), "{before}");
        }
        for address in [
            "[2001:db8::1]:8080/v?c=94EE",
            "192.0.2.1:5001/v?c=94EE",
            "localhost:3000/v?c=94EE",
            "my_tags.example.com?c=94EE",
            "bücher.example/t/k3v9qa",
            "tags.example.com/t/k3v9qa",
        ] {
            assert_eq!(completed_to(address), format!("https://{address}"));
        }
        assert_eq!(
            completed_to(&format!("My tag ({ADDRESS}) and <{ADDRESS}>")),
            format!("My tag (https://{ADDRESS}) and <https://{ADDRESS}>")
        );
        assert_eq!(
            completed_to(&format!(
                "intent://{ADDRESS}#Intent;package=a.b;scheme=http;end"
            )),
            format!("http://{ADDRESS}")
        );
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let whole = format!("https://{ADDRESS}");
        for text in [
            "",
            "no url",
            "mailto:a@b.example",
            "myprefix://uid=04494ACAFD1990&ctr=00001E",
            "com.example.app://uid=04494ACAFD1990&ctr=00001E",
            "com.example.app://tags/v?uid=04494ACAFD1990&ctr=00001E",
            "See help.example/tags and and/or",
            "e=EF963FF7828658A5&c=94EED9EE65337086",
            "a@b.example/v?e=EF963FF7828658A5",
            "v1.2/EF963FF7828658A5",
            &whole,
            &format!("URL:{whole}"),
            "lnurlw://card.example/ln?p=EF963FF7828658A5",
        ] {
            assert_eq!(completed(text), None, "{text}");
        }
    }
}
