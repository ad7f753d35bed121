//! The service is killed during an encoding. Every command is on disk before it is sent, so a chip
//! that is placed again is finished, and no key on it is unknown.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::Uid;
use tapdesk_tests::files_containing;
use tapdesk_tests::relay::{answers, hex, lay};
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

use super::launch;

/// The moment at which the service is killed, after the chip has executed a turn.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// Before it receives the chip's answers.
    Unheard,
    /// While it stores them, or before.
    AtWork,
    /// After it has stored them; its response is lost.
    Unsaid,
}

#[tokio::test]
async fn killed_at_any_turn_it_finishes_the_chip_that_is_laid_down_again() {
    // The port, and with it the default tag URL, changes at each start.
    let launch = launch().env("TAPDESK_TAG_URL", "https://tags.example.com/t");
    let mut service = launch.start().await;
    let mut numbers = 1..;
    let (mut turn_at, mut was_last) = (0, false);
    let mut secrets = Vec::new();
    while !was_last {
        for moment in [Moment::Unheard, Moment::AtWork, Moment::Unsaid] {
            let uid = Uid::from_bytes([4, 0xF0, 0, 0, 0, numbers.next().unwrap(), 0x80]);
            let mut chip = VirtualNtag424::new(uid);
            let tag = service.tag(json!({"name": "Bottle"})).await;
            let wish = json!({"uid": uid.to_string(), "tag_id": tag.id});
            chip.power_on();
            let mut turn = service.admin_create("/encodings", wish.clone()).await;
            let path = format!("/encodings/{}/answers", turn["id"]);
            for _ in 0..turn_at {
                let answers = answers(&mut chip, &turn);
                turn = service
                    .admin(Method::POST, &path, answers)
                    .await
                    .expect(200);
            }
            was_last = turn["commands"] == json!([]);
            if was_last {
                assert_eq!(turn["state"], "verified", "{turn}");
                break;
            }
            let heard = service.admin_request(Method::POST, &path);
            let heard = heard.json(&answers(&mut chip, &turn)).send();
            match moment {
                Moment::Unheard => drop(heard),
                Moment::AtWork => drop(tokio::spawn(heard)),
                Moment::Unsaid => assert_eq!(heard.await.unwrap().status(), 200),
            }
            service = service.kill().await.start().await;
            let place = format!("{moment:?}, turn {turn_at}");
            let ended = lay(&service, &mut chip, &wish).await;
            assert_eq!(ended["state"], "verified", "{place}: {ended}");
            assert!(chip.tally().refusals <= 2, "{place}: {:?}", chip.tally());
            let version = chip.key_version(0);
            for slot in 0..5 {
                assert!(!chip.key(slot).is_factory(), "{place}");
                assert_eq!(chip.key_version(slot), version, "{place}");
            }
            let asked = json!({"url": chip.read_url()});
            let verdict = service.admin(Method::POST, "/verification", asked).await;
            assert_eq!(verdict.expect(200)["tag_verified"], true, "{place}");
            secrets.extend((0..5).map(|slot| *chip.key(slot).expose()));
            // The service's keys are sufficient to open it: the journal knows all of them.
            let again = json!({"uid": uid.to_string(), "wipe": true});
            assert_eq!(lay(&service, &mut chip, &again).await["state"], "reset");
        }
        turn_at += 1;
    }
    assert!(turn_at > 5, "{turn_at} turns");
    assert_eq!(
        service.admin_get("/audit/check").await["problem"],
        Value::Null
    );
    for secret in &secrets {
        for form in [
            secret.to_vec(),
            hex(secret).into(),
            hex(secret).to_uppercase().into(),
        ] {
            let found = files_containing(service.folder(), &form);
            assert!(found.is_empty(), "{found:?}");
        }
    }
}
