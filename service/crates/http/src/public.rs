//! Public routes: taps, the two operations of a rolling key, the page kit, and health.

pub(super) mod app_links;
mod as_service;
pub(super) mod data;
pub(super) mod form;
mod home;
pub(super) mod kit;
pub(super) mod media;
pub(super) mod payload;
mod plain;
pub(super) mod probes;
mod reached;
pub(super) mod staff;
pub(super) mod stand_in;
pub(super) mod tap;

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;

use crate::envelope::{Envelope, public_answer, public_json};
use as_service::AsService;
pub(super) use data::data;
pub(super) use kit::{page as kit_page, script as kit_script};
pub(super) use media::media;
pub(super) use payload::payload;
pub use plain::{plain_router, with_hsts};
pub(super) use probes::{health, ready};
pub(super) use stand_in::stand_in;
pub(super) use tap::{respond, tap_by_slug, tap_by_template};

/// Maximum size of the body of a public call, in bytes.
const BODY_MAX: usize = 64 * 1024;
/// Time limit for sending a body. 64 KiB take far less, even on a slow line.
const BODY_TIME: Duration = Duration::from_secs(10);

/// The answer to the preflight request of a browser (CORS).
fn preflight() -> Response {
    let mut response = public_json(StatusCode::NO_CONTENT, Body::empty());
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST"),
    );
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("content-type, idempotency-key"),
    );
    headers.insert(
        header::ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static("86400"),
    );
    response
}

/// The answer for a method that the operation does not support.
fn wrong_method(method: &Method, allowed: &'static str) -> Response {
    let message = format!("This operation has no method {method}; use {allowed}.");
    let mut response = public_answer(StatusCode::METHOD_NOT_ALLOWED, &Envelope::error(&message));
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}
