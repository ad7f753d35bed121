//! What the world may call: taps, the two operations of a rolling key, health.

pub(super) mod data;
pub(super) mod form;
pub(super) mod media;
pub(super) mod payload;
pub(super) mod probes;
pub(super) mod stand_in;
pub(super) mod tap;

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use utoipa::ToSchema;

pub(super) use data::data;
pub(super) use media::media;
pub(super) use payload::payload;
pub(super) use probes::{health, ready};
pub(super) use stand_in::stand_in;
pub(super) use tap::{respond, tap, tap_by_template};

/// Largest body of a public call, in bytes.
const BODY_MAX: usize = 64 * 1024;
/// How long a client may take to send it: many times what 64 KiB take on a slow line.
const BODY_TIME: Duration = Duration::from_secs(10);

/// The envelope of the update operation (specification 4.2).
#[derive(ToSchema)]
#[serde(untagged)]
pub(super) enum Envelope<'a> {
    /// It was done.
    Success {
        /// Always `true`.
        success: bool,
        /// What was done.
        message: &'a str,
    },
    /// It was refused.
    Error {
        /// Always `true`.
        error: bool,
        /// What is wrong.
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

    /// The envelope to the byte as the specification writes it, spaces included.
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

/// An answer of one of the two public operations: JSON, never stored, readable
/// from any origin.
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

/// The answer to a browser that asks before it calls from another origin.
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

/// The answer to a method that the operation does not have.
fn wrong_method(method: &Method, allowed: &'static str) -> Response {
    let message = format!("This operation has no method {method}; use {allowed}.");
    let mut response = public_answer(StatusCode::METHOD_NOT_ALLOWED, &Envelope::error(&message));
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}
