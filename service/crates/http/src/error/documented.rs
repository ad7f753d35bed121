//! The errors of the admin API, for the OpenAPI document.
//!
//! An operation lists the groups that apply to it in `responses(...)`, after its own answers:
//!
//! ```text
//! responses((status = OK, body = Tag), NotFound, Conflicting, BadBody, Written, Common)
//! ```

use std::collections::BTreeMap;

use axum::http::StatusCode;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema as _};

use super::{ApiError, Code, Problem};
use domain::field_error::FieldError;
use domain::scope::Scope;

macro_rules! groups {
    ($($(#[$doc:meta])* $name:ident: $($error:expr => $description:literal),+;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$(document($error.status(), $description)),+].into()
            }
        }
    )+};
}

groups! {
    /// Errors that every operation of the admin API can return.
    Common:
        ApiError::Unauthorized => "No token, or a wrong one",
        ApiError::Scope(Scope::Admin) => "The token lacks the scope that the operation needs",
        ApiError::Misdirected => "The `Host` is not one of the service's host names",
        ApiError::TooMany(0) => "Too many refused requests from this client",
        ApiError::Internal => "Internal error; the service's log says more",
        ApiError::Unavailable => "The database is unavailable at the moment";
    /// Errors of operations that require one of the service's host names, but no token.
    Addressed:
        ApiError::Misdirected => "The `Host` is not one of the service's host names";
    /// Errors of operations on a resource in the path.
    NotFound:
        ApiError::NotFound("") => "The resource does not exist";
    /// Errors of operations without a body: a query parameter may be invalid or unknown. Some
    /// operations have further rules.
    Invalid:
        ApiError::invalid(FieldError::whole("")) => "The request is malformed or incomplete";
    /// Errors of operations that take a body.
    BadBody:
        ApiError::invalid(FieldError::whole("")) => "The request is malformed or incomplete",
        ApiError::TimedOut => "The body took too long to arrive",
        ApiError::TooLarge => "The body is too large",
        ApiError::UnsupportedMediaType("") => "The body has the wrong content type";
    /// Errors of operations that can conflict with the current state.
    Conflicting:
        ApiError::conflict(Code::InUse, "") => "Not possible in the present state of the data";
    /// Errors of operations with `If-Match`. `document::version` adds this header to them, and
    /// `ETag` to their answers.
    ChangedMeanwhile:
        ApiError::Changed(None) => "`If-Match` names another revision: nothing was changed, and `current` is the resource as it is now";
    /// Errors of operations that write.
    Written:
        ApiError::Full => "The disk is full, and nothing was written";
}

fn document(status: StatusCode, description: &str) -> (String, RefOr<Response>) {
    let problem = Ref::from_schema_name(Problem::name());
    let content = ContentBuilder::new().schema(Some(problem)).build();
    let response = ResponseBuilder::new()
        .description(description)
        .content("application/problem+json", content);
    (status.as_str().to_owned(), response.build().into())
}
