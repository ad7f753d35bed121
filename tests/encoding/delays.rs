//! Time: chips that delay, and desktops that answer too late.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::encoding::{Reason, StateWord};
use tapdesk_tests::TestService;
use tapdesk_tests::relay::answers;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::{Failures, VirtualNtag424};

use super::bench::{Bench, uid};
use super::http::{desk, wish};
use super::runs::foreign;

fn failing(in_a_row: u16) -> Failures {
    let total = 60;
    Failures { total, in_a_row }
}

#[test]
fn a_delay_is_neither_a_refusal_nor_a_tear() {
    let (mut bench, mut chip) = (Bench::new(uid(1), 1), VirtualNtag424::new(uid(1)));
    // The delay is longer than a desktop waits, and the failures are more than interrupted
    // authentications may cause.
    chip.set_failures(0, failing(900));
    for _ in 0..50 {
        bench.lay(&mut chip, |_| None);
        let turn = bench.encoding.turn().unwrap();
        assert_eq!(
            (turn.state, turn.reason),
            (StateWord::Interrupted, Some(Reason::Delayed))
        );
        assert_eq!((bench.journal.torn, bench.journal.refusals), (0, 0));
    }
    assert_eq!(chip.tally().writes, 0);
    chip.set_failures(0, failing(60));
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding.turn());
    assert_eq!(chip.tally().refusals, 0);
}

#[test]
fn a_chip_in_lrp_mode_that_delays_is_not_told_as_locked() {
    let chip = VirtualNtag424::new(uid(1)).with_lrp();
    let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip);
    chip.set_failures(0, failing(60));
    bench.lay(&mut chip, |_| None);
    let turn = bench.encoding.turn().unwrap();
    assert_eq!(
        (turn.state, turn.reason),
        (StateWord::Rejected, Some(Reason::Lrp))
    );
}

#[tokio::test]
async fn while_a_chip_delays_each_turn_says_so() {
    let (service, tag, mut chip) = desk().await;
    chip.set_failures(0, failing(130));
    chip.power_on();
    let mut turn = service
        .admin_create("/encodings", wish(uid(1), tag.id))
        .await;
    let path = format!("/encodings/{}/answers", turn["id"]);
    let mut waited = 0;
    while !turn["commands"].as_array().unwrap().is_empty() {
        if turn["reason"] == "delayed" {
            assert_eq!(turn["state"], "planned", "{turn}");
            waited += 1;
        } else {
            assert_eq!(turn["reason"], Value::Null);
        }
        let answers = answers(&mut chip, &turn);
        turn = service
            .admin(Method::POST, &path, answers)
            .await
            .expect(200);
    }
    assert_eq!(
        (&turn["state"], &turn["reason"]),
        (&json!("verified"), &Value::Null)
    );
    assert_eq!(waited, 3);
}

/// Relays a chip. The answers to the turn with this number come too late. Returns the last turn,
/// and whether the turn with this number occurred.
async fn late(
    service: &TestService,
    chip: &mut VirtualNtag424,
    tag: i64,
    at: usize,
) -> (Value, bool) {
    chip.power_on();
    let wish = wish(chip.uid(), tag);
    let mut turn = service.admin(Method::POST, "/encodings", wish).await.json();
    let path = format!("/encodings/{}/answers", turn["id"]);
    let mut was_late = false;
    for number in 0.. {
        if turn["commands"].as_array().unwrap().is_empty() {
            break;
        }
        let answers = answers(chip, &turn);
        if number == at {
            service.advance(60_001);
        }
        let next = service
            .admin(Method::POST, &path, answers.clone())
            .await
            .expect(200);
        if number == at {
            was_late = true;
            let name = next["commands"][0]["name"].as_str().unwrap();
            assert!(name.contains("expired after 60 seconds"), "{next}");
            let same = service.admin(Method::POST, &path, answers).await;
            assert_eq!(same.expect(200), next);
        }
        turn = next;
    }
    (turn, was_late)
}

#[tokio::test]
async fn whichever_answers_come_too_late_the_chip_is_finished_and_blamed_for_nothing() {
    let service = TestService::start().await;
    for at in 0.. {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let number = u32::try_from(at).unwrap() + 1;
        let mut chip = VirtualNtag424::new(uid(number));
        let (turn, was_late) = late(&service, &mut chip, tag.id, at).await;
        assert_eq!(turn["state"], "verified", "{at}: {turn}");
        assert_eq!(chip.tally().refusals, 0, "{at}");
        let state = service
            .service()
            .storage
            .chip_state(uid(number))
            .await
            .unwrap();
        let journal = state.journal.unwrap();
        assert_eq!((journal.refusals, journal.torn), (0, 0), "{at}");
        let path = format!("/encodings/{}", turn["id"]);
        let exchanges = service.admin_get(&path).await["exchanges"].to_string();
        assert_eq!(exchanges.contains("expired"), was_late, "{at}");
        if !was_late {
            assert!(at >= 6, "only {at} turns");
            return;
        }
    }
}

#[tokio::test]
async fn a_refusal_that_comes_too_late_is_not_counted() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = foreign(1);
    chip.power_on();
    let mut turn = service
        .admin_create("/encodings", wish(uid(1), tag.id))
        .await;
    let path = format!("/encodings/{}/answers", turn["id"]);
    for _ in 0..8 {
        while !turn["commands"][0]["name"]
            .as_str()
            .unwrap()
            .contains("second half")
        {
            let answers = answers(&mut chip, &turn);
            turn = service
                .admin(Method::POST, &path, answers)
                .await
                .expect(200);
        }
        let answers = answers(&mut chip, &turn);
        assert_eq!(answers["answers"][0], "91AE");
        service.advance(60_001);
        turn = service
            .admin(Method::POST, &path, answers)
            .await
            .expect(200);
        assert_eq!(turn["state"], "planned", "{turn}");
    }
    let state = service.service().storage.chip_state(uid(1)).await.unwrap();
    let journal = state.journal.unwrap();
    // The chip counts an authentication when it begins.
    assert_eq!((journal.refusals, journal.torn), (0, 8));
}
