//! The code as text in a URL: case, lengths, missing values, and values of another read.

use tapdesk_service::inlay::template::{Field, Filled};

use super::Verifier;
use super::code::FILE_DATA;
use super::macs::neighbour;
use crate::cli::conformance::check::{Check, Judged, judged, not_checked};

/// The decision about the text of a code.
const TEXT: &str = "decisions, tap: What are uid and token for an NTAG 424 DNA?";

pub(super) fn checks() -> Vec<Check<Verifier>> {
    vec![
        Check::new("hex-lower-case", TEXT, lower_case),
        changed("field-truncated", "a byte too short", |value| {
            value[..value.len() - 2].to_owned()
        }),
        changed("field-overlong", "a byte too long", |value| {
            format!("{value}00")
        }),
        changed("field-empty", "empty", |_| String::new()),
        changed("field-not-hex", "no hex digits", |value| {
            "Z".repeat(value.len())
        }),
        changed("field-changed", "with its last digit changed", |value| {
            let (rest, last) = value.split_at(value.len() - 1);
            rest.to_owned() + if last == "0" { "1" } else { "0" }
        }),
        Check::new("mac-missing", TEXT, mac_missing),
        Check::new("uid-of-another-chip", "NT4H2421Gx 9.3.9.1", another_uid),
        Check::new(
            "file-data-of-another-read",
            "NT4H2421Gx 9.3.6 and 9.3.8",
            another_file_data,
        ),
        Check::new(
            "file-data-decrypted",
            "NT4H2421Gx 9.3.6, AN12196 table 4",
            file_data,
        ),
    ]
}

/// Apps and mail servers change the case of URLs.
fn lower_case(verifier: &mut Verifier) -> Judged {
    let counter = verifier.fresh();
    let code = verifier.code(counter);
    let url = lower(&verifier.url(&code), &code);
    if verifier.signal.is_none() {
        return Ok(not_checked(super::NOTHING_ACCEPTED));
    }
    let accepted = verifier.accepts_url(&url)?;
    let bad = "A code in lower case is refused.";
    Ok(judged(accepted, "A code in lower case is accepted.", bad))
}

/// A URL with the values of its code in lower case.
pub(super) fn lower(url: &str, code: &Filled) -> String {
    let values = Field::ALL.into_iter().filter_map(|field| code.get(field));
    values.fold(url.to_owned(), |url, value| {
        url.replace(value, &value.to_lowercase())
    })
}

/// A check that a fresh code is refused if one of its values is changed in this way. The MAC has
/// checks of its own.
fn changed(
    name: &'static str,
    how: &'static str,
    change: impl Fn(&str) -> String + 'static,
) -> Check<Verifier> {
    Check::new(
        name,
        "NT4H2421Gx 9.3.3 to 9.3.8",
        move |verifier: &mut Verifier| {
            let mut urls = Vec::new();
            for field in [Field::Uid, Field::Counter, Field::Picc, Field::Enc] {
                // File data that no MAC covers can be changed by anyone.
                let is_covered = field != Field::Enc || verifier.template.mac_covers(field);
                if !verifier.template.has(field) || !is_covered {
                    continue;
                }
                let counter = verifier.fresh();
                let code = verifier.code(counter);
                let value = change(code.get(field).unwrap_or_default());
                let url = verifier.url(&code.with(field, &value));
                urls.push((format!("{field} {how}"), url));
            }
            verifier.must_refuse(&format!("A value that is {how}"), &urls)
        },
    )
}

fn mac_missing(verifier: &mut Verifier) -> Judged {
    let counter = verifier.fresh();
    let code = verifier.code(counter);
    let mac = code.get(Field::Mac).unwrap_or_default();
    let Some(url) = without(&verifier.url(&code), mac) else {
        return Ok(not_checked("The MAC is no parameter of its own."));
    };
    let urls = [("a URL without the MAC".to_owned(), url)];
    verifier.must_refuse("A URL without the MAC", &urls)
}

/// The URL without the parameter that has this value.
fn without(url: &str, value: &str) -> Option<String> {
    let (before, after) = url.rsplit_once(value)?;
    let start = before.rfind(['?', '&'])?;
    let is_own = before.ends_with('=') && (after.is_empty() || after.starts_with(['&', '#']));
    is_own.then(|| {
        let (kept, separator) = (&before[..start], &before[start..=start]);
        match after.strip_prefix('&') {
            Some(after) => format!("{kept}{separator}{after}"),
            None => format!("{kept}{after}"),
        }
    })
}

/// A UID in clear is a claim: the MAC must be of that chip.
fn another_uid(verifier: &mut Verifier) -> Judged {
    if !verifier.template.has(Field::Uid) {
        return Ok(not_checked("The template has no UID in clear."));
    }
    let counter = verifier.fresh();
    let other = verifier.other_uid.unwrap_or(neighbour(verifier.uid));
    let code = verifier.code(counter).with(Field::Uid, &other.to_string());
    verifier.must_refuse_code("Another chip's UID", &code)
}

fn another_file_data(verifier: &mut Verifier) -> Judged {
    if !verifier.template.mac_covers(Field::Enc) {
        return Ok(not_checked("The MAC covers no file data."));
    }
    let (first, second) = (verifier.fresh(), verifier.fresh());
    let other = verifier.code(first);
    let data = other.get(Field::Enc).unwrap_or_default();
    let code = verifier.code(second).with(Field::Enc, data);
    verifier.must_refuse_code("The file data of another read", &code)
}

fn file_data(verifier: &mut Verifier) -> Judged {
    if !verifier.template.has(Field::Enc) {
        return Ok(not_checked("The template has no file data."));
    }
    if !verifier.shows_file_data {
        return Ok(not_checked(
            "Give --shows-file-data if the answers of the verifier contain the file data.",
        ));
    }
    let counter = verifier.fresh();
    let seen = verifier.ask(&verifier.url(&verifier.code(counter)))?;
    let shown = seen.contains(&String::from_utf8_lossy(FILE_DATA));
    let bad = "The answer does not contain the decrypted file data.";
    Ok(judged(
        shown,
        "The answer contains the decrypted file data.",
        bad,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_removed_and_a_part_of_one_is_not() {
        let removed = |url: &str| without(url, "AB");
        assert_eq!(
            removed("https://a.example/?c=AB").as_deref(),
            Some("https://a.example/")
        );
        assert_eq!(
            removed("https://a.example/?p=1&c=AB").as_deref(),
            Some("https://a.example/?p=1")
        );
        assert_eq!(
            removed("https://a.example/?c=AB&p=1").as_deref(),
            Some("https://a.example/?p=1")
        );
        assert_eq!(removed("https://a.example/?t=00AB"), None);
    }

    #[test]
    fn only_the_values_of_a_code_become_lower_case() {
        let code = Filled::default().with(Field::Mac, "AB12");
        let url = lower("https://a.example/Tag?C=AB12", &code);
        assert_eq!(url, "https://a.example/Tag?C=ab12");
    }
}
