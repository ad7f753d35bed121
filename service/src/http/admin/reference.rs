//! The API's reference: the OpenAPI document, and a page of it for people, which
//! reads the document and nothing from other hosts.

use std::sync::{Arc, LazyLock};

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::http::error::Addressed;
use crate::http::pages;
use crate::service::Service;

/// The document as text.
static DOCUMENT: LazyLock<String> =
    LazyLock::new(|| super::openapi().to_json().unwrap_or_default());

/// Get this document
///
/// It needs no token, but a host name that the admin API answers. Public listeners do not serve it.
#[utoipa::path(
    get, path = "/openapi.json", tag = "reference",
    responses((status = OK, body = BTreeMap<String, serde_json::Value>, description = "An OpenAPI document"), Addressed)
)]
pub(super) async fn document() -> impl IntoResponse {
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
/// It needs no token, but a host name that the admin API answers. Public listeners do not serve it.
#[utoipa::path(
    get, path = "/docs", tag = "reference",
    responses((status = OK, body = String, content_type = "text/html", description = "The reference of the API"), Addressed)
)]
pub(super) async fn page(State(service): State<Arc<Service>>) -> Response {
    let nonce = pages::nonce(&*service.entropy);
    match (ReferencePage { nonce: &nonce }).render() {
        Ok(html) => pages::scripted(html, &nonce),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
