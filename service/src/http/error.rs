//! The only place that knows which status an error has.

mod code;
mod documented;
mod from;

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

pub(super) use code::Code;
pub(super) use documented::{
    Addressed, BadBody, ChangedMeanwhile, Common, Conflicting, Invalid, NotFound, Written,
};

use super::pages;
use super::public::{Envelope, public_answer};
use crate::field_error::FieldError;
use crate::revision::{Changed, Revision};
use crate::scope::Scope;
use crate::storage::StorageError;
use crate::tap::TapError;

/// An error of the admin API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApiError {
    /// The request does not say what it must, or not well.
    Invalid(FieldError),
    /// The request does not name exactly one host.
    BadlyAddressed,
    /// No token, or a wrong one.
    Unauthorized,
    /// The token lacks a scope.
    Scope(Scope),
    /// What is addressed does not exist.
    NotFound(&'static str),
    /// The request is in order, the present state is not.
    Conflict(Code, FieldError),
    /// A bulk change selects another number of tags than its caller expects.
    CountChanged {
        /// How many the caller expects.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The resource is not as `If-Match` says: it was changed meanwhile.
    Changed(Option<Box<Current>>),
    /// The route has no such method.
    NoSuchMethod(Method),
    /// The body is too large.
    TooLarge,
    /// The body is of another type than it must be.
    UnsupportedMediaType(&'static str),
    /// The client took too long to send its request.
    TimedOut,
    /// The request came by a name that is not ours.
    Misdirected,
    /// Too many refusals; seconds to wait.
    TooMany(u64),
    /// The disk is full.
    Full,
    /// The database does not answer.
    Unavailable,
    /// An internal error; the cause is in the log.
    Internal,
}

/// A resource as it is, for who saw it otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Current {
    /// Its revision.
    pub revision: Revision,
    /// The resource as get shows it.
    pub resource: Value,
}

/// An error of the admin API, as `application/problem+json` (RFC 9457).
#[derive(Serialize, ToSchema)]
pub(crate) struct Problem {
    /// The name of the status.
    title: &'static str,
    /// The status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong, and the way out, in words.
    detail: String,
    /// What is wrong, for programs.
    code: Code,
    /// The fields that are wrong, if the problem is one of fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<ProblemField>,
    /// With 403, the scope that the token lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    scope: Option<Scope>,
    /// With 412, the resource as it is now, as get shows it; null if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    current: Option<Value>,
}

/// A field that is wrong.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProblemField {
    /// The member of the body, or the parameter: `name`, `location.lat`; `blocks[2]` is the third block.
    field: String,
    /// What is wrong with it, and the way out, in words.
    message: String,
}

impl ApiError {
    /// A request that does not say what it must.
    pub(super) fn invalid(why: impl Into<FieldError>) -> Self {
        Self::Invalid(why.into())
    }

    /// What the present state does not allow, whichever field asks for it.
    pub(super) fn conflict(code: Code, why: impl Into<String>) -> Self {
        Self::Conflict(code, FieldError::whole(why))
    }

    const fn code(&self) -> Code {
        match self {
            Self::Invalid(_) => Code::Invalid,
            Self::BadlyAddressed => Code::BadHost,
            Self::Unauthorized => Code::Unauthorized,
            Self::Scope(_) => Code::Scope,
            Self::NotFound(_) => Code::NotFound,
            Self::Conflict(code, _) => *code,
            Self::CountChanged { .. } => Code::CountChanged,
            Self::Changed(_) => Code::Changed,
            Self::NoSuchMethod(_) => Code::MethodNotAllowed,
            Self::TooLarge => Code::TooLarge,
            Self::UnsupportedMediaType(_) => Code::UnsupportedMediaType,
            Self::TimedOut => Code::Timeout,
            Self::Misdirected => Code::Misdirected,
            Self::TooMany(_) => Code::RateLimited,
            Self::Full => Code::DiskFull,
            Self::Unavailable => Code::Unavailable,
            Self::Internal => Code::Internal,
        }
    }

    const fn status(&self) -> StatusCode {
        self.code().status()
    }

    fn errors(&self) -> Vec<ProblemField> {
        let (Self::Invalid(error) | Self::Conflict(_, error)) = self else {
            return Vec::new();
        };
        let field = error.field.as_ref().map(|field| ProblemField {
            field: field.to_string(),
            message: error.message.clone(),
        });
        field.into_iter().collect()
    }

    /// What is wrong, and the way out, in words.
    pub(super) fn detail(&self) -> String {
        match self {
            Self::Invalid(why) | Self::Conflict(_, why) => why.message.clone(),
            Self::BadlyAddressed => "A request needs exactly one Host header.".into(),
            Self::Unauthorized => {
                "The admin API needs \"Authorization: Bearer TOKEN\" with a valid token.".into()
            }
            Self::Scope(scope) => format!(
                "The token lacks the scope \"{}\". Use a token that has it.",
                scope.as_str()
            ),
            Self::NotFound(noun) => format!("There is no such {noun}."),
            Self::CountChanged { expected, found } => format!(
                "The selection has {found} tags now, not {expected}. Nothing was changed; \
                 look at the list again, and repeat the change if it is still what you want."
            ),
            Self::Changed(_) => Changed.to_string(),
            Self::NoSuchMethod(method) => format!("This route has no method {method}."),
            Self::TooLarge => "The body is too large.".into(),
            Self::UnsupportedMediaType(expected) => {
                format!("The body must be of the type {expected}.")
            }
            Self::TimedOut => "The request took too long to arrive.".into(),
            Self::Misdirected => "The admin API does not answer to this host name. \
                It can be allowed with TAPDESK_HOSTS."
                .into(),
            Self::TooMany(_) => "Too many refused requests; wait before the next one.".into(),
            Self::Full => "The disk is full. Nothing was written; make room and try again.".into(),
            Self::Unavailable => "The database is not available at the moment; try again.".into(),
            Self::Internal => "The service failed; its log contains the reason.".into(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        let (current, revision) = match &self {
            Self::Changed(Some(current)) => {
                (Some(current.resource.clone()), Some(current.revision))
            }
            Self::Changed(None) => (Some(Value::Null), None),
            _ => (None, None),
        };
        let problem = Problem {
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail: self.detail(),
            code: self.code(),
            errors: self.errors(),
            scope: match &self {
                Self::Scope(scope) => Some(*scope),
                _ => None,
            },
            current,
        };
        let mut response = (status, Json(problem)).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(revision) = revision {
            headers.insert(header::ETAG, etag(revision));
        }
        match self {
            Self::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::TooMany(seconds) => {
                headers.insert(header::RETRY_AFTER, seconds.into());
            }
            _ => {}
        }
        response
    }
}

/// A revision as `ETag` says it. It is a strong one for `If-Match`, though it
/// stands for a resource's configuration alone: nothing is answered with 304.
pub(super) fn etag(revision: Revision) -> HeaderValue {
    let text = format!("\"{revision}\"");
    HeaderValue::from_str(&text).expect("hex digits in quotes can stand in a header")
}

/// A tap's own errors, as pages for people.
impl IntoResponse for TapError {
    fn into_response(self) -> Response {
        let error = match self {
            Self::Storage(error) => ApiError::from(error),
            Self::Keyring(error) => {
                tracing::error!("a tap could not be checked: {error}");
                ApiError::conflict(Code::InlayKeyLocked, "")
            }
            error @ Self::Page(_) => ApiError::from(error),
        };
        pages::message(
            error.status(),
            "This tag cannot be read just now",
            "Something is wrong with the service, not with your tag. Please tap again in a moment.",
        )
    }
}

/// An error of the two public operations, in their envelope (specification 7).
pub(super) fn public_error(error: StorageError) -> Response {
    in_envelope(&ApiError::from(error))
}

fn in_envelope(error: &ApiError) -> Response {
    public_answer(error.status(), &Envelope::error(&error.detail()))
}

/// Every answer that the service is unavailable says when to try again.
pub(super) fn say_when_to_try_again(answer: &mut Response) {
    if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
        let headers = answer.headers_mut();
        let soon = HeaderValue::from_static("1");
        headers.entry(header::RETRY_AFTER).or_insert(soon);
    }
}

/// The answer to a path that is no route, in the envelope of its part of the service.
pub(super) fn no_such_route(path: &str) -> Response {
    by_part(path, &ApiError::NotFound("route"))
}

/// The answer to a method that its route does not have.
pub(super) async fn no_such_method(request: Request) -> Response {
    let error = ApiError::NoSuchMethod(request.method().clone());
    by_part(request.uri().path(), &error)
}

/// The answer to a request whose handler panicked, in the envelope of its part of the service.
pub(super) fn panicked(route: &str) -> Response {
    let error = ApiError::Internal;
    if route.starts_with("/v2/") || route.starts_with("/admin/") {
        return by_part(route, &error);
    }
    pages::message(
        error.status(),
        "Something went wrong",
        "Something is wrong with the service, not with what you did. Please try again in a moment.",
    )
}

/// An error in the envelope of the part of the service that `path` is in.
pub(super) fn by_part(path: &str, error: &ApiError) -> Response {
    if path.starts_with("/v2/") {
        return in_envelope(error);
    }
    if path.starts_with("/admin/") {
        return error.clone().into_response();
    }
    let status = error.status();
    match error {
        ApiError::BadlyAddressed => pages::message(status, "Bad request", &error.detail()),
        _ => nothing_here_as(status),
    }
}

/// The page for a public address that leads nowhere.
pub(super) fn nothing_here() -> Response {
    nothing_here_as(StatusCode::NOT_FOUND)
}

fn nothing_here_as(status: StatusCode) -> Response {
    pages::message(status, "Nothing here", "This address leads nowhere.")
}
