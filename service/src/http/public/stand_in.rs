//! `GET /stand-in`: the built-in stand-in for an owner's domain, where taps of
//! simulated tags lead, and nothing else. It does in a browser what an owner's page does: trade
//! the key for the payload, show it, and update a variable.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::http::error::nothing_here;
use crate::http::pages;
use crate::service::Service;
use crate::tap;

#[derive(Template)]
#[template(path = "stand-in.html")]
struct StandIn<'a> {
    nonce: &'a str,
}

pub(in crate::http) async fn stand_in(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
) -> Response {
    if !tap::is_stand_in(&service, query.as_deref().unwrap_or_default()) {
        return nothing_here();
    }
    let nonce = pages::nonce(&*service.entropy);
    match (StandIn { nonce: &nonce }).render() {
        Ok(html) => pages::scripted(html, &nonce),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
