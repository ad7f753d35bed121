//! `POST /v2/interactions/data`: updates variables with a rolling key (specification 4.2).

use std::borrow::Cow;
use std::fmt;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use sha2::{Digest, Sha256};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{BODY_MAX, BODY_TIME, preflight, wrong_method};
use crate::body::{self, BodyError, is_of_type};
use crate::envelope::{Envelope, REASON, public_answer};
use crate::error::public_error;
use crate::public::AsService;
use crate::rate_limiter::{Operation, refused};
use app::service::Service;
use domain::rolling_key::RollingKey;
use domain::strict_json::Object;
use domain::tag::{InvalidProperty, PropertyClass, PropertyKey, check_value, value_schema};
use storage::UpdateRefusal;

/// Maximum number of variables in one update.
const KEYS_MAX: usize = 64;
/// Maximum length of an `Idempotency-Key`, in bytes.
const IDEMPOTENCY_KEY_MAX: usize = 255;

/// One body for all cases in specification 7. [`REASON`] distinguishes them.
const INVALID: &str = "Invalid rolling key";
const UPDATED: &str = "User Data updated";

/// Update tag variables
///
/// Sets existing variables of the tag that the rolling key was issued for: all or none, and once. A
/// repeated request with the same `Idempotency-Key` gets the same answer until the key expires.
#[utoipa::path(
    post, path = "/v2/interactions/data", tag = "public",
    params(("Idempotency-Key" = Option<String>, Header, nullable = false, min_length = 1, max_length = 255, description = "Makes a retry safe: 1 to 255 characters")),
    request_body = Record,
    responses(
        (status = OK, body = Envelope<'_>),
        (status = BAD_REQUEST, body = Envelope<'_>, description = "The key is invalid, consumed or expired, a variable does not exist, or the body is malformed", headers(("Tapdesk-Reason" = String, description = "`used`, `expired` or `unknown_variable`; not if the body is malformed"))),
        (status = REQUEST_TIMEOUT, body = Envelope<'_>),
        (status = PAYLOAD_TOO_LARGE, body = Envelope<'_>, description = "Over 64 KiB, 64 variables, or 4 KiB in a value"),
        (status = UNSUPPORTED_MEDIA_TYPE, body = Envelope<'_>),
        (status = TOO_MANY_REQUESTS, body = Envelope<'_>, description = "Too many refused updates"),
        (status = INSUFFICIENT_STORAGE, body = Envelope<'_>, description = "The disk is full; nothing was written"),
        (status = SERVICE_UNAVAILABLE, body = Envelope<'_>, description = "The database is not available")
    )
)]
pub(crate) async fn data(AsService(service): AsService, request: Request) -> Response {
    match *request.method() {
        Method::POST => {}
        Method::OPTIONS => return preflight(),
        _ => return wrong_method(request.method(), "POST, OPTIONS"),
    }
    let rejection = match update(&service, request).await {
        Ok(()) => return public_answer(StatusCode::OK, &Envelope::success(UPDATED)),
        Err(Failure::Storage(error)) => return public_error(error),
        Err(Failure::Refused(rejection)) => rejection,
    };
    let mut answer = public_answer(rejection.status, &Envelope::error(&rejection.message));
    if let Some(reason) = rejection.reason {
        let reason = HeaderValue::from_static(reason);
        answer.headers_mut().insert(REASON, reason);
    }
    refused(Operation::Update, answer)
}

enum Failure {
    Refused(Rejection),
    Storage(storage::StorageError),
}

struct Rejection {
    status: StatusCode,
    message: String,
    /// The value of [`REASON`], if the request is well formed.
    reason: Option<&'static str>,
}

fn refuse(status: StatusCode, message: impl Into<String>) -> Failure {
    Failure::Refused(Rejection {
        status,
        message: message.into(),
        reason: None,
    })
}

/// The refusals of specification 7.
fn invalid(reason: &'static str) -> Failure {
    Failure::Refused(Rejection {
        status: StatusCode::BAD_REQUEST,
        message: INVALID.to_owned(),
        reason: Some(reason),
    })
}

/// Names a refusal for the page: another tap helps, nothing is left to do, or the owner must set up
/// the tag.
const fn reason(refusal: &UpdateRefusal) -> &'static str {
    match refusal {
        UpdateRefusal::InvalidKey => "expired",
        UpdateRefusal::Consumed | UpdateRefusal::SentBefore => "used",
        UpdateRefusal::UnknownVariable(_)
        | UpdateRefusal::NotAssigned
        | UpdateRefusal::NotVerified
        | UpdateRefusal::SeveralForms => "unknown_variable",
    }
}

fn malformed(message: impl Into<String>) -> Failure {
    refuse(StatusCode::BAD_REQUEST, message)
}

async fn update(service: &Service, request: Request) -> Result<(), Failure> {
    let (parts, body) = request.into_parts();
    if !is_of_type(&parts.headers, &["application/json"]) {
        return Err(refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Type must be application/json",
        ));
    }
    let body = body::read(body, BODY_MAX, BODY_TIME)
        .await
        .map_err(unreadable)?;
    let Object::<Record>(record) =
        serde_json::from_slice(&body).map_err(|error| malformed(not_an_update(&error)))?;
    let data = variables(record.data)?;
    let request = idempotency(&parts.headers, &body)?;
    let key = RollingKey::from_base64(&record.rolling_key).ok_or_else(|| invalid("expired"))?;
    let data = data.ok_or_else(|| invalid("unknown_variable"))?;
    let refused = service.update(&key, request, None, data).await;
    match refused.map_err(Failure::Storage)? {
        None => Ok(()),
        Some(refused) => Err(invalid(reason(&refused.why))),
    }
}

/// Describes where a body is invalid. serde's own message would quote the body, which may contain a
/// key.
fn not_an_update(error: &serde_json::Error) -> String {
    let what = if error.is_data() {
        "it needs rolling_key, a string, and data, an object, each once"
    } else {
        "it is not JSON"
    };
    let (line, column) = (error.line(), error.column());
    format!("The body is not an update: {what} (line {line}, column {column})")
}

/// Explains why the body could not be read.
fn unreadable(error: BodyError) -> Failure {
    match error {
        BodyError::TooLarge => refuse(
            StatusCode::PAYLOAD_TOO_LARGE,
            "The body is larger than 64 KiB",
        ),
        BodyError::Incomplete => malformed("The body ended early"),
        BodyError::TimedOut => refuse(
            StatusCode::REQUEST_TIMEOUT,
            "The body took too long to arrive",
        ),
    }
}

/// The body of an update (specification 2.5).
#[derive(Deserialize, ToSchema)]
pub(crate) struct Record {
    /// The rolling key, Base64-encoded.
    #[schema(pattern = "^[A-Za-z0-9+/_ -]+={0,2}$")]
    rolling_key: String,
    /// New values of existing variables.
    data: Pairs,
}

/// The members of an object in their order, including repeated ones.
pub(crate) struct Pairs(Vec<(String, Value)>);

impl PartialSchema for Pairs {
    fn schema() -> RefOr<Schema> {
        let name = ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some("^(tag:variable:)?[A-Za-z0-9_.-]{1,64}$"));
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("New values by the key of their variable."))
            .property_names(Some(name))
            .additional_properties(Some(Schema::from(value_schema())))
            .min_properties(Some(1))
            .max_properties(Some(KEYS_MAX))
            .into()
    }
}

impl ToSchema for Pairs {
    fn name() -> Cow<'static, str> {
        "VariableValues".into()
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of variables")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The variables of an update; `None` if a name is not possible on any tag.
fn variables(Pairs(pairs): Pairs) -> Result<Option<Vec<(PropertyKey, String)>>, Failure> {
    if pairs.is_empty() {
        return Err(malformed("data names no variable"));
    }
    if pairs.len() > KEYS_MAX {
        return Err(refuse(
            StatusCode::PAYLOAD_TOO_LARGE,
            "data names more than 64 variables",
        ));
    }
    let prefix = format!("tag:{}:", PropertyClass::Variable.as_str());
    let mut names = std::collections::HashSet::new();
    let mut data = Some(Vec::new());
    for (name, value) in &pairs {
        let name = name.strip_prefix(&prefix).unwrap_or(name);
        let Value::String(value) = value else {
            return Err(malformed("Every value in data must be a string"));
        };
        match check_value(value) {
            Ok(()) => {}
            Err(InvalidProperty::TooLong) => {
                return Err(refuse(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "A value is larger than 4 KiB",
                ));
            }
            Err(error) => return Err(malformed(error.to_string())),
        }
        if !names.insert(name) {
            return Err(malformed("data names a variable twice"));
        }
        data = data
            .zip(PropertyKey::parse(name).ok())
            .map(|(mut data, key)| {
                data.push((key, value.clone()));
                data
            });
    }
    Ok(data)
}

/// The fingerprint that identifies a repeated request: its `Idempotency-Key` and its body.
fn idempotency(headers: &HeaderMap, body: &[u8]) -> Result<Option<[u8; 32]>, Failure> {
    let mut keys = headers.get_all("idempotency-key").iter();
    let Some(key) = keys.next() else {
        return Ok(None);
    };
    if keys.next().is_some() || key.is_empty() || key.len() > IDEMPOTENCY_KEY_MAX {
        return Err(malformed(
            "Idempotency-Key has 1 to 255 characters, and stands once",
        ));
    }
    let mut digest = Sha256::new();
    digest.update(Sha256::digest(key.as_bytes()));
    digest.update(body);
    Ok(Some(digest.finalize().into()))
}
