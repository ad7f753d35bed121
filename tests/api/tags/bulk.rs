//! One change of many tags, and taking it back.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{all, names};

async fn bulk(service: &TestService, request: Value) -> Value {
    service
        .admin(Method::POST, "/tags/bulk", request)
        .await
        .expect(200)
}

async fn undo(service: &TestService, result: &Value) {
    assert_eq!(result["stopped"], Value::Null);
    for request in result["undo"].as_array().unwrap() {
        bulk(service, request.clone()).await;
    }
}

/// All tags and all deleted ones, without the time of their last change.
async fn everything(service: &TestService) -> [Vec<Value>; 2] {
    let mut both = [
        all(service, "/tags", 500).await,
        all(service, "/tags?deleted=true", 500).await,
    ];
    for tag in both.iter_mut().flatten() {
        tag.as_object_mut().unwrap().remove("updated_at");
    }
    both
}

/// Ten tags: assigned to one of two experiences or to none, in use or not, one deleted.
async fn ten_tags(service: &TestService) -> [i64; 2] {
    let experiences = [
        service.redirect("https://owner.example/a").await,
        service.redirect("https://owner.example/b").await,
    ];
    for n in 0..10_usize {
        let status = if n % 4 == 3 { "archived" } else { "active" };
        let experience = experiences.get(n % 3);
        let name = format!("tag {n}");
        service
            .tag(json!({"name": name, "status": status, "experience_id": experience}))
            .await;
    }
    service
        .admin(Method::DELETE, "/tags/10", Value::Null)
        .await
        .expect(204);
    experiences
}

#[tokio::test]
async fn every_bulk_change_is_taken_back_by_its_own_answer() {
    let service = TestService::start().await;
    let [a, _] = ten_tags(&service).await;
    let before = everything(&service).await;
    let everyone = json!({"ids": [[1, 10]]});
    for (request, changed) in [
        // Tags 1, 4 and 7 are of the first experience, tag 10 is deleted.
        (
            json!({"action": "assign", "select": everyone, "experience_id": a}),
            6,
        ),
        (
            json!({"action": "assign", "select": everyone, "experience_id": null}),
            6,
        ),
        (
            json!({"action": "status", "select": everyone, "status": "archived"}),
            7,
        ),
        (json!({"action": "delete", "select": everyone}), 9),
        (json!({"action": "restore", "select": everyone}), 1),
        (
            json!({"action": "delete", "select": {"filter": {"status": "archived"}}}),
            2,
        ),
        (json!({"action": "restore", "select": {"filter": {}}}), 1),
        (
            json!({"action": "status", "select": {"filter": {"q": "tag 1"}}, "status": "archived"}),
            1,
        ),
        (
            json!({"action": "delete", "select": {"ids": [7, 2, 7, [1, 3], [2, 4], 99]}}),
            5,
        ),
    ] {
        let result = bulk(&service, request.clone()).await;
        assert_eq!(result["changed"], changed, "{request}");
        assert!(everything(&service).await != before, "{request}");
        undo(&service, &result).await;
        assert_eq!(everything(&service).await, before, "{request}");
    }
}

#[tokio::test]
async fn what_is_so_already_is_not_changed_and_not_undone() {
    let service = TestService::start().await;
    ten_tags(&service).await;
    let request = json!({"action": "status", "select": {"ids": [1, 4]}, "status": "active"});
    let result = bulk(&service, request).await;
    assert_eq!(
        result,
        json!({"selected": 2, "changed": 1, "stopped": null, "undo": [
            {"action": "status", "select": {"ids": [4]}, "status": "archived"},
        ]})
    );
}

#[tokio::test]
async fn a_bulk_change_takes_effect_on_the_next_tap() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    assert_eq!(service.tap(&tag.path()).await.status, 302);
    let select = json!({"filter": {}});
    for (request, status) in [
        (
            json!({"action": "status", "select": select, "status": "archived"}),
            410,
        ),
        (
            json!({"action": "status", "select": select, "status": "active"}),
            302,
        ),
        (
            json!({"action": "assign", "select": select, "experience_id": null}),
            200,
        ),
        (json!({"action": "delete", "select": select}), 404),
        (json!({"action": "restore", "select": select}), 200),
    ] {
        bulk(&service, request.clone()).await;
        assert_eq!(service.tap(&tag.path()).await.status, status, "{request}");
    }
}

#[tokio::test]
async fn more_tags_than_one_piece_are_changed_and_taken_back() {
    let service = TestService::start().await;
    let rows = (0..2_500).fold("name\n".to_owned(), |csv, n| format!("{csv}tag {n}\n"));
    super::import(&service, "", rows).await;
    let request = json!({"action": "delete", "select": {"filter": {}}});
    let result = bulk(&service, request).await;
    assert_eq!(result["changed"], 2_500);
    assert_eq!(
        result["undo"],
        json!([{"action": "restore", "select": {"ids": [[1, 2500]]}}])
    );
    assert_eq!(service.admin_get("/tags?count=true").await["count"], 0);
    undo(&service, &result).await;
    assert_eq!(service.admin_get("/tags?count=true").await["count"], 2_500);
}

#[tokio::test]
async fn a_bulk_change_that_cannot_be_is_refused_and_nothing_is_changed() {
    let service = TestService::start().await;
    service.tag(json!({"name": "one"})).await;
    let ids = json!({"ids": [1]});
    for (request, status, part) in [
        (
            json!({"action": "assign", "select": ids, "experience_id": 99}),
            409,
            "no experience 99",
        ),
        (
            json!({"action": "assign", "select": ids}),
            422,
            "missing field `experience_id`",
        ),
        (
            json!({"action": "status", "select": ids}),
            422,
            "missing field `status`",
        ),
        (
            json!({"action": "paint", "select": ids}),
            422,
            "unknown variant `paint`",
        ),
        (json!({"action": "delete"}), 422, "missing field `select`"),
        (json!({"action": "delete", "select": {}}), 422, "the body"),
        (
            json!({"action": "delete", "select": {"ids": [[1, 2, 3]]}}),
            422,
            "[first, last]",
        ),
        (
            json!({"action": "delete", "select": {"filter": {"colour": "red"}}}),
            422,
            "unknown field `colour`",
        ),
        (
            json!({"action": "delete", "select": ids, "status": "active"}),
            422,
            "unknown field `status`",
        ),
    ] {
        let answer = service
            .admin(Method::POST, "/tags/bulk", request.clone())
            .await;
        let detail = answer.expect(status)["detail"]
            .as_str()
            .unwrap()
            .to_lowercase();
        assert!(detail.contains(part), "{request}: {detail}");
    }
    assert_eq!(names(&all(&service, "/tags", 50).await), ["one"]);
}
