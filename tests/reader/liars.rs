//! Dishonest chips: genuine URLs on other chips, false locks, invented sizes and UIDs. The report
//! contains only data that was read.

use tapdesk::reader::inlay::{Chip, Codes, Reading, read};
use tapdesk_service::inlay::technology::Access;
use tapdesk_service::inlay::{MacFrom, Mirror, Technology, Uid};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::virtual_card::ntag424::{FREE, FileSettings, NEVER, VirtualNtag424};
use tapdesk_tests::virtual_card::type2::{PassesOn, Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{VirtualCard, ndef};

use crate::chips::{TAG_URL, bottle};
use crate::readings::Direct;

const UID: [u8; 7] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66];
const OTHER: [u8; 7] = [0x04, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11];

fn reading(mut card: impl VirtualCard) -> Reading {
    card.power_on();
    let atr = card.atr();
    read(&mut Direct(card), &atr).0.unwrap()
}

fn url_of(card: VirtualNtag424) -> String {
    reading(card).url.unwrap()
}

/// Mirror, MAC window, slots of meta key and file key, whether the codes are in the canonical form,
/// and why they verify nothing.
type Settings = (
    Option<Mirror>,
    Option<MacFrom>,
    Option<u8>,
    Option<u8>,
    bool,
    Option<String>,
);

fn settings_of(reading: Reading) -> Settings {
    match reading.codes {
        Codes::On {
            mirror,
            mac_from,
            meta_key,
            file_key,
            canonical,
            problem,
        } => (mirror, mac_from, meta_key, file_key, canonical, problem),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_chip_tells_its_mirror_its_mac_window_and_its_key_slots() {
    for mac_from in [MacFrom::None, MacFrom::Uid] {
        for (mirror, meta_key) in [(Mirror::Plain, None), (Mirror::Encrypted, Some(1))] {
            let inlay = chip(mirror, mac_from);
            let read = reading(VirtualNtag424::encoded(&inlay, TAG_URL));
            assert_eq!(
                settings_of(read),
                (Some(mirror), Some(mac_from), meta_key, Some(2), true, None)
            );
        }
    }
}

#[test]
fn a_genuine_code_on_a_chip_that_makes_none_is_told_by_the_chip() {
    let url = url_of(bottle());
    let copy = reading(VirtualType2::with_url(Type2Chip::Ntag215, UID, &url));
    assert_eq!(
        (copy.chip, copy.codes),
        (Chip::Known(Technology::Ntag215), Codes::Off)
    );

    let mut chip = VirtualNtag424::new(Uid::from_bytes(UID));
    chip.set_url(&url);
    let copy = reading(chip);
    assert_eq!(copy.url.as_deref(), Some(&*url));
    assert_eq!(
        (copy.chip, copy.codes),
        (Chip::Known(Technology::Ntag424Dna), Codes::Off)
    );
}

#[test]
fn codes_in_another_form_are_for_a_url_template_and_those_that_prove_nothing_are_said_to_be_such() {
    let other_names = "https://brand.example/v?picc_data=00000000000000000000000000000000&enc=00000000000000000000000000000000&cmac=0000000000000000";
    let offset = |name: &str| {
        let message = [&[0, 0][..], &ndef::uri(other_names)].concat();
        let at = message
            .windows(name.len())
            .position(|part| part == name.as_bytes());
        u8::try_from(at.unwrap() + name.len()).unwrap()
    };
    let (host, picc) = (offset("brand.example") - 13, offset("picc_data="));
    let (enc, mac) = (offset("&enc="), offset("cmac="));
    // Mirrored with the MAC's input; encrypted file data; an input from the host on; only the
    // counter.
    let by_template: [(&[u8], Option<Mirror>); 4] = [
        (
            &[
                0x40, 0x00, 0xE0, 0xC1, 0xFF, 0x12, picc, 0, 0, mac, 0, 0, mac, 0, 0,
            ],
            Some(Mirror::Encrypted),
        ),
        (
            &[
                0x40, 0x00, 0xE0, 0xD1, 0xFF, 0x12, picc, 0, 0, enc, 0, 0, enc, 0, 0, 32, 0, 0,
                mac, 0, 0,
            ],
            Some(Mirror::Encrypted),
        ),
        (
            &[
                0x40, 0x00, 0xE0, 0xC1, 0xFF, 0x12, picc, 0, 0, host, 0, 0, mac, 0, 0,
            ],
            Some(Mirror::Encrypted),
        ),
        (
            &[
                0x40, 0x00, 0xE0, 0x41, 0xFF, 0xE2, picc, 0, 0, mac, 0, 0, mac, 0, 0,
            ],
            Some(Mirror::Plain),
        ),
    ];
    let told = |settings: &[u8]| {
        let mut chip = bottle();
        chip.set_url(other_names);
        chip.set_ndef_settings(FileSettings::parse(settings).unwrap());
        settings_of(reading(chip))
    };
    for (settings, mirror) in by_template {
        let (told, _, _, _, canonical, problem) = told(settings);
        assert_eq!(
            (told, canonical, problem),
            (mirror, false, None),
            "{settings:02X?}"
        );
    }
    let proves_nothing: [(&[u8], Option<Mirror>, &str); 3] = [
        (
            &[0x40, 0x00, 0xE0, 0xC1, 0xFF, 0x1F, picc, 0, 0],
            Some(Mirror::Encrypted),
            "makes no MAC",
        ),
        (
            &[
                0x40, 0x00, 0xE0, 0x81, 0xFF, 0xE2, picc, 0, 0, mac, 0, 0, mac, 0, 0,
            ],
            Some(Mirror::Plain),
            "does not mirror its counter",
        ),
        (
            &[0x40, 0x00, 0xE0, 0x01, 0xFF, 0xF2, mac, 0, 0, mac, 0, 0],
            None,
            "neither UID nor counter",
        ),
    ];
    for (settings, mirror, says) in proves_nothing {
        let (told, _, _, _, canonical, problem) = told(settings);
        assert_eq!((told, canonical), (mirror, false));
        let problem = problem.unwrap();
        assert!(
            problem.contains(says) && !problem.contains("support"),
            "{problem}"
        );
    }
}

#[test]
fn a_random_uid_is_known_to_be_random_and_the_chip_to_be_an_ntag_424() {
    let read = reading(bottle().with_random_uid());
    assert_eq!(
        (read.chip, read.random_uid),
        (Chip::Known(Technology::Ntag424Dna), true)
    );
    assert!(
        read.uid
            .is_some_and(|uid| uid.len() == 8 && uid.starts_with("08"))
    );
    assert!(!reading(bottle()).random_uid);
}

#[test]
fn a_chip_that_names_two_uids_is_no_chip_of_its_kind() {
    let read = reading(bottle().showing(Uid::from_bytes(OTHER)));
    assert_eq!(read.chip, Chip::Inconsistent);
    assert!(read.chip.technology().is_none());
    assert!(
        read.sentence.starts_with("A chip with two UIDs"),
        "{}",
        read.sentence
    );
    let read =
        reading(VirtualType2::with_url(Type2Chip::Ntag215, UID, TAG_URL).with_memory_of(OTHER));
    assert_eq!(read.chip, Chip::Inconsistent);
}

#[test]
fn a_type_2_chip_is_locked_only_if_every_page_is() {
    for kind in [Type2Chip::Ntag213, Type2Chip::Ntag215, Type2Chip::Ntag216] {
        let card = || VirtualType2::with_url(kind, UID, TAG_URL);
        for (card, lock) in [
            (card(), Access::Open),
            (card().lock(), Access::Locked),
            (card().lock_first_pages(), Access::Partly),
            (card().mark_read_only(), Access::Marked),
            (card().lock_first_pages().mark_read_only(), Access::Partly),
            (card().password_from(4), Access::Key),
            (card().password_from(0), Access::Key),
            (card().password_from(8), Access::Partly),
            (card().lock_first_pages().password_from(4), Access::Key),
            (card().lock().password_from(4), Access::Locked),
            (card().protect_from(4), Access::Key),
            // Its readable part does not identify the chip, unless the chip itself can be asked.
            (card().protect_from(30), Access::Unknown),
            (
                card().protect_from(30).on_reader(PassesOn::InSession),
                Access::Partly,
            ),
        ] {
            assert_eq!(reading(card).lock, lock, "{kind:?}");
        }
    }
    // It has no pages after 15, and no password.
    let small = || VirtualType2::with_url(Type2Chip::Ultralight, UID, "https://a.example/b");
    assert_eq!(reading(small()).lock, Access::Open);
    assert_eq!(reading(small().lock()).lock, Access::Locked);
    assert_eq!(reading(small().mark_read_only()).lock, Access::Marked);
}

#[test]
fn an_ntag_424_is_locked_only_if_nobody_can_change_that() {
    for (settings, lock) in [
        (
            FileSettings::plain(FREE, NEVER, NEVER, NEVER),
            Access::Locked,
        ),
        (FileSettings::plain(FREE, NEVER, NEVER, 0), Access::Key),
        (FileSettings::plain(FREE, NEVER, NEVER, FREE), Access::Open),
        (FileSettings::plain(FREE, 2, NEVER, NEVER), Access::Key),
        (FileSettings::plain(FREE, FREE, NEVER, NEVER), Access::Open),
    ] {
        let mut chip = VirtualNtag424::new(Uid::from_bytes(UID));
        chip.set_url(TAG_URL);
        chip.set_ndef_settings(settings);
        assert_eq!(reading(chip).lock, lock);
    }
}
