//! Bulk changes of tags, and how to undo them.

mod newer_values;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::plural::counted;
use tapdesk_tests::TestService;

use super::{all, names};

async fn bulk(service: &TestService, request: Value) -> Value {
    service
        .admin(Method::POST, "/tags/bulk", request)
        .await
        .expect(200)
}

/// Sends the requests that undo the change. Returns the number of tags that they changed.
async fn undo(service: &TestService, result: &Value) -> u64 {
    assert_eq!(result["stopped"], Value::Null);
    let mut changed = 0;
    for request in result["undo"].as_array().unwrap() {
        let answer = bulk(service, request.clone()).await;
        changed += answer["changed"].as_u64().unwrap();
    }
    changed
}

/// All tags, and all deleted ones, without the time of their last change.
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

/// Ten tags: assigned to one of two experiences or to none, active or not, one of them deleted.
async fn ten_tags(service: &TestService) -> [i64; 2] {
    let experiences = [
        service.redirect("https://owner.example/a").await,
        service.redirect("https://owner.example/b").await,
    ];
    for n in 0..10_usize {
        let status = if n % 4 == 3 { "archived" } else { "active" };
        let experience = experiences.get(n % 3);
        let (name, slug) = (format!("tag {n}"), format!("bottle-{n}"));
        service
            .tag(json!({
                "name": name, "slug": slug, "status": status, "experience_id": experience,
            }))
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
        // Tags 1, 4 and 7 have the first experience; tag 10 is deleted.
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
        json!({"selected": 2, "done": 2, "changed": 1, "rest": [], "stopped": null,
            "variables_added": 0, "tags_with_added_variables": 0, "undo": [
            {"action": "status", "select": {"ids": [4]}, "status": "archived", "from_status": "active"},
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
    let commits = || service.service().storage.configuration_epoch().unwrap();
    let before = commits();
    let result = bulk(&service, request).await;
    assert_eq!(result["changed"], 2_500);
    // Taps are recorded between the batches.
    assert_eq!(commits() - before, 13, "batches of 200 tags");
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

/// The person saw a number of tags. If the filter matches ten times as many by now, nothing is
/// archived.
#[tokio::test]
async fn a_bulk_change_of_another_number_than_expected_changes_nothing() {
    let service = TestService::start().await;
    ten_tags(&service).await;
    let before = everything(&service).await;
    let filter = json!({"filter": {"status": "active"}});
    for (select, expected, found) in [
        (filter.clone(), 6, 7),
        (filter.clone(), 8, 7),
        (json!({"ids": [1, 2, 99]}), 3, 2),
        // Tag 10 is deleted.
        (json!({"ids": [[9, 10]]}), 2, 1),
    ] {
        let request = json!({"action": "status", "status": "archived", "select": select, "expected_count": expected});
        let answer = service.admin(Method::POST, "/tags/bulk", request).await;
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
        let problem = answer.expect(409);
        assert_eq!(problem["code"], "count_changed");
        let detail = problem["detail"].as_str().unwrap();
        assert!(
            detail.contains(&format!(
                "has {} now, not {expected}",
                counted(found, "tag")
            )),
            "{detail}"
        );
        assert_eq!(everything(&service).await, before);
    }
    let request =
        json!({"action": "status", "status": "archived", "select": filter, "expected_count": 7});
    assert_eq!(bulk(&service, request).await["changed"], 7);
    let request = json!({"action": "restore", "select": {"filter": {}}, "expected_count": 1});
    assert_eq!(bulk(&service, request).await["changed"], 1);
}

/// The desktop shows progress between the requests, and can stop after each.
#[tokio::test]
async fn a_bulk_change_with_a_limit_goes_on_by_its_rest_and_is_taken_back_whole() {
    let service = TestService::start().await;
    let rows = (0..450).fold("name\n".to_owned(), |csv, n| format!("{csv}tag {n}\n"));
    super::import(&service, "", rows).await;
    // The tags have two former states, and one is deleted, so the ids are not a single range.
    bulk(
        &service,
        json!({"action": "status", "status": "archived", "select": {"ids": [7, [200, 220]]}}),
    )
    .await;
    bulk(
        &service,
        json!({"action": "delete", "select": {"ids": [150]}}),
    )
    .await;
    let before = everything(&service).await;

    let request =
        json!({"action": "delete", "select": {"filter": {}}, "expected_count": 449, "limit": 100});
    let first = bulk(&service, request).await;
    assert_eq!(first["selected"], 449);
    assert_eq!(first["done"], 100);
    // Tags that match only from now on were not shown to the person who asked for the change.
    let late = service.tag(json!({"name": "tag that came later"})).await;

    let mut done = 100;
    let mut undo = first["undo"].as_array().unwrap().clone();
    for request in first["rest"].as_array().unwrap() {
        let answer = bulk(&service, request.clone()).await;
        let of_this = answer["done"].as_u64().unwrap();
        assert!(of_this <= 100, "{answer}");
        assert_eq!(answer["rest"], json!([]));
        done += of_this;
        undo.extend(answer["undo"].as_array().unwrap().clone());
    }
    assert_eq!(done, 449);
    assert_eq!(
        names(&all(&service, "/tags", 500).await),
        ["tag that came later"]
    );

    for request in undo {
        bulk(&service, request).await;
    }
    let late = format!("/tags/{}", late.id);
    service
        .admin(Method::DELETE, &late, Value::Null)
        .await
        .expect(204);
    let [tags, deleted] = everything(&service).await;
    assert_eq!(tags, before[0]);
    assert_eq!(names(&deleted), ["tag 149", "tag that came later"]);
}

#[tokio::test]
async fn a_limit_of_a_bulk_change_is_one_that_helps() {
    let service = TestService::start().await;
    service.tag(json!({"name": "one"})).await;
    for limit in [json!(0), json!(99), json!(100_001), json!("all")] {
        let request = json!({"action": "delete", "select": {"filter": {}}, "limit": limit});
        let answer = service.admin(Method::POST, "/tags/bulk", request).await;
        answer.expect(422);
    }
    assert_eq!(names(&all(&service, "/tags", 50).await), ["one"]);
}

#[tokio::test]
async fn properties_are_set_and_removed_and_the_undo_restores_each_former_value() {
    let service = TestService::start().await;
    let own = service.redirect("https://owner.example/").await;
    for (attributes, qr) in [
        (json!({"lot": "L1", "sku": "A"}), false),
        (json!({"lot": "L2"}), true),
        (json!({"lot": "L1"}), false),
        (json!({"lot": "L9", "sku": "B"}), true),
    ] {
        service
            .tag(json!({
                "name": "bottle", "attributes": attributes, "has_qr_code": qr, "experience_id": own,
                "data": {"note": "old"}, "variables": {"lot": "of a visitor"},
            }))
            .await;
    }
    let before = everything(&service).await;
    let request = json!({
        "action": "set", "select": {"filter": {}}, "attributes": {"lot": "L9", "sku": null},
        "data": {"printed": "yes"}, "has_qr_code": true,
    });
    let result = bulk(&service, request.clone()).await;
    assert_eq!(
        (&result["changed"], &result["rest"]),
        (&json!(4), &json!([]))
    );
    for tag in all(&service, "/tags", 50).await {
        assert_eq!(tag["attributes"], json!({"lot": "L9"}));
        assert_eq!(tag["data"], json!({"note": "old", "printed": "yes"}));
        assert_eq!(tag["variables"], json!({"lot": "of a visitor"}));
        assert_eq!(tag["has_qr_code"], true);
    }
    // Tags with the same former state are in one request, and members that did not change in none.
    let undone = [
        json!({"attributes": {"lot": "L1", "sku": "A"}, "has_qr_code": false,
            "from_attributes": {"lot": "L9", "sku": null}, "from_has_qr_code": true}),
        json!({"attributes": {"lot": "L2"}, "from_attributes": {"lot": "L9"}}),
        json!({"attributes": {"lot": "L1"}, "has_qr_code": false,
            "from_attributes": {"lot": "L9"}, "from_has_qr_code": true}),
        json!({"attributes": {"sku": "B"}, "from_attributes": {"sku": null}}),
    ];
    let undone = undone.into_iter().zip(1..).map(|(mut request, id)| {
        request["action"] = json!("set");
        request["select"] = json!({"ids": [id]});
        request["data"] = json!({"printed": null});
        request["from_data"] = json!({"printed": "yes"});
        request
    });
    assert_eq!(result["undo"], undone.collect::<Value>());
    let again = bulk(&service, request).await;
    assert_eq!((&again["changed"], &again["undo"]), (&json!(0), &json!([])));
    undo(&service, &result).await;
    assert_eq!(everything(&service).await, before);
}

#[tokio::test]
async fn a_set_property_is_told_and_recorded_and_seen_by_the_next_tap() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let target = "https://owner.example/{{tag:attribute:lot}}";
    let tag = service
        .tag_to(target, json!({"attributes": {"lot": "L1"}}))
        .await;
    let receiver = json!({"url": "http://127.0.0.1:9/", "events": ["tag.updated"]});
    service.admin_create("/webhooks", receiver).await;
    let tap = service.tap(&tag.path()).await;
    assert!(
        tap.location
            .unwrap()
            .starts_with("https://owner.example/L1")
    );
    let set = json!({"action": "set", "select": {"ids": [tag.id]}, "attributes": {"lot": "L2"}});
    bulk(&service, set.clone()).await;
    let tap = service.tap(&tag.path()).await;
    assert!(
        tap.location
            .unwrap()
            .starts_with("https://owner.example/L2")
    );
    let row = service.admin_get("/audit?limit=1").await["items"][0].clone();
    assert_eq!(row["action"], "tags.bulk");
    assert_eq!(row["after"]["change"], set);
    bulk(&service, set).await;
    let newest = service.admin_get("/audit?limit=1").await["items"][0].clone();
    assert_eq!(newest["id"], row["id"], "nothing changed");
}

#[tokio::test]
async fn properties_that_cannot_be_set_are_refused_and_nothing_is_changed() {
    let service = TestService::start().await;
    let full: serde_json::Map<_, _> = (0..256).map(|n| (format!("k{n}"), json!("x"))).collect();
    service.tag(json!({"name": "one"})).await;
    service
        .tag(json!({"name": "two", "attributes": full}))
        .await;
    let before = everything(&service).await;
    let many: serde_json::Map<_, _> = (0..513).map(|n| (format!("k{n}"), json!("x"))).collect();
    for (members, status, part) in [
        (json!({}), 422, "nothing to set"),
        (json!({"attributes": {"a b": "x"}}), 422, "key"),
        (json!({"attributes": {"lot": "a\u{0}"}}), 422, "NUL"),
        (
            json!({"data": {"lot": "x".repeat(4_097)}}),
            422,
            "at most 4096 bytes",
        ),
        (
            json!({"attributes": {"lot": "L1"}}),
            422,
            "at most 256 keys",
        ),
        (json!({"attributes": many}), 422, "at most 512 properties"),
        (
            json!({"variables": {"lot": "x"}}),
            422,
            "unknown field `variables`",
        ),
        (json!({"has_qr_code": "yes"}), 422, "boolean"),
    ] {
        let mut request = members.clone();
        request["action"] = "set".into();
        request["select"] = json!({"ids": [[1, 2]]});
        let answer = service.admin(Method::POST, "/tags/bulk", request).await;
        let detail = answer.expect(status)["detail"].to_string();
        assert!(detail.contains(part), "{members}: {detail}");
        assert_eq!(everything(&service).await, before, "{members}");
    }
    // Where a key takes the place of another, a full tag has room.
    let replace = json!({
        "action": "set", "select": {"ids": [2]}, "attributes": {"k0": null, "lot": "L1", "k1": "y"},
    });
    assert_eq!(bulk(&service, replace).await["changed"], 1);
}
