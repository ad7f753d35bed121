//! An NTAG 424 DNA with factory keys and another program's message: it is not overwritten without a
//! confirmation.

use serde_json::json;

use super::bench::uid;
use super::http::{desk, ended, lay, replacing, wish};

const THEIRS: &str = "https://else.example/menu";

#[tokio::test]
async fn a_message_of_another_program_is_written_over_only_if_that_is_asked_for() {
    let (service, tag, mut chip) = desk().await;
    chip.set_url(THEIRS);
    let mut found = wish(uid(1), tag.id);
    found["has_message"] = true.into();
    let turn = lay(&service, &mut chip, &found).await;
    assert_eq!(ended(&turn), ("rejected", Some("already_encoded")));
    assert_eq!(chip.read_url(), THEIRS);
    assert_eq!(chip.tally().writes, 0);

    let mut replaced = replacing(uid(1), tag.id);
    replaced["has_message"] = true.into();
    let turn = lay(&service, &mut chip, &replaced).await;
    assert_eq!(ended(&turn), ("verified", None));
    assert!(chip.read_url().contains(&tag.path()));
    // Its keys are ours by now, so its message needs no confirmation.
    let turn = lay(&service, &mut chip, &found).await;
    assert_eq!(ended(&turn), ("verified", None));
}

#[tokio::test]
async fn a_message_of_another_program_is_wiped_with_the_chip() {
    let (service, tag, mut chip) = desk().await;
    chip.set_url(THEIRS);
    let wipe = json!({"uid": uid(1).to_string(), "wipe": true, "has_message": true});
    let turn = lay(&service, &mut chip, &wipe).await;
    assert_eq!(ended(&turn), ("reset", None));
    assert_eq!(chip.file(2)[..2], [0, 0]);
    let turn = lay(&service, &mut chip, &wish(uid(1), tag.id)).await;
    assert_eq!(ended(&turn), ("verified", None));
}
