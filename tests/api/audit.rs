//! The audit log: each changing operation of the OpenAPI document leaves its row.

mod rows;

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::fixtures::{chip, chip_json};
use tapdesk_tests::{Answer, Answering as _, TestService};

use tapdesk_service::inlay::{MacFrom, Mirror};

/// Operations with a method that changes something, and that change nothing that is set up: they
/// look, send what happened, or make a tap, which is an interaction.
const NO_CHANGE: [&str; 6] = [
    "post_experiences_id_preview",
    "post_simulator_inlays_id_tap",
    "post_url_templates_solve",
    "post_verification",
    "post_webhooks_id_resend",
    "post_webhooks_id_test",
];

/// Operations that need a chip on a reader: the stories of encoding do them.
const WITH_A_CHIP: &str = "_encoding";

/// Does operations one after the other, and looks for the row of each.
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

    /// Notes that what was done until now is no part of the test.
    async fn look(&mut self) {
        self.rows = self.newest().await["id"].as_i64().unwrap_or_default();
    }

    /// What is done by `operation` has succeeded, and has one row more: `action` of `object`.
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

/// Creates, changes and deletes what is in a list: the three operations on it.
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
    tags(&mut driver).await;
    experiences(&mut driver).await;
    keys(&mut driver).await;
    others(&mut driver).await;
    let document = tapdesk_service::openapi().to_json().unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let elsewhere = NO_CHANGE.contains(&id) || id.contains(WITH_A_CHIP);
            if method == "get" || !path.starts_with("/admin/") || elsewhere {
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
    }
}

async fn tags(driver: &mut Driver) {
    let tag = driver.service.redirecting_tag(Value::Null).await;
    driver.look().await;
    for class in ["variables", "data", "attributes"] {
        let object = format!("tags/{}/{class}/colour", tag.id);
        let path = format!("/{object}");
        let answer = driver
            .send(Method::PUT, &path, json!({"value": "red"}))
            .await;
        let put = format!("put_tags_id_{class}_key");
        driver
            .left(&put, answer, &format!("tags.{class}.set"), &object)
            .await;
        let row = driver.newest().await;
        assert_eq!(
            (&row["before"], &row["after"]),
            (&Value::Null, &json!("red"))
        );
        let answer = driver.send(Method::DELETE, &path, Value::Null).await;
        let delete = format!("delete_tags_id_{class}_key");
        driver
            .left(&delete, answer, &format!("tags.{class}.delete"), &object)
            .await;
    }
    driver
        .service
        .admin_patch(&tag.admin_path(), json!({"slug": "another-slug"}))
        .await;
    driver.look().await;
    let object = format!("tags/{}/former-slugs/{}", tag.id, tag.slug);
    let answer = driver
        .send(Method::DELETE, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left(
            "delete_tags_id_former_slugs_slug",
            answer,
            "tags.former-slugs.delete",
            &object,
        )
        .await;
    let object = format!("tags/{}/traces", tag.id);
    let answer = driver
        .send(Method::DELETE, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left(
            "delete_tags_id_traces",
            answer,
            "tags.traces.delete",
            &object,
        )
        .await;
    let object = "interactions/no-tag/traces";
    let answer = driver
        .send(Method::DELETE, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left(
            "delete_interactions_no_tag_traces",
            answer,
            "interactions.no-tag.traces.delete",
            object,
        )
        .await;
    let tags: Vec<_> = (0..450).map(|n| format!("\nTag {n}")).collect();
    let file = format!("name{}", tags.concat());
    let request = driver.service.admin_request(Method::POST, "/tags/import");
    let answer = request
        .header("content-type", "text/csv")
        .body(file)
        .answer()
        .await;
    driver
        .left("post_tags_import", answer, "tags.import", "tags/import")
        .await;
    let asked = driver.newest().await["after"].clone();
    assert_eq!(
        asked,
        json!({"rows": 450, "mode": "insert", "on_error": "skip"})
    );
    let change = json!({"action": "status", "status": "archived", "select": {"filter": {}}});
    let answer = driver.send(Method::POST, "/tags/bulk", change).await;
    driver
        .left("post_tags_bulk", answer, "tags.bulk", "tags/bulk")
        .await;
    let asked = driver.newest().await["after"].clone();
    assert_eq!(asked["selected"], 451, "{asked}");
    assert_eq!(asked["change"]["status"], "archived", "{asked}");
}

async fn experiences(driver: &mut Driver) {
    let page = |text: &str| {
        json!({"name": "Ask", "kind": "studio", "blocks": [
            {"type": "heading", "text": text},
            {"type": "variable_button", "label": "Mine", "variable": "claimed", "value": "true"},
        ]})
    };
    let id = driver.service.experience(page("One")).await;
    driver
        .service
        .tag(json!({"name": "Lacks it", "experience_id": id}))
        .await;
    driver
        .service
        .admin_patch(
            &format!("/experiences/{id}"),
            json!({"blocks": page("Two")["blocks"]}),
        )
        .await;
    driver.look().await;
    let object = format!("experiences/{id}");
    for (name, body) in [
        ("publish", Value::Null),
        ("rollback", json!({"version": 1})),
        ("missing-variables", Value::Null),
    ] {
        let object = format!("{object}/{name}");
        let answer = driver.send(Method::POST, &format!("/{object}"), body).await;
        let operation = format!("post_experiences_id_{}", name.replace('-', "_"));
        driver
            .left(&operation, answer, &format!("experiences.{name}"), &object)
            .await;
    }
    let images = format!("/{object}/images");
    let request = driver.service.admin_request(Method::POST, &images);
    let answer = request
        .header("content-type", "image/png")
        .body(png())
        .answer()
        .await;
    let image = format!("{object}/images/{}", answer.json()["id"]);
    driver
        .left(
            "post_experiences_id_images",
            answer,
            "experiences.images.create",
            &image,
        )
        .await;
    let answer = driver
        .send(Method::DELETE, &format!("/{image}"), Value::Null)
        .await;
    driver
        .left(
            "delete_experiences_id_images_image_id",
            answer,
            "experiences.images.delete",
            &image,
        )
        .await;
    let file = driver.service.admin_get(&format!("/{object}/file")).await;
    let answer = driver.send(Method::POST, "/experiences/import", file).await;
    let created = format!("experiences/{}", answer.json()["id"]);
    driver
        .left(
            "post_experiences_import",
            answer,
            "experiences.import",
            &created,
        )
        .await;
}

fn png() -> Vec<u8> {
    let mut png = std::io::Cursor::new(Vec::new());
    let image = image::RgbaImage::from_pixel(2, 2, image::Rgba([200, 0, 0, 255]));
    image.write_to(&mut png, image::ImageFormat::Png).unwrap();
    png.into_inner()
}

async fn keys(driver: &mut Driver) {
    let template = json!({
        "name": "Bottles", "technology": "ntag424dna", "mac_from": "none",
        "template": "https://tags.example/b/{slug}?picc_data={picc}&cmac={mac}",
        "meta_keys": ["11".repeat(16)],
    });
    let template = driver
        .service
        .admin_create("/url-templates", template)
        .await;
    let webhook = json!({"url": "https://hooks.example/rotated", "events": ["tap.verified"]});
    let webhook = driver.service.admin_create("/webhooks", webhook).await;
    driver.look().await;
    let object = format!("webhooks/{}/secrets", webhook["id"]);
    let answer = driver
        .send(Method::POST, &format!("/{object}"), json!({}))
        .await;
    driver
        .left(
            "post_webhooks_id_secrets",
            answer,
            "webhooks.secrets.create",
            &object,
        )
        .await;
    let object = format!("url-templates/{}/meta-keys", template["id"]);
    let path = format!("/{object}");
    let more = json!({"meta_keys": ["99".repeat(16)]});
    let answer = driver.send(Method::POST, &path, more).await;
    driver
        .left(
            "post_url_templates_id_meta_keys",
            answer,
            "url-templates.meta-keys",
            &object,
        )
        .await;
    let row = driver.newest().await;
    assert_eq!(
        row["after"]["meta_key_checks"].as_array().unwrap().len(),
        2,
        "{row}"
    );
    let check = template["meta_key_checks"][0].as_str().unwrap();
    let answer = driver
        .send(
            Method::DELETE,
            &format!("{path}?meta_key_check={check}"),
            Value::Null,
        )
        .await;
    driver
        .left(
            "delete_url_templates_id_meta_keys",
            answer,
            "url-templates.meta-keys.delete",
            &object,
        )
        .await;
}

#[expect(
    clippy::too_many_lines,
    reason = "a request of each kind, one after the other"
)]
async fn others(driver: &mut Driver) {
    let answer = driver
        .send(
            Method::POST,
            "/sheets",
            json!({"name": "Delivery", "expected": {"tag_verified": true}, "planned": 25}),
        )
        .await;
    let sheet = format!("sheets/{}", answer.json()["id"]);
    driver
        .left("post_sheets", answer, "sheets.create", &sheet)
        .await;
    let rows = format!("{sheet}/rows");
    let answer = driver
        .send(
            Method::POST,
            &format!("/{rows}"),
            json!({"verdict": "unreadable"}),
        )
        .await;
    driver
        .left("post_sheets_id_rows", answer, "sheets.rows.create", &rows)
        .await;
    let answer = driver
        .send(Method::PATCH, &format!("/{sheet}"), json!({"closed": true}))
        .await;
    driver
        .left("patch_sheets_id", answer, "sheets.update", &sheet)
        .await;

    let answer = driver
        .send(Method::POST, "/tokens", json!({"name": "Script"}))
        .await;
    let token = format!("tokens/{}", answer.json()["id"]);
    driver
        .left("post_tokens", answer, "tokens.create", &token)
        .await;
    let answer = driver
        .send(Method::DELETE, &format!("/{token}"), Value::Null)
        .await;
    driver
        .left("delete_tokens_id", answer, "tokens.delete", &token)
        .await;

    let answer = driver
        .send(Method::PATCH, "/settings", json!({"app_id": 7}))
        .await;
    driver
        .left("patch_settings", answer, "settings.update", "settings")
        .await;
    let answer = driver.send(Method::POST, "/backup", json!({})).await;
    if answer.status == 409 {
        // PostgreSQL has tools of its own for that.
        driver.done.insert("post_backup".to_owned());
        driver.look().await;
    } else {
        driver.left("post_backup", answer, "backup", "backup").await;
    }
    let answer = driver
        .send(
            Method::POST,
            "/simulator/inlays",
            json!({"name": "Virtual"}),
        )
        .await;
    let inlay = format!("simulator/inlays/{}", answer.json()["id"]);
    driver
        .left(
            "post_simulator_inlays",
            answer,
            "simulator.inlays.create",
            &inlay,
        )
        .await;
    let answer = driver
        .send(Method::DELETE, &format!("/{inlay}"), Value::Null)
        .await;
    driver
        .left(
            "delete_simulator_inlays_id",
            answer,
            "simulator.inlays.delete",
            &inlay,
        )
        .await;
    let ahead = json!({"advance_ms": 1_000});
    let answer = driver
        .send(Method::POST, "/simulator/clock", ahead.clone())
        .await;
    driver
        .left(
            "post_simulator_clock",
            answer,
            "simulator.clock",
            "simulator/clock",
        )
        .await;
    let answer = driver.send(Method::POST, "/clock", ahead).await;
    driver.left("post_clock", answer, "clock", "clock").await;
    let answer = driver.send(Method::POST, "/demo", Value::Null).await;
    driver.left("post_demo", answer, "demo", "demo").await;
    let answer = driver.send(Method::DELETE, "/demo", Value::Null).await;
    driver
        .left("delete_demo", answer, "demo.delete", "demo")
        .await;
}
