//! Public routes: taps, the two operations of a rolling key, and health.

pub(super) mod app_links;
mod as_service;
pub(super) mod data;
pub(super) mod form;
mod home;
pub(super) mod media;
pub(super) mod payload;
pub(super) mod probes;
mod reached;
pub(super) mod stand_in;
pub(super) mod tap;

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use utoipa::ToSchema;

use as_service::AsService;
pub(super) use data::data;
pub(super) use media::media;
pub(super) use payload::payload;
pub(super) use probes::{health, ready};
pub(super) use stand_in::stand_in;
pub(super) use tap::{respond, tap, tap_by_template};

/// Maximum size of the body of a public call, in bytes.
const BODY_MAX: usize = 64 * 1024;
/// Time limit for sending a body. 64 KiB take far less, even on a slow line.
const BODY_TIME: Duration = Duration::from_secs(10);

/// The answer format of the update operation (specification 4.2).
#[derive(ToSchema)]
#[serde(untagged)]
pub(super) enum Envelope<'a> {
    /// The update was done.
    Success {
        /// Always `true`: it marks a success.
        success: bool,
        /// A confirmation for people.
        message: &'a str,
    },
    /// The update was refused.
    Error {
        /// Always `true`: it marks an error.
        error: bool,
        /// An explanation for people.
        message: &'a str,
    },
}

impl<'a> Envelope<'a> {
    const fn success(message: &'a str) -> Self {
        let success = true;
        Self::Success { success, message }
    }

    pub(super) const fn error(message: &'a str) -> Self {
        let error = true;
        Self::Error { error, message }
    }

    /// The JSON text, byte for byte as in the specification, including spaces.
    fn to_json(&self) -> String {
        let quoted = |message: &str| serde_json::Value::from(message).to_string();
        match self {
            Self::Success { success, message } => {
                format!(
                    r#"{{"success": {success}, "message": {}}}"#,
                    quoted(message)
                )
            }
            Self::Error { error, message } => {
                format!(r#"{{"error": {error}, "message": {}}}"#, quoted(message))
            }
        }
    }
}

/// An answer of the two public operations: JSON that is never cached and readable from any origin.
pub(super) fn public_answer(status: StatusCode, body: &Envelope<'_>) -> Response {
    public_json(status, body.to_json())
}

fn public_json(status: StatusCode, json: impl Into<Body>) -> Response {
    let mut response = Response::new(json.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        HeaderValue::from_static("*"),
    );
    response
}

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
