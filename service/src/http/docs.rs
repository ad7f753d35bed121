//! `GET /docs`: the API's reference, for people. It needs no network: the page
//! reads the service's own OpenAPI document.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::pages;
use crate::service::Service;

#[derive(Template)]
#[template(path = "docs.html")]
struct Docs<'a> {
    nonce: &'a str,
}

pub(super) async fn docs(State(service): State<Arc<Service>>) -> Response {
    let nonce = pages::nonce(&*service.entropy);
    match (Docs { nonce: &nonce }).render() {
        Ok(html) => pages::scripted(html, &nonce),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
