//! The URLs that have an answer, if all together have none. A text that somebody pasted often has
//! URLs of another batch, or the address of a help page, beside those of the inlays.

use super::sources::KeySource;
use super::{Answer, Budget, Certainty, answer, fixed, lengths, shapes};
use crate::pasted::{URLS_MAX, Unusable, Unused};
use crate::template::is_scheme;

/// The URLs that can be used, each once, and the others with their reason.
pub(super) fn usable<'a>(urls: &[&'a str]) -> (Vec<&'a str>, Vec<Unused>) {
    let mut usable: Vec<&str> = Vec::new();
    let mut unused = Vec::new();
    for (index, url) in urls.iter().enumerate() {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        let why = match scheme {
            _ if usable.contains(url) => Unusable::Repeated,
            _ if index >= URLS_MAX => Unusable::TooMany,
            None => Unusable::NoScheme,
            Some(scheme) if !is_scheme(scheme) => Unusable::NoWebAddress {
                scheme: scheme.to_owned(),
            },
            Some(_) if url.len() > shapes::URL_MAX => Unusable::TooLong,
            Some(_) => {
                usable.push(url);
                continue;
            }
        };
        unused.push(Unused::new(url, why));
    }
    (usable, unused)
}

/// The largest part of the URLs that has an answer, the likeliest first: those whose codes verify,
/// or those of one form.
pub(super) fn best<'a>(
    urls: &[&'a str],
    sources: &[KeySource],
    budget: &mut Budget<'_>,
) -> (Vec<&'a str>, Answer) {
    let whole = answer(urls, sources, budget);
    if urls.len() < 2 || whole.is_verified() || budget.over {
        return (urls.to_vec(), whole);
    }
    let forms = if whole.candidates.is_empty() {
        by_form(urls)
    } else {
        Vec::new()
    };
    if forms.len() > 1 {
        let mut first: Option<(Vec<&str>, Answer)> = None;
        let rank = |(urls, answer): &(Vec<&str>, Answer)| {
            let is_answered = !answer.candidates.is_empty();
            // Beside the URL of a tap, a mail has links that differ in one parameter.
            let is_of_chip = !answer.candidates.iter().all(fixed::is);
            (answer.is_verified(), is_of_chip, is_answered, urls.len())
        };
        for form in &forms {
            let part = best(form, sources, budget);
            if first.as_ref().is_none_or(|first| rank(&part) > rank(first)) {
                first = Some(part);
            }
        }
        return first.unwrap_or((urls.to_vec(), whole));
    }
    if sources.is_empty() {
        return (urls.to_vec(), whole);
    }
    let mut verified = urls.to_vec();
    verified.retain(|url| answer(&[url], sources, budget).is_verified());
    if verified.is_empty() || verified.len() == urls.len() {
        return (urls.to_vec(), whole);
    }
    let mut part = answer(&verified, sources, budget);
    if !part.is_verified() {
        return (urls.to_vec(), whole);
    }
    // A URL of the same form that verifies with no key leaves a doubt.
    part.certainty = Certainty::Narrowed;
    (verified, part)
}

/// The URLs by their form. URLs that no chip makes are by themselves.
fn by_form<'a>(urls: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut forms: Vec<(_, Vec<&str>)> = Vec::new();
    for &url in urls {
        let form = (Form::of(url), has_shape(url));
        match forms.iter_mut().find(|(other, _)| *other == form) {
            Some((_, urls)) => urls.push(url),
            None => forms.push((form, vec![url])),
        }
    }
    forms.into_iter().map(|(_, urls)| urls).collect()
}

/// Whether a chip could have made the URL. With too many shapes to list, one could have.
pub(super) fn has_shape(url: &str) -> bool {
    shapes::all(&[url]).is_none_or(|shapes| !shapes.is_empty())
}

/// The parts of a URL that are the same for all URLs of a template. A slug in the host is not: URLs
/// with one have an answer together.
#[derive(PartialEq)]
struct Form {
    host: String,
    segments: usize,
    /// Names, and numbers of hex digits.
    parameters: Vec<(String, Option<usize>)>,
}

impl Form {
    fn of(url: &str) -> Self {
        let url = url.split_once('#').map_or(url, |(url, _)| url);
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        let host = rest.split('/').next().unwrap_or_default();
        let parameters = query.split('&').map(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
            let is_hex = value.len() > 5 && value.bytes().all(|b| b.is_ascii_hexdigit());
            (name.to_owned(), is_hex.then_some(value.len()))
        });
        Self {
            host: host.to_ascii_lowercase(),
            segments: rest.split('/').count(),
            parameters: parameters.collect(),
        }
    }
}

/// The URLs that were not used, with their reasons.
pub(super) fn unused(urls: &[&str], used: &[&str], answer: &Answer) -> Vec<Unused> {
    let is_answered = !answer.candidates.is_empty();
    let others = urls
        .iter()
        .filter(|url| !is_answered || !used.contains(url));
    let reasons = others.filter_map(|url| {
        let why = match lengths::cut(url) {
            Some((name, digits)) => Unusable::Cut {
                name: name.to_owned(),
                digits,
            },
            None if !has_shape(url) => Unusable::NoCode,
            // The URLs have too many shapes, and none of them is at fault.
            None if !is_answered => return None,
            None if used.iter().any(|used| Form::of(used) == Form::of(url)) => Unusable::NoKey,
            None => Unusable::OtherForm,
        };
        Some(Unused::new(url, why))
    });
    reasons.collect()
}
