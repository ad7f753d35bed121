//! `/admin/v1/simulator`: virtual inlays and their clock.

mod templates;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::{chip, chip_json};
use tapdesk_tests::{Answering as _, TestService};

async fn virtual_inlay(service: &TestService, new: Value) -> Value {
    service.admin_create("/simulator/inlays", new).await
}

fn tap_path(inlay: &Value) -> String {
    format!("/simulator/inlays/{}/tap", inlay["id"])
}

async fn tap(service: &TestService, inlay: &Value, options: Value) -> Value {
    let path = tap_path(inlay);
    service
        .admin(Method::POST, &path, options)
        .await
        .expect(200)
}

async fn last_counter(service: &TestService, inlay: &Value) -> Value {
    let path = format!("/inlays/{}", inlay["inlay_id"]);
    service.admin_get(&path).await["last_counter"].clone()
}

#[tokio::test]
async fn a_virtual_inlay_taps_its_simulated_tag() {
    let service = TestService::start().await;
    for mirror in ["plain", "encrypted"] {
        for mac_from in ["none", "uid"] {
            let new = json!({"name": "Bottle", "mirror": mirror, "mac_from": mac_from});
            let inlay = virtual_inlay(&service, new).await;
            assert_eq!(
                (
                    &inlay["mirror"],
                    &inlay["mac_from"],
                    &inlay["counter"],
                    &inlay["simulated"]
                ),
                (&json!(mirror), &json!(mac_from), &json!(0), &json!(true))
            );
            for counter in 1..=3 {
                let tapped = tap(&service, &inlay, Value::Null).await;
                assert_eq!(
                    (&tapped["counter"], &tapped["uid"]),
                    (&json!(counter), &inlay["uid"])
                );
                assert_eq!(tapped["followed"], Value::Null);
                service.tap(tapped["url"].as_str().unwrap()).await;
                assert_eq!(last_counter(&service, &inlay).await, json!(counter));
            }
        }
    }
}

#[tokio::test]
async fn a_tap_without_a_body_may_have_a_content_type() {
    let service = TestService::start().await;
    let inlay = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    let request = service.admin_request(Method::POST, &tap_path(&inlay));
    let answer = request.header("content-type", "application/json");
    let answer = answer.body(Vec::new()).answer().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn a_simulated_twin_has_its_tags_configuration_under_another_slug() {
    let service = TestService::start().await;
    let original = json!({
        "name": "Bottle 41", "title": "Red", "variables": {"registered": "false"},
        "attributes": {"sku": "A-1"}, "updates_require_verified": true,
    });
    let original = service.admin_create("/tags", original).await;
    let inlay = virtual_inlay(&service, json!({"tag_id": original["id"]})).await;
    assert_ne!(inlay["tag_id"], original["id"]);
    let twin = service
        .admin_get(&format!("/tags/{}", inlay["tag_id"]))
        .await;
    assert_eq!(twin["slug"], inlay["tag"]);
    assert_ne!(twin["slug"], original["slug"]);
    assert_eq!(twin["name"], json!("Bottle 41 (simulated)"));
    assert_eq!(twin["simulated"], json!(true));
    for member in [
        "title",
        "variables",
        "attributes",
        "updates_require_verified",
    ] {
        assert_eq!(twin[member], original[member], "{member}");
    }
    let second = virtual_inlay(&service, json!({"tag_id": twin["id"]})).await;
    assert_eq!(
        second["tag_id"], twin["id"],
        "a simulated tag needs no twin"
    );
}

#[tokio::test]
async fn a_followed_tap_of_a_tag_that_leads_nowhere_is_verified_without_a_key() {
    let service = TestService::start().await;
    let inlay = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    let followed = tap(&service, &inlay, json!({"follow": true})).await["followed"].clone();
    assert_eq!(
        (
            &followed["status"],
            &followed["tag_verified"],
            &followed["rk"],
            &followed["payload"]
        ),
        (&json!(200), &json!(true), &Value::Null, &Value::Null)
    );
}

#[tokio::test]
async fn codes_that_a_stranger_would_make_are_made_on_request() {
    let service = TestService::start().await;
    let inlay = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    let reason = async |options: Value| {
        let tapped = tap(&service, &inlay, options).await;
        tapped["followed"]["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        reason(json!({"follow": true, "counter": 7})).await,
        "verified"
    );
    assert_eq!(
        reason(json!({"follow": true, "counter": 7})).await,
        "replayed"
    );
    assert_eq!(
        reason(json!({"follow": true, "counter": 3})).await,
        "out_of_order"
    );
    assert_eq!(
        reason(json!({"follow": true, "counter": 9, "tamper": true})).await,
        "wrong_mac"
    );
    let path = format!("/simulator/inlays/{}", inlay["id"]);
    assert_eq!(
        service.admin_get(&path).await["counter"],
        json!(0),
        "the chip's own counter stays"
    );
    let beyond = json!({"counter": 0x0100_0000});
    service
        .admin(Method::POST, &format!("{path}/tap"), beyond)
        .await
        .expect(422);
}

#[tokio::test]
async fn the_simulated_world_and_the_real_one_do_not_mix() {
    let service = TestService::start().await;
    let real = service.tag(json!({"name": "Bottle"})).await;
    let simulated = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    let path = format!("/inlays/{}", simulated["inlay_id"]);
    let refused = service
        .admin(Method::PATCH, &path, json!({"tag_id": real.id}))
        .await
        .expect(409);
    assert!(
        refused["detail"].as_str().unwrap().contains("simulated"),
        "{refused}"
    );
    let mut inlay = chip_json(&chip(Mirror::Plain, MacFrom::None));
    inlay["tag_id"] = simulated["tag_id"].clone();
    service
        .admin(Method::POST, "/inlays", inlay)
        .await
        .expect(409);
    let real_inlays = service.admin_get("/inlays?simulated=false").await;
    assert_eq!(real_inlays["items"], json!([]));
}

#[tokio::test]
async fn a_virtual_inlay_says_what_it_needs() {
    let service = TestService::start().await;
    for new in [
        json!({}),
        json!({"name": ""}),
        json!({"name": "Bottle", "tag_id": 1}),
        json!({"tag": {"title": "Bottle"}}),
        json!({"name": "Bottle", "mirror": "sideways"}),
        json!({"name": "Bottle", "file_key": "00".repeat(16), "mirror": "plain"}),
        json!({"name": "Bottle", "file_key": "01".repeat(16)}),
    ] {
        service
            .admin(Method::POST, "/simulator/inlays", new)
            .await
            .expect(422);
    }
    service
        .admin(Method::POST, "/simulator/inlays", json!({"tag_id": 999}))
        .await
        .expect(409);
    let none = service.admin_get("/simulator/inlays?count=true").await;
    assert_eq!(none, json!({"items": [], "next": null, "count": 0}));
}

#[tokio::test]
async fn a_deleted_virtual_inlay_is_gone_for_the_service_too() {
    let service = TestService::start().await;
    let inlay = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    let path = format!("/simulator/inlays/{}", inlay["id"]);
    assert_eq!(
        service.admin_get("/simulator/inlays").await["items"],
        json!([inlay])
    );
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    for path in [path.clone(), format!("/inlays/{}", inlay["inlay_id"])] {
        service
            .admin(Method::GET, &path, Value::Null)
            .await
            .expect(404);
    }
    service
        .admin(Method::POST, &format!("{path}/tap"), json!({}))
        .await
        .expect(404);
}

#[tokio::test]
async fn a_virtual_inlays_counter_outlives_a_restart() {
    let service = TestService::start().await;
    let inlay = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    for _ in 0..3 {
        tap(&service, &inlay, json!({})).await;
    }
    let service = service.restart(1_000).await;
    let tapped = tap(&service, &inlay, json!({"follow": true})).await;
    assert_eq!(
        (&tapped["counter"], &tapped["followed"]["tag_verified"]),
        (&json!(4), &json!(true))
    );
}

#[tokio::test]
async fn a_followed_tap_answers_with_the_key_and_its_payload() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/landing").await;
    let tag = json!({"name": "Bottle", "experience_id": experience, "variables": {"registered": "false"}});
    let inlay = virtual_inlay(&service, json!({"tag": tag})).await;
    let tapped = tap(&service, &inlay, json!({"follow": true})).await;
    let followed = &tapped["followed"];
    assert_eq!(
        (&followed["status"], &followed["tag_verified"]),
        (&json!(302), &json!(true))
    );
    assert_eq!(followed["reason"], json!("verified"));
    let rk = followed["rk"].as_str().unwrap();
    assert_eq!(followed["rk_base64"], json!(STANDARD.encode(rk)));
    assert!(followed["location"].as_str().unwrap().contains(rk));
    assert_eq!(followed["payload"], service.payload(rk).await);
    assert_eq!(
        followed["payload"]["interaction_ids"],
        json!([followed["interaction_id"]])
    );
    service
        .update(rk, json!({"registered": "true"}))
        .await
        .expect(200);
}

#[tokio::test]
async fn simulated_time_is_ahead_for_simulated_keys_alone() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    let tag = json!({"name": "Bottle", "experience_id": experience});
    let inlay = virtual_inlay(&service, json!({"tag": tag})).await;
    let simulated = tap(&service, &inlay, json!({"follow": true})).await["followed"]["rk"].clone();
    let real = service.redirecting_tag(Value::Null).await;
    let real = service.tap(&real.path()).await;
    let clock = service.admin_get("/simulator/clock").await;
    assert_eq!(
        clock,
        json!({"now": "2026-01-01T12:00:00Z", "offset_ms": 0})
    );
    let path = "/simulator/clock";
    let clock = service
        .admin(Method::POST, path, json!({"advance_ms": 300_000}))
        .await
        .expect(200);
    assert_eq!(
        clock,
        json!({"now": "2026-01-01T12:05:00Z", "offset_ms": 300_000})
    );
    assert_eq!(
        service.payload(simulated.as_str().unwrap()).await,
        json!([])
    );
    assert_ne!(service.payload(real.key()).await, json!([]));
    for wrong in [
        json!({"advance_ms": -1}),
        json!({"advance_ms": "1"}),
        json!({}),
    ] {
        service.admin(Method::POST, path, wrong).await.expect(422);
    }
}

#[tokio::test]
async fn taps_at_once_are_each_a_read_of_their_own() {
    let service = TestService::start().await;
    let inlay = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    let taps = (0..50).map(|_| {
        let (client, path) = (service.another(), tap_path(&inlay));
        tokio::spawn(async move { client.admin(Method::POST, &path, Value::Null).await })
    });
    let mut counters = Vec::new();
    for tap in taps.collect::<Vec<_>>() {
        counters.push(tap.await.unwrap().expect(200)["counter"].as_u64().unwrap());
    }
    counters.sort_unstable();
    assert_eq!(counters, (1..=50).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_virtual_inlay_that_is_on_no_tag_or_makes_no_codes_says_so() {
    let service = TestService::start().await;
    for (changes, says) in [
        (json!({"tag_id": null}), "has no tag"),
        (json!({"mirror": null}), "no longer makes codes"),
    ] {
        let inlay = virtual_inlay(&service, json!({"name": "Bottle"})).await;
        let path = format!("/inlays/{}", inlay["inlay_id"]);
        service.admin_patch(&path, changes).await;
        let answer = service
            .admin(Method::POST, &tap_path(&inlay), json!({}))
            .await;
        let problem = answer.expect(409);
        assert!(
            problem["detail"].as_str().unwrap().contains(says),
            "{problem}"
        );
    }
}

#[tokio::test]
async fn other_keys_for_a_virtual_inlay_are_written_to_its_chip_too() {
    let service = TestService::start().await;
    let inlay = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    let follow = json!({"follow": true});
    let before = tap(&service, &inlay, follow.clone()).await;
    let key = "0102030405060708090A0B0C0D0E0F10";
    let path = format!("/inlays/{}", inlay["inlay_id"]);
    service
        .admin_patch(
            &path,
            json!({"meta_key": key, "file_key": key, "mirror": "plain", "mac_from": "uid"}),
        )
        .await;
    let after = tap(&service, &inlay, follow).await;
    for tapped in [before, after] {
        assert_eq!(tapped["followed"]["tag_verified"], json!(true));
    }
}

#[tokio::test]
async fn another_tags_code_is_not_verified_and_stays_good_where_it_belongs() {
    let service = TestService::start().await;
    let bottle = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    let jacket = virtual_inlay(&service, json!({"name": "Jacket"})).await;
    let elsewhere = json!({"follow": true, "at_tag_id": jacket["tag_id"]});
    let tapped = tap(&service, &bottle, elsewhere).await;
    let slug = jacket["tag"].as_str().unwrap();
    assert!(tapped["url"].as_str().unwrap().contains(slug), "{tapped}");
    assert_eq!(tapped["followed"]["tag_verified"], false, "{tapped}");
    let here = tap(&service, &bottle, json!({"follow": true, "counter": 1})).await;
    assert_eq!(here["followed"]["tag_verified"], true, "{here}");

    let real = service.tag(json!({"name": "Real"})).await;
    for (id, status, words) in [(real.id, 422, "is real"), (9_999, 409, "no tag")] {
        let path = tap_path(&bottle);
        let refused = service
            .admin(Method::POST, &path, json!({"at_tag_id": id}))
            .await
            .expect(status);
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{detail}");
    }
}

#[tokio::test]
async fn a_link_preview_records_nothing_and_burns_nothing() {
    let service = TestService::start().await;
    let bottle = virtual_inlay(&service, json!({"name": "Bottle"})).await;
    let previewed = tap(
        &service,
        &bottle,
        json!({"follow": true, "link_preview": true}),
    )
    .await;
    let followed = &previewed["followed"];
    assert_eq!(
        (&followed["status"], &followed["rk"]),
        (&json!(200), &Value::Null)
    );
    assert_eq!(followed["interaction_id"], Value::Null);
    let here = tap(&service, &bottle, json!({"follow": true, "counter": 1})).await;
    assert_eq!(here["followed"]["tag_verified"], true, "{here}");
}

#[tokio::test]
async fn simulated_time_stays_ahead_over_a_restart() {
    let service = TestService::start().await;
    let path = "/simulator/clock";
    for offset in [300_000, 600_000] {
        let clock = service
            .admin(Method::POST, path, json!({"advance_ms": 300_000}))
            .await;
        assert_eq!(clock.expect(200)["offset_ms"], offset);
    }
    let service = service.restart(1_000).await;
    let clock = service.admin_get(path).await;
    assert_eq!(
        clock,
        json!({"now": "2026-01-01T12:10:01Z", "offset_ms": 600_000})
    );
}
