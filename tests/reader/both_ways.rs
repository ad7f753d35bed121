//! A chip that the service encoded through the desktop and the real PC/SC service is opened and
//! verified by the `ntag424` crate. `other_implementation` tests the opposite direction.

use std::sync::Arc;

use ntag424::sdm::Verifier;
use ntag424::types::file_settings::{CryptoMode, Sdm};
use ntag424::types::{File, KeyNumber};
use ntag424::{AuthenticatedSession, Session};
use pcsc::{Context, Scope};
use serde_json::{Map, Value, json};
use tapdesk::backend::{Backend, RemoteService};
use tapdesk::reader::encode::{Progress, Wanted, encode};
use tapdesk::reader::pcsc::Pcsc;
use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::inlay::Uid;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{PassesOn, Type2Chip, VirtualType2};
use tapdesk_tests::virtual_reader::in_own_process;
use tapdesk_tests::{TestService, length};
use tokio::runtime::Runtime;

use crate::other_implementation::{Pcsc as Theirs, connect};
use crate::relay::laid;
use crate::table::Watch;

fn uid(number: u8) -> Uid {
    Uid::from_bytes([0x04, 0xB0, 0x00, 0x00, 0x00, number, 0x80])
}

/// The body of an encoding for a new tag.
async fn wish(service: &TestService, mode: CryptoMode) -> Map<String, Value> {
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut wish = json!({"tag_id": tag.id, "allow_unproved_address": true});
    if mode == CryptoMode::Lrp {
        let template = json!({
            "name": "LRP", "technology": "ntag424dna", "mode": "lrp",
            "template": "https://lrp.example/v/{slug}?p={picc}&m={mac}",
        });
        let template = service.admin_create("/url-templates", template).await;
        wish["url_template_id"] = template["id"].clone();
        wish["lrp"] = true.into();
    }
    wish.as_object().unwrap().clone()
}

/// Encodes the inlay on the reader like the desktop.
fn encoded(
    watch: &mut Watch,
    service: &TestService,
    runtime: &Runtime,
    target: Map<String, Value>,
) -> Progress {
    let (reader, laid) = laid(watch);
    let token = AdminToken::parse(service.admin_token()).unwrap();
    let remote = RemoteService::new(service.base().to_owned(), token);
    let backend = Backend::Remote(Arc::new(remote));
    let wanted = Wanted {
        reader,
        insertion: laid.insertion,
        target,
    };
    let board = watch.board();
    let done = runtime.block_on(encode(Pcsc, &board, &backend, wanted, |_| {}));
    done.unwrap()
}

/// The settings that the chip returns in a session.
async fn settings<S: AuthenticatedSession>(card: &mut Theirs, session: S, uid: Uid) -> Sdm {
    let (shown, session) = session.get_uid(card).await.unwrap();
    assert_eq!(shown, uid.bytes());
    let settings = session.get_file_settings(card, File::Ndef).await;
    settings.unwrap().0.sdm.unwrap()
}

#[test]
fn what_we_encode_in_either_mode_the_other_implementation_opens_and_verifies() {
    in_own_process(|pcscd| {
        let runtime = Runtime::new().unwrap();
        let service = runtime.block_on(TestService::start());
        let mut watch = Watch::start();
        for (number, mode) in [(1, CryptoMode::Aes), (2, CryptoMode::Lrp)] {
            let laid = pcscd.lay_down(VirtualNtag424::new(uid(number)));
            let target = runtime.block_on(wish(&service, mode));
            let shown = encoded(&mut watch, &service, &runtime, target);
            assert_eq!(shown.state, "verified", "{shown:?}");
            let audit = runtime.block_on(service.admin_get("/audit?actor=encoder&limit=1"));
            let object = audit["items"][0]["object"].as_str().unwrap_or_default();
            assert!(object.starts_with("encodings"), "{audit}");
            let chip = laid.take_away();
            assert_eq!(chip.speaks_lrp(), mode == CryptoMode::Lrp);
            let [master, meta, file] = [0, 1, 2].map(|slot| *chip.key(slot).expose());
            let counter = chip.counter();
            watch.until_empty();

            // After the desktop has read the chip, it only asks the reader for its UID.
            let laid = pcscd.lay_down(chip);
            watch.until_inlay();
            let context = Context::establish(Scope::User).unwrap();
            let mut card = connect(&context);
            let read = runtime.block_on(async {
                let card = &mut card;
                let begun = Session::new();
                let sdm = if mode == CryptoMode::Lrp {
                    let session = begun.authenticate_lrp(card, KeyNumber::Key0, &master, [7; 16]);
                    let session = session.await.unwrap();
                    settings(card, session, uid(number)).await
                } else {
                    let session = begun.authenticate_aes(card, KeyNumber::Key0, &master, [7; 16]);
                    let session = session.await.unwrap();
                    settings(card, session, uid(number)).await
                };
                let mut message = [0; 256];
                let mut session = Session::new();
                let read = session.read_file_unauthenticated(card, File::Ndef, 0, &mut message);
                let length = read.await.unwrap();
                let verifier = Verifier::try_new(&sdm, mode).unwrap();
                let found = verifier.verify_with_meta_key(&message[..length], &file, &meta);
                found.unwrap()
            });
            drop(card);
            assert_eq!(read.uid, Some(uid(number).bytes()));
            // Once read by the desktop, and once by the other implementation.
            assert_eq!(read.read_ctr, Some(counter + 2));
            assert_eq!(laid.take_away().tally().refusals, 0);
            watch.until_empty();
        }
    });
}

#[test]
fn a_chip_of_pages_is_wiped_as_one_from_the_first_command_on() {
    in_own_process(|pcscd| {
        let runtime = Runtime::new().unwrap();
        let service = runtime.block_on(TestService::start());
        let mut watch = Watch::start();
        let chip = VirtualType2::factory(Type2Chip::Ntag213, uid(1).bytes());
        let writes = chip.writes();
        let laid = pcscd.lay_down(chip);
        // The page asks for it; the desktop knows the inlay on the reader.
        let wipe = json!({"wipe": true}).as_object().unwrap().clone();
        let shown = encoded(&mut watch, &service, &runtime, wipe);
        assert_eq!(shown.state, "reset", "{shown:?}");
        assert_eq!(shown.log[0].name, "Read pages 0 to 3");
        assert_eq!(laid.take_away().writes(), writes);
    });
}

#[test]
fn a_write_password_is_set_and_removed_on_each_kind_of_reader() {
    in_own_process(|mut pcscd| {
        let runtime = Runtime::new().unwrap();
        let service = runtime.block_on(TestService::start());
        for (number, (name, passes_on)) in (1..).zip([
            ("ACS ACR122U PICC Interface", PassesOn::ByController),
            ("ACS ACR1252 1S CL Reader PICC", PassesOn::InSession),
            ("Identiv uTrust 3700 F CL Reader", PassesOn::PassThrough),
            // An unknown reader, and one whose name is wrong.
            ("Virtual reader", PassesOn::ByController),
            ("Identiv uTrust 3700 F CL Reader", PassesOn::InSession),
        ]) {
            pcscd.restart_as(name);
            let mut watch = Watch::start();
            let chip = VirtualType2::factory(Type2Chip::Ntag213, uid(number).bytes());
            let laid = pcscd.lay_down(chip.on_reader(passes_on));
            let tag = runtime.block_on(service.tag(json!({"name": "Bottle"})));
            let target = |write_password: bool| {
                let target = json!({
                    "tag_id": tag.id, "technology": "ntag213", "write_password": write_password,
                    "allow_unproved_address": true,
                });
                target.as_object().unwrap().clone()
            };
            let shown = encoded(&mut watch, &service, &runtime, target(true));
            assert_eq!(shown.state, "verified", "{name} {passes_on:?}: {shown:?}");
            let chip = laid.take_away();
            assert_eq!(chip.page(0x29)[3], 2, "{name} {passes_on:?}");
            watch.until_empty();
            let laid = pcscd.lay_down(chip);
            let shown = encoded(&mut watch, &service, &runtime, target(false));
            assert_eq!(shown.state, "verified", "{name} {passes_on:?}: {shown:?}");
            assert_eq!(laid.take_away().page(0x29)[3], 0xFF, "{name} {passes_on:?}");
            watch.until_empty();
        }
    });
}

/// The inlays of an encoding desk, one after the other, while the monitor runs: it reads each blank
/// chip, and nothing reads the chip again after its encoding.
#[test]
fn a_phone_finds_no_gap_after_inlays_that_were_encoded_one_after_another() {
    in_own_process(|pcscd| {
        let runtime = Runtime::new().unwrap();
        let service = runtime.block_on(TestService::start());
        let mut watch = Watch::start();
        for number in 1..=8 {
            let laid = pcscd.lay_down(VirtualNtag424::new(uid(number)));
            let target = runtime.block_on(wish(&service, CryptoMode::Aes));
            let shown = encoded(&mut watch, &service, &runtime, target);
            assert_eq!(shown.state, "verified", "{shown:?}");
            // It stays on the reader as long as a person needs to notice; the monitor looks at it
            // in the meantime.
            watch.stays_the_same(length(2, 5));
            let mut chip = laid.take_away();
            assert_eq!(chip.counter(), 1, "read by the verification only");
            watch.until_empty();

            let url = chip.read_url();
            let path = &url[url.find("/t/").unwrap()..];
            runtime.block_on(service.tap(&format!("{}{path}", service.base())));
            let taps = runtime.block_on(service.admin_get("/interactions?limit=1"));
            let tap = &taps["items"][0];
            assert_eq!(tap["reason"], "verified", "{tap}");
            assert_eq!(
                (&tap["counter"], &tap["last_counter"]),
                (&json!(2), &json!(1))
            );
        }
        let stats = runtime.block_on(service.admin_get("/stats"));
        assert_eq!(stats["attention"]["counter_gaps"], 0, "{stats}");
    });
}
