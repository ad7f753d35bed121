//! `GET /stand-in`: the built-in stand-in for an owner's domain. Taps of simulated tags lead here.
//! In the browser it does the work of an owner's page: it exchanges the key for the payload, shows
//! it, and updates a variable.

use askama::Template;
use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::error::nothing_here;
use crate::pages;
use crate::public::AsService;
use app::tap;

#[derive(Template)]
#[template(path = "stand-in.html")]
struct StandIn<'a> {
    nonce: &'a str,
}

/// Open the stand-in page of simulated tags
///
/// The built-in stand-in for an owner's domain: a page that shows the payload of its key and
/// updates a variable.
#[utoipa::path(
    get, path = "/stand-in", tag = "public",
    params(
        ("for" = Option<String>, Query, description = "Where the tap would have led"),
        ("rk" = Option<String>, Query, description = "The rolling key as received"),
        ("proof" = Option<String>, Query, description = "Shows that a simulated tap was sent here")
    ),
    responses(
        (status = OK, body = String, content_type = "text/html", description = "The page"),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "No simulated tap was sent here")
    )
)]
pub(crate) async fn stand_in(AsService(service): AsService, RawQuery(query): RawQuery) -> Response {
    if !tap::is_stand_in(&service, query.as_deref().unwrap_or_default()) {
        return nothing_here();
    }
    let nonce = pages::nonce(&*service.entropy);
    match (StandIn { nonce: &nonce }).render() {
        Ok(html) => pages::scripted(html, &nonce),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
