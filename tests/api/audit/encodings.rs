//! An encoding run, an encoded chip, and a chip that is placed again to be wiped: each turn leaves
//! its row.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::Uid;
use tapdesk_tests::relay::answers;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

use super::Driver;

pub(super) async fn encodings(driver: &mut Driver) {
    let tag = driver.service.tag(json!({"name": "Bottle"})).await;
    driver.look().await;
    let run = run(driver, tag.id).await;
    encode(driver, &run, tag.id).await;
    let root = json!({"compromised": false});
    let answer = driver.send(Method::POST, "/encoding-root", root).await;
    driver
        .left(
            "post_encoding_root",
            answer,
            "encoding-root.create",
            "encoding-root",
        )
        .await;
}

/// Creates a run of one tag, renames it, and skips the tag.
async fn run(driver: &mut Driver, tag: i64) -> Value {
    let new = json!({"name": "Autumn", "tag_ids": [tag]});
    let answer = driver.send(Method::POST, "/encoding-runs", new).await;
    let id = answer.json()["id"].clone();
    let run = format!("encoding-runs/{id}");
    driver
        .left("post_encoding_runs", answer, "encoding-runs.create", &run)
        .await;
    let row = driver.newest().await;
    assert_eq!(row["after"]["fields"]["name"], "Autumn", "{row}");
    assert_eq!(row["after"]["tag_ids"], json!([tag]), "{row}");
    let change = json!({"name": "Winter"});
    let answer = driver
        .send(Method::PATCH, &format!("/{run}"), change.clone())
        .await;
    driver
        .left(
            "patch_encoding_runs_id",
            answer,
            "encoding-runs.update",
            &run,
        )
        .await;
    let row = driver.newest().await;
    assert_eq!(
        (&row["before"], &row["after"]),
        (&json!({"name": "Autumn"}), &change)
    );
    let skip = format!("{run}/skip");
    let answer = driver
        .send(Method::POST, &format!("/{skip}"), Value::Null)
        .await;
    driver
        .left(
            "post_encoding_runs_id_skip",
            answer,
            "encoding-runs.skip",
            &skip,
        )
        .await;
    assert_eq!(driver.newest().await["after"]["position"], 1);
    id
}

/// Encodes a chip for the run's tag. Then begins to wipe the chip, and cancels that.
async fn encode(driver: &mut Driver, run: &Value, tag: i64) {
    let uid = Uid::from_bytes([4, 1, 2, 3, 4, 5, 6]);
    let mut card = VirtualNtag424::new(uid);
    card.power_on();
    let wish = json!({"uid": uid.to_string(), "run_id": run});
    let (object, mut turn) = lay_down(driver, &wish).await;
    let begun = driver.newest().await["after"].clone();
    let expected = json!({"uid": uid.to_string(), "run_id": run, "tag_id": tag, "wipe": false});
    for (member, value) in expected.as_object().unwrap() {
        assert_eq!(begun[member], *value, "{begun}");
    }
    while !turn["commands"].as_array().unwrap().is_empty() {
        let answers = answers(&mut card, &turn);
        let path = format!("/{object}/answers");
        let answer = driver.send(Method::POST, &path, answers).await;
        let operation = "post_encodings_id_answers";
        turn = driver
            .left(operation, answer, "encodings.answers", &object)
            .await;
    }
    assert_eq!(turn["state"], "verified", "{turn}");
    let row = driver.newest().await;
    assert_eq!(row["after"]["state"], "verified", "{row}");
    assert_eq!(row["after"]["inlay"]["tag_id"], tag, "{row}");
    assert!(row["after"]["inlay_id"].is_i64(), "{row}");
    let wish = json!({"uid": uid.to_string(), "wipe": true});
    let (object, _) = lay_down(driver, &wish).await;
    let begun = driver.newest().await["after"].clone();
    assert_eq!(begun["uid"], uid.to_string());
    assert_eq!(begun["wipe"], true, "{begun}");
    let answer = driver
        .send(Method::DELETE, &format!("/{object}"), Value::Null)
        .await;
    driver
        .left("delete_encodings_id", answer, "encodings.delete", &object)
        .await;
    let row = driver.newest().await;
    assert_eq!(row["before"]["state"], begun["state"], "{row}");
    assert_eq!(row["after"]["state"], "abandoned", "{row}");
}

/// Begins an encoding. Returns its object name in the log, and its first turn.
async fn lay_down(driver: &mut Driver, wish: &Value) -> (String, Value) {
    let answer = driver.send(Method::POST, "/encodings", wish.clone()).await;
    let object = format!("encodings/{}", answer.json()["id"]);
    let turn = driver
        .left("post_encodings", answer, "encodings.create", &object)
        .await;
    (object, turn)
}
