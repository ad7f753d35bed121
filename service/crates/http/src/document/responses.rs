//! The problems that most operations can answer with stand once in the document, below
//! `components/responses`. Written out in every operation they would be half of it.

use axum::http::StatusCode;
use utoipa::openapi::{OpenApi, Ref, RefOr, Response};

use super::shape;

/// The media type of a problem.
const PROBLEM: &str = "application/problem+json";

/// Replaces each problem of an operation by a reference to the component of its status. A problem
/// that says more than the one in the component stays in its operation.
pub(super) fn share(document: &mut OpenApi) {
    let OpenApi {
        paths, components, ..
    } = document;
    let shared = &mut components.get_or_insert_default().responses;
    for item in paths.paths.values_mut() {
        for operation in shape::operations(item) {
            for (status, answer) in &mut operation.responses.responses {
                let RefOr::T(response) = answer else { continue };
                if !response.content.contains_key(PROBLEM) {
                    continue;
                }
                let Some(name) = name_of(status) else {
                    continue;
                };
                let component = shared
                    .entry(name.clone())
                    .or_insert_with(|| response.clone().into());
                if is(component, response) {
                    *answer = Ref::from_response_name(name).into();
                }
            }
        }
    }
}

fn is(component: &RefOr<Response>, response: &Response) -> bool {
    matches!(component, RefOr::T(component) if component == response)
}

/// `UnprocessableEntity` for `422`.
fn name_of(status: &str) -> Option<String> {
    let reason = StatusCode::from_bytes(status.as_bytes()).ok()?;
    Some(reason.canonical_reason()?.replace([' ', '-'], ""))
}
