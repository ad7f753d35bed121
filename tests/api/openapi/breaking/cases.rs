//! Changes that break clients, and changes that do not.

use serde_json::{Value, json};

use super::{breaks, essential, may_break};

fn document() -> Value {
    json!({
        "info": {"version": "0.1.0"},
        "paths": {"/tags/{id}": {"patch": {
            "operationId": "patch_tag",
            "security": [{"token": ["tags"]}],
            "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}},
                {"name": "dry_run", "in": "query", "schema": {"type": "boolean"}},
            ],
            "requestBody": {"required": false, "content": {"application/json": {"schema": {
                "$ref": "#/components/schemas/Change",
            }}}},
            "responses": {
                "200": {
                    "headers": {"ETag": {"schema": {"type": "string"}}},
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tag"}}},
                },
                "404": {"$ref": "#/components/responses/NotFound"},
            },
        }}},
        "webhooks": {"tag.updated": {"post": {
            "parameters": [{"name": "webhook-id", "in": "header", "required": true}],
            "requestBody": {"content": {"application/json": {"schema": {
                "type": "object", "required": ["tag_id"],
                "properties": {"tag_id": {"type": "integer"}},
            }}}},
        }}},
        "components": {
            "responses": {"NotFound": {"content": {"application/json": {"schema": {"type": "object"}}}}},
            "schemas": {
                "Change": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "maxLength": 200},
                        "title": {"type": ["string", "null"]},
                        "count": {"type": "integer", "format": "int64"},
                        "status": {"$ref": "#/components/schemas/Status"},
                        "block": {"oneOf": [
                            {"$ref": "#/components/schemas/Text"}, {"type": "null"},
                        ]},
                    },
                },
                "Tag": {"allOf": [{"$ref": "#/components/schemas/Change"}, {
                    "type": "object", "required": ["id"],
                    "properties": {
                        "id": {"type": "integer", "format": "int32"},
                        "parent": {"oneOf": [
                            {"$ref": "#/components/schemas/Tag"}, {"type": "null"},
                        ]},
                        "blocks": {"type": "array", "items": {"oneOf": [
                            {"$ref": "#/components/schemas/Text"},
                            {"$ref": "#/components/schemas/Line"},
                        ]}},
                    },
                }]},
                "Status": {"type": "string", "enum": ["active", "archived"]},
                "Text": {
                    "type": "object", "required": ["type", "text"],
                    "properties": {
                        "type": {"type": "string", "enum": ["text"]}, "text": {"type": "string"},
                    },
                },
                "Line": {
                    "type": "object", "required": ["type"],
                    "properties": {"type": {"type": "string", "enum": ["line"]}},
                },
            },
        },
    })
}

const OPERATION: &str = "/paths/~1tags~1{id}/patch";
const CHANGE: &str = "/components/schemas/Change";
const TAG: &str = "/components/schemas/Tag/allOf/1";

/// The document with another value at a place; without it if the value is null.
fn with(place: &str, value: Value) -> Value {
    let mut document = document();
    let (parent, name) = place.rsplit_once('/').expect("a member");
    let name = name.replace("~1", "/");
    let parent = document.pointer_mut(parent).expect("a place");
    match parent {
        Value::Array(items) => {
            let at: usize = name.parse().expect("a position");
            if at == items.len() {
                items.push(value);
            } else if value.is_null() {
                items.remove(at);
            } else {
                items[at] = value;
            }
        }
        Value::Object(members) if value.is_null() => {
            members.remove(&name);
        }
        Value::Object(members) => {
            members.insert(name, value);
        }
        other => panic!("{other} has no members"),
    }
    document
}

/// Each value at its place is a break in these words.
fn are_found(cases: Vec<(String, Value, &str)>) {
    for (place, value, why) in cases {
        let found = breaks(&document(), &with(&place, value.clone()));
        let is_found = found.iter().any(|one| one.contains(why));
        assert!(is_found, "{place} = {value}: {found:#?}");
    }
}

#[test]
fn each_rule_about_operations_finds_its_break() {
    are_found(vec![
        (
            "/paths/~1tags~1{id}".to_owned(),
            json!(null),
            "the operation is gone",
        ),
        (
            format!("{OPERATION}/operationId"),
            json!("x"),
            "name the operation otherwise",
        ),
        (
            format!("{OPERATION}/security"),
            json!([{"token": ["admin"]}]),
            "another scope",
        ),
        (
            format!("{OPERATION}/parameters/1"),
            json!(null),
            "?dry_run: the parameter is gone",
        ),
        (
            format!("{OPERATION}/parameters/1/required"),
            json!(true),
            "?dry_run: the parameter is required now",
        ),
        (
            format!("{OPERATION}/parameters/2"),
            json!({"name": "by", "in": "query", "required": true, "schema": {}}),
            "?by: the parameter is required now",
        ),
        (
            format!("{OPERATION}/parameters/1/schema/type"),
            json!("integer"),
            "?dry_run: it has another type",
        ),
        (
            format!("{OPERATION}/requestBody/required"),
            json!(true),
            "the body is required now",
        ),
        (
            format!("{OPERATION}/requestBody/content"),
            json!({"text/plain": {"schema": {}}}),
            "application/json is gone",
        ),
        (
            format!("{OPERATION}/responses/200"),
            json!(null),
            "200: the answer is gone",
        ),
        (
            format!("{OPERATION}/responses/404"),
            json!(null),
            "404: the answer is gone",
        ),
        (
            format!("{OPERATION}/responses/200/headers"),
            json!(null),
            "the header ETag is gone",
        ),
    ]);
}

#[test]
fn each_rule_about_what_the_service_takes_finds_its_break() {
    are_found(vec![
        (
            format!("{CHANGE}/required"),
            json!(["name"]),
            "body.name: it is required now",
        ),
        (
            format!("{CHANGE}/properties/count"),
            json!(null),
            "body.count: the member is gone",
        ),
        (
            format!("{CHANGE}/properties/name/maxLength"),
            json!(100),
            "maxLength is 100 now",
        ),
        (
            format!("{CHANGE}/properties/name/minLength"),
            json!(1),
            "minLength is 1 now",
        ),
        (
            format!("{CHANGE}/properties/name/pattern"),
            json!("^a"),
            "body.name: it has another pattern",
        ),
        (
            format!("{CHANGE}/properties/count/format"),
            json!("int32"),
            "body.count: it has another format",
        ),
        (
            format!("{CHANGE}/properties/title/type"),
            json!("string"),
            "body.title: null is refused now",
        ),
        (
            format!("{CHANGE}/properties/block/oneOf/1"),
            json!(null),
            "body.block: null is refused now",
        ),
        (
            format!("{CHANGE}/properties/name/enum"),
            json!(["a"]),
            "it takes only some values now",
        ),
        (
            format!("{CHANGE}/additionalProperties"),
            json!(false),
            "it takes no other members now",
        ),
    ]);
}

#[test]
fn each_rule_about_what_the_service_gives_finds_its_break() {
    let schemas = "/components/schemas";
    let event = "/webhooks/tag.updated/post";
    let body = "/requestBody/content/application~1json/schema";
    are_found(vec![
        (
            format!("{schemas}/Status/enum/1"),
            json!(null),
            "the value \"archived\" is gone",
        ),
        (
            format!("{TAG}/required"),
            json!([]),
            "200.id: it may be missing now",
        ),
        (
            format!("{TAG}/properties/id"),
            json!(null),
            "200.id: the member is gone",
        ),
        (
            format!("{TAG}/properties/id/type"),
            json!("string"),
            "200.id: it has another type",
        ),
        (
            format!("{TAG}/properties/id/type"),
            json!(["integer", "null"]),
            "200.id: it may be null now",
        ),
        (
            format!("{TAG}/properties/id/format"),
            json!("int64"),
            "200.id: it has another format",
        ),
        (
            format!("{TAG}/properties/blocks/items/oneOf/1"),
            json!(null),
            "200.blocks[]: the variant \"line\" is gone",
        ),
        (
            format!("{TAG}/properties/blocks/items/oneOf/2"),
            json!({"type": "string"}),
            "200.blocks[]: it may have another type now",
        ),
        (
            format!("{schemas}/Text/properties/text"),
            json!(null),
            "200.block.text: the member is gone",
        ),
        (
            format!("{schemas}/Status/enum"),
            json!(null),
            "200.status: it may have any value now",
        ),
        (
            "/webhooks/tag.updated".to_owned(),
            json!(null),
            "tag.updated: the event is gone",
        ),
        (
            format!("{event}/parameters/0"),
            json!(null),
            "the header \"webhook-id\" is gone",
        ),
        (
            format!("{event}{body}/required"),
            json!([]),
            "tag.updated.tag_id: it may be missing now",
        ),
    ]);
}

#[test]
fn what_clients_can_ignore_is_no_break() {
    let schemas = "/components/schemas";
    for (place, value) in [
        (
            "/paths/~1more".to_owned(),
            json!({"get": {"responses": {}}}),
        ),
        ("/webhooks/more".to_owned(), json!({"post": {}})),
        (format!("{OPERATION}/security"), json!([])),
        (
            format!("{OPERATION}/parameters/2"),
            json!({"name": "by", "in": "query", "schema": {}}),
        ),
        (format!("{OPERATION}/responses/409"), json!({"content": {}})),
        (
            format!("{CHANGE}/properties/more"),
            json!({"type": "string"}),
        ),
        (format!("{CHANGE}/properties/name/maxLength"), json!(300)),
        (format!("{CHANGE}/properties/name/maxLength"), json!(null)),
        (format!("{schemas}/Status/enum/2"), json!("lost")),
        (format!("{TAG}/required"), json!(["id", "blocks"])),
        (
            format!("{TAG}/properties/blocks/items/oneOf/2"),
            json!({"type": "object", "properties": {"type": {"enum": ["image"]}}}),
        ),
    ] {
        let found = breaks(&document(), &with(&place, value.clone()));
        assert_eq!(found, Vec::<String>::new(), "{place} = {value}");
    }
    assert_eq!(breaks(&document(), &document()), Vec::<String>::new());
}

#[test]
fn a_version_says_whether_clients_may_break() {
    for (old, new, expected) in [
        ("0.1.0", "0.1.0", false),
        ("0.1.0", "0.1.9", false),
        ("0.1.0", "0.2.0", true),
        ("0.9.0", "1.0.0", true),
        ("1.0.0", "1.1.0", false),
        ("1.9.0", "2.0.0", true),
        ("2.0.0", "1.9.0", false),
    ] {
        let of = |version: &str| json!({"info": {"version": version}});
        assert_eq!(may_break(&of(old), &of(new)), expected, "{old} {new}");
    }
}

#[test]
fn prose_is_left_out_and_members_of_its_name_stay() {
    let described = json!({
        "description": "A tag.", "properties": {"description": {"type": "string", "description": "x"}},
    });
    let expected = json!({"properties": {"description": {"type": "string"}}});
    assert_eq!(essential(&described), expected);
}
