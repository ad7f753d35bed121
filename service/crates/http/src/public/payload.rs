//! `GET /v2/interactions/rk_payload`: the payload for a rolling key
//! (specification 4.1). `POST` with the `rk` query parameter answers the same.

use axum::extract::RawQuery;
use axum::http::{Method, StatusCode};
use axum::response::Response;

use super::{preflight, wrong_method};
use crate::envelope::{EXPIRES_IN, Envelope, public_json};
use crate::error::public_error;
use crate::public::AsService;
use crate::rate_limiter::{Operation, refused};
use crate::schema::PayloadOrNone;
use app::payload;

/// The payload for an invalid key.
const NONE: &str = "[]";

/// Retrieve the interaction payload
///
/// Returns the payload of the rolling key's interaction. An invalid or expired key gets an empty
/// array. Reading never consumes the key.
#[utoipa::path(
    method(get, post), path = "/v2/interactions/rk_payload", tag = "public",
    params(("rk" = Option<String>, Query, description = "The rolling key, Base64-encoded")),
    responses(
        (status = OK, body = PayloadOrNone, headers(("Tapdesk-Expires-In" = i64, description = "Whole seconds for which the key is still valid; only with a payload"))),
        (status = TOO_MANY_REQUESTS, body = PayloadOrNone, description = "Too many invalid keys; the body is an empty array"),
        (status = SERVICE_UNAVAILABLE, body = Envelope<'_>, description = "The database is not available")
    )
)]
pub(crate) async fn payload(
    AsService(service): AsService,
    method: Method,
    RawQuery(query): RawQuery,
) -> Response {
    match method {
        Method::GET | Method::HEAD | Method::POST => {}
        Method::OPTIONS => return preflight(),
        _ => return wrong_method(&method, "GET, HEAD, POST, OPTIONS"),
    }
    let found = match rk(query.as_deref().unwrap_or_default()) {
        Some(rk) => payload::payload(&service, &rk).await,
        None => Ok(None),
    };
    match found {
        Ok(Some(payload)) => {
            let mut answer = public_json(StatusCode::OK, payload.json);
            let seconds = payload.remaining.whole_seconds().into();
            answer.headers_mut().insert(EXPIRES_IN, seconds);
            answer
        }
        Ok(None) => refused(Operation::Payload, public_json(StatusCode::OK, NONE)),
        Err(error) => public_error(error),
    }
}

/// The parameter; `None` if it is missing or repeated.
fn rk(query: &str) -> Option<String> {
    let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "rk");
    let (_, value) = values.next()?;
    values.next().is_none().then(|| value.into_owned())
}
