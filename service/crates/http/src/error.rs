//! Maps each error to its HTTP status. No other module does that.

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

use super::envelope::{Envelope, public_answer};
use super::pages;
use app::service::Service;
use app::tap::TapError;
use domain::field_error::FieldError;
use domain::plural::counted;
use domain::revision::{Changed, Revision};
use domain::scope::Scope;
use domain::settings::PlainPage;
use domain::visitor::Visitor;
use storage::StorageError;

/// An error of the admin API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApiError {
    /// The request lacks something, or something in it is invalid.
    Invalid(FieldError),
    /// The request does not name exactly one host.
    BadlyAddressed,
    /// The token is missing or invalid.
    Unauthorized,
    /// The token lacks a scope.
    Scope(Scope),
    /// The addressed resource does not exist; contains its kind, for the message.
    NotFound(&'static str),
    /// The request is valid, but conflicts with the current state.
    Conflict(Code, FieldError),
    /// A bulk change selects another number of tags than its caller expects.
    CountChanged {
        /// Number of tags that the caller expects.
        expected: u64,
        /// Number of tags that the request selects.
        found: u64,
    },
    /// The resource was changed since the revision in `If-Match`.
    Changed(Option<Box<Current>>),
    /// The route does not support this method.
    NoSuchMethod(Method),
    /// The body exceeds the size limit.
    TooLarge,
    /// The body has an unsupported media type.
    UnsupportedMediaType(&'static str),
    /// The client took too long to send its request.
    TimedOut,
    /// The `Host` is not one of the service's host names.
    Misdirected,
    /// The client had too many refused requests; contains the seconds to wait.
    TooMany(u64),
    /// The disk is full, and nothing was written.
    Full,
    /// The database does not answer.
    Unavailable,
    /// Too many codes wait for keys that are slow to derive.
    Busy,
    /// An internal error. Only the log contains the cause.
    Internal,
}

/// The current state of a resource, for a client that expected another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Current {
    /// The current revision of the resource.
    pub revision: Revision,
    /// The resource in the form of its GET operation.
    pub resource: Value,
}

/// An error of the admin API, as `application/problem+json` (RFC 9457).
#[derive(Serialize, ToSchema)]
pub(crate) struct Problem {
    /// The reason phrase of the HTTP status.
    title: &'static str,
    /// The HTTP status code.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// Explanation for people: the problem, and how to solve it.
    detail: String,
    /// Stable name of the problem, for programs.
    code: Code,
    /// The invalid fields, if the problem is about fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<ProblemField>,
    /// With 403, the scope that the token lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    scope: Option<Scope>,
    /// With 412, the current state of the resource, as its GET operation returns it; null if it
    /// does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    current: Option<Value>,
}

/// An invalid field of a request.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProblemField {
    /// The member of the body, or the parameter: `name`, `location.lat`; `blocks[2]` is the third
    /// block.
    field: String,
    /// Explanation for people: the problem with the field, and how to solve it.
    message: String,
}

impl ApiError {
    /// An error for an invalid request.
    pub(super) fn invalid(why: impl Into<FieldError>) -> Self {
        Self::Invalid(why.into())
    }

    /// An error for a request that conflicts with the current state, whichever field causes it.
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
            Self::Unavailable | Self::Busy => Code::Unavailable,
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

    /// Explanation for people: the problem, and how to solve it.
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
                "The selection has {} now, not {expected}. Nothing was changed; \
                 look at the list again, and repeat the change if it is still what you want.",
                counted(*found, "tag")
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
            Self::Full => StorageError::Full.for_people(),
            Self::Unavailable => StorageError::Unavailable(String::new()).for_people(),
            Self::Busy => TapError::Busy.to_string(),
            Self::Internal => StorageError::Panicked.for_people(),
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

/// Formats a revision as an `ETag`. It is a strong one because `If-Match` requires that. It covers
/// only the configuration of a resource, which is safe because no answer is a 304.
pub(super) fn etag(revision: Revision) -> HeaderValue {
    let text = format!("\"{revision}\"");
    HeaderValue::from_str(&text).expect("hex digits in quotes can stand in a header")
}

/// A tap's own error, as a page for people.
pub(super) fn refused_tap(error: TapError) -> Response {
    let error = match error {
        TapError::Storage(error) => ApiError::from(error),
        TapError::Keyring(error) => {
            tracing::error!("a tap could not be checked: {error}");
            ApiError::conflict(Code::InlayKeyLocked, "")
        }
        error @ (TapError::Page(_) | TapError::Busy) => ApiError::from(error),
    };
    pages::message(
        error.status(),
        "This tag cannot be read just now",
        "Something is wrong with the service, not with your tag. Please tap again in a moment.",
    )
}

/// The status and the explanation of a change by a staff phone that the database refused.
pub(super) fn refused_change(error: StorageError) -> (StatusCode, String) {
    let error = ApiError::from(error);
    (error.status(), error.detail())
}

/// An error of the two public operations, in their envelope (specification 7).
pub(super) fn public_error(error: StorageError) -> Response {
    in_envelope(&ApiError::from(error))
}

fn in_envelope(error: &ApiError) -> Response {
    public_answer(error.status(), &Envelope::error(&error.detail()))
}

/// Adds `Retry-After` to every 503 answer.
pub(super) fn say_when_to_try_again(answer: &mut Response) {
    if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
        let headers = answer.headers_mut();
        let soon = HeaderValue::from_static("1");
        headers.entry(header::RETRY_AFTER).or_insert(soon);
    }
}

/// The answer for a path without a route, in the format of its part of the service. The page for
/// people is their owner's.
pub(super) fn no_such_route(service: &Service, path: &str, visitor: &Visitor) -> Response {
    let error = ApiError::NotFound("route");
    if path.starts_with("/v2/") || path.starts_with("/admin/") {
        return by_part(path, &error);
    }
    let (status, which) = (error.status(), PlainPage::NotFound);
    pages::owned(service, status, which, visitor, |words| {
        (&words.nothing_title, &words.nothing)
    })
}

/// The answer for a method that the route does not support.
pub(super) async fn no_such_method(request: Request) -> Response {
    let error = ApiError::NoSuchMethod(request.method().clone());
    by_part(request.uri().path(), &error)
}

/// The answer after a handler panicked, in the format of its part of the service.
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

/// Formats an error for the part of the service that `path` belongs to.
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

/// The "not found" page for a public address.
pub(super) fn nothing_here() -> Response {
    nothing_here_as(StatusCode::NOT_FOUND)
}

fn nothing_here_as(status: StatusCode) -> Response {
    pages::message(status, "Nothing here", "This address leads nowhere.")
}
