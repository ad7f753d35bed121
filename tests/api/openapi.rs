//! The OpenAPI document: it is committed, served, and agrees with the routes.

mod breaking;
mod descriptions;
mod limits;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tapdesk_tests::TestService;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../service/openapi.json");

fn document() -> String {
    let document = tapdesk_service::openapi();
    let mut text = document.to_pretty_json().expect("the document is JSON");
    text.push('\n');
    text
}

/// Compares the document with the committed one, or writes it with `UPDATE_OPENAPI=1`.
#[test]
fn the_committed_document_is_the_present_one() {
    let path = Path::new(COMMITTED);
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(path, document()).expect("the document can be written");
    }
    let committed = std::fs::read_to_string(path).expect("the document is committed");
    assert!(
        committed == document(),
        "service/openapi.json is old: run the tests once with UPDATE_OPENAPI=1"
    );
}

#[test]
fn every_reference_in_the_document_leads_somewhere() {
    fn check(value: &Value, document: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    let target = reference.strip_prefix('#');
                    let target = target.and_then(|pointer| document.pointer(pointer));
                    assert!(target.is_some(), "{reference} leads nowhere");
                }
                members.values().for_each(|member| check(member, document));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, document)),
            _ => {}
        }
    }
    let document: Value = serde_json::from_str(&document()).expect("JSON");
    check(&document, &document);
}

/// A list that is a set accepts a repeated item, and drops it. A body for which the document forbids
/// one would be refused by a strict client only.
#[test]
fn no_body_of_a_request_forbids_repeated_items() {
    fn check(value: &Value, document: &Value, seen: &mut HashSet<String>) {
        match value {
            Value::Object(members) => {
                assert!(
                    members.get("uniqueItems") != Some(&json!(true)),
                    "repeated items are accepted: {value}"
                );
                if let Some(Value::String(reference)) = members.get("$ref")
                    && seen.insert(reference.clone())
                {
                    let target = document.pointer(reference.trim_start_matches('#'));
                    check(target.expect("a schema"), document, seen);
                }
                members
                    .values()
                    .for_each(|member| check(member, document, seen));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, document, seen)),
            _ => {}
        }
    }
    let document: Value = serde_json::from_str(&document()).expect("JSON");
    let mut seen = HashSet::new();
    for operations in document["paths"].as_object().expect("paths").values() {
        for operation in operations.as_object().expect("operations").values() {
            check(&operation["requestBody"], &document, &mut seen);
        }
    }
    assert!(seen.len() > 50, "bodies have schemas: {}", seen.len());
}

/// An inlined type with a description of its own would be a text and an object at once, which no
/// value is.
#[test]
fn no_value_has_to_be_of_two_types() {
    fn check(value: &Value) {
        match value {
            Value::Object(members) => {
                let parts = members.get("allOf").and_then(Value::as_array);
                let types = parts.into_iter().flatten().map(|part| &part["type"]);
                let types: std::collections::HashSet<_> =
                    types.filter(|one| !one.is_null()).collect();
                assert!(types.len() < 2, "{value}");
                members.values().for_each(check);
            }
            Value::Array(items) => items.iter().for_each(check),
            _ => {}
        }
    }
    check(&serde_json::from_str(&document()).expect("JSON"));
}

/// `SIC43` chips count to 4,294,967,295, and a client with integers of the type `int32` fails from
/// the half of it on.
#[test]
fn counters_of_32_bits_are_no_int32() {
    const COUNTERS: [(&str, &str); 13] = [
        ("Inlay", "last_counter"),
        ("InlayPatch", "last_counter"),
        ("Interaction", "counter"),
        ("Interaction", "last_counter"),
        ("Interaction", "missed_reads"),
        ("NewInlay", "last_counter"),
        ("SolveCandidate", "counter"),
        ("SolveChip", "counter"),
        ("TechnologyView", "counter_max"),
        ("UnlistedChip", "last_counter"),
        ("Verification", "counter"),
        ("VirtualInlay", "counter"),
        ("VirtualTapped", "counter"),
    ];
    fn check(value: &Value) {
        match value {
            Value::Object(members) => {
                let narrow = members.get("format") == Some(&json!("int32"));
                let highest = members.get("maximum").and_then(Value::as_i64);
                let fits = highest.is_none_or(|highest| highest <= i64::from(i32::MAX));
                assert!(fits || !narrow, "{value}");
                members.values().for_each(check);
            }
            Value::Array(items) => items.iter().for_each(check),
            _ => {}
        }
    }
    let document = parsed();
    check(&document);
    let schemas = &document["components"]["schemas"];
    for (schema, member) in COUNTERS {
        let counter = &schemas[schema]["properties"][member];
        assert_eq!(counter["format"], "int64", "{schema}: {member}");
        assert_eq!(counter["minimum"], 0, "{schema}: {member}");
    }
}

#[test]
fn the_header_that_continues_a_stream_of_events_is_documented() {
    let document: Value = serde_json::from_str(&document()).expect("JSON");
    let parameters = &document["paths"]["/admin/v1/events"]["get"]["parameters"];
    let header = parameters.as_array().expect("parameters").iter();
    let header = header.clone().find(|one| one["in"] == "header");
    let header = header.expect("a header");
    let expected = (&json!("Last-Event-ID"), &json!(false));
    assert_eq!((&header["name"], &header["required"]), expected);
}

/// Each operation by its method and path.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().expect("paths").iter();
    let operations = paths.flat_map(|(path, item)| {
        let operations = item.as_object().expect("operations").iter();
        operations.map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    operations.collect()
}

fn parsed() -> Value {
    serde_json::from_str(&document()).expect("JSON")
}

#[test]
fn every_answer_is_described_and_tells_when_to_try_again_if_that_may_help() {
    let document = parsed();
    for (name, operation) in operations(&document) {
        for (status, answer) in operation["responses"].as_object().expect("answers") {
            let answer = match answer["$ref"].as_str() {
                Some(reference) => document.pointer(&reference[1..]).expect(reference),
                None => answer,
            };
            let description = answer["description"].as_str().unwrap_or_default();
            assert!(!description.is_empty(), "{name}: {status}");
            let waits = &answer["headers"]["Retry-After"]["schema"]["type"];
            let helps = ["429", "503"].contains(&status.as_str());
            assert_eq!(waits == "integer", helps, "{name}: {status}");
        }
    }
}

/// Half of the document were problems, of which only a few differ.
#[test]
fn a_problem_stands_once_in_the_document() {
    let document = parsed();
    for (name, operation) in operations(&document) {
        for (status, answer) in operation["responses"].as_object().expect("answers") {
            let content = answer["content"].as_object();
            let is_problem = content.is_some_and(|is| is.contains_key("application/problem+json"));
            assert!(!is_problem, "{name} writes out its {status}");
        }
    }
    let shared = document["components"]["responses"].as_object().unwrap();
    assert!(shared.contains_key("NotFound"), "{:?}", shared.keys());
}

/// Pages and answers of public routes are no problems. Several routes give the same ones.
#[test]
fn a_failure_that_several_operations_have_stands_once_in_the_document() {
    let document = parsed();
    let mut written = HashMap::new();
    for (name, operation) in operations(&document) {
        for (status, answer) in operation["responses"].as_object().expect("answers") {
            if status.starts_with(['4', '5']) && answer["$ref"].is_null() {
                let before = written.insert((status, answer.to_string()), name.clone());
                assert_eq!(before, None, "{name} repeats the {status}");
            }
        }
    }
    let shared = &document["components"]["responses"];
    for (name, media_type) in [
        ("BadRequestPage", "text/html"),
        ("GonePage", "text/html"),
        ("ServiceUnavailableAnswer", "application/json"),
    ] {
        let content = &shared[name]["content"][media_type];
        assert!(content.is_object(), "{name}: {shared}");
    }
    let of_tap = &document["paths"]["/t/{slug}"]["get"]["responses"];
    let archived = &of_tap["410"]["$ref"];
    assert_eq!(archived, "#/components/responses/GonePage");
}

#[test]
fn every_operation_says_which_credentials_it_needs() {
    let document = parsed();
    for (name, operation) in operations(&document) {
        let needs_token = name.contains(" /admin/") || name.ends_with(" /metrics");
        if !needs_token {
            assert_eq!(operation["security"], json!([]), "{name}");
            continue;
        }
        let scopes = operation["security"][0]["token"].as_array();
        let any_token =
            ["get /admin/v1/technologies", "get /admin/v1/tokens/current"].contains(&name.as_str());
        assert_eq!(
            scopes.map(Vec::len),
            Some(usize::from(!any_token)),
            "{name}"
        );
    }
}

#[test]
fn every_schema_is_an_object_and_every_change_names_its_members() {
    fn check(value: &Value, place: &str) {
        let Some(schema) = value.as_object() else {
            return;
        };
        // An example is a value, whatever its members are called.
        for (name, part) in schema.iter().filter(|(name, _)| *name != "example") {
            if ["items", "schema"].contains(&name.as_str()) {
                assert!(part.is_object(), "{place}/{name} is {part}");
            }
            check(part, &format!("{place}/{name}"));
            let parts = part.as_array().into_iter().flatten();
            parts.for_each(|part| check(part, &format!("{place}/{name}")));
        }
    }
    let document = parsed();
    check(&document, "");
    for (name, operation) in operations(&document) {
        if !name.starts_with("patch ") {
            continue;
        }
        let schema = &operation["requestBody"]["content"]["application/merge-patch+json"]["schema"];
        let reference = schema["$ref"].as_str().expect("a name");
        let (_, schema) = reference.rsplit_once('/').expect("a name");
        let schema = &document["components"]["schemas"][schema];
        let members = schema["properties"].as_object();
        assert!(members.is_some_and(|members| !members.is_empty()), "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
    }
}

/// RFC 7396: `null` removes a member, also one of an object within.
#[test]
fn what_null_resets_is_in_the_schema_of_a_change() {
    let document = parsed();
    let schemas = &document["components"]["schemas"];
    let null = json!({"type": "null"});
    let may_be_null = |schema: &Value| {
        let types = schema["type"].as_array().into_iter().flatten();
        let choices = schema["oneOf"].as_array().into_iter().flatten();
        types
            .chain(choices)
            .any(|one| *one == "null" || *one == null)
    };
    for (patch, member) in [
        ("TagPatch", "title"),
        ("TagPatch", "attributes"),
        ("TagPatch", "location"),
        ("LocationPatch", "lat"),
        ("VenuePatch", "type"),
        ("ThemePatch", "accent"),
        ("SheetFieldsPatch", "planned"),
    ] {
        let schema = &schemas[patch]["properties"][member];
        assert!(may_be_null(schema), "{patch} {member}: {schema}");
        assert_eq!(schema["default"], Value::Null, "{patch} {member}");
    }
    let variable = &schemas["PropertiesPatch"]["additionalProperties"];
    assert!(may_be_null(variable), "{variable}");
    for member in ["name", "slug"] {
        let schema = &schemas["TagPatch"]["properties"][member];
        assert!(
            schema.is_object() && !may_be_null(schema),
            "{member}: {schema}"
        );
    }
}

/// Write-only keys are replaced together: nobody can see the ones that a merge would keep.
#[test]
fn the_other_keys_of_a_chip_are_all_required_in_a_change_too() {
    let document = parsed();
    let schemas = &document["components"]["schemas"];
    let change = &schemas["InlayPatch"]["properties"]["other_keys"];
    let whole = "#/components/schemas/OtherKeys";
    assert_eq!(change["oneOf"][0]["$ref"], whole, "{change}");
    assert_eq!(change["oneOf"][1], json!({"type": "null"}), "{change}");
    assert_eq!(
        schemas["OtherKeys"]["required"],
        json!(["key_0", "key_3", "key_4"])
    );
    assert!(schemas.get("OtherKeysPatch").is_none());
}

#[tokio::test]
async fn the_document_and_its_reference_are_served_without_a_token() {
    let service = TestService::start().await;
    let served = service
        .get("/openapi.json")
        .send()
        .await
        .expect("an answer");
    assert_eq!(served.status(), StatusCode::OK);
    let served: Value = served.json().await.expect("JSON");
    let present: Value = serde_json::from_str(&document()).expect("JSON");
    assert_eq!(served, present);

    let reference = service.get("/docs").send().await.expect("an answer");
    assert_eq!(reference.status(), StatusCode::OK);
    let policy = reference.headers()["content-security-policy"]
        .to_str()
        .expect("text")
        .to_owned();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'nonce-"),
        "{policy}"
    );
    let page = reference.text().await.expect("text");
    assert!(
        page.contains("<a href=\"/docs/\">"),
        "the page leads to the guides"
    );
    let outside = ["http://", "https://", "src=\"//"];
    assert!(
        !outside.iter().any(|part| page.contains(part)),
        "the page needs no network"
    );
}

/// Each operation of the document reaches a handler. A missing route or method would answer 404 or
/// 405 with the router's own text.
#[tokio::test]
async fn every_operation_of_the_document_is_a_route() {
    let service = TestService::start().await;
    let document: Value = serde_json::from_str(&document()).expect("JSON");
    for (path, item) in document["paths"].as_object().expect("paths") {
        for name in item
            .as_object()
            .expect("operations")
            .keys()
            .filter(|name| *name != "parameters")
        {
            let method = Method::from_bytes(name.to_uppercase().as_bytes()).expect("a method");
            // Without a token: an existing admin route asks for one first.
            let address = path.replace(['{', '}'], "");
            let mut request = service.request(method.clone(), &address);
            if path == "/t/{slug}" && method == Method::POST {
                request = service.post_form(&address, &[("rolling_key", "x")]);
            }
            let answer = request.send().await.expect("an answer");
            let expected: &[u16] = if path.starts_with("/admin/") || path == "/metrics" {
                &[401, 429]
            } else if ["/t/{slug}", "/media/{name}", "/stand-in"].contains(&path.as_str())
                || ["/.well-known/", "/staff/pair/", "/staff/taps/"]
                    .iter()
                    .any(|part| path.starts_with(part))
            {
                &[404]
            } else {
                &[200, 415, 429]
            };
            let status = answer.status().as_u16();
            assert!(
                expected.contains(&status),
                "{method} {path} answered {status}"
            );
        }
    }
}
