//! `GET /stand-in`: the built-in stand-in for an owner's domain, where taps of
//! simulated tags lead. It does in a browser what an owner's page does: trade
//! the key for the payload, show it, and update a variable.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use crate::entropy;
use crate::http::pages;
use crate::service::Service;

#[derive(Template)]
#[template(path = "stand-in.html")]
struct StandIn<'a> {
    nonce: &'a str,
}

pub(in crate::http) async fn stand_in(State(service): State<Arc<Service>>) -> Response {
    let nonce = entropy::text(&*service.entropy, b"0123456789abcdef", 32);
    let Ok(html) = (StandIn { nonce: &nonce }).render() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = Html(html).into_response();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    pages::keep_private(response.headers_mut());
    response
}
