//! Parameters that apps, advertisements and campaigns append to the URLs that they open. A tap has
//! none of them, so a template with one would match nothing.

use super::{Note, Reading, VALUE_MIN, without_fragment};

/// The names of such parameters: those of Google, Facebook, Instagram, Microsoft, `TikTok`,
/// Mailchimp and Blue Bite.
const NAMES: [&str; 11] = [
    "_ga", "brid", "dclid", "fbclid", "gclid", "igsh", "igshid", "mc_cid", "mc_eid", "msclkid",
    "ttclid",
];
/// The beginning of the names that campaigns use in all statistics of visits.
const CAMPAIGN: &str = "utm_";

/// The readings without such parameters, the likeliest first; empty if no URL has one.
///
/// An owner can have written one to the chip, in front of the code, where the MAC may cover it. The
/// second reading keeps these, and leaves out only those at the end of the query, behind any code.
pub(super) fn without(reading: &Reading) -> Vec<Reading> {
    let all = shortened(reading, |_| 0);
    let at_end = shortened(reading, |parameters| {
        let own = parameters.iter().rposition(|own| !is_tracking(own));
        own.map_or(0, |last| last + 1)
    });
    let is_other = |at_end: &Reading| all.as_ref().is_none_or(|all| all.urls != at_end.urls);
    let at_end = at_end.filter(is_other);
    all.into_iter().chain(at_end).collect()
}

/// The reading without such parameters from the index on that `from` returns for a query; `None` if
/// there are none.
fn shortened(reading: &Reading, from: fn(&[&str]) -> usize) -> Option<Reading> {
    let mut names = Vec::new();
    let mut shorter = reading.clone();
    for url in &mut shorter.urls {
        let (address, fragment) = without_fragment(url);
        let Some((path, query)) = address.split_once('?') else {
            continue;
        };
        let parameters: Vec<&str> = query.split('&').collect();
        let from = from(&parameters);
        let (left_out, kept): (Vec<_>, Vec<_>) = parameters
            .iter()
            .enumerate()
            .partition(|(at, parameter)| *at >= from && is_tracking(parameter));
        if left_out.is_empty() {
            continue;
        }
        for (_, parameter) in left_out {
            let name = parameter.split('=').next().unwrap_or_default().to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let kept: Vec<&str> = kept.into_iter().map(|(_, parameter)| *parameter).collect();
        let mark = if kept.is_empty() { "" } else { "?" };
        *url = format!("{path}{mark}{}{fragment}", kept.join("&"));
    }
    if names.is_empty() {
        return None;
    }
    shorter.notes.push(Note::Tracking { names });
    Some(shorter)
}

/// Whether a parameter has a known name, and not a value of a chip.
fn is_tracking(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let name = name.to_ascii_lowercase();
    (name.starts_with(CAMPAIGN) || NAMES.contains(&name.as_str())) && !has_capital_value(value)
}

/// Whether a text has digits as a chip writes them: in capitals. Numbers of campaigns are decimal,
/// and those of `msclkid` have small letters.
fn has_capital_value(text: &str) -> bool {
    let mut runs = text.split(|c: char| !c.is_ascii_hexdigit());
    runs.any(|run| run.len() >= VALUE_MIN && run.bytes().any(|b| b.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pasted::readings_of;

    const URL: &str = "https://tags.example.com/v?e=EF963FF7828658A5&c=94EED9EE";

    fn read(text: &str) -> Vec<Reading> {
        readings_of(&[text.to_owned()])
    }

    fn urls(text: &str) -> Vec<String> {
        let readings = read(text).into_iter();
        readings.flat_map(|reading| reading.urls).collect()
    }

    #[test]
    fn parameters_that_apps_append_are_left_out_first() {
        for appended in [
            "fbclid=IwAR0abc",
            "utm_source=newsletter&utm_id=120210123456789012",
            "msclkid=d9b1d2e3c4f5a6b7d9b1d2e3c4f5a6b7",
            "brid",
            "_ga=GA1.2.1234567890.1234567890&mc_cid=0123abcdef&mc_eid=0123abcdef",
        ] {
            let whole = format!("{URL}&{appended}");
            assert_eq!(urls(&whole), [URL, &whole]);
            let first = read(&format!("{whole}#top")).swap_remove(0);
            assert_eq!(first.urls, [format!("{URL}#top")]);
            let note = first.notes[0].to_string();
            let name = appended.split('=').next().unwrap();
            assert!(note.contains(name), "{note}");
        }
        assert_eq!(urls("https://a.example/?gclid=1")[0], "https://a.example/");
        // Other parameters stay.
        for text in [URL, "https://a.example/?id=1"] {
            assert_eq!(urls(text), [text]);
        }
    }

    #[test]
    fn what_the_owner_may_have_written_before_the_code_is_kept_by_the_second_reading() {
        let own = URL.replace("?e", "?utm_source=nfc&e");
        let whole = format!("{own}&fbclid=IwAR0abc");
        assert_eq!(urls(&whole), [URL, &own, &whole]);
    }

    #[test]
    fn a_value_of_a_chip_stays_whatever_its_name() {
        let url = "https://a.example/?gclid=EF963FF7828658A599F3041510671E88";
        assert_eq!(urls(url), [url]);
    }

    #[test]
    fn one_url_with_two_click_ids_is_the_same_url() {
        let first = read(&format!("{URL}&fbclid=1 {URL}&fbclid=2")).swap_remove(0);
        assert_eq!(first.urls, [URL]);
        assert_eq!(first.unused.len(), 1);
        // Messengers wrap the URL with the parameter.
        let inner = URL.replace(':', "%3A").replace('/', "%2F");
        let inner = inner.replace('?', "%3F").replace('=', "%3D");
        let inner = inner.replace('&', "%26");
        let text = format!("https://l.instagram.com/?u={inner}%26fbclid%3DIwAR0abc&e=AT0x");
        assert_eq!(read(&text).swap_remove(0).urls, [URL]);
    }
}
