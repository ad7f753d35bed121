//! Warnings about a saved resource. They are in a header, because the members of a resource are
//! fixed.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// Name of the header. Its value consists of sentences for people.
const WARNING: HeaderName = HeaderName::from_static("tapdesk-warning");

/// The header with these sentences; no header without sentences.
pub(super) fn headers(sentences: impl IntoIterator<Item = String>) -> HeaderMap {
    let sentences: Vec<_> = sentences.into_iter().collect();
    let warning = HeaderValue::from_str(&sentences.join(" ")).ok();
    let warning = warning.filter(|_| !sentences.is_empty());
    warning
        .map(|warning| (WARNING, warning))
        .into_iter()
        .collect()
}
