//! Groups narrow statistics, rules and checks: each takes in all tags below.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{TestService, TestTag};

use super::{bottle, group, set};

#[tokio::test]
async fn statistics_of_a_group_have_its_taps_and_the_problems_of_its_tags() {
    let service = TestService::start().await;
    let top = group(&service, None, Value::Null).await;
    let below = group(&service, Some(top), Value::Null).await;
    let other = group(&service, None, Value::Null).await;
    let (tag, mut inlay) = service.bottle().await;
    service
        .admin_patch(&tag.admin_path(), json!({"group_id": below}))
        .await;
    let unset = bottle(&service, top, json!({"name": "Unset"})).await;
    let outside = bottle(&service, other, json!({"name": "Outside"})).await;
    let alone = service.tag(json!({"name": "Alone"})).await;
    let url = inlay.url(&tag);
    service.tap(&url).await;
    service.tap(&url).await;
    inlay.code();
    service.tap(&inlay.url(&tag)).await;
    for tag in [&unset, &outside, &outside, &alone] {
        service.tap(&tag.path()).await;
    }
    // A period ends with the present moment, which is not in it.
    service.advance(1);
    let stats = async |group: i64| service.admin_get(&format!("/stats?group_id={group}")).await;
    let found = stats(top).await;
    assert_eq!(
        found["totals"],
        json!({"verified": 2, "not_verified": 1, "not_checked": 1})
    );
    let names: Vec<_> = found["top_tags"].as_array().unwrap().iter().collect();
    let names: Vec<_> = names
        .iter()
        .map(|tag| (&tag["tag_name"], &tag["taps"]))
        .collect();
    assert_eq!(
        names,
        [
            (&json!("Bottle 41"), &json!(3)),
            (&json!("Unset"), &json!(1))
        ]
    );
    let attention = &found["attention"];
    assert_eq!(
        ["replays", "counter_gaps", "unset_tags"].map(|problem| attention[problem].clone()),
        [1, 1, 1].map(|count| json!(count))
    );
    assert_eq!(
        (&found["previews"], &found["complete"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(stats(other).await["totals"]["not_checked"], 2);
    // A tag that moves takes its problems along, and its counted taps stay with the group.
    service
        .admin_patch(&unset.admin_path(), json!({"group_id": other}))
        .await;
    assert_eq!(stats(top).await["attention"]["unset_tags"], 0);
    assert_eq!(stats(other).await["attention"]["unset_tags"], 2);
}

#[tokio::test]
async fn a_condition_on_groups_is_met_by_all_tags_below() {
    let service = TestService::start().await;
    let wines = group(&service, None, json!({"name": "Wines"})).await;
    let batch = group(
        &service,
        Some(wines),
        json!({"name": "L03", "kind": "batch"}),
    )
    .await;
    let beers = group(&service, None, json!({"name": "Beers"})).await;
    let redirect = |any_of: Value| {
        let when = json!([{"type": "group", "any_of": any_of}]);
        json!({
            "name": "By group", "kind": "redirect", "target_url": "https://owner.example/other",
            "rules": [{"when": when, "target_url": "https://owner.example/wine"}],
        })
    };
    let id = service.experience(redirect(json!([wines, beers]))).await;
    let led = async |tag: &TestTag| {
        let location = service.tap(&tag.path()).await.location.unwrap();
        let location = location.split('?').next().unwrap();
        location.rsplit('/').next().unwrap().to_owned()
    };
    let tag = bottle(&service, batch, json!({"experience_id": id})).await;
    let of_beers = bottle(&service, beers, json!({"experience_id": id})).await;
    assert_eq!([led(&tag).await, led(&of_beers).await], ["wine", "wine"]);
    // A page can have the same condition.
    let notice = |title: &str| json!([{"type": "notice", "tone": "good", "title": title}]);
    let block = json!({
        "type": "condition", "when": {"type": "group", "any_of": [wines]},
        "blocks": notice("A wine"), "otherwise": notice("No wine"),
    });
    let page = service
        .experience(json!({"name": "Page", "kind": "studio", "blocks": [block]}))
        .await;
    let shown = async |tap: Value| {
        let path = format!("/experiences/{page}/preview");
        let shown = service.admin(Method::POST, &path, tap).await.expect(200);
        shown["html"].as_str().unwrap().to_owned()
    };
    for (tag, title) in [(&tag, "A wine"), (&of_beers, "No wine")] {
        let html = shown(json!({"tag_id": tag.id, "verification": "not_checked"})).await;
        assert!(html.contains(title), "{title}: {html}");
    }
    // A preview can put a tag, or a sample, into another group.
    for member in [
        json!({"tag_id": of_beers.id}),
        json!({"sample": {"name": "Sample"}}),
    ] {
        let mut preview = json!({"verification": "not_checked", "group_id": batch});
        if let (Some(preview), Value::Object(member)) = (preview.as_object_mut(), member) {
            preview.extend(member);
        }
        let html = shown(preview).await;
        assert!(html.contains("A wine"), "{html}");
    }
    // The next tap follows a move of the tag, and of a group.
    service
        .admin_patch(&of_beers.admin_path(), json!({"group_id": null}))
        .await;
    assert_eq!(led(&of_beers).await, "other");
    let cellar = group(&service, None, json!({"name": "Cellar"})).await;
    set(&service, batch, json!({"parent_id": cellar})).await;
    assert_eq!(led(&tag).await, "other");
    // A group that a condition names can be deleted, and the draft can still be saved.
    let path = format!("/groups/{beers}");
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(deleted.status, 204);
    let experience = format!("/experiences/{id}");
    service
        .admin_patch(&experience, json!({"name": "Renamed"}))
        .await;
    assert_eq!(led(&of_beers).await, "other");
    // A new condition names groups that exist.
    let refused = service
        .admin(Method::POST, "/experiences", redirect(json!([beers])))
        .await;
    let refused = refused.expect(409);
    assert_eq!(refused["detail"], format!("There is no group {beers}."));
    for none in [json!([]), json!(vec![wines; 51])] {
        let refused = service
            .admin(Method::POST, "/experiences", redirect(none))
            .await;
        refused.expect(422);
    }
}

#[tokio::test]
async fn the_file_of_an_experience_names_its_groups_by_their_path() {
    let service = TestService::start().await;
    let wines = group(&service, None, json!({"name": "Wines"})).await;
    let batch = group(
        &service,
        Some(wines),
        json!({"name": "L03", "kind": "batch"}),
    )
    .await;
    let when = json!([{"type": "group", "any_of": [batch]}]);
    let redirect = json!({
        "name": "By group", "kind": "redirect", "target_url": "https://owner.example/other",
        "rules": [{"when": when, "target_url": "https://owner.example/wine"}],
    });
    let id = service.experience(redirect).await;
    let file = service.admin_get(&format!("/experiences/{id}/file")).await;
    assert_eq!(
        file["groups"],
        json!([{"id": batch, "path": "Wines / L03"}])
    );

    let other = TestService::start().await;
    let import = async || {
        let path = "/experiences/import";
        other.admin(Method::POST, path, file.clone()).await
    };
    let refused = import().await.expect(422);
    let said = refused["detail"].as_str().unwrap();
    assert!(said.contains("the group \"Wines / L03\""), "{said}");
    group(&other, None, json!({"name": "Beers"})).await;
    let wines = group(&other, None, json!({"name": "Wines"})).await;
    let here = group(&other, Some(wines), json!({"name": "L03", "kind": "batch"})).await;
    assert_ne!(here, batch);
    let imported = import().await.expect(201);
    assert_eq!(imported["rules"][0]["when"][0]["any_of"], json!([here]));
    // Two groups of one path: nobody can say which of them is meant.
    group(&other, Some(wines), json!({"name": "L03", "kind": "batch"})).await;
    import().await.expect(422);
}

#[tokio::test]
async fn a_dry_run_names_the_groups_of_the_tag() {
    let service = TestService::start().await;
    let wines = group(&service, None, Value::Null).await;
    let batch = group(&service, Some(wines), json!({"kind": "batch"})).await;
    let tag = bottle(&service, batch, Value::Null).await;
    let alone = service.tag(json!({"name": "Alone"})).await;
    let groups = async |path: String| {
        let url = format!("{}{path}", service.base());
        let answer = service
            .admin(Method::POST, "/verification", json!({"url": url}))
            .await;
        answer.expect(200)["group_ids"].clone()
    };
    assert_eq!(groups(tag.path()).await, json!([batch, wines]));
    assert_eq!(groups(alone.path()).await, json!([]));
    assert_eq!(groups("/t/nobody0".to_owned()).await, json!([]));
}
