//! If somebody else bound a tag or chip during an encoding, that binding stays.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;
use tapdesk_tests::relay::answers;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

use super::bench::uid;
use super::http::{desk, ended, lay, replacing, wish};

/// Encodes a chip; `meanwhile` runs before the last answers are sent.
async fn encode(
    service: &TestService,
    chip: &mut VirtualNtag424,
    wish: Value,
    meanwhile: impl AsyncFnOnce(),
) -> Value {
    chip.power_on();
    let mut turn = service.admin(Method::POST, "/encodings", wish).await.json();
    let path = format!("/encodings/{}/answers", turn["id"]);
    let mut meanwhile = Some(meanwhile);
    while !turn["commands"].as_array().unwrap().is_empty() {
        let answers = answers(chip, &turn);
        if turn["state"] == "sealed"
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile().await;
        }
        turn = service
            .admin(Method::POST, &path, answers)
            .await
            .expect(200);
    }
    assert!(meanwhile.is_none(), "{turn}");
    turn
}

async fn inlays(service: &TestService, query: &str) -> Vec<Value> {
    let found = service.admin_get(&format!("/inlays?{query}")).await;
    found["items"].as_array().unwrap().clone()
}

fn imported(number: u32, tag: i64) -> Value {
    json!({
        "uid": uid(number).to_string(), "tag_id": tag, "technology": "ntag424dna", "mirror": "plain",
        "file_key": "000102030405060708090A0B0C0D0E0F",
    })
}

#[tokio::test]
async fn a_tag_that_got_an_inlay_meanwhile_gets_no_second_one() {
    let (service, tag, mut chip) = desk().await;
    let turn = encode(&service, &mut chip, wish(uid(1), tag.id), async || {
        service.admin_create("/inlays", imported(2, tag.id)).await;
    });
    let turn = turn.await;
    assert_eq!(ended(&turn), ("rejected", Some("tag_has_inlay")));
    assert_eq!(turn["result"], Value::Null);
    let bound = inlays(&service, &format!("tag_id={}", tag.id)).await;
    assert_eq!(bound.len(), 1);
    assert_eq!(bound[0]["uid"], uid(2).to_string());
    // Its keys are known, so it can be encoded for the next tag.
    let next = service.tag(json!({"name": "Next"})).await;
    let turn = lay(&service, &mut chip, &wish(uid(1), next.id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    // A second inlay was requested explicitly.
    let mut third = VirtualNtag424::new(uid(3));
    let mut additional = wish(uid(3), tag.id);
    additional["additional"] = true.into();
    let turn = lay(&service, &mut third, &additional).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert_eq!(
        inlays(&service, &format!("tag_id={}", tag.id)).await.len(),
        2
    );
}

#[tokio::test]
async fn an_inlay_that_was_bound_elsewhere_meanwhile_stays_there() {
    let (service, tag, mut chip) = desk().await;
    let other = service.tag(json!({"name": "Other"})).await;
    let turn = encode(&service, &mut chip, wish(uid(1), tag.id), async || {
        service.admin_create("/inlays", imported(1, other.id)).await;
    });
    let turn = turn.await;
    assert_eq!(ended(&turn), ("rejected", Some("already_encoded")));
    let bound = inlays(&service, &format!("uid={}", uid(1))).await;
    assert_eq!(
        (&bound[0]["tag_id"], &bound[0]["mirror"]),
        (&json!(other.id), &json!("plain"))
    );

    // A person allowed taking it from one tag, but by now it is on another one.
    let third = service.tag(json!({"name": "Third"})).await;
    let path = format!("/inlays/{}", bound[0]["id"]);
    let turn = encode(&service, &mut chip, replacing(uid(1), tag.id), async || {
        service
            .admin_patch(&path, json!({"tag_id": third.id}))
            .await;
    });
    assert_eq!(ended(&turn.await), ("rejected", Some("already_encoded")));
    let bound = inlays(&service, &format!("uid={}", uid(1))).await;
    assert_eq!(bound[0]["tag_id"], third.id);
    let turn = lay(&service, &mut chip, &replacing(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("verified", None));
    let bound = inlays(&service, &format!("uid={}", uid(1))).await;
    assert_eq!(
        (&bound[0]["tag_id"], &bound[0]["mirror"]),
        (&json!(tag.id), &json!("encrypted"))
    );
}

#[tokio::test]
async fn a_chip_that_is_taken_from_its_tag_joins_no_other_inlay_unasked() {
    let (service, tag, mut chip) = desk().await;
    let other = service.tag(json!({"name": "Other"})).await;
    lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    let mut second = VirtualNtag424::new(uid(2));
    lay(&service, &mut second, &wish(uid(2), other.id)).await;
    let mut replacing = replacing(uid(1), other.id);
    let turn = lay(&service, &mut chip, &replacing).await;
    assert_eq!(ended(&turn), ("rejected", Some("tag_has_inlay")));
    replacing["additional"] = true.into();
    let turn = lay(&service, &mut chip, &replacing).await;
    assert_eq!(ended(&turn), ("verified", None));
}
