//! Schemes and hosts in capitals: keyboards write `Https://`, and QR codes in capitals are smaller.

use super::{Note, Reading};
use crate::template::is_scheme;

/// The readings with scheme and host in small letters, the likeliest first.
///
/// A chip can have capitals in its host, where the MAC may cover them. A second reading keeps these.
pub(super) fn lowered(reading: &Reading) -> Vec<Reading> {
    let mut readings = vec![in_small(reading, true)];
    let only_scheme = in_small(reading, false);
    if only_scheme.urls != readings[0].urls {
        readings.push(only_scheme);
    }
    readings
}

/// The reading with the schemes of its URLs in small letters, and with their hosts so.
fn in_small(reading: &Reading, with_host: bool) -> Reading {
    let urls = reading.urls.iter().map(|url| small(url, with_host));
    let mut small = Reading {
        urls: urls.collect(),
        ..reading.clone()
    };
    if small.urls != reading.urls {
        small.notes.push(Note::Capitals);
    }
    small
}

/// A URL of another scheme stays as it is: the text behind its scheme is no host.
fn small(url: &str, with_host: bool) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    if !is_scheme(scheme) {
        return url.to_owned();
    }
    let scheme = scheme.to_ascii_lowercase();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, rest) = rest.split_at(if with_host { end } else { 0 });
    format!("{scheme}://{}{rest}", host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pasted::readings_of;

    fn urls(text: &str) -> Vec<Vec<String>> {
        let readings = readings_of(&[text.to_owned()]).into_iter();
        readings.map(|reading| reading.urls).collect()
    }

    #[test]
    fn scheme_and_host_are_read_in_small_letters() {
        for (text, url) in [
            ("HTTPS://a.example/V?c=94EE", "https://a.example/V?c=94EE"),
            ("Https://a.example?c=94EE", "https://a.example?c=94EE"),
            ("LNURLW://a.example/ln", "lnurlw://a.example/ln"),
        ] {
            assert_eq!(urls(text), [[url]]);
            let reading = readings_of(&[text.to_owned()]).swap_remove(0);
            assert_eq!(reading.notes, [Note::Capitals]);
        }
        // A host that the MAC may cover.
        assert_eq!(
            urls("HTTP://Tags.Example/V"),
            [["http://tags.example/V"], ["http://Tags.Example/V"]]
        );
        for text in ["https://a.example/V", "MyPrefix://UID=04", "No url"] {
            assert_eq!(urls(text), [[text]]);
            let reading = readings_of(&[text.to_owned()]).swap_remove(0);
            assert_eq!(reading.notes, []);
        }
        assert_eq!(
            urls("HTTPS://a.example/1,HTTPS://a.example/2"),
            [["https://a.example/1", "https://a.example/2"]]
        );
    }
}
