//! The API reference: the OpenAPI document, and a page that shows it. The page loads nothing from
//! other hosts.

use std::sync::LazyLock;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::extract::query::NoQuery;
use crate::error::{Addressed, Invalid};
use crate::pages;
use crate::state::AppState;

/// The OpenAPI document as JSON text.
static DOCUMENT: LazyLock<String> =
    LazyLock::new(|| super::openapi().to_json().unwrap_or_default());

/// Get this document
///
/// Requires no token, but one of the host names of the admin API. Public listeners do not serve it.
#[utoipa::path(
    get, path = "/openapi.json", tag = "reference",
    responses((status = OK, body = BTreeMap<String, serde_json::Value>, description = "An OpenAPI document"), Invalid, Addressed)
)]
pub(super) async fn document(_: NoQuery) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "application/json")],
        DOCUMENT.as_str(),
    )
}

#[derive(Template)]
#[template(path = "docs.html")]
struct ReferencePage<'a> {
    nonce: &'a str,
}

/// Read this document as a page
///
/// Requires no token, but one of the host names of the admin API. Public listeners do not serve it.
#[utoipa::path(
    get, path = "/docs", tag = "reference",
    responses((status = OK, body = String, content_type = "text/html", description = "The reference of the API"), Invalid, Addressed)
)]
pub(super) async fn page(State(state): State<AppState>, _: NoQuery) -> Response {
    let nonce = pages::nonce(&*state.shared().entropy);
    match (ReferencePage { nonce: &nonce }).render() {
        Ok(html) => pages::scripted(html, &nonce),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
