//! Every admin API problem in any test must be declared in the OpenAPI document.

use std::collections::HashSet;
use std::sync::LazyLock;

use reqwest::{Method, Url};
use serde_json::Value;

use crate::Answer;

/// The problems that the document declares.
struct Declared {
    codes: HashSet<String>,
    operations: Vec<Operation>,
}

struct Operation {
    method: String,
    /// The parts of the path; `None` for a parameter.
    parts: Vec<Option<String>>,
    statuses: HashSet<u16>,
}

static DECLARED: LazyLock<Declared> = LazyLock::new(|| {
    let document = tapdesk_service::openapi().to_json().expect("JSON");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let codes = &document["components"]["schemas"]["ProblemCode"]["enum"];
    let codes = codes.as_array().expect("an enum of codes").iter();
    let paths = document["paths"].as_object().expect("paths").iter();
    let operations = paths.flat_map(|(path, item)| {
        let operations = item.as_object().expect("operations").iter();
        operations.map(|(method, operation)| Operation {
            method: method.to_uppercase(),
            parts: path.split('/').map(fixed).collect(),
            statuses: statuses(
                &operation["responses"],
                &document["components"]["responses"],
            ),
        })
    });
    Declared {
        codes: codes
            .map(|code| code.as_str().expect("a name").to_owned())
            .collect(),
        operations: operations.collect(),
    }
});

fn fixed(part: &str) -> Option<String> {
    (!part.starts_with('{')).then(|| part.to_owned())
}

fn statuses(responses: &Value, shared: &Value) -> HashSet<u16> {
    let responses = responses.as_object().expect("responses").iter();
    let problems = responses.filter(|(_, answer)| {
        let answer = match answer["$ref"].as_str() {
            Some(reference) => &shared[reference.rsplit('/').next().expect("a name")],
            None => answer,
        };
        answer["content"]["application/problem+json"].is_object()
    });
    problems
        .map(|(status, _)| status.parse().expect("a status"))
        .collect()
}

impl Operation {
    fn is_at(&self, method: &Method, path: &str) -> bool {
        let mut parts = path.split('/');
        let alike = self.parts.iter().all(|part| {
            let is = parts.next();
            is.is_some_and(|is| part.as_deref().is_none_or(|part| part == is))
        });
        alike && parts.next().is_none() && self.method == method.as_str()
    }
}

/// Checks the response to a request, if it is a problem of the admin API.
///
/// # Panics
/// If the document does not declare it.
#[track_caller]
pub(crate) fn check(method: &Method, url: &Url, answer: &Answer) {
    if answer.header("content-type") != Some("application/problem+json") || *method == Method::HEAD
    {
        return;
    }
    let request = format!("{method} {}: {} {}", url.path(), answer.status, answer.body);
    let problem: Value = serde_json::from_str(&answer.body).expect("a problem is JSON");
    let code = problem["code"].as_str().unwrap_or_default();
    assert!(DECLARED.codes.contains(code), "no such code: {request}");
    assert_eq!(problem["status"], answer.status, "{request}");
    for error in problem["errors"].as_array().into_iter().flatten() {
        let filled = |member: &str| error[member].as_str().is_some_and(|text| !text.is_empty());
        assert!(filled("field") && filled("message"), "{request}");
    }
    // A public listener has no routes of the admin API.
    if problem["detail"] == "There is no such route." {
        return;
    }
    let at = |operation: &&Operation| operation.is_at(method, url.path());
    // An unknown route has no operation, and answers 404 or 405.
    let fixed = |operation: &&Operation| operation.parts.iter().flatten().count();
    if let Some(operation) = DECLARED.operations.iter().filter(at).max_by_key(fixed) {
        let declared = operation.statuses.contains(&answer.status);
        assert!(declared, "not declared: {request}");
    }
}
