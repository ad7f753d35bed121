//! `/admin/v1/interactions`, and the erasing of traces.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::{TestService, TestTag};

/// Interactions by their number, which counts from 1 in the order of their taps, because their ids
/// depend on the database.
async fn numbers(service: &TestService, query: &str) -> Vec<usize> {
    let page = service.admin_get(&format!("/interactions{query}")).await;
    numbered(service, &ids_of(&page)).await
}

async fn numbered(service: &TestService, ids: &[i64]) -> Vec<usize> {
    let all = all(service).await;
    let number = |id| all.iter().position(|one| one == id).expect("it is there") + 1;
    ids.iter().map(number).collect()
}

/// The ids of all interactions, the oldest first.
async fn all(service: &TestService) -> Vec<i64> {
    let page = service.admin_get("/interactions?simulated=all").await;
    assert_eq!(page["next"], Value::Null, "they are on one page");
    let mut ids = ids_of(&page);
    ids.reverse();
    ids
}

fn ids_of(page: &Value) -> Vec<i64> {
    let items = page["items"].as_array().expect("a list").iter();
    items
        .map(|item| item["id"].as_i64().expect("an id"))
        .collect()
}

/// The interaction with a number, and its trace.
async fn traced(service: &TestService, number: usize) -> Value {
    let id = all(service).await[number - 1];
    service.admin_get(&format!("/interactions/{id}")).await
}

/// The steps of an interaction, each as its name, verdict and words.
async fn steps(service: &TestService, number: usize) -> Vec<[String; 3]> {
    let traced = traced(service, number).await;
    let steps = traced["steps"].as_array().expect("steps").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    steps
        .map(|step| [&step["name"], &step["verdict"], &step["detail"]].map(text))
        .collect()
}

async fn key(service: &TestService, number: usize) -> Value {
    traced(service, number).await["key"].clone()
}

#[tokio::test]
async fn a_tap_is_listed_with_everything_it_came_to() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    let expected = json!({
        "id": service.last_interaction().await, "at": "2026-01-01T12:00:00Z",
        "tag_id": tag.id, "slug": tag.slug, "tag_name": "Bottle 41",
        "tag_verified": true, "reason": "verified", "counter": 1, "last_counter": 0, "missed_reads": 0,
        "inlay_id": inlay.id, "uid": null, "tech": "n", "experience_id": 1, "experience_version": 1,
        "recall_group_id": null,
        "country": "", "system": "other", "language": null, "visitor_group": null,
        "returning_month": false, "returning_day": false,
        "key_issued": true, "tamper": null, "file_data": null, "simulated": false,
        "origin": "visitor", "staff": false,
    });
    let page = service.admin_get("/interactions").await;
    assert_eq!(page, json!({"items": [expected], "next": null}));
}

#[tokio::test]
async fn interactions_are_selected_by_what_they_came_to() {
    let service = TestService::start().await;
    let (bottle, mut inlay) = service.bottle().await;
    let poster = service.tag(json!({"name": "Poster"})).await;
    let url = inlay.url(&bottle);
    service.tap(&url).await; // 1: verified
    service.tap(&url).await; // 2: replayed
    service.advance(60_000);
    service.tap(&poster.path()).await; // 3: static
    service.tap(&bottle.path()).await; // 4: no code
    inlay.url(&bottle); // a read that never reaches the service
    service.tap(&inlay.url(&bottle)).await; // 5: verified after a gap
    let listed = service.admin_get(&format!("/inlays/{}", inlay.id)).await;
    let uid = listed["uid"].as_str().unwrap();
    let all = "2026-01-01T12:00:00Z";
    let later = "2026-01-01T12:01:00Z";
    for (query, expected) in [
        (String::new(), vec![5, 4, 3, 2, 1]),
        (format!("?tag_id={}", bottle.id), vec![5, 4, 2, 1]),
        (format!("?tag_id={}", poster.id), vec![3]),
        ("?tag_id=99".to_owned(), vec![]),
        ("?experience_id=1".to_owned(), vec![5, 4, 2, 1]),
        (format!("?inlay_id={}", inlay.id), vec![5, 2, 1]),
        (format!("?uid={uid}"), vec![5, 2, 1]),
        (format!("?uid={uid}&inlay_id=99"), vec![]),
        (format!("?uid={uid}&reason=replayed"), vec![2]),
        ("?uid=04AABBCCDDEEFF".to_owned(), vec![]),
        ("?verification=verified".to_owned(), vec![5, 1]),
        ("?verification=not_verified".to_owned(), vec![4, 2]),
        ("?verification=not_checked".to_owned(), vec![3]),
        ("?reason=replayed".to_owned(), vec![2]),
        ("?missed_reads=true".to_owned(), vec![5]),
        ("?missed_reads=false&reason=verified".to_owned(), vec![1]),
        (format!("?since={later}"), vec![5, 4, 3]),
        (format!("?until={later}"), vec![2, 1]),
        (
            format!("?since={all}&until={later}&reason=verified"),
            vec![1],
        ),
        (format!("?tag_id={}&since={later}", bottle.id), vec![5, 4]),
        ("?simulated=true".to_owned(), vec![]),
        ("?simulated=all".to_owned(), vec![5, 4, 3, 2, 1]),
    ] {
        assert_eq!(numbers(&service, &query).await, expected, "{query}");
    }
    for path in [
        "/interactions?reason=because",
        "/interactions?count=true",
        "/interactions?since=noon",
        "/interactions?uid=04A1",
    ] {
        service
            .admin(Method::GET, path, Value::Null)
            .await
            .expect(422);
    }
}

#[tokio::test]
async fn pages_of_the_history_hold_each_interaction_once() {
    let service = TestService::start().await;
    let one = service.tag(json!({"name": "One"})).await;
    let two = service.tag(json!({"name": "Two"})).await;
    for _ in 0..4 {
        service.tap(&one.path()).await;
        service.tap(&two.path()).await;
    }
    let of_two = format!("tag_id={}&", two.id);
    for (filter, expected) in [
        ("", vec![8, 7, 6, 5, 4, 3, 2, 1]),
        (&of_two, vec![8, 6, 4, 2]),
    ] {
        let mut found = Vec::new();
        let mut after = String::new();
        loop {
            let page = service
                .admin_get(&format!("/interactions?{filter}limit=2{after}"))
                .await;
            found.extend(ids_of(&page));
            // A tap in between neither repeats nor hides another one.
            service.tap(&one.path()).await;
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        let mut found = numbered(&service, &found).await;
        found.retain(|number| *number <= 8);
        assert_eq!(found, expected, "{filter}");
    }
}

#[tokio::test]
async fn a_trace_tells_each_step_of_a_tap_and_what_came_after_it() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await;
    inlay.code();
    inlay.code();
    let tap = service.tap(&inlay.url(&tag)).await;
    let step =
        |name: &str, verdict: &str, detail: String| [name.to_owned(), verdict.to_owned(), detail];
    let uid = inlay.chip.uid.to_string();
    let id = service.last_interaction().await;
    let before = [
        step("url", "ok", format!("{} · uid {uid} · counter 4", tag.slug)),
        step("mac", "ok", "authentic (MAC input: empty)".to_owned()),
        step(
            "counter",
            "gap",
            "4 after 1: 2 reads never reached the service".to_owned(),
        ),
        step("record", "ok", format!("interaction {id}")),
    ];
    let redirect = step(
        "redirect",
        "ok",
        "https://owner.example/landing · Redirect, version 1".to_owned(),
    );
    service.advance(48_000);
    let mut expected = before.to_vec();
    expected.extend([
        step("key", "ok", "valid for 4:12".to_owned()),
        redirect.clone(),
        step("payload", "pending", "not read yet".to_owned()),
        step("update", "pending", "none yet".to_owned()),
    ]);
    assert_eq!(steps(&service, 2).await, expected);
    assert_eq!(
        key(&service, 2).await,
        json!({"state": "valid", "remaining_ms": 252_000})
    );

    service.payload(tap.key()).await;
    service.payload(tap.key()).await;
    service.advance(12_000);
    let update = service
        .update(tap.key(), json!({"registered": "true"}))
        .await;
    update.expect(200);
    let mut expected = before.to_vec();
    expected.extend([
        step("key", "ok", "consumed 1:00 after the tap".to_owned()),
        redirect,
        step(
            "payload",
            "ok",
            "read twice, first 0:48 after the tap".to_owned(),
        ),
        step("update", "ok", "registered: false → true".to_owned()),
    ]);
    assert_eq!(steps(&service, 2).await, expected);
    let traced = traced(&service, 2).await;
    assert_eq!(
        traced["key"],
        json!({"state": "consumed", "consumed_at": "2026-01-01T12:01:00Z"})
    );
    assert_eq!(
        traced["update"],
        json!({
            "at": "2026-01-01T12:01:00Z",
            "changes": [{"key": "registered", "old": "false", "new": "true"}],
        })
    );
    assert_eq!(
        traced["payload_reads"],
        json!({"first_at": "2026-01-01T12:00:48Z", "reads": 2})
    );
    service
        .admin(
            Method::GET,
            &format!("/interactions/{}", id + 1),
            Value::Null,
        )
        .await
        .expect(404);
}

#[tokio::test]
async fn payload_reads_are_known_before_and_after_a_restart() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    service.payload(tap.key()).await;
    let service = service.restart(1_000).await;
    service.payload(tap.key()).await;
    let traced = traced(&service, 1).await;
    assert_eq!(
        traced["payload_reads"],
        json!({"first_at": "2026-01-01T12:00:00Z", "reads": 2})
    );
}

#[tokio::test]
async fn a_key_is_valid_until_it_expires_and_none_where_the_tag_leads_nowhere() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let unset = service.tag(json!({"name": "Unset"})).await;
    service.tap(&tag.path()).await;
    service.tap(&unset.path()).await;
    service.advance(299_999);
    assert_eq!(
        key(&service, 1).await,
        json!({"state": "valid", "remaining_ms": 1})
    );
    service.advance(1);
    assert_eq!(key(&service, 1).await, json!({"state": "expired"}));
    assert_eq!(key(&service, 2).await, json!({"state": "none"}));
    let detail = &steps(&service, 2).await[4][2];
    assert_eq!(detail, "none: the tag has no published experience");
}

#[tokio::test]
async fn a_code_of_another_tags_inlay_says_whose_it_is() {
    let service = TestService::start().await;
    let target = service.redirecting_tag(json!({"name": "Target"})).await;
    service
        .rolling_inlay(&target, Mirror::Plain, MacFrom::None)
        .await;
    let other = service.redirecting_tag(json!({"name": "Other"})).await;
    let mut inlay = service
        .rolling_inlay(&other, Mirror::Plain, MacFrom::None)
        .await;
    service.tap(&inlay.url(&target)).await;
    let traced = traced(&service, 1).await;
    assert_eq!(traced["reason"], "unknown_inlay");
    assert_eq!(traced["uid"], inlay.chip.uid.to_string());
    let detail = &steps(&service, 1).await[1][2];
    let expected = format!(
        "the inlay is not of this tag: it is the inlay of the tag Other ({})",
        other.slug
    );
    assert_eq!(*detail, expected);
}

#[tokio::test]
async fn simulated_interactions_are_listed_only_where_they_are_asked_for() {
    let service = TestService::start().await;
    service
        .admin_create("/simulator/inlays", json!({"name": "Twin"}))
        .await;
    let tapped = service
        .admin(
            Method::POST,
            "/simulator/inlays/1/tap",
            json!({"follow": true}),
        )
        .await
        .expect(200);
    let id = service.last_interaction().await;
    assert_eq!(tapped["followed"]["interaction_id"], id);
    assert_eq!(numbers(&service, "").await, Vec::<usize>::new());
    assert_eq!(numbers(&service, "?simulated=true").await, [1]);
    assert_eq!(traced(&service, 1).await["simulated"], true);
}

/// A service that knows a visitor's country, with a tag that was tapped twice and registered by its
/// visitor.
async fn tapped() -> (TestService, TestTag) {
    let service =
        TestService::start_with(|options| options.settings.default_country = "DE".into()).await;
    let tag = service.redirecting_tag(Value::Null).await;
    service.tap(&tag.path()).await;
    let tap = service.tap(&tag.path()).await;
    let update = service
        .update(tap.key(), json!({"registered": "by Jo"}))
        .await;
    update.expect(200);
    (service, tag)
}

#[tokio::test]
async fn erased_traces_leave_verdicts_and_counts_and_nothing_of_visitors() {
    let (service, tag) = tapped().await;
    let before = traced(&service, 2).await;
    assert_eq!(before["country"], "DE");
    assert_eq!(before["returning_day"], true);

    let traces = format!("/tags/{}/traces", tag.id);
    let erased = service.admin(Method::DELETE, &traces, Value::Null).await;
    assert_eq!(erased.status, 204);
    for number in 1..=2 {
        let after = traced(&service, number).await;
        assert_eq!(after["country"], "");
        assert_eq!(after["returning_day"], false);
        assert_eq!(after["returning_month"], false);
        assert_eq!(after["reason"], "static");
        assert!(!after.to_string().contains("Jo"), "{after}");
    }
    let after = traced(&service, 2).await;
    assert_eq!(after["update"]["changes"], json!([]));
    assert_eq!(after["key"]["state"], "consumed");
    assert_eq!(service.scan_count(&tag).await, 2);
    assert_eq!(
        service.variable(&tag, "registered").await.as_deref(),
        Some("by Jo")
    );

    let tap = service.tap(&tag.path()).await;
    let payload = service.payload(tap.key()).await;
    assert_eq!(payload["device"]["r"], false, "nobody has been here before");
}

#[tokio::test]
async fn traces_of_another_tag_stay_and_those_of_a_deleted_one_can_be_erased() {
    let (service, tag) = tapped().await;
    let other = service.redirecting_tag(Value::Null).await;
    service.tap(&other.path()).await;
    let delete = service
        .admin(Method::DELETE, &tag.admin_path(), Value::Null)
        .await;
    assert_eq!(delete.status, 204);
    let traces = format!("/tags/{}/traces", tag.id);
    let erased = service.admin(Method::DELETE, &traces, Value::Null).await;
    assert_eq!(erased.status, 204);
    assert_eq!(traced(&service, 1).await["country"], "");
    assert_eq!(traced(&service, 3).await["country"], "DE");
    service
        .admin(Method::DELETE, "/tags/99/traces", Value::Null)
        .await
        .expect(404);
}

#[tokio::test]
async fn a_refused_update_says_why_before_and_after_a_restart() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(traced(&service, 1).await["refused_update"], Value::Null);
    service
        .update(tap.key(), json!({"nickname": "Jo"}))
        .await
        .expect(400);
    let refused =
        json!({"at": "2026-01-01T12:00:00Z", "fault": "unknown_variable", "variable": "nickname"});
    let failed = [
        "update".to_owned(),
        "failed".to_owned(),
        "refused: the tag has no variable nickname. Add it to the tag's properties".to_owned(),
    ];
    assert_eq!(traced(&service, 1).await["refused_update"], refused);
    assert_eq!(steps(&service, 1).await.last(), Some(&failed));
    let service = service.restart(1_000).await;
    assert_eq!(traced(&service, 1).await["refused_update"], refused);

    // After the correction, the same key works.
    service
        .admin(
            Method::PUT,
            &format!("/tags/{}/variables/nickname", tag.id),
            json!({"value": ""}),
        )
        .await
        .expect(201);
    service
        .update(tap.key(), json!({"nickname": "Jo"}))
        .await
        .expect(200);
    let last = steps(&service, 1).await.pop().expect("an update");
    assert_eq!(last[1..], ["ok", "nickname: empty → Jo"]);
}

#[tokio::test]
async fn a_wrong_or_used_key_is_no_fault_of_the_tag() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    service
        .update(tap.key(), json!({"registered": "true"}))
        .await
        .expect(200);
    service
        .update(tap.key(), json!({"registered": "again"}))
        .await
        .expect(400);
    service
        .update("AAAA", json!({"nickname": "Jo"}))
        .await
        .expect(400);
    assert_eq!(traced(&service, 1).await["refused_update"], Value::Null);
}
