//! The state of tamper loops in events.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::Receiver;

use super::{start, webhook};

#[tokio::test]
async fn a_seal_that_is_open_is_told_when_it_was_not_open_before() {
    let (service, _house) = start().await;
    let receiver = Receiver::start().await;
    let fields = json!({
        "events": ["tag.tampered", "tap.verified"],
        "filter": {"world": "simulated"},
        "include": ["file_data"],
    });
    webhook(&service, &receiver, fields).await;
    let template = json!({
        "name": "Seals", "technology": "ntag424dna_tt", "mac_from": "uid",
        "template": "https://d.example/v?u={uid}&n={counter}&t={tamper}&c={mac}",
    });
    let template = service.admin_create("/url-templates", template).await;
    let chip = json!({"name": "Bottle", "url_template_id": template["id"]});
    let chip = service.admin_create("/simulator/inlays", chip).await;
    let path = format!("/simulator/inlays/{}/tap", chip["id"]);
    let mut expected = Vec::new();
    for (seal, tampered) in [("sealed", false), ("open", true), ("reclosed", false)] {
        let tap = json!({"follow": true, "seal": seal});
        let tap = service.admin(Method::POST, &path, tap).await.expect(200);
        let id = &tap["followed"]["interaction_id"];
        expected.push((json!("tap.verified"), id.clone(), json!(seal)));
        if tampered {
            expected.push((json!("tag.tampered"), id.clone(), json!(seal)));
        }
    }
    let mut arrived: Vec<(Value, Value, Value)> = receiver
        .wait_for(expected.len())
        .await
        .iter()
        .map(|one| {
            let event = one.json();
            let of = |member: &str| event["data"][member].clone();
            (event["type"].clone(), of("id"), of("tamper"))
        })
        .collect();
    // Several deliveries run in parallel, so the order differs.
    for all in [&mut arrived, &mut expected] {
        all.sort_by_key(|(kind, id, _)| (id.as_i64(), kind.to_string()));
    }
    assert_eq!(arrived, expected);
}
