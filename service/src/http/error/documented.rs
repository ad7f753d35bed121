//! The refusals of the admin API, for the OpenAPI document.
//!
//! An operation lists the groups that apply to it in `responses(...)`, beside
//! its own answers:
//!
//! ```text
//! responses((status = OK, body = Tag), NotFound, Conflicting, BadBody, Written, Common)
//! ```

use std::collections::BTreeMap;

use axum::http::StatusCode;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema as _};

use super::{ApiError, Code, Problem};
use crate::field_error::FieldError;
use crate::scope::Scope;

macro_rules! groups {
    ($($(#[$doc:meta])* $name:ident: $($error:expr => $description:literal),+;)+) => {$(
        $(#[$doc])*
        pub(in crate::http) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$(document($error.status(), $description)),+].into()
            }
        }
    )+};
}

groups! {
    /// What every operation of the admin API can answer.
    Common:
        ApiError::Unauthorized => "No token, or a wrong one",
        ApiError::Scope(Scope::Admin) => "The token lacks the scope that the operation needs",
        ApiError::Misdirected => "The `Host` is not one of the service's host names",
        ApiError::TooMany(0) => "Too many refused requests from this client",
        ApiError::Internal => "Internal error; the service's log says more",
        ApiError::Unavailable => "The database is unavailable at the moment";
    /// What operations can answer that need a host of ours, and no token.
    Addressed:
        ApiError::Misdirected => "The `Host` is not one of the service's host names";
    /// Operations on something addressed in the path.
    NotFound:
        ApiError::NotFound("") => "The resource does not exist";
    /// Operations with query parameters, or with a rule of their own, and without a body.
    Invalid:
        ApiError::invalid(FieldError::whole("")) => "The request is malformed or incomplete";
    /// Operations that take a body.
    BadBody:
        ApiError::invalid(FieldError::whole("")) => "The request is malformed or incomplete",
        ApiError::TimedOut => "The body took too long to arrive",
        ApiError::TooLarge => "The body is too large",
        ApiError::UnsupportedMediaType("") => "The body has the wrong content type";
    /// Operations that the present state of the data can refuse.
    Conflicting:
        ApiError::conflict(Code::InUse, "") => "Not possible in the present state of the data";
    /// Operations that take `If-Match`. `document::version` adds it to them, and `ETag` to the answers.
    ChangedMeanwhile:
        ApiError::Changed(None) => "`If-Match` names another revision: nothing was changed, and `current` is the resource as it is now";
    /// Operations that write.
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
