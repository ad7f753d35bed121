//! The failures that several operations can answer with stand once in the document, below
//! `components/responses`. Problems, written out in every operation, would be half of it.

use axum::http::StatusCode;
use utoipa::openapi::{OpenApi, Ref, RefOr, Response};

use super::shape;

/// The media type of a problem.
const PROBLEM: &str = "application/problem+json";

/// The media types in which public routes fail, each with the end of its components' names.
const OF_PUBLIC_ROUTES: [(&str, &str); 2] = [("text/html", "Page"), ("application/json", "Answer")];

/// Replaces each problem of an operation by a reference to the component of its status, and so each
/// other failure that several operations share. A failure that says more than the component stays in
/// its operation, and so does one that no other operation has.
pub(super) fn share(document: &mut OpenApi) {
    let OpenApi {
        paths, components, ..
    } = document;
    let shared = &mut components.get_or_insert_default().responses;
    let items = paths.paths.values_mut();
    let operations = items.flat_map(shape::operations);
    let answers = operations.flat_map(|operation| &mut operation.responses.responses);
    let answers: Vec<(&String, &mut RefOr<Response>)> = answers.collect();
    let named = answers.iter().filter_map(|(status, answer)| match answer {
        RefOr::T(response) => Some((name_of_public(status, response)?, response.clone())),
        RefOr::Ref(_) => None,
    });
    let of_public_routes: Vec<(String, Response)> = named.collect();
    for (status, answer) in answers {
        let RefOr::T(response) = &*answer else {
            continue;
        };
        let name = if response.content.contains_key(PROBLEM) {
            name_of(status)
        } else {
            name_of_public(status, response).filter(|name| {
                let alike = of_public_routes.iter();
                alike
                    .filter(|(of, like)| of == name && like == response)
                    .count()
                    > 1
            })
        };
        let Some(mut name) = name else {
            continue;
        };
        // Pages of one status may differ; problems of one status are alike.
        if !response.content.contains_key(PROBLEM) {
            let mut number = 1;
            let first = name.clone();
            while shared.get(&name).is_some_and(|one| !is(one, response)) {
                number += 1;
                name = format!("{first}{number}");
            }
        }
        let component = shared
            .entry(name.clone())
            .or_insert_with(|| response.clone().into());
        if is(component, response) {
            *answer = Ref::from_response_name(name).into();
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

/// `NotFoundPage` for a page with the status `404`; `None` for an answer that is no failure.
fn name_of_public(status: &str, response: &Response) -> Option<String> {
    if !status.starts_with(['4', '5']) {
        return None;
    }
    let mut kinds = OF_PUBLIC_ROUTES.iter();
    let &(_, kind) = kinds.find(|(media_type, _)| response.content.contains_key(*media_type))?;
    Some(name_of(status)? + kind)
}
