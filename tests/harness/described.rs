//! Compares the webhooks that are sent with their description in the OpenAPI document.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The OpenAPI document, as it is served.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let document = tapdesk_service::openapi().to_json();
    serde_json::from_str(&document.expect("the document")).expect("it is JSON")
});

/// Asserts that an event matches its type's schema, and has no member outside of it.
///
/// # Panics
///
/// When it does not match.
pub fn assert_described(event: &Value) {
    let name = event["type"].as_str().expect("an event has a type");
    let body = &DOCUMENT["webhooks"][name]["post"]["requestBody"]["content"]["application/json"];
    assert!(body["schema"].is_object(), "{name} is not described");
    let mut known = Vec::new();
    conforms(event, &body["schema"], name);
    members(&body["schema"]["properties"]["data"], &mut known);
    for member in event["data"].as_object().expect("data").keys() {
        assert!(
            known.contains(member),
            "{name}: {member} is not described: {event}"
        );
    }
}

fn resolved(schema: &Value) -> &Value {
    match schema["$ref"].as_str() {
        Some(place) => DOCUMENT
            .pointer(place.trim_start_matches('#'))
            .expect(place),
        None => schema,
    }
}

/// Collects the members that a schema names.
fn members(schema: &Value, known: &mut Vec<String>) {
    let schema = resolved(schema);
    let named = schema["properties"].as_object();
    known.extend(named.into_iter().flat_map(Map::keys).cloned());
    for part in schema["allOf"].as_array().into_iter().flatten() {
        members(part, known);
    }
}

/// Checks a value against a schema, for the keywords that this document uses.
fn conforms(value: &Value, schema: &Value, place: &str) {
    let schema = resolved(schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        conforms(value, part, place);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let one = choices.iter().any(|choice| is_of(value, resolved(choice)));
        assert!(one, "{place} is of no type that it may have: {value}");
    }
    assert!(is_of(value, schema), "{place} is of another type: {value}");
    if let Some(values) = schema["enum"].as_array() {
        assert!(
            values.contains(value),
            "{place} is none of {values:?}: {value}"
        );
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().expect("a name");
        assert!(value.get(name).is_some(), "{place} has no {name}: {value}");
    }
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(member) = value.get(name) {
            conforms(member, of, &format!("{place}.{name}"));
        }
    }
    for item in value.as_array().into_iter().flatten() {
        conforms(item, &schema["items"], place);
    }
}

/// Whether a value has the type of a schema, if the schema has one.
fn is_of(value: &Value, schema: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    match &schema["type"] {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}
