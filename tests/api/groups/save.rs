//! Creating, changing and deleting a group.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{delete, group, patch, tag_count, try_group};

#[tokio::test]
async fn a_group_is_answered_as_it_was_sent_with_its_gtin_as_14_digits() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    let sent = json!({
        "parent_id": null, "kind": "product", "name": "Grand Cru 2021", "code": "GC-21",
        "gtin": "9520123456788", "status": "active", "experience_id": experience,
        "recall_experience_id": null, "title": "Grand Cru", "description": "", "language_code": "de_DE",
        "attributes": {"colour": "red"}, "data": {}, "variables": {"registered": "false"},
    });
    let created = service.admin_create("/groups", sent.clone()).await;
    let mut expected = sent;
    expected["gtin"] = json!("09520123456788");
    expected["tag_count"] = json!(0);
    expected["image"] = Value::Null;
    for member in ["id", "created_at", "updated_at"] {
        expected[member] = created[member].clone();
    }
    assert_eq!(created, expected);
    let path = format!("/groups/{}", created["id"]);
    assert_eq!(service.admin_get(&path).await, created);
    let renamed = service
        .admin_patch(&path, json!({"name": "Grand Cru"}))
        .await;
    assert_eq!(renamed["name"], "Grand Cru");
    assert_eq!(renamed["attributes"], json!({"colour": "red"}));
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    for (method, body) in [
        (Method::GET, Value::Null),
        (Method::PATCH, json!({"name": "x"})),
        (Method::DELETE, Value::Null),
    ] {
        let answer = service.admin(method.clone(), &path, body).await;
        assert_eq!(answer.status, 404, "{method}");
    }
}

#[tokio::test]
async fn what_a_group_cannot_have_is_refused_in_words_at_its_member() {
    let service = TestService::start().await;
    for (more, member) in [
        (json!({"name": " "}), "name"),
        (json!({"name": "x".repeat(201)}), "name"),
        (json!({"kind": "shelf"}), "kind"),
        (json!({"code": ""}), "code"),
        (json!({"code": " a"}), "code"),
        (json!({"code": "x".repeat(65)}), "code"),
        (json!({"gtin": "9520123456789"}), "gtin"),
        (json!({"gtin": "952"}), "gtin"),
        (json!({"kind": "batch", "gtin": "9520123456788"}), "gtin"),
        (json!({"status": "lost"}), "status"),
        (json!({"title": "x".repeat(2001)}), "title"),
        (json!({"language_code": ""}), "language_code"),
        (json!({"attributes": {"a b": "x"}}), "attributes"),
        (json!({"data": {"a": "x".repeat(4097)}}), "data"),
        (json!({"colour": "red"}), "colour"),
    ] {
        let refused = try_group(&service, "product", None, more.clone()).await;
        let refused = refused.expect(422);
        let field = refused["errors"][0]["field"].as_str().unwrap_or_default();
        assert!(field.starts_with(member), "{more}: {refused}");
    }
    for (more, member) in [
        (json!({"parent_id": 99}), "parent_id"),
        (json!({"experience_id": 99}), "experience_id"),
        (json!({"recall_experience_id": 99}), "recall_experience_id"),
    ] {
        let refused = try_group(&service, "product", None, more.clone()).await;
        let refused = refused.expect(409);
        assert_eq!(refused["code"], "missing", "{more}");
        assert_eq!(refused["errors"][0]["field"], member, "{more}");
    }
    let none = service.admin_get("/groups").await;
    assert_eq!(none["items"], json!([]));
}

#[tokio::test]
async fn a_code_is_taken_once_among_the_groups_of_a_parent() {
    let service = TestService::start().await;
    let wines = group(&service, "folder", None, json!({"code": "A"})).await;
    let code = json!({"code": "L03"});
    let batch = group(&service, "batch", Some(wines), code.clone()).await;
    group(&service, "batch", None, code.clone()).await;
    let refused = try_group(&service, "product", Some(wines), code.clone()).await;
    let refused = refused.expect(409);
    assert_eq!(refused["code"], "code_taken");
    assert_eq!(refused["errors"][0]["field"], "code");
    let other = group(&service, "batch", Some(wines), json!({"code": "l03"})).await;
    patch(&service, other, code.clone()).await.expect(409);
    patch(&service, batch, json!({"code": "L03", "name": "Renamed"}))
        .await
        .expect(200);
    patch(&service, batch, json!({"parent_id": null}))
        .await
        .expect(409);
    delete(&service, batch).await.expect(204);
    patch(&service, other, code).await.expect(200);
}

#[tokio::test]
async fn a_group_is_deleted_only_while_it_is_empty() {
    let service = TestService::start().await;
    let product = group(&service, "product", None, Value::Null).await;
    let batch = group(&service, "batch", Some(product), Value::Null).await;
    let tag = service
        .tag(json!({"name": "Bottle", "group_id": batch}))
        .await;
    let refused = delete(&service, product).await.expect(409);
    assert_eq!(refused["code"], "in_use");
    assert!(
        refused["detail"].as_str().unwrap().contains("1 group."),
        "{refused}"
    );
    let refused = delete(&service, batch).await.expect(409);
    assert!(
        refused["detail"].as_str().unwrap().contains("1 tag."),
        "{refused}"
    );
    service
        .admin(Method::DELETE, &tag.admin_path(), Value::Null)
        .await
        .expect(204);
    delete(&service, batch).await.expect(204);
    delete(&service, product).await.expect(204);
    // The tag comes back, outside of any group.
    let restore = json!({"select": {"ids": [tag.id]}, "action": "restore"});
    service
        .admin(Method::POST, "/tags/bulk", restore)
        .await
        .expect(200);
    let restored = service.admin_get(&tag.admin_path()).await;
    assert_eq!(restored["group_id"], Value::Null);
    let gone = json!({"group_id": batch});
    let refused = service
        .admin(Method::PATCH, &tag.admin_path(), gone)
        .await
        .expect(409);
    assert_eq!(refused["errors"][0]["field"], "group_id");
}

#[tokio::test]
async fn an_experience_that_a_group_leads_to_is_not_deleted() {
    let service = TestService::start().await;
    for member in ["experience_id", "recall_experience_id"] {
        let experience = service.redirect("https://owner.example/").await;
        let id = group(&service, "batch", None, json!({member: experience})).await;
        let path = format!("/experiences/{experience}");
        let refused = service.admin(Method::DELETE, &path, Value::Null).await;
        let refused = refused.expect(409);
        assert!(
            refused["detail"].as_str().unwrap().contains("group"),
            "{refused}"
        );
        patch(&service, id, json!({member: null})).await.expect(200);
        service
            .admin(Method::DELETE, &path, Value::Null)
            .await
            .expect(204);
    }
}

#[tokio::test]
async fn a_change_with_an_old_revision_is_refused_with_the_present_group() {
    let service = TestService::start().await;
    let id = group(&service, "batch", None, Value::Null).await;
    let path = format!("/groups/{id}");
    let read = service.admin(Method::GET, &path, Value::Null).await;
    let revision = read.header("etag").unwrap().to_owned();
    patch(&service, id, json!({"name": "Other"}))
        .await
        .expect(200);
    let change = |method: Method, body: Value| {
        let request = service.admin_request(method, &path);
        request.header("if-match", &revision).json(&body)
    };
    for (method, body) in [
        (Method::PATCH, json!({"status": "recalled"})),
        (Method::DELETE, Value::Null),
    ] {
        let mut request = change(method, body.clone());
        if !body.is_null() {
            request = request.header("content-type", "application/merge-patch+json");
        }
        let answer = tapdesk_tests::Answering::answer(request).await;
        let refused = answer.expect(412);
        assert_eq!(refused["current"]["name"], "Other", "{refused}");
    }
}

#[tokio::test]
async fn the_count_of_a_group_includes_all_below_and_follows_each_tag() {
    let service = TestService::start().await;
    let wines = group(&service, "folder", None, Value::Null).await;
    let product = group(&service, "product", Some(wines), Value::Null).await;
    let batch = group(&service, "batch", Some(product), Value::Null).await;
    let other = group(&service, "batch", Some(product), Value::Null).await;
    let counts = async |expected: [u64; 4]| {
        let mut found = Vec::new();
        for id in [wines, product, batch, other] {
            found.push(tag_count(&service, id).await);
        }
        assert_eq!(json!(found), json!(expected));
    };
    counts([0, 0, 0, 0]).await;
    let in_group = |id: i64| json!({"name": "Bottle", "group_id": id});
    let first = service.tag(in_group(batch)).await;
    let second = service.tag(in_group(batch)).await;
    service.tag(in_group(product)).await;
    counts([3, 3, 2, 0]).await;
    let (first, second) = (first.admin_path(), second.admin_path());
    service
        .admin_patch(&first, json!({"group_id": other}))
        .await;
    counts([3, 3, 1, 1]).await;
    service.admin_patch(&first, json!({"group_id": null})).await;
    counts([2, 2, 1, 0]).await;
    service
        .admin_patch(&first, json!({"group_id": other}))
        .await;
    service
        .admin(Method::DELETE, &second, Value::Null)
        .await
        .expect(204);
    counts([2, 2, 0, 1]).await;
    let ids: Vec<i64> = [first, second]
        .map(|path| path.trim_start_matches("/tags/").parse().unwrap())
        .into();
    for (action, expected) in [
        ("restore", [3, 3, 1, 1]),
        ("delete", [1, 1, 0, 0]),
        ("restore", [3, 3, 1, 1]),
    ] {
        let all = json!({"select": {"ids": ids}, "action": action});
        let answer = service.admin(Method::POST, "/tags/bulk", all).await;
        answer.expect(200);
        counts(expected).await;
    }
    patch(&service, batch, json!({"parent_id": wines}))
        .await
        .expect(200);
    counts([3, 2, 1, 1]).await;
    // Simulated tags are not counted, and still hold the group.
    let inlay = json!({"mirror": "plain", "tag": in_group(other)});
    let simulated = service
        .admin(Method::POST, "/simulator/inlays", inlay)
        .await;
    assert!(simulated.status < 300, "{}", simulated.body);
    counts([3, 2, 1, 1]).await;
}
