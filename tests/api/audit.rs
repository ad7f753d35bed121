//! The audit log: each changing operation of the OpenAPI document leaves its row.

mod encodings;
mod experiences;
mod exports;
mod groups;
mod keys;
mod orders;
mod others;
mod rows;
mod submissions;
mod tags;

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::fixtures::{chip, chip_json};
use tapdesk_tests::{Answer, TestService};

use tapdesk_service::inlay::{MacFrom, Mirror};

/// Operations that use a writing method and yet configure nothing: they look something up, or make
/// or announce a tap or a read, which is an interaction or a part of one.
const NO_CHANGE: [&str; 9] = [
    "post_encodings_preview",
    "post_experiences_id_preview",
    "post_labels_preview",
    "post_own_reads",
    "post_simulator_inlays_id_tap",
    "post_tags_import_table",
    "post_test_taps",
    "post_url_templates_solve",
    "post_verification",
];

/// Calls operations one after the other, and checks the audit row of each.
struct Driver {
    service: TestService,
    done: BTreeSet<String>,
    rows: i64,
}

impl Driver {
    async fn newest(&self) -> Value {
        let page = self.service.admin_get("/audit?limit=1").await;
        page["items"][0].clone()
    }

    /// Forgets all rows so far, because they are not part of the test.
    async fn look(&mut self) {
        self.rows = self.newest().await["id"].as_i64().unwrap_or_default();
    }

    /// Asserts that `operation` succeeded and left one row: `action` of `object`. Returns the
    /// response.
    async fn left(&mut self, operation: &str, answer: Answer, action: &str, object: &str) -> Value {
        assert!(answer.status < 300, "{operation}: {}", answer.body);
        let row = self.newest().await;
        assert_eq!(row["id"], self.rows + 1, "{operation}: {row}");
        assert_eq!(row["action"], action, "{operation}");
        assert_eq!(row["object"], object, "{operation}");
        assert_eq!(
            row["actor"],
            json!({"kind": "installation", "id": null, "name": null})
        );
        assert_eq!(row["address"], "127.0.0.1");
        self.rows += 1;
        self.done.insert(operation.to_owned());
        serde_json::from_str(&answer.body).unwrap_or_default()
    }

    async fn send(&self, method: Method, path: &str, body: Value) -> Answer {
        self.service.admin(method, path, body).await
    }
}

/// The three operations on the items of a list: create, change and delete.
struct Resource {
    list: &'static str,
    new: Value,
    change: Value,
}

#[tokio::test]
async fn each_operation_that_changes_something_leaves_one_row() {
    let service = TestService::start().await;
    let mut driver = Driver {
        service,
        done: BTreeSet::new(),
        rows: 0,
    };
    for resource in resources() {
        resource.drive(&mut driver).await;
    }
    tags::tags(&mut driver).await;
    experiences::experiences(&mut driver).await;
    groups::groups(&mut driver).await;
    keys::keys(&mut driver).await;
    submissions::submissions(&mut driver).await;
    encodings::encodings(&mut driver).await;
    orders::orders(&mut driver).await;
    others::others(&mut driver).await;
    let document = tapdesk_service::openapi().to_json().unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            if method == "get" || !path.starts_with("/admin/") || NO_CHANGE.contains(&id) {
                continue;
            }
            assert!(
                driver.done.contains(id),
                "this test does not do {id}: {method} {path}"
            );
        }
    }
    let check = driver.service.admin_get("/audit/check").await;
    assert_eq!(check, json!({"problem": null}));
}

fn resources() -> Vec<Resource> {
    let derivation =
        json!({"scheme": "an10922", "input": "{uid}3042F54E585020416275", "diversify_meta": true});
    vec![
        Resource {
            list: "tags",
            new: json!({"name": "Bottle"}),
            change: json!({"name": "Jar"}),
        },
        Resource {
            list: "experiences",
            new: json!({"name": "R", "kind": "redirect", "target_url": "https://owner.example/"}),
            change: json!({"name": "S"}),
        },
        Resource {
            list: "groups",
            new: json!({"kind": "batch", "name": "Lot 3"}),
            change: json!({"status": "recalled"}),
        },
        Resource {
            list: "inlays",
            new: chip_json(&chip(Mirror::Plain, MacFrom::None)),
            change: json!({"mac_from": "uid"}),
        },
        Resource {
            list: "master-keys",
            new: json!({"name": "Cellar", "key": "00112233445566778899AABBCCDDEEFF", "derivation": derivation}),
            change: json!({"name": "Attic"}),
        },
        Resource {
            list: "webhooks",
            new: json!({"url": "https://hooks.example/tapdesk", "events": ["tap.verified"]}),
            change: json!({"enabled": false}),
        },
        Resource {
            list: "notifications",
            new: json!({
                "kind": "alert", "events": ["alert.disk_low"], "channel": {"mail": ["anna@example.com"]},
            }),
            change: json!({"enabled": false}),
        },
        Resource {
            list: "url-templates",
            new: json!({
                "name": "Bottles", "technology": "ntag424dna", "mac_from": "none",
                "template": "https://tags.example/b/{slug}?picc_data={picc}&cmac={mac}",
            }),
            change: json!({"name": "Jars"}),
        },
    ]
}

impl Resource {
    async fn drive(self, driver: &mut Driver) {
        let Self { list, new, change } = self;
        let name = list.replace('-', "_");
        let path = format!("/{list}");
        let answer = driver.send(Method::POST, &path, new).await;
        let id = answer.json()["id"].clone();
        let object = format!("{list}/{id}");
        driver
            .left(
                &format!("post_{name}"),
                answer,
                &format!("{list}.create"),
                &object,
            )
            .await;
        let path = format!("/{object}");
        let answer = driver.send(Method::PATCH, &path, change.clone()).await;
        driver
            .left(
                &format!("patch_{name}_id"),
                answer,
                &format!("{list}.update"),
                &object,
            )
            .await;
        let row = driver.newest().await;
        for (member, value) in change.as_object().unwrap() {
            assert_eq!(row["after"][member], *value, "{row}");
            assert_ne!(row["before"][member], *value, "{row}");
        }
        let answer = driver.send(Method::DELETE, &path, Value::Null).await;
        driver
            .left(
                &format!("delete_{name}_id"),
                answer,
                &format!("{list}.delete"),
                &object,
            )
            .await;
        // The audit log is now the only place that has the deleted values.
        let row = driver.newest().await;
        let before = row["before"].as_object();
        assert!(before.is_some_and(|before| !before.is_empty()), "{row}");
        assert_eq!(row["after"], Value::Null, "{row}");
    }
}
