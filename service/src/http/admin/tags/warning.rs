//! What an owner should know about a tag that was saved all the same: a header,
//! because the tag's own members are fixed.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::tag::{Slug, Tag};

/// The header. Its value is a sentence for people.
const WARNING: HeaderName = HeaderName::from_static("tapdesk-warning");

/// What is to be said about a slug, if anything.
pub(super) fn of(slug: &Slug) -> Option<&'static str> {
    const GUESSABLE: &str = "A slug shorter than 10 characters can be guessed, and each visit to it issues a rolling key.";
    slug.is_guessable().then_some(GUESSABLE)
}

/// What is to be said about a tag whose slug was set, as a header.
pub(super) fn headers(tag: &Tag) -> HeaderMap {
    let former = tag.former_slugs.first().map(|former| {
        let slug = &tag.fields.slug;
        format!(
            "The tag's URL ends in {slug} now. Inlays and prints that end in {former} go on leading here until that \
             former slug is released; then they lead nowhere. Pages and programs that compare the URL see the new one at once."
        )
    });
    let sentences: Vec<_> = [former, of(&tag.fields.slug).map(str::to_owned)]
        .into_iter()
        .flatten()
        .collect();
    let warning = HeaderValue::from_str(&sentences.join(" ")).ok();
    let warning = warning.filter(|_| !sentences.is_empty());
    warning
        .map(|warning| (WARNING, warning))
        .into_iter()
        .collect()
}
