//! Each chip of a run gets its own tag, and no chip gets a tag that cannot be encoded.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::{Tear, TornOut};
use tapdesk_tests::{Client, TestService};

use super::bench::uid;
use super::http::{ended, lay, wish};
use super::runs::{foreign, next, run};

fn of_run(number: u32, run: i64) -> Value {
    json!({"uid": uid(number).to_string(), "run_id": run})
}

async fn get(client: &Client, run: i64) -> Value {
    client.admin_get(&format!("/encoding-runs/{run}")).await
}

/// Creates tags with these names.
async fn tags(service: &TestService, names: &[&str]) -> Vec<i64> {
    let mut tags = Vec::new();
    for name in names {
        tags.push(service.tag(json!({"name": name})).await.id);
    }
    tags
}

async fn delete(service: &TestService, tag: i64) {
    let path = format!("/tags/{tag}");
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(deleted.status, 204, "{}", deleted.body);
}

#[tokio::test]
async fn desks_of_one_run_never_get_the_same_tag() {
    let service = TestService::start().await;
    let plan = json!({"pattern": "Bottle {n}"});
    let before = run(&service, json!({"name": "Before", "plan": plan.clone()})).await;
    // Chips that were rejected before: their stored rows must not count as encodings in progress.
    for number in 1..=6 {
        let refused = next(&service, before, &mut foreign(number)).await;
        assert_eq!(refused, "foreign_key");
    }
    let chosen = tags(&service, &["A", "B", "C"]).await;
    let id = run(
        &service,
        json!({"name": "Now", "tag_ids": chosen, "plan": plan}),
    )
    .await;
    let post = |number| service.admin(Method::POST, "/encodings", of_run(number, id));
    let begun = tokio::join!(post(1), post(2), post(3), post(4), post(5), post(6));
    let begun: [_; 6] = begun.into();
    let mut given = Vec::new();
    for begun in begun {
        let begun = begun.expect(201);
        let path = format!("/encodings/{}", begun["id"]);
        given.push(service.admin_get(&path).await["tag_id"].as_i64().unwrap());
    }
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), 6, "{given:?}");
    assert_eq!(given[..3], chosen);
    assert_eq!(get(&service, id).await["tag_count"], 6);
}

#[tokio::test]
async fn a_request_that_is_refused_keeps_no_tag() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut blocked = VirtualNtag424::new(uid(1));
    lay(&service, &mut blocked, &wish(uid(1), tag.id)).await;
    let inlays = service.admin_get("/inlays").await;
    let path = format!("/inlays/{}", inlays["items"][0]["id"]);
    service.admin_patch(&path, json!({"blocked": true})).await;
    let plan = json!({"pattern": "Bottle {n}"});
    let id = run(&service, json!({"name": "Roll", "plan": plan})).await;
    let refused = service
        .admin(Method::POST, "/encodings", of_run(1, id))
        .await;
    assert_eq!(refused.expect(409)["code"], "inlay_blocked");
    let whole = get(&service, id).await;
    assert_eq!(
        (&whole["tag_count"], &whole["next"]["position"]),
        (&json!(0), &json!(1))
    );
}

#[tokio::test]
async fn a_tag_that_is_deleted_or_has_an_inlay_by_now_is_passed_over() {
    let service = TestService::start().await;
    let tags = tags(&service, &["A", "B", "C", "D"]).await;
    let id = run(&service, json!({"name": "Four", "tag_ids": tags})).await;
    assert_eq!(get(&service, id).await["planned"], 4);
    delete(&service, tags[0]).await;
    let mut chip = VirtualNtag424::new(uid(1));
    let turn = lay(&service, &mut chip, &wish(uid(1), tags[1])).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert_eq!(get(&service, id).await["next"]["tag_id"], tags[2]);
    // A tag is deleted while its chip is in progress: the chip gets the next tag at once.
    let mut held = TornOut::new(Tear::after(30), VirtualNtag424::new(uid(2)));
    let turn = lay(&service, &mut held, &of_run(2, id)).await;
    assert_eq!(turn["state"], "interrupted");
    delete(&service, tags[2]).await;
    let mut chip = held.into_card();
    let turn = lay(&service, &mut chip, &of_run(2, id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert_eq!(turn["result"]["tag_id"], tags[3]);
    let whole = get(&service, id).await;
    assert_eq!(
        (&whole["next"], &whole["verified_count"]),
        (&Value::Null, &json!(1))
    );
    let full = service
        .admin(Method::POST, "/encodings", of_run(3, id))
        .await;
    assert_eq!(full.expect(409)["code"], "run_full");
}

#[tokio::test]
async fn the_tag_of_a_chip_that_went_elsewhere_goes_to_the_next() {
    let service = TestService::start().await;
    let tags = tags(&service, &["A"]).await;
    let id = run(&service, json!({"name": "One", "tag_ids": tags})).await;
    let mut held = TornOut::new(Tear::after(12), VirtualNtag424::new(uid(1)));
    lay(&service, &mut held, &of_run(1, id)).await;
    let other = service.tag(json!({"name": "Other"})).await;
    service.advance(120_001);
    let mut chip = held.into_card();
    let turn = lay(&service, &mut chip, &wish(uid(1), other.id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    let mut second = VirtualNtag424::new(uid(2));
    let turn = lay(&service, &mut second, &of_run(2, id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert_eq!(turn["result"]["tag_id"], tags[0]);
}

#[tokio::test]
async fn a_run_that_could_not_be_encoded_is_refused_when_it_is_created() {
    let service = TestService::start().await;
    let found = tags(&service, &["A", "B"]).await;
    let lrp = json!({
        "name": "LRP", "technology": "ntag424dna", "mode": "lrp",
        "template": "https://lrp.example/v/{slug}?p={picc}&m={mac}",
    });
    let lrp = service.admin_create("/url-templates", lrp).await["id"].clone();
    let long = format!(
        "https://{}.example/{}/{{slug}}?p={{picc}}&m={{mac}}",
        "a".repeat(60),
        "b".repeat(150)
    );
    let long = json!({"name": "Long", "technology": "ntag424dna", "template": long});
    let long = service.admin(Method::POST, "/url-templates", long).await;
    let pattern = "Bottle {n}";
    let mut refused = vec![
        (json!({"plan": {"pattern": pattern, "lock": true}}), "lock"),
        (json!({"plan": {"pattern": pattern, "lrp": true}}), "lrp"),
        (
            json!({"plan": {"pattern": pattern, "url_template_id": lrp}}),
            "lrp",
        ),
        (
            json!({"plan": {"pattern": pattern, "technology": "sic43nt"}}),
            "technology",
        ),
        (json!({"plan": {"pattern": "Bottle"}}), "pattern"),
        (
            json!({"plan": {"pattern": pattern}, "planned": 1, "tag_ids": found}),
            "planned",
        ),
        (json!({"planned": 3, "tag_ids": found}), "planned"),
    ];
    if long.status == 201 {
        let id = long.json()["id"].clone();
        refused.push((
            json!({"plan": {"pattern": pattern, "url_template_id": id}}),
            "url_template_id",
        ));
    }
    for (mut body, field) in refused {
        body["name"] = "Roll".into();
        let refused = service
            .admin(Method::POST, "/encoding-runs", body.clone())
            .await;
        assert_eq!(refused.status, 422, "{body} {}", refused.body);
        assert_eq!(refused.json()["errors"][0]["field"], field, "{body}");
    }
    let gone = tags(&service, &["Gone"]).await[0];
    delete(&service, gone).await;
    let simulated = json!({"name": "Twin", "simulated": true});
    let simulated = service.admin(Method::POST, "/tags", simulated).await;
    let mut refused = vec![
        (
            json!({"plan": {"pattern": pattern, "url_template_id": 999}}),
            "missing",
        ),
        (
            json!({"plan": {"pattern": pattern, "experience_id": 999}}),
            "missing",
        ),
        (json!({"tag_ids": [gone]}), "missing"),
    ];
    if simulated.status == 201 {
        refused.push((json!({"tag_ids": [simulated.json()["id"]]}), "other_world"));
    }
    for (mut body, code) in refused {
        body["name"] = "Roll".into();
        let refused = service
            .admin(Method::POST, "/encoding-runs", body.clone())
            .await;
        assert_eq!(refused.status, 409, "{body} {}", refused.body);
        assert_eq!(refused.json()["code"], code, "{body}");
    }
    let runs = service.admin_get("/encoding-runs?count=true").await;
    assert_eq!(runs["count"], 0, "{runs}");
}

#[tokio::test]
async fn as_many_inlays_are_planned_as_tags_are_left() {
    let service = TestService::start().await;
    let tags = tags(&service, &["A", "B", "C"]).await;
    let mut chips = [VirtualNtag424::new(uid(1)), VirtualNtag424::new(uid(2))];
    lay(&service, &mut chips[0], &wish(uid(1), tags[0])).await;
    lay(&service, &mut chips[1], &wish(uid(2), tags[1])).await;
    // A tag whose chip was wiped has no inlay.
    let wipe = json!({"uid": uid(2).to_string(), "wipe": true});
    assert_eq!(lay(&service, &mut chips[1], &wipe).await["state"], "reset");
    let made = async |body: Value| {
        let run = service.admin_create("/encoding-runs", body).await;
        (run["planned"].clone(), run["tag_count"].clone())
    };
    let body = json!({"name": "Chosen", "tag_ids": tags});
    assert_eq!(made(body).await, (json!(2), json!(2)));
    let plan = json!({"pattern": "Bottle {n}"});
    let body = json!({"name": "Chosen, then new ones", "tag_ids": tags, "plan": plan});
    assert_eq!(made(body).await, (Value::Null, json!(2)));
    let body = json!({"name": "All have one", "tag_ids": [tags[0]]});
    let refused = service.admin(Method::POST, "/encoding-runs", body).await;
    assert_eq!(refused.expect(422)["errors"][0]["field"], "tag_ids");
}
