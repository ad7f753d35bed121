//! The answers of the two public operations of a rolling key.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use utoipa::ToSchema;

/// Names the reason of a refused update: `used`, `expired` or `unknown_variable`. The body is the
/// same for all of them (specification 7).
pub(crate) const REASON: HeaderName = HeaderName::from_static("tapdesk-reason");
/// Whole seconds for which the key of a payload is still valid.
pub(crate) const EXPIRES_IN: HeaderName = HeaderName::from_static("tapdesk-expires-in");

/// The answer format of the update operation (specification 4.2).
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum Envelope<'a> {
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
    pub(crate) const fn success(message: &'a str) -> Self {
        let success = true;
        Self::Success { success, message }
    }

    pub(crate) const fn error(message: &'a str) -> Self {
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
pub(crate) fn public_answer(status: StatusCode, body: &Envelope<'_>) -> Response {
    public_json(status, body.to_json())
}

/// The same for JSON of any form.
pub(crate) fn public_json(status: StatusCode, json: impl Into<Body>) -> Response {
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
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("tapdesk-reason, tapdesk-expires-in"),
    );
    response
}
