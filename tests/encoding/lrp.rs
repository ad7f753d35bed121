//! LRP mode: only on request, permanent, and checked with another implementation.

use ntag424::sdm::Verifier;
use ntag424::types::File;
use ntag424::types::file_settings::CryptoMode;
use ntag424::{AuthenticatedSession as _, KeyNumber, Response, Session, Transport};
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::encoding::{Goal, Reason, StateWord};
use tapdesk_service::id::TagId;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::{Failures, VirtualNtag424};
use tapdesk_tests::{Client, TestService};

use super::bench::{Bench, form, lrp_form, uid};
use super::http::{hex, lay};

fn bench() -> Bench {
    Bench::of(uid(1), 1, lrp_form)
}

fn chip() -> VirtualNtag424 {
    VirtualNtag424::new(uid(1))
}

/// The reason why a chip is rejected and neither written nor switched.
fn rejected(bench: &mut Bench, chip: &mut VirtualNtag424) -> Option<Reason> {
    let (before, spoke) = (chip.tally(), chip.speaks_lrp());
    bench.lay(chip, |_| None);
    assert_eq!(bench.encoding.state.word(), StateWord::Rejected);
    assert!(chip.tally().refusals - before.refusals <= 2);
    assert_eq!(
        (chip.tally().writes, chip.speaks_lrp()),
        (before.writes, spoke)
    );
    bench.encoding.state.reason()
}

#[test]
fn a_blank_chip_is_switched_and_encoded_in_few_turns_without_a_refusal() {
    // One chip from the factory, and one that another tool switched before.
    for mut chip in [chip(), chip().with_lrp()] {
        let mut bench = bench();
        bench.lay(&mut chip, |_| None);
        assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
        assert!(chip.speaks_lrp());
        assert_eq!((chip.tally().refusals, chip.counter()), (0, 1));
        assert!(bench.encoding.seq <= 12, "{}", bench.encoding.seq);
        // Placed again for the same tag, it gets other keys in LRP mode at once.
        bench.anew(Goal::Tag(TagId::new(42)));
        bench.lay(&mut chip, |_| None);
        assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
        assert_eq!((chip.tally().refusals, chip.counter()), (0, 1));
    }
}

#[test]
fn a_chip_is_not_switched_unless_it_can_be_finished() {
    let keys = || std::array::from_fn(|_| AesKey::from_bytes([9; 16]));
    for (mut chip, reason) in [
        (chip().with_keys(keys(), 1), Reason::ForeignKey),
        (chip().with_lrp().with_keys(keys(), 1), Reason::ForeignKey),
        (VirtualNtag424::new(uid(2)), Reason::UidMismatch),
    ] {
        assert_eq!(rejected(&mut bench(), &mut chip), Some(reason));
    }
    for slot in 1..5 {
        let mut chip = chip();
        chip.set_key(slot, AesKey::from_bytes([9; 16]), 5);
        assert_eq!(rejected(&mut bench(), &mut chip), Some(Reason::ForeignSlot));
    }
    let (total, in_a_row) = (1_000, 0);
    for mut chip in [chip(), chip().with_lrp()] {
        chip.set_failures(0, Failures { total, in_a_row });
        assert_eq!(rejected(&mut bench(), &mut chip), Some(Reason::Locked));
    }
    // An imitation of a chip that was finished in LRP mode seems blank in both modes.
    let (mut bench, mut known) = (bench(), chip());
    bench.lay(&mut known, |_| None);
    for mut imitation in [chip(), chip().with_lrp()] {
        bench.anew(Goal::Tag(TagId::new(42)));
        assert_eq!(
            rejected(&mut bench, &mut imitation),
            Some(Reason::NotGenuine)
        );
    }
}

#[test]
fn a_chip_in_lrp_mode_is_for_urls_of_lrp_mode_alone_and_cannot_be_wiped() {
    let (mut bench, mut chip) = (bench(), chip());
    bench.lay(&mut chip, |_| None);
    bench.anew(Goal::Factory);
    assert_eq!(rejected(&mut bench, &mut chip), Some(Reason::Lrp));
    bench.form = form;
    bench.anew(Goal::Tag(TagId::new(41)));
    assert_eq!(rejected(&mut bench, &mut chip), Some(Reason::Lrp));
}

#[test]
fn a_chip_that_delays_is_asked_in_its_own_mode_until_it_answers() {
    let (mut bench, mut chip) = (bench(), chip().with_lrp());
    let (total, in_a_row) = (60, 60);
    chip.set_failures(0, Failures { total, in_a_row });
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding.turn());
}

/// The chip in process, as a transport of the other implementation.
struct InProcess<'c>(&'c mut VirtualNtag424);

impl Transport for InProcess<'_> {
    type Error = std::convert::Infallible;
    type Data = Vec<u8>;

    async fn transmit(&mut self, apdu: &[u8]) -> Result<Response<Vec<u8>>, Self::Error> {
        let answer = self.0.apdu(apdu);
        let (data, [sw1, sw2]) = answer.split_last_chunk().unwrap();
        let (data, sw1, sw2) = (data.to_vec(), *sw1, *sw2);
        Ok(Response { data, sw1, sw2 })
    }

    async fn get_uid(&mut self) -> Result<Vec<u8>, Self::Error> {
        Ok(self.transmit(&[0xFF, 0xCA, 0, 0, 0]).await?.data)
    }
}

#[tokio::test]
async fn the_other_implementation_opens_what_was_encoded_and_verifies_its_codes() {
    let (mut bench, mut chip) = (bench(), chip());
    bench.lay(&mut chip, |_| None);
    let key = |slot| *chip.key(slot).expose();
    let [master, meta, file] = [key(0), key(1), key(2)];
    let mut reader = InProcess(&mut chip);
    let session = Session::new().authenticate_lrp(&mut reader, KeyNumber::Key0, &master, [7; 16]);
    let (of_chip, session) = session.await.unwrap().get_uid(&mut reader).await.unwrap();
    assert_eq!(of_chip, uid(1).bytes());
    let settings = session.get_file_settings(&mut reader, File::Ndef).await;
    let (settings, _) = settings.unwrap();
    let verifier = Verifier::try_new(&settings.sdm.unwrap(), CryptoMode::Lrp).unwrap();
    for counter in 2..=3 {
        chip.power_on();
        let mut content = vec![0; bench.plan.as_ref().unwrap().file.len()];
        let mut reader = InProcess(&mut chip);
        let mut session = Session::new();
        let read = session.read_file_unauthenticated(&mut reader, File::Ndef, 0, &mut content);
        read.await.unwrap();
        let found = verifier
            .verify_with_meta_key(&content, &file, &meta)
            .unwrap();
        assert_eq!(found.uid, Some(uid(1).bytes()));
        assert_eq!(found.read_ctr, Some(counter));
    }
}

/// Creates a template in LRP mode, and returns its id.
async fn template(service: &TestService) -> Value {
    let template = json!({
        "name": "LRP", "technology": "ntag424dna", "mode": "lrp",
        "template": "https://lrp.example/v/{slug}?p={picc}&m={mac}",
    });
    service.admin_create("/url-templates", template).await["id"].clone()
}

#[tokio::test]
async fn it_is_asked_for_in_so_many_words_and_its_taps_verify() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let template = template(&service).await;
    let mut wish =
        json!({"uid": uid(1).to_string(), "tag_id": tag.id, "url_template_id": template});
    let refused = service
        .admin(Method::POST, "/encodings", wish.clone())
        .await;
    assert_eq!(refused.expect(422)["errors"][0]["field"], "lrp");
    let mut canonical = json!({"uid": uid(1).to_string(), "tag_id": tag.id});
    canonical["lrp"] = true.into();
    let refused = service.admin(Method::POST, "/encodings", canonical).await;
    assert_eq!(refused.expect(422)["errors"][0]["field"], "lrp");

    wish["lrp"] = true.into();
    let mut chip = chip();
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert!(chip.speaks_lrp());
    let inlays = service
        .admin_get(&format!("/inlays?tag_id={}", tag.id))
        .await;
    assert_eq!(inlays["items"][0]["mode"], "lrp", "{inlays}");
    assert_tap(&service, &mut chip, 2).await;
    let wipe = json!({"uid": uid(1).to_string(), "wipe": true});
    let refused = lay(&service, &mut chip, &wipe).await;
    assert_eq!(
        (&refused["state"], &refused["reason"]),
        (&json!("rejected"), &json!("lrp"))
    );
    for slot in 0..5 {
        let key = hex(chip.key(slot).expose());
        assert!(!turn.to_string().to_lowercase().contains(&key));
    }
}

async fn assert_tap(service: &Client, chip: &mut VirtualNtag424, counter: u32) {
    let url = json!({"url": chip.read_url()});
    let verdict = service.admin(Method::POST, "/verification", url).await;
    let verdict = verdict.expect(200);
    assert_eq!(verdict["tag_verified"], true, "{verdict}");
    assert_eq!(chip.counter(), counter);
}

#[tokio::test]
async fn a_run_switches_its_chips_as_it_says() {
    let service = TestService::start().await;
    let template = template(&service).await;
    let run = |lrp: bool| {
        let plan = json!({"pattern": "Bottle {n:03}", "url_template_id": template, "lrp": lrp});
        json!({"name": "Bottles", "planned": 1, "plan": plan})
    };
    let refused = service.admin(Method::POST, "/encoding-runs", run(false));
    assert_eq!(refused.await.expect(422)["errors"][0]["field"], "lrp");
    let made = service.admin_create("/encoding-runs", run(true)).await;
    let mut chip = chip();
    let wish = json!({"uid": uid(1).to_string(), "run_id": made["id"]});
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert!(chip.speaks_lrp());
}
