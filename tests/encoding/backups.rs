//! The encoding root is in backups: restored on another computer, a backup opens every chip.

use serde_json::json;
use tapdesk_service::keyring::Passphrase;
use tapdesk_tests::TestService;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::{Tear, TornOut};

use super::bench::uid;
use super::http::{ended, lay, replacing, wish};

const PASSPHRASE: &str = "correct horse battery";

#[tokio::test]
async fn a_scheduled_backup_that_is_restored_elsewhere_opens_every_chip() {
    let service = TestService::on_sqlite().await;
    let mut tags = Vec::new();
    for number in 1..=4 {
        tags.push(
            service
                .tag(json!({"name": format!("Bottle {number}")}))
                .await
                .id,
        );
    }
    // One finished, one with random keys, one half way, and one that is encoded after the backup.
    let mut chips = Vec::new();
    for (number, tag) in (1..=2).zip(&tags) {
        let mut chip = VirtualNtag424::new(uid(number));
        let mut wish = wish(uid(number), *tag);
        wish["own_keys"] = (number == 2).into();
        assert_eq!(
            ended(&lay(&service, &mut chip, &wish).await),
            ("verified", None)
        );
        chips.push(chip);
    }
    let mut held = TornOut::new(Tear::after(27), VirtualNtag424::new(uid(3)));
    lay(&service, &mut held, &wish(uid(3), tags[2])).await;
    chips.push(held.into_card());
    let file = service.backed_up(PASSPHRASE).await;
    assert!(service.admin_get("/encoding-root").await["backed_up_at"].is_string());
    let mut later = VirtualNtag424::new(uid(4));
    lay(&service, &mut later, &wish(uid(4), tags[3])).await;
    chips.push(later);

    let elsewhere = TestService::restored(&file, &Passphrase::parse(PASSPHRASE).unwrap()).await;
    let before = chips
        .iter()
        .map(|chip| chip.key(0).clone())
        .collect::<Vec<_>>();
    for ((number, tag), (chip, before)) in (1..).zip(&tags).zip(chips.iter_mut().zip(&before)) {
        let turn = lay(&elsewhere, chip, &replacing(uid(number), *tag)).await;
        assert_eq!(ended(&turn), ("verified", None), "{number}: {turn}");
        assert_ne!(chip.key(0), before, "{number}");
        assert_eq!(chip.tally().refusals, 0, "{number}");
    }
}
