//! Content of audit rows, who may read them, and how changes to them are detected.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService};

async fn rows(client: &Client, query: &str) -> Vec<Value> {
    let page = client.admin_get(&format!("/audit?{query}")).await;
    page["items"].as_array().unwrap().clone()
}

async fn token(service: &TestService, name: &str, scopes: Value) -> (Client, String) {
    let token = json!({"name": name, "scopes": scopes});
    let created = service.admin_create("/tokens", token).await;
    let client = Client::new(service.base(), created["token"].as_str().unwrap());
    (client, created["token"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_row_tells_who_did_what_and_is_found_by_it() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let (shop, secret) = token(&service, "Web shop", json!(["tags"])).await;
    service.advance(60_000);
    shop.admin_patch(&tag.admin_path(), json!({"name": "Jar", "title": "A jar"}))
        .await;
    let path = format!("{}/variables/colour", tag.admin_path());
    shop.admin(Method::PUT, &path, json!({"value": "red"}))
        .await
        .expect(201);
    let all = rows(&service, "").await;
    let id = all[1]["actor"]["id"].as_i64().unwrap();
    let expected = json!({
        "id": all[1]["id"], "at": "2026-01-01T12:01:00Z",
        "actor": {"kind": "token", "id": id, "name": "Web shop"},
        "action": "tags.update", "object": format!("tags/{}", tag.id),
        "before": {"name": "Bottle 41", "title": ""}, "after": {"name": "Jar", "title": "A jar"},
        "address": "127.0.0.1", "hash": all[1]["hash"],
    });
    assert_eq!(all[1], expected);
    assert_eq!(all[1]["hash"].as_str().unwrap().len(), 64);
    for (query, count) in [
        (format!("actor=token:{id}"), 2),
        ("actor=desktop".to_owned(), 0),
        ("action=tags".to_owned(), 3),
        ("action=tags.update".to_owned(), 1),
        ("action=tag".to_owned(), 0),
        (format!("object=tags/{}", tag.id), 3),
        (format!("object=tags/{}/variables", tag.id), 1),
        (format!("object=tags/{}0", tag.id), 0),
        ("since=2026-01-01T12:01:00Z".to_owned(), 2),
        ("until=2026-01-01T12:01:00Z".to_owned(), all.len() - 2),
    ] {
        assert_eq!(rows(&service, &query).await.len(), count, "{query}");
    }
    let first = service.admin_get("/audit?limit=2").await;
    let next = first["next"].as_str().unwrap();
    let second = rows(&service, &format!("limit=2&after={next}")).await;
    assert_eq!(second[0], all[2]);
    // Each export leaves a row, which the export itself does not contain.
    for (before, format) in ["jsonl", "csv"].into_iter().enumerate() {
        let path = format!("/audit/export?format={format}");
        let export = service.admin(Method::GET, &path, Value::Null).await;
        let lines = all.len() + before + usize::from(format == "csv");
        assert_eq!(export.body.lines().count(), lines, "{}", export.body);
        assert!(export.body.contains("Web shop") && !export.body.contains(&secret));
    }
    let listed = service.admin(Method::GET, "/audit", Value::Null).await;
    assert!(!listed.body.contains(&secret));
}

#[tokio::test]
async fn programs_with_the_installations_own_token_are_told_apart() {
    let service = TestService::start().await;
    for (program, kind) in [
        ("desktop", "desktop"),
        ("encoder", "encoder"),
        ("command-line", "command_line"),
        ("another", "installation"),
    ] {
        let request = service.admin_request(Method::POST, "/tags");
        let request = request
            .header("tapdesk-program", program)
            .json(&json!({"name": "T"}));
        assert_eq!(request.send().await.unwrap().status(), 201);
        assert_eq!(rows(&service, "limit=1").await[0]["actor"]["kind"], kind);
    }
    // A stored token counts as a token, whichever program it claims to be.
    let (client, _) = token(&service, "Script", json!(["tags"])).await;
    let request = client.admin_request(Method::POST, "/tags");
    let request = request
        .header("tapdesk-program", "desktop")
        .json(&json!({"name": "T"}));
    request.send().await.unwrap();
    assert_eq!(rows(&service, "limit=1").await[0]["actor"]["kind"], "token");
}

#[tokio::test]
async fn what_changes_nothing_or_is_refused_has_no_row() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let before = rows(&service, "").await.len();
    let path = tag.admin_path();
    service
        .admin(Method::PATCH, &path, json!({"slug": "x y"}))
        .await
        .expect(422);
    service
        .admin(Method::PATCH, "/tags/999", json!({"name": "x"}))
        .await
        .expect(404);
    service
        .admin(Method::DELETE, "/tags/999/traces", Value::Null)
        .await
        .expect(404);
    service
        .admin(
            Method::POST,
            "/tags",
            json!({"name": "x", "experience_id": 99}),
        )
        .await
        .expect(409);
    let refused = "name,experience_id\nGood,\nBad,99";
    let request = service.admin_request(Method::POST, "/tags/import?on_error=abort");
    let answer = request
        .header("content-type", "text/csv")
        .body(refused)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    answer.text().await.unwrap();
    // A visitor's update is an interaction, and so leaves no audit row.
    let tap = service.tap(&tag.path()).await;
    let update = service
        .update(tap.rk.as_deref().unwrap(), json!({"registered": "true"}))
        .await;
    assert_eq!(update.status, 200, "{}", update.body);
    assert_eq!(rows(&service, "").await.len(), before);
}

#[tokio::test]
async fn values_are_erased_with_the_tag_and_who_gave_them_stays() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let other = service.redirecting_tag(Value::Null).await;
    for tag in [&tag, &other] {
        let path = format!("{}/variables/owner", tag.admin_path());
        let anna = json!({"value": "Anna Example"});
        service.admin(Method::PUT, &path, anna).await.expect(201);
    }
    let path = format!("{}/traces", tag.admin_path());
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    for row in rows(&service, &format!("object=tags/{}", tag.id)).await {
        assert_eq!(
            (&row["before"], &row["after"]),
            (&Value::Null, &Value::Null),
            "{row}"
        );
        assert_eq!(row["address"], "127.0.0.1");
    }
    let kept = rows(&service, &format!("object=tags/{}/variables", other.id)).await;
    assert_eq!(kept[0]["after"], "Anna Example");
    assert_eq!(
        service.admin_get("/audit/check").await["problem"],
        Value::Null
    );
}

#[tokio::test]
async fn rows_are_kept_as_long_as_the_setting_says_and_the_rest_stays_whole() {
    let service = TestService::start().await;
    service
        .admin_patch("/settings", json!({"audit_months": 1}))
        .await;
    for name in ["a", "b"] {
        service.tag(json!({"name": name})).await;
    }
    service.advance(40 * 24 * 3_600_000);
    service.tag(json!({"name": "c"})).await;
    let before = rows(&service, "").await;
    tapdesk_service::housekeeping::sweep(service.service())
        .await
        .unwrap();
    assert_eq!(rows(&service, "").await, before[..1]);
    assert_eq!(
        service.admin_get("/audit/check").await["problem"],
        Value::Null
    );
    service.tag(json!({"name": "d"})).await;
    assert_eq!(
        rows(&service, "").await[0]["id"],
        before[0]["id"].as_i64().unwrap() + 1
    );
    assert_eq!(
        service.admin_get("/audit/check").await["problem"],
        Value::Null
    );
}

/// A flipped byte in the file is found, and its row is named.
#[tokio::test]
async fn one_flipped_byte_is_named_by_its_row_sqlite() {
    let service = TestService::start_with(|options| options.database = "sqlite".to_owned()).await;
    for name in ["a", "b", "c"] {
        service.tag(json!({"name": name})).await;
    }
    let file = rusqlite::Connection::open(service.folder().join("tapdesk.db")).unwrap();
    for flip in [
        "actor = 'Installation'",
        "action = 'tags.creatf'",
        "object = 'tags/3'",
        "at = at + 1",
        "address = '127.0.0.2'",
        "name = ''",
        "changes = replace(changes, 'b', 'c')",
        "salt = zeroblob(16)",
        "digest = zeroblob(32)",
        "hash = zeroblob(32)",
    ] {
        file.execute_batch(&format!("BEGIN; CREATE TEMP TABLE kept AS SELECT * FROM audit; UPDATE audit SET {flip} WHERE id = 2; COMMIT")).unwrap();
        let problem = service.admin_get("/audit/check").await["problem"].clone();
        assert_eq!(
            problem, "Row 2 of the audit log was changed after it was written.",
            "{flip}"
        );
        file.execute_batch("BEGIN; DELETE FROM audit; INSERT INTO audit SELECT * FROM kept; DROP TABLE kept; COMMIT").unwrap();
    }
    file.execute_batch("DELETE FROM audit WHERE id = 3")
        .unwrap();
    let problem = service.admin_get("/audit/check").await["problem"].clone();
    assert_eq!(problem, "Row 3 of the audit log is missing.");
}
