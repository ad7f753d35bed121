//! The reading of each kind of chip, command by command and without a reader.

use tapdesk::reader::card::{Card, Fault};
use tapdesk::reader::inlay::{Chip, Message, Original, Reading, read};
use tapdesk_service::inlay::technology::Access;
use tapdesk_service::inlay::virtual_inlay::OneTimeCode;
use tapdesk_service::inlay::{MacFrom, Mirror, Technology, Uid};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::virtual_card::ntag424::{FREE, FileSettings, NEVER, VirtualNtag424};
use tapdesk_tests::virtual_card::type2::{PassesOn, Type2Chip, VirtualType2, tlv};
use tapdesk_tests::virtual_card::{TornOut, VirtualCard, ndef};

use crate::chips::{TAG_URL, bottle};

const UID: [u8; 7] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66];

/// A virtual chip without a reader.
pub(crate) struct Direct<C>(pub C);

impl<C: VirtualCard> Card for Direct<C> {
    fn transmit(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault> {
        self.0.transmit(command).ok_or(Fault::Removed)
    }

    fn reset(&mut self) -> Result<Vec<u8>, Fault> {
        self.0.power_on();
        Ok(self.0.atr())
    }

    fn keep_alive(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

fn reading(card: impl VirtualCard) -> Reading {
    let atr = card.atr();
    read(&mut Direct(card), &atr).0.unwrap()
}

fn raw(url: &str) -> OneTimeCode {
    let (_, query) = url.split_once('?').unwrap();
    let (uid, token) = query.split_once("&token=").unwrap();
    OneTimeCode {
        uid: uid.strip_prefix("uid=").unwrap().to_owned(),
        token: token.to_owned(),
    }
}

#[test]
fn an_ntag_424_shows_the_code_of_its_next_tap_and_every_read_is_one_tap() {
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        for mac_from in [MacFrom::None, MacFrom::Uid] {
            let inlay = chip(mirror, mac_from);
            let mut card = Direct(VirtualNtag424::encoded(&inlay, TAG_URL));
            let atr = card.0.atr();
            for counter in 1..=3 {
                card.0.power_on();
                let reading = read(&mut card, &atr).0.unwrap();
                assert_eq!(card.0.counter(), counter);
                let url = reading.url.unwrap();
                let code = raw(&url);
                assert_eq!(code.url("http://127.0.0.1:8787/t", "k3v9qa"), url);
                // PICC data has random padding; everything else follows from the counter.
                let expected = inlay.code_at(counter, [0; 5]);
                match (mirror, mac_from) {
                    (Mirror::Plain, _) => assert_eq!(code, expected),
                    (_, MacFrom::None) => assert_eq!(code.token, expected.token),
                    (_, MacFrom::Uid) => assert_ne!(code.uid, expected.uid),
                }
                assert_eq!(reading.chip, Chip::Known(Technology::Ntag424Dna));
                assert_eq!(reading.uid, Some(inlay.uid.to_string()));
                assert_eq!(reading.memory, Some(254));
                assert_eq!(reading.lock, Access::Key);
            }
        }
    }
}

/// A genuine NXP chip (AN12196 rev 1.8, table 30).
const SIGNED: ([u8; 7], [u8; 56]) = (
    [0x04, 0x51, 0x8D, 0xFA, 0xA9, 0x61, 0x80],
    [
        0xD1, 0x94, 0x0D, 0x17, 0xCF, 0xED, 0xA4, 0xBF, 0xF8, 0x03, 0x59, 0xAB, 0x97, 0x5F, 0x9F,
        0x65, 0x14, 0x31, 0x3E, 0x8F, 0x90, 0xC1, 0xD3, 0xCA, 0xAF, 0x59, 0x41, 0xAD, 0x74, 0x4A,
        0x1C, 0xDF, 0x9A, 0x83, 0xF8, 0x83, 0xCA, 0xFE, 0x0F, 0xE9, 0x5D, 0x19, 0x39, 0xB1, 0xB7,
        0xE4, 0x71, 0x13, 0x99, 0x33, 0x24, 0x47, 0x3B, 0x78, 0x5D, 0x21,
    ],
);

#[test]
fn a_chip_is_original_if_its_maker_signed_its_uid() {
    let (uid, signature) = SIGNED;
    let chip = |uid| VirtualNtag424::new(Uid::from_bytes(uid));
    let original = |chip: VirtualNtag424| reading(chip).original;
    assert_eq!(original(chip(uid).with_signature(signature)), Original::Yes);
    assert_eq!(original(chip(UID).with_signature(signature)), Original::No);
    assert_eq!(original(chip(uid)), Original::Unknown, "it tells none");
    assert_eq!(original(chip(uid).with_signature([0; 56])), Original::No);
}

/// A scan of a real NTAG215 (`tests/vectors/inlays.json`, `originality/ntag21x-found-1`).
const SIGNED_TYPE2: ([u8; 7], [u8; 32]) = (
    [0x04, 0xF4, 0x37, 0xC2, 0x99, 0x3C, 0x80],
    [
        0x4D, 0x5D, 0x10, 0x05, 0xFE, 0x28, 0x96, 0x8B, 0x2B, 0x9A, 0x44, 0x28, 0x82, 0x53, 0xD7,
        0xD9, 0xE8, 0x83, 0x3F, 0x3C, 0xE9, 0xC8, 0x1C, 0x21, 0x44, 0xE1, 0x24, 0x0E, 0xB8, 0x22,
        0x74, 0x9F,
    ],
);

#[test]
fn a_chip_of_pages_tells_its_makers_signature_on_readers_that_pass_the_question_on() {
    let (uid, signature) = SIGNED_TYPE2;
    let mut forged = signature;
    forged[31] ^= 1;
    let chip = |uid| VirtualType2::with_url(Type2Chip::Ntag215, uid, "https://a.example/t/1");
    for way in [PassesOn::InSession, PassesOn::ByController] {
        for (card, original) in [
            (chip(uid).with_signature(signature, way), Original::Yes),
            (chip(uid).with_signature(forged, way), Original::No),
            (chip(UID).with_signature(signature, way), Original::No),
            (chip(uid), Original::Unknown),
        ] {
            let atr = card.atr();
            let mut card = Direct(card);
            let reading = read(&mut card, &atr).0.unwrap();
            assert_eq!(reading.original, original, "{way:?}");
            assert_eq!(reading.url.as_deref(), Some("https://a.example/t/1"));
            assert!(!card.0.in_session, "the reader looks for chips again");
        }
    }
    // A new chip is not asked for its signature, because it has to be written while it is on the
    // reader.
    let new = VirtualType2::factory(Type2Chip::Ntag215, uid);
    let new = new.with_signature(signature, PassesOn::InSession);
    assert_eq!(reading(new).original, Original::Unknown);
}

#[test]
fn the_log_tells_each_exchange_and_no_key() {
    let inlay = chip(Mirror::Encrypted, MacFrom::Uid);
    let card = VirtualNtag424::encoded(&inlay, TAG_URL);
    let atr = card.atr();
    let (_, log) = read(&mut Direct(card), &atr);
    assert_eq!(log[0].asked, "Ask the reader for the UID");
    let reads = log
        .iter()
        .skip_while(|exchange| !exchange.asked.starts_with("Read 2 bytes"));
    assert!(
        reads
            .clone()
            .all(|exchange| exchange.command.starts_with("00B0")),
        "one run"
    );
    assert_eq!(reads.count(), 2);
    let whole = format!("{log:?}");
    for key in [&inlay.keys.file, inlay.keys.for_picc_data()] {
        let key = key.expose().iter().map(|byte| format!("{byte:02X}"));
        assert!(!whole.contains(&key.collect::<String>()));
    }
}

#[test]
fn each_type_2_chip_is_known_by_its_size_and_read_to_its_end() {
    for (kind, expected, memory, letters) in [
        (
            Type2Chip::Ntag213,
            Chip::Known(Technology::Ntag213),
            144,
            100,
        ),
        (
            Type2Chip::Ntag215,
            Chip::Known(Technology::Ntag215),
            496,
            200,
        ),
        (
            Type2Chip::Ntag216,
            Chip::Known(Technology::Ntag216),
            872,
            240,
        ),
        (
            Type2Chip::Ultralight,
            Chip::Known(Technology::Ultralight),
            48,
            10,
        ),
    ] {
        let url = format!("https://example.com/{}", "x".repeat(letters));
        let card = VirtualType2::with_url(kind, UID, &url);
        let reading = reading(card.clone());
        assert_eq!((reading.chip, reading.memory), (expected, Some(memory)));
        assert_eq!(reading.url, Some(url.clone()));
        assert_eq!(reading.uid.as_deref(), Some("04112233445566"));
        assert_eq!(reading.lock, Access::Open);
        assert_eq!(self::reading(card.lock()).lock, Access::Locked);
    }
}

#[test]
fn a_long_message_stands_behind_control_blocks_and_a_long_length() {
    let text = [b"\x02en", "x".repeat(700).as_bytes()].concat();
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    let message = [&[0xC1, 0x01][..], &length, b"T", &text].concat();
    let mut card = VirtualType2::blank(Type2Chip::Ntag216, UID);
    card.write(&[&[0x00, 0x01, 0x03, 0xA0, 0x0C, 0x34][..], &tlv(&message)].concat());
    let reading = reading(card);
    assert!(
        matches!(reading.message, Message::Records { .. }),
        "{reading:?}"
    );
    assert_eq!(reading.url, None);
}

#[test]
fn blank_unformatted_protected_and_broken_are_told_apart() {
    let blank = VirtualType2::blank(Type2Chip::Ntag213, UID);
    assert_eq!(reading(blank).message, Message::Blank);

    let protected = VirtualType2::with_url(Type2Chip::Ntag213, UID, TAG_URL).protect_from(4);
    assert_eq!(reading(protected).message, Message::Protected);

    let mut lying = VirtualType2::blank(Type2Chip::Ntag213, UID);
    lying.write(&[0x03, 0xFF, 0xFF, 0xFF]);
    let lying = reading(lying);
    let Message::Broken { reason } = &lying.message else {
        panic!("{lying:?}");
    };
    assert_eq!(reason, "It claims more bytes than its memory holds.");

    let new = VirtualNtag424::new(Uid::from_bytes(UID));
    let new = reading(new);
    assert_eq!((new.message, new.lock), (Message::Blank, Access::Open));

    let mut hidden = bottle();
    hidden.set_ndef_settings(FileSettings::plain(2, NEVER, NEVER, 0));
    let hidden = reading(hidden);
    assert_eq!(
        (hidden.message, hidden.lock),
        (Message::Protected, Access::Key),
        "key 0 may change its settings"
    );

    let mut lying = VirtualNtag424::new(Uid::from_bytes(UID));
    lying.set_ndef_settings(FileSettings::plain(FREE, FREE, FREE, 0));
    lying.set_message(&ndef::uri(TAG_URL)[..20]);
    let lying = reading(lying);
    assert!(matches!(lying.message, Message::Broken { .. }), "{lying:?}");
}

#[test]
fn every_reading_is_one_plain_sentence() {
    let protected = || VirtualType2::with_url(Type2Chip::Ntag215, UID, TAG_URL).protect_from(4);
    for (reading, sentence) in [
        (
            reading(protected()),
            "A Type 2 tag that has a message that can only be read with its key; it can be written only with its key.",
        ),
        (
            reading(bottle()),
            "An NTAG 424 DNA that contains a URL; it can be written only with its key.",
        ),
        (
            reading(protected().on_reader(PassesOn::InSession)),
            "An NTAG215 that has a message that can only be read with its key; it can be written only with its key.",
        ),
        (
            reading(Stranger),
            "Not a tag: this card has no message that phones can read. It may be a payment card, a key card or a passport.",
        ),
    ] {
        assert_eq!(reading.sentence, sentence);
    }
}

/// A card that knows only the reader's own commands.
struct Stranger;

impl VirtualCard for Stranger {
    fn atr(&self) -> Vec<u8> {
        vec![0x3B, 0x80, 0x80, 0x01, 0x01]
    }

    fn power_on(&mut self) {}

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        Some(match command[0] {
            0xFF => vec![0x08, 0x01, 0x02, 0x03, 0x90, 0x00],
            _ => vec![0x6E, 0x00],
        })
    }
}

#[test]
fn another_card_shows_its_uid_and_its_answer_to_reset() {
    let reading = reading(Stranger);
    assert_eq!(reading.uid.as_deref(), Some("08010203"));
    assert_eq!(reading.atr, "3B80800101");
    assert_eq!(
        (reading.chip, reading.message),
        (Chip::Unknown, Message::None)
    );
}

/// A storage card that is not of Type 2, with its name in the answer to reset, and the reader's status
/// for a read without its key.
struct OtherStorage([u8; 2], [u8; 2]);

impl VirtualCard for OtherStorage {
    fn atr(&self) -> Vec<u8> {
        let head = [
            0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03,
        ];
        [&head[..], &self.0, &[0, 0, 0, 0, 0x6A]].concat()
    }

    fn power_on(&mut self) {}

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        Some(match *command {
            [0xFF, 0xCA, ..] => vec![0xB4, 0x01, 0x02, 0x03, 0x90, 0x00],
            _ => self.1.to_vec(),
        })
    }
}

#[test]
fn a_mifare_classic_is_no_protected_tag() {
    for name in [
        [0x00, 0x01],
        [0x00, 0x02],
        [0x00, 0x26],
        [0xF0, 0x11],
        // A MIFARE Classic of Infineon, by its chip instead of its name.
        [0xFF, 0x88],
    ] {
        for refusal in [[0x63, 0x00], [0x69, 0x82]] {
            let reading = reading(OtherStorage(name, refusal));
            assert_eq!(
                (reading.chip, &reading.message),
                (Chip::Unknown, &Message::None),
                "{name:02X?}"
            );
            assert!(reading.sentence.starts_with("Not a tag"), "{name:02X?}");
            assert_eq!(reading.uid.as_deref(), Some("B4010203"));
        }
    }
    // A chip of Type 2 whose first page needs a password, and one whose name is wrong.
    let protected = VirtualType2::with_url(Type2Chip::Ntag213, UID, TAG_URL).protect_from(0);
    assert_eq!(reading(protected).message, Message::Protected);
    let open = VirtualType2::with_url(Type2Chip::Ntag213, UID, TAG_URL);
    let mut atr = open.atr();
    atr[14] = 0x01;
    let misnamed = read(&mut Direct(open), &atr).0.unwrap();
    assert_eq!(misnamed.chip, Chip::Known(Technology::Ntag213));
}

#[test]
fn a_chip_that_is_torn_out_after_any_command_is_a_removal_and_nothing_else() {
    let whole = {
        let card = bottle();
        let atr = card.atr();
        read(&mut Direct(card), &atr).1.len()
    };
    for answered in 0..whole {
        let card = TornOut::after(answered, bottle());
        let atr = card.atr();
        let (outcome, log) = read(&mut Direct(card), &atr);
        assert_eq!(outcome, Err(Fault::Removed), "after {answered}");
        assert_eq!(log.len(), answered + 1);
    }
}
