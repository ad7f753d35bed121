//! A change to the present value: no audit row, no event, and the resource stays as it was.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Receiver, TestService};

async fn service() -> TestService {
    TestService::start_with(|options| options.settings.private_webhooks = true).await
}

/// The names of the operations that change an existing resource.
fn changes() -> Vec<String> {
    let document = tapdesk_service::openapi().to_json().unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    let items = document["paths"].as_object().unwrap().values();
    let operations = items.flat_map(|item| {
        ["patch", "put"].map(|method| item[method]["operationId"].as_str().map(str::to_owned))
    });
    operations.flatten().collect()
}

/// The newest row of the audit log.
async fn newest_row(service: &TestService) -> Value {
    service.admin_get("/audit?limit=1").await["items"][0].clone()
}

/// The mail server, with its members.
async fn mail_server(service: &TestService) -> (String, Value) {
    let server = json!({
        "host": "mail.example.com", "port": 465, "security": "tls", "user": "anna",
        "password": "horse", "from": "tapdesk@example.com",
    });
    let set = service.admin(Method::PUT, "/mail", server.clone()).await;
    set.expect(200);
    ("/mail".to_owned(), server)
}

/// A resource that an operation can change, with its present members.
async fn resource(service: &TestService, operation: &str) -> (String, Value) {
    let create = async |path: &str, body: Value| {
        let created = service.admin_create(path, body).await;
        format!("{path}/{}", created["id"])
    };
    let tag = async || {
        let tag = json!({
            "name": "Bottle 41", "title": "A bottle", "attributes": {"sku": "A-1"},
            "data": {"note": "old"}, "variables": {"registered": "false"},
        });
        create("/tags", tag).await
    };
    let run = json!({"name": "R", "planned": 3, "plan": {"pattern": "Bottle {n}"}});
    let redirect = json!({"name": "R", "kind": "redirect", "target_url": "https://owner.example/"});
    let key = "00112233445566778899AABBCCDDEEFF";
    let webhook = json!({"url": "http://127.0.0.1:9/", "events": ["tag.updated"]});
    match operation {
        "patch_encoding_runs_id" => (
            create("/encoding-runs", run).await,
            json!({"name": "R", "planned": 3, "closed": false}),
        ),
        "patch_experiences_id" => (
            create("/experiences", redirect).await,
            json!({"name": "R", "target_url": "https://owner.example/"}),
        ),
        "patch_groups_id" => {
            let group = json!({"kind": "batch", "name": "Lot 41", "attributes": {"colour": "red"}});
            (create("/groups", group.clone()).await, group)
        }
        "patch_inlays_id" => {
            let inlay = json!({
                "uid": "04112233445566", "technology": "ntag424dna", "mirror": "plain", "file_key": key,
                "last_counter": 7,
            });
            (
                create("/inlays", inlay).await,
                json!({
                    "mirror": "plain", "mac_from": "none", "tag_id": null, "file_key": key,
                    "last_counter": 7, "blocked": false,
                }),
            )
        }
        "patch_master_keys_id" => {
            let derivation = json!({"scheme": "an10922", "input": "{uid}3042F54E585020416275"});
            let master = json!({"name": "Cellar", "key": key, "derivation": derivation});
            (
                create("/master-keys", master).await,
                json!({"name": "Cellar"}),
            )
        }
        "patch_settings" => {
            let set = json!({"app_id": 7});
            service.admin_patch("/settings", set.clone()).await;
            ("/settings".to_owned(), set)
        }
        "patch_sheets_id" => (
            create("/sheets", json!({"name": "Monday"})).await,
            json!({"name": "Monday", "closed": false}),
        ),
        "patch_tags_id" => {
            let path = tag().await;
            let tag = service.admin_get(&path).await;
            let same = json!({
                "name": "Bottle 41", "slug": tag["slug"], "title": "A bottle", "location": null,
                "attributes": {"sku": "A-1"}, "variables": {"registered": "false"}, "status": "active",
            });
            (path, same)
        }
        "patch_url_templates_id" => {
            let template = json!({
                "name": "V", "template": "https://tags.example/v?u={uid}&c={counter}&m={mac}",
                "technology": "ntag424dna",
            });
            let path = create("/url-templates", template.clone()).await;
            let same = json!({"name": "V", "template": template["template"]});
            (path, same)
        }
        "patch_notifications_id" => {
            let notification = json!({
                "kind": "alert", "events": ["alert.disk_low"], "time_zone": "Europe/Berlin",
                "channel": {"chat": "https://chat.example/hook/x"},
            });
            let path = create("/notifications", notification.clone()).await;
            (path, notification)
        }
        "put_mail" => mail_server(service).await,
        "patch_webhooks_id" => (create("/webhooks", webhook.clone()).await, webhook),
        "put_tags_id_attributes_key" => {
            let path = tag().await + "/attributes/sku";
            (path, json!({"value": "A-1"}))
        }
        "put_tags_id_data_key" => (tag().await + "/data/note", json!({"value": "old"})),
        "put_tags_id_variables_key" => {
            let path = tag().await + "/variables/registered";
            (path, json!({"value": "false"}))
        }
        other => panic!("{other} has no case here"),
    }
}

#[tokio::test]
async fn a_change_that_changes_nothing_leaves_no_trace() {
    // They are tested with their other tests: the backup schedule needs SQLite, and images are no
    // JSON.
    let elsewhere = [
        "put_backup_schedule",
        "put_groups_id_image",
        "put_settings_logo",
    ];
    let changes = changes()
        .into_iter()
        .filter(|name| !elsewhere.contains(&name.as_str()));
    let changes: Vec<_> = changes.collect();
    assert!(changes.len() >= 12, "{changes:?}");
    for operation in changes {
        let service = service().await;
        let (path, same) = resource(&service, &operation).await;
        service.advance(60_000);
        let get = async || service.admin(Method::GET, &path, Value::Null).await;
        let before = get().await;
        let tag = path.split('/').take(3).collect::<Vec<_>>().join("/");
        let tag_before = if operation.starts_with("put_tags") {
            service.admin_get(&tag).await
        } else {
            Value::Null
        };
        let row = newest_row(&service).await;
        let is_put = operation.starts_with("put");
        // The name is the only member of a master key that can change: without it the request is
        // refused.
        let bodies = if is_put || operation == "patch_master_keys_id" {
            vec![same]
        } else {
            vec![json!({}), same]
        };
        for body in bodies {
            let method = if is_put { Method::PUT } else { Method::PATCH };
            let answer = service.admin(method, &path, body.clone()).await;
            assert_eq!(answer.status, 200, "{operation} {body}: {}", answer.body);
            let after = get().await;
            assert_eq!(after.json(), before.json(), "{operation} {body}");
            assert_eq!(after.header("etag"), before.header("etag"), "{operation}");
            assert_eq!(newest_row(&service).await, row, "{operation} {body}");
            if operation.starts_with("put_tags") {
                assert_eq!(service.admin_get(&tag).await, tag_before, "{operation}");
            }
        }
    }
}

#[tokio::test]
async fn nobody_is_told_of_a_change_that_changes_nothing() {
    let service = service().await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    let webhook = json!({"url": receiver.url(), "events": ["tag.updated"]});
    service.admin_create("/webhooks", webhook).await;
    let tag = json!({"name": "Bottle 41", "variables": {"registered": "false"}});
    let tag = service.tag(tag).await;
    let path = tag.admin_path();
    let variable = format!("{path}/variables/registered");
    for (method, path, body) in [
        (Method::PATCH, &path, json!({"name": "Bottle 41"})),
        (Method::PATCH, &path, json!({})),
        (Method::PUT, &variable, json!({"value": "false"})),
    ] {
        service.admin(method, path, body).await.expect(200);
    }
    service.admin_patch(&path, json!({"name": "Jar"})).await;
    let arrived = receiver.wait_for(1).await;
    assert_eq!(arrived[0].json()["data"]["tag_name"], "Jar");
}

/// A request that is refused for another reason is still refused.
#[tokio::test]
async fn a_change_of_what_was_changed_meanwhile_is_refused_though_it_changes_nothing() {
    let service = service().await;
    let tag = service.tag(json!({"name": "Bottle 41"})).await;
    let path = tag.admin_path();
    let stale = service.admin(Method::GET, &path, Value::Null).await;
    let stale = stale.header("etag").unwrap().to_owned();
    service.admin_patch(&path, json!({"name": "Jar"})).await;
    let renaming = service
        .admin_request(Method::PATCH, &path)
        .header("if-match", stale)
        .json(&json!({"name": "Jar"}));
    let answer = tapdesk_tests::Answering::answer(renaming).await;
    assert_eq!(answer.status, 412, "{}", answer.body);
}
