//! NTAG 424 DNA that another app left half written.

use serde_json::{Value, json};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::TestService;
use tapdesk_tests::virtual_card::VirtualCard;
use tapdesk_tests::virtual_card::ntag424::{FileSettings, VirtualNtag424};

use super::bench::uid;
use super::http::lay;

/// A chip, and the commands that wrote to it outside of a session.
struct Watched {
    chip: VirtualNtag424,
    plain_writes: u32,
}

impl VirtualCard for Watched {
    fn atr(&self) -> Vec<u8> {
        self.chip.atr()
    }

    fn power_on(&mut self) {
        self.chip.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        let writes = matches!(
            command,
            [0x00, 0xD6, ..] | [0x90, 0x8D | 0x5F | 0xC4 | 0x5C, ..]
        );
        let in_session = self.chip.session().is_some() && command.first() == Some(&0x90);
        self.plain_writes += u32::from(writes && !in_session);
        self.chip.transmit(command)
    }
}

const LNURLW: &str =
    "lnurlw://card.example/ln?p=00000000000000000000000000000000&c=0000000000000000";

/// A chip with factory keys, whose file another app has written and mirrored with these settings.
fn half_written(number: u32, settings: &[u8]) -> VirtualNtag424 {
    let mut chip = VirtualNtag424::new(uid(number));
    chip.set_url(LNURLW);
    chip.set_ndef_settings(FileSettings::parse(settings).unwrap());
    chip
}

/// Offsets of `p` and `c` in the file, after its length, the record's header and `lnurlw://`.
fn settings(option: u8, rights: [u8; 2]) -> Vec<u8> {
    let mut chip = VirtualNtag424::new(uid(1));
    chip.set_url(LNURLW);
    let offset = |name: &[u8]| {
        let at = chip.file(2).windows(3).position(|part| part == name);
        u8::try_from(at.unwrap() + 3).unwrap()
    };
    let (picc, mac) = (offset(b"?p="), offset(b"&c="));
    let sdm = [0xC1, 0xFF, 0x12, picc, 0, 0, mac, 0, 0, mac, 0, 0];
    [&[option][..], &rights, &sdm].concat()
}

#[tokio::test]
async fn a_chip_that_another_app_half_wrote_is_encoded_in_sessions_alone() {
    let service = TestService::start().await;
    for (number, settings) in (1..).zip([
        // Key 0 writes; key 2 writes; nobody writes; each with MAC or encrypted.
        settings(0x40, [0x00, 0xE0]),
        settings(0x40, [0x00, 0xE2]),
        settings(0x40, [0xF0, 0xEF]),
        settings(0x41, [0x00, 0xE0]),
        settings(0x43, [0x00, 0xE0]),
        // Written, but not mirrored yet.
        vec![0x00, 0x00, 0xE0],
        vec![0x03, 0x00, 0xE0],
        vec![0x00, 0xF0, 0xFF],
    ]) {
        let tag = service.redirecting_tag(Value::Null).await;
        let mut card = Watched {
            chip: half_written(number, &settings),
            plain_writes: 0,
        };
        let wish = json!({"uid": uid(number).to_string(), "tag_id": tag.id});
        let turn = lay(&service, &mut card, &wish).await;
        assert_eq!(turn["state"], "verified", "{settings:02X?}: {turn}");
        assert_eq!((card.plain_writes, card.chip.tally().refusals), (0, 0));
        assert!(card.chip.read_url().contains(&tag.path()));
    }
}

#[tokio::test]
async fn a_chip_with_a_key_0_of_another_app_is_foreign_and_untouched() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    for (number, version) in [(1, 0), (2, 1)] {
        let mut chip = half_written(number, &settings(0x40, [0x00, 0xE0]));
        chip.set_key(0, AesKey::from_bytes([0x77; 16]), version);
        let before = chip.file(2).to_vec();
        let wish = json!({"uid": uid(number).to_string(), "tag_id": tag.id});
        let refused = lay(&service, &mut chip, &wish).await;
        assert_eq!(refused["reason"], "foreign_key", "{refused}");
        assert_eq!(chip.tally().writes, 0);
        assert!(
            chip.failures(0).total <= 2,
            "two attempts while it lies there"
        );
        assert_eq!(chip.file(2), before);
    }
}
