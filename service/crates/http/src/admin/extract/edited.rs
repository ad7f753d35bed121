//! Editable resources: `ETag` and `If-Match`.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::{ApiError, Current, etag};
use domain::field_error::FieldError;
use domain::revision::{Precondition, Revised, Revision};
use storage::{Conflict, StorageError};

/// A resource in an answer, with its revision.
pub(crate) struct Edited<T> {
    revision: Revision,
    resource: T,
}

impl<T> Edited<T> {
    /// `show` converts `resource` to its form in the API.
    pub(in crate::admin) fn shown_as<R: Revised>(resource: R, show: impl FnOnce(R) -> T) -> Self {
        Self {
            revision: resource.revision(),
            resource: show(resource),
        }
    }
}

impl<T: Revised> From<T> for Edited<T> {
    fn from(resource: T) -> Self {
        Self::shown_as(resource, |resource| resource)
    }
}

impl<T: Serialize> Edited<T> {
    /// The error for a change that expected another revision. It contains this resource.
    pub(in crate::admin) fn changed(self) -> ApiError {
        let resource = serde_json::to_value(self.resource).unwrap_or_default();
        let revision = self.revision;
        ApiError::Changed(Some(Box::new(Current { revision, resource })))
    }
}

impl<T: Serialize> IntoResponse for Edited<T> {
    fn into_response(self) -> Response {
        ([(ETAG, etag(self.revision))], Json(self.resource)).into_response()
    }
}

/// The condition of `If-Match` (RFC 9110, section 13.1.1).
pub(crate) struct IfMatch(pub(in crate::admin) Precondition);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut names = Vec::new();
        for line in parts.headers.get_all(IF_MATCH) {
            let line = line.to_str().map_err(|_| not_understood())?;
            names.extend(
                line.split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty()),
            );
        }
        Ok(Self(match names[..] {
            [] if parts.headers.contains_key(IF_MATCH) => return Err(not_understood()),
            [] => Precondition::None,
            ["*"] => Precondition::Exists,
            _ => Precondition::OneOf(revisions(&names)?),
        }))
    }
}

/// Parses entity tags. Tags that the service did not issue, and weak tags, are dropped: they never
/// match.
fn revisions(names: &[&str]) -> Result<Vec<Revision>, ApiError> {
    let mut revisions = Vec::new();
    for name in names {
        let opaque = name.strip_prefix("W/").unwrap_or(name);
        let inner = opaque
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        let inner = inner.filter(|inner| !inner.contains('"'));
        let inner = inner.ok_or_else(not_understood)?;
        revisions.extend(Revision::parse(inner).filter(|_| opaque == *name));
    }
    Ok(revisions)
}

fn not_understood() -> ApiError {
    let why = "If-Match must be an ETag of the resource, with its quotes, or *.";
    ApiError::Invalid(FieldError::whole(why))
}

/// The result of a change. If the resource had another revision, `current` reads it for the answer.
/// That is the state that the change was compared with, or a newer one.
pub(in crate::admin) async fn unless_changed<T, R: Serialize>(
    outcome: Result<T, StorageError>,
    current: impl Future<Output = Result<Option<Edited<R>>, StorageError>>,
) -> Result<T, ApiError> {
    match outcome {
        Err(StorageError::Conflict(Conflict::Changed(_))) => {
            let current = current.await?;
            Err(current.map_or(ApiError::Changed(None), Edited::changed))
        }
        outcome => Ok(outcome?),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    async fn read(lines: &[&str]) -> Result<Precondition, ApiError> {
        let mut request = Request::patch("/");
        for line in lines {
            request = request.header(IF_MATCH, *line);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let read = IfMatch::from_request_parts(&mut parts, &()).await;
        read.map(|IfMatch(precondition)| precondition)
    }

    #[tokio::test]
    async fn if_match_is_read_as_rfc_9110_says() {
        let (a, b) = (Revision::of(&"a"), Revision::of(&"b"));
        let one_of = |revisions: &[Revision]| Ok(Precondition::OneOf(revisions.to_vec()));
        assert_eq!(read(&[]).await, Ok(Precondition::None));
        assert_eq!(read(&["*"]).await, Ok(Precondition::Exists));
        assert_eq!(read(&[&format!("\"{a}\"")]).await, one_of(&[a]));
        assert_eq!(read(&[&format!("\"{a}\" ,\"{b}\"")]).await, one_of(&[a, b]));
        assert_eq!(
            read(&[&format!("\"{a}\""), &format!("\"{b}\"")]).await,
            one_of(&[a, b])
        );
        assert_eq!(
            read(&["\"another\"", &format!("W/\"{a}\"")]).await,
            one_of(&[])
        );
        for other in ["", "a", "\"a", "*, \"a\"", "\"a\"b\"", "W/a"] {
            assert_eq!(read(&[other]).await, Err(not_understood()), "{other}");
        }
    }
}
