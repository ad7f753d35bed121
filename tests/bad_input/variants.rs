//! The kind of an object is a name: a number in its place is refused.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

/// The names of the schemas that request bodies of the API can contain.
fn requested(document: &Value) -> BTreeSet<String> {
    fn follow(value: &Value, schemas: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    let name = reference.rsplit('/').next().expect("a name");
                    if found.insert(name.to_owned()) {
                        follow(&schemas[name], schemas, found);
                    }
                }
                members.values().for_each(|one| follow(one, schemas, found));
            }
            Value::Array(items) => items.iter().for_each(|one| follow(one, schemas, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    let paths = document["paths"].as_object().expect("paths");
    for operation in paths
        .values()
        .flat_map(|path| path.as_object().unwrap().values())
    {
        let body = &operation["requestBody"];
        follow(body, &document["components"]["schemas"], &mut found);
    }
    found
}

/// Requests that contain an object of each schema, with `kind` as its kind.
fn requests(schema: &str, kind: &Value) -> Vec<(&'static str, Value)> {
    let text = json!({"type": "text", "text": "Hello"});
    let studio = |block: Value| {
        let body = json!({"name": "Page", "kind": "studio", "blocks": [block]});
        ("/experiences", body)
    };
    match schema {
        "Block" => vec![
            studio(json!({"type": kind, "text": "Hello"})),
            studio(json!({
                "type": "condition",
                "when": {"type": "variable_empty", "variable": "a"},
                "blocks": [{"type": kind, "text": "Hello"}]
            })),
        ],
        "When" => {
            let when = json!({"type": kind, "variable": "a", "value": "b"});
            let rule = json!({"when": [when], "target_url": "https://example.com/b"});
            let url = "https://example.com/a";
            let redirect =
                json!({"name": "R", "kind": "redirect", "target_url": url, "rules": [rule]});
            vec![
                studio(json!({"type": "condition", "when": when, "blocks": [text]})),
                ("/experiences", redirect),
            ]
        }
        "TagBulkRequest" => {
            let body = json!({"action": kind, "select": {"ids": [1]}, "experience_id": null});
            vec![("/tags/bulk", body)]
        }
        "Derivation" => {
            let derivation = json!({"scheme": kind, "input": "{uid}"});
            let key = "0123456789abcdef".repeat(2);
            let body = json!({"name": "Cellar", "key": key, "derivation": derivation});
            vec![("/master-keys", body)]
        }
        other => panic!("no request is known here with a {other}: add one"),
    }
}

#[tokio::test]
async fn a_number_is_no_kind_in_any_object_that_is_told_by_a_name() {
    let service = TestService::start().await;
    let document = service.get("/openapi.json").send().await.unwrap();
    let document: Value = document.json().await.unwrap();
    let schemas = &document["components"]["schemas"];
    let mut tried = 0;
    for schema in requested(&document) {
        let Some(mapping) = schemas[&schema]["discriminator"]["mapping"].as_object() else {
            continue;
        };
        let first = mapping.keys().next().expect("a kind");
        let numbers = (0..mapping.len()).map(Value::from);
        let none = [
            json!(true),
            json!([first]),
            json!({first: null}),
            Value::Null,
        ];
        for kind in numbers.chain(none) {
            for (path, body) in requests(&schema, &kind) {
                let answer = service.admin(Method::POST, path, body.clone()).await;
                assert_eq!(answer.status, 422, "{body}: {}", answer.body);
                tried += 1;
            }
        }
    }
    assert!(tried > 40, "only {tried} requests were made");
}
