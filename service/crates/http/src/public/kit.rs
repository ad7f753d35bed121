//! `GET /kit/1/tapdesk.js`: the script of the page kit. `GET /kit/1`: a page for developers with its
//! integrity.

use std::sync::LazyLock;

use askama::Template;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::pages;
use crate::public::AsService;
use app::integrity::integrity;

/// Made from `tapdesk.mjs` beside it.
const SCRIPT: &str = include_str!("../../../../kit/tapdesk.min.js");

/// Subresource integrity of the script, for the attribute `integrity`.
static INTEGRITY: LazyLock<String> = LazyLock::new(|| integrity(SCRIPT));

/// Get the script of the page kit
///
/// A page of any origin loads it with `integrity` and `crossorigin`. Its bytes never change: another
/// script gets another number in its address.
#[utoipa::path(
    get, path = "/kit/1/tapdesk.js", tag = "public",
    responses((status = OK, body = String, content_type = "text/javascript"))
)]
pub(crate) async fn script() -> Response {
    let headers: [(HeaderName, &'static str); 5] = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        // Browsers compare the integrity only of what they may read.
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        // Pages with Cross-Origin-Embedder-Policy load nothing without it.
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, SCRIPT).into_response()
}

#[derive(Template)]
#[template(path = "kit.html")]
struct KitPage<'a> {
    nonce: &'a str,
    origin: &'a str,
    integrity: &'a str,
    bytes: usize,
}

/// Read how a page loads the script
///
/// Shows the script's integrity, and a snippet with it.
#[utoipa::path(
    get, path = "/kit/1", tag = "public",
    responses((status = OK, body = String, content_type = "text/html", description = "The page"))
)]
pub(crate) async fn page(AsService(service): AsService) -> Response {
    let nonce = pages::nonce(&*service.entropy);
    let page = KitPage {
        nonce: &nonce,
        origin: &service.settings().origin(),
        integrity: &INTEGRITY,
        bytes: SCRIPT.len(),
    };
    match page.render() {
        Ok(html) => pages::scripted(html, &nonce),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
