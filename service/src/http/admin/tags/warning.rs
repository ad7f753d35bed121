//! What an owner should know about a tag that was saved all the same: a header,
//! because the tag's own members are fixed.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::tag::Slug;

/// The header. Its value is a sentence for people.
const WARNING: HeaderName = HeaderName::from_static("tapdesk-warning");

/// What is to be said about a slug, if anything.
pub(super) fn of(slug: &Slug) -> Option<&'static str> {
    const GUESSABLE: &str = "A slug shorter than 10 characters can be guessed, and every visit to it yields a rolling key.";
    slug.is_guessable().then_some(GUESSABLE)
}

/// The same as a header.
pub(super) fn headers(slug: &Slug) -> HeaderMap {
    let warning = of(slug).map(|text| (WARNING, HeaderValue::from_static(text)));
    warning.into_iter().collect()
}
