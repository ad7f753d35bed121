//! Plain pages of our own, for the people who tap. Owners' texts are data in
//! them, escaped by the template engine, never template source.

use askama::Template;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use crate::entropy::{self, Entropy};
use crate::tag::Tag;

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    language: &'a str,
    title: &'a str,
    texts: &'a [&'a str],
}

/// A page that says something.
pub(super) fn message(status: StatusCode, title: &str, text: &str) -> Response {
    page(
        status,
        &Page {
            language: "en",
            title,
            texts: &[text],
        },
    )
}

/// A page that says something of a tag.
pub(super) fn tag(status: StatusCode, tag: &Tag, text: &str) -> Response {
    page(
        status,
        &Page {
            language: "en",
            title: title(tag),
            texts: &[text],
        },
    )
}

/// A tag's page for a link preview: its title and description, and nothing that a tap would do.
pub(super) fn preview(tag: &Tag) -> Response {
    let language = language(tag);
    page(
        StatusCode::OK,
        &Page {
            language: &language,
            title: title(tag),
            texts: &[&tag.fields.description],
        },
    )
}

/// A studio experience as a plain page.
pub(super) fn experience(tag: &Tag, texts: &[String]) -> Response {
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let language = language(tag);
    page(
        StatusCode::OK,
        &Page {
            language: &language,
            title: title(tag),
            texts: &texts,
        },
    )
}

/// What visitors see a tag called.
fn title(tag: &Tag) -> &str {
    if tag.fields.title.is_empty() {
        &tag.fields.name
    } else {
        &tag.fields.title
    }
}

/// A locale as HTML names it.
fn language(tag: &Tag) -> String {
    tag.fields.language_code.replace('_', "-")
}

fn page(status: StatusCode, page: &Page<'_>) -> Response {
    let Ok(html) = page.render() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = (status, Html(html)).into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    keep_private(headers);
    response
}

/// What marks the one script and the one style of a page as ours.
pub(super) fn nonce(entropy: &dyn Entropy) -> String {
    entropy::text(entropy, b"0123456789abcdef", 32)
}

/// A page with a script of ours, marked by `nonce`: nothing else may run in it.
pub(super) fn scripted(html: String, nonce: &str) -> Response {
    let mut response = Html(html).into_response();
    let headers = response.headers_mut();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    keep_private(headers);
    response
}

/// A key must leak neither through caches nor through referrers.
pub(super) fn keep_private(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
}
