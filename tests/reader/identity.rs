//! Identification of a chip: by its maker, by its memory, and by its version if the reader passes
//! the command on. An unidentified chip is "unknown", and not a copy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tapdesk::reader::board::OnReader;
use tapdesk::reader::card::Card as _;
use tapdesk::reader::copy_check;
use tapdesk::reader::inlay::{Chip, Codes, Message, Reading, read};
use tapdesk_service::inlay::technology::Access;
use tapdesk_service::inlay::{Technology, Uid};
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{PassesOn, Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{ByPage, VirtualCard};
use tapdesk_tests::virtual_reader::in_own_process;

use crate::chips::bottle;
use crate::readings::Direct;
use crate::table::Watch;

const UID: [u8; 7] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66];
const SILICON_CRAFT: [u8; 7] = [0x39, 0x49, 0x30, 0x00, 0x00, 0x00, 0x01];
const URL: &str = "https://a.example/t/1";

fn reading(card: impl VirtualCard) -> Reading {
    let atr = card.atr();
    read(&mut Direct(card), &atr).0.unwrap()
}

/// The members that the dry run uses to detect a copy.
fn told(reading: &Reading) -> Value {
    serde_json::to_value(copy_check::Chip::from(reading)).unwrap()
}

#[test]
fn a_chip_that_only_states_the_size_of_an_ntag_is_called_none() {
    for kind in [
        Type2Chip::Ntag203,
        Type2Chip::UltralightC,
        Type2Chip::UltralightEv1,
        Type2Chip::UltralightEv1Large,
        Type2Chip::Ntag210,
        Type2Chip::Ntag212,
        Type2Chip::Ntag213Tt,
        Type2Chip::Ntag223Dna,
        Type2Chip::Ntag224Dna,
        Type2Chip::Sic43Nt,
    ] {
        let card = || VirtualType2::with_url(kind, UID, URL);
        let by_page = reading(ByPage::new(card()));
        for read in [reading(card()), by_page] {
            assert_eq!(
                (read.chip, &read.codes),
                (Chip::OtherType2, &Codes::Unknown),
                "{kind:?}"
            );
            assert_eq!(read.lock, Access::Unknown, "{kind:?}: {}", read.sentence);
            assert_eq!(read.url.as_deref(), Some(URL), "{kind:?}");
            assert_eq!(
                told(&read),
                json!({"uid": "04112233445566", "technology": "other_type2", "makes_codes": null})
            );
        }
    }
}

/// The memory of an NTAG203 as it was read in the field.
#[test]
fn an_ntag203_of_the_field_is_another_type_2_tag_that_is_neither_locked_nor_has_a_key() {
    let card = VirtualType2::factory(
        Type2Chip::Ntag203,
        [0x04, 0x08, 0x7A, 0x04, 0x04, 0x20, 0x19],
    )
    .with_page(2, [0x39, 0x00, 0x00, 0x00]);
    let read = reading(card);
    assert_eq!(read.chip.technology(), None);
    assert_eq!(
        read.sentence,
        "A Type 2 tag that is formatted and empty; its write access is unknown."
    );
}

#[test]
fn a_chip_says_its_version_on_readers_that_pass_the_question_on() {
    for way in [PassesOn::InSession, PassesOn::ByController] {
        for (kind, chip, codes) in [
            (
                Type2Chip::Ntag223Dna,
                Chip::Known(Technology::Ntag223Dna),
                Codes::Unknown,
            ),
            (
                Type2Chip::Ntag224Dna,
                Chip::Known(Technology::Ntag224Dna),
                Codes::Unknown,
            ),
            (
                Type2Chip::Ntag213Tt,
                Chip::Known(Technology::Ntag213Tt),
                Codes::Off,
            ),
            (
                Type2Chip::Ntag210,
                Chip::Known(Technology::Ntag210),
                Codes::Off,
            ),
            (
                Type2Chip::Ntag212,
                Chip::Known(Technology::Ntag212),
                Codes::Off,
            ),
            (
                Type2Chip::UltralightEv1,
                Chip::Known(Technology::Ultralight),
                Codes::Off,
            ),
            (
                Type2Chip::UltralightEv1Large,
                Chip::Known(Technology::Ultralight),
                Codes::Off,
            ),
        ] {
            for card in [
                VirtualType2::with_url(kind, UID, URL),
                VirtualType2::factory(kind, UID),
            ] {
                let read = reading(card.on_reader(way));
                assert_eq!((read.chip, read.codes), (chip, codes.clone()), "{way:?}");
                assert!(read.chip.technology().is_some());
                assert!(
                    matches!(read.lock, Access::Open | Access::Unknown),
                    "{kind:?}"
                );
            }
        }
        // A password hides its memory, but not its kind.
        let card = VirtualType2::with_url(Type2Chip::Ntag216, UID, URL).protect_from(4);
        let read = reading(card.on_reader(way));
        assert_eq!(
            (read.chip, read.lock),
            (Chip::Known(Technology::Ntag216), Access::Key)
        );
        assert_eq!(read.message, Message::Protected);
    }
}

#[test]
fn a_chip_that_falls_silent_at_the_question_is_awake_again_afterwards() {
    for way in [PassesOn::InSession, PassesOn::ByController] {
        for kind in [Type2Chip::Ntag203, Type2Chip::UltralightC] {
            let card = VirtualType2::with_url(kind, UID, URL).on_reader(way);
            let atr = card.atr();
            let mut card = Direct(card);
            let (outcome, log) = read(&mut card, &atr);
            assert_eq!(outcome.unwrap().chip, Chip::OtherType2, "{kind:?}");
            assert!(
                log.iter().any(|one| one.asked == "New activation"),
                "{log:#?}"
            );
            let answer = card.transmit(&[0xFF, 0xB0, 0x00, 0x04, 0x10]).unwrap();
            assert_eq!(answer.len(), 18, "{way:?}, {kind:?}: {answer:02X?}");
        }
    }
    // A chip that is recognized by its memory is not asked for its version.
    let card = VirtualType2::factory(Type2Chip::Ntag213, UID).on_reader(PassesOn::InSession);
    let atr = card.atr();
    let (_, log) = read(&mut Direct(card), &atr);
    assert!(
        log.iter()
            .all(|one| one.command.starts_with("FFB0") || one.command == "FFCA000000")
    );
}

#[test]
fn a_chip_of_silicon_craft_is_no_ntag_and_its_codes_are_unknown() {
    for kind in [Type2Chip::Sic43Nt, Type2Chip::Ntag213] {
        let read = reading(VirtualType2::with_url(kind, SILICON_CRAFT, URL));
        assert_eq!((read.chip, read.codes), (Chip::OtherType2, Codes::Unknown));
        assert_eq!(read.uid.as_deref(), Some("39493000000001"));
    }
}

#[test]
fn a_tag_tamper_is_told_from_a_chip_without_a_loop() {
    let uid = Uid::from_bytes(UID);
    let tamper = reading(VirtualNtag424::tag_tamper(uid));
    assert_eq!(tamper.chip, Chip::Known(Technology::Ntag424DnaTt));
    assert_eq!(told(&tamper)["technology"], "ntag424dna_tt");
    assert_eq!(tamper.chip.technology().unwrap().as_str(), "ntag424dna_tt");
    assert!(
        tamper
            .sentence
            .starts_with("An NTAG 424 DNA TagTamper that")
    );
    assert_eq!(
        reading(VirtualNtag424::new(uid)).chip,
        Chip::Known(Technology::Ntag424Dna)
    );
    // Another capacitance; another subtype; no NTAG.
    for (hardware, chip) in [
        (
            [0x04, 0x04, 0x18, 0x30, 0x00, 0x11, 0x05],
            Chip::Known(Technology::Ntag424DnaTt),
        ),
        (
            [0x04, 0x04, 0x12, 0x30, 0x00, 0x11, 0x05],
            Chip::Known(Technology::Ntag424Dna),
        ),
        ([0x04, 0x04, 0x05, 0x30, 0x00, 0x11, 0x05], Chip::OtherType4),
        ([0x04, 0x01, 0x02, 0x30, 0x00, 0x11, 0x05], Chip::OtherType4),
    ] {
        let software = [0x04, 0x04, 0x02, 0x01, 0x02, 0x11, 0x05];
        let card = VirtualNtag424::new(uid).with_version([hardware, software], [0; 7]);
        assert_eq!(reading(card).chip, chip, "{hardware:02X?}");
    }
}

#[test]
fn every_ntag_is_read_on_a_reader_that_answers_a_page_at_a_time() {
    for refusal in [
        None,
        Some([0x67, 0x00]),
        Some([0x6C, 0x04]),
        Some([0x62, 0x82]),
    ] {
        for kind in [
            Type2Chip::Ntag213,
            Type2Chip::Ntag215,
            Type2Chip::Ntag216,
            Type2Chip::Ultralight,
        ] {
            for card in [
                VirtualType2::with_url(kind, UID, URL),
                VirtualType2::with_url(kind, UID, URL).lock(),
                VirtualType2::with_url(kind, UID, URL).mark_read_only(),
                VirtualType2::factory(kind, UID),
            ] {
                let at_once = reading(card.clone());
                let by_page = reading(ByPage { card, refusal });
                assert_eq!(by_page, at_once, "{kind:?} {refusal:?}");
                assert!(by_page.chip.technology().is_some());
            }
        }
    }
}

/// A security module in the second slot: it is always present, and knows no command.
struct Module {
    asked: Arc<AtomicUsize>,
}

impl VirtualCard for Module {
    fn atr(&self) -> Vec<u8> {
        // Its historical bytes are "MIFARE Plus SAM".
        let text = b"MIFARE Plus SAM";
        let head = [
            0x3B, 0xDF, 0x18, 0xFF, 0x81, 0xF1, 0xFE, 0x43, 0x00, 0x3F, 0x03, 0x83,
        ];
        [&head[..], text, &[0x3B]].concat()
    }

    fn power_on(&mut self) {}

    fn transmit(&mut self, _: &[u8]) -> Option<Vec<u8>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Some(vec![0x6D, 0x00])
    }
}

#[test]
fn on_the_smart_card_service_a_module_is_passed_by_and_inlays_beside_it_are_read() {
    in_own_process(|pcscd| {
        let asked = Arc::<AtomicUsize>::default();
        let module = Module {
            asked: Arc::clone(&asked),
        };
        let module = pcscd.lay_on(1, module);
        let mut watch = Watch::start();
        watch.until("the module's slot", |on| *on == OnReader::Module);
        for insertion in 1..=2 {
            let laid = pcscd.lay_on(0, bottle());
            let read = watch.until_inlay();
            assert_eq!(
                (read.insertion, read.reading.chip),
                (insertion, Chip::Known(Technology::Ntag424Dna))
            );
            assert_eq!(laid.take_away().counter(), 1);
            watch.table("it is taken away", |table| {
                let mut on = table.readers.iter().map(|place| &place.on);
                on.all(|on| matches!(on, OnReader::Nothing | OnReader::Module))
                    .then_some(())
            });
        }
        drop(module);
        assert_eq!(asked.load(Ordering::Relaxed), 0, "it is asked nothing");
    });
}

#[test]
fn on_the_smart_card_service_chips_are_told_apart_page_by_page_as_well() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        for (kind, chip) in [
            (Type2Chip::Ntag213, Chip::Known(Technology::Ntag213)),
            (Type2Chip::Ntag203, Chip::OtherType2),
            (Type2Chip::Ntag216, Chip::Known(Technology::Ntag216)),
            (Type2Chip::UltralightC, Chip::OtherType2),
        ] {
            let laid = pcscd.lay_down(ByPage::new(VirtualType2::with_url(kind, UID, URL)));
            let read = watch.until_inlay().reading;
            assert_eq!(
                (read.chip, read.url.as_deref()),
                (chip, Some(URL)),
                "{kind:?}"
            );
            drop(laid);
            watch.until_empty();
        }
    });
}
