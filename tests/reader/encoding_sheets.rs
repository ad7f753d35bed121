//! A virtual chip that is encoded by the encoding sheet of a URL template generates URLs that
//! verify.

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::assessment::Tamper;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::technology::{Mode, Technology};
use tapdesk_service::inlay::template::{
    Field, KeyUse, MacStart, Memory, Request, Template, TemplateSettings,
};
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_reader::in_own_process;

use crate::table::Watch;

const UID: Uid = Uid::from_bytes([0x04, 0x9C, 0x11, 0x22, 0x33, 0x44, 0x80]);
const SLUG: &str = "bottle-41";
/// The chip's data in the part that it encrypts.
const SERIAL: &[u8] = b"A-0001-2024-0000";

fn keys() -> Keys {
    Keys {
        meta: Some(AesKey::from_bytes([0x11; 16])),
        file: AesKey::from_bytes([0x22; 16]),
    }
}

fn settings(template: &str, mac_from: MacStart) -> TemplateSettings {
    TemplateSettings {
        mac_from,
        ..TemplateSettings::new(template, Technology::Ntag424Dna)
    }
}

fn templates() -> Vec<TemplateSettings> {
    let one_address = "https://tags.example/v?picc_data={picc}&cmac={mac}";
    let encrypted = "https://tags.example/v?picc_data={picc}&enc={enc}&cmac={mac}";
    let lrp = |settings| TemplateSettings {
        mode: Mode::Lrp,
        ..settings
    };
    let with_file = |mac_from| TemplateSettings {
        enc_length: Some(32),
        ..settings(encrypted, mac_from)
    };
    vec![
        settings(one_address, MacStart::None),
        settings(one_address, MacStart::Offset(7)),
        settings("http://www.x.example/{slug}/{picc}{mac}", MacStart::Slug),
        settings("https://x.example/t?m={uid}x{counter}x{mac}", MacStart::Uid),
        settings(
            "https://x.example/{slug}?c={counter}&m={mac}",
            MacStart::None,
        ),
        settings("lnurlw://card.example/?p={picc}&c={mac}", MacStart::None),
        with_file(MacStart::Enc),
        with_file(MacStart::Picc),
        lrp(settings(one_address, MacStart::Picc)),
        TemplateSettings {
            technology: Technology::Ntag424DnaTt,
            ..settings(
                "https://x.example/?p={picc}&t={tamper}&c={mac}",
                MacStart::Tamper,
            )
        },
    ]
}

/// A chip that is encoded by the sheet.
fn encoded(template: &Template) -> VirtualNtag424 {
    let settings = template.settings();
    let mut chip = match settings.technology {
        Technology::Ntag424DnaTt => VirtualNtag424::tag_tamper(UID),
        _ => VirtualNtag424::new(UID),
    };
    if settings.mode == Mode::Lrp {
        chip = chip.with_lrp();
    }
    let sheet = template.encoding_sheet(Some(SLUG)).unwrap();
    assert_eq!(sheet.written_to, Memory::NdefFile);
    let mut bytes = sheet.bytes;
    if let Some(enc) = sheet.mirrors.iter().find(|place| place.field == Field::Enc) {
        bytes[enc.offset..][..SERIAL.len()].copy_from_slice(SERIAL);
    }
    chip.set_message(&bytes[2..]);
    for (of, slot) in sheet.slots {
        let key = match of {
            KeyUse::Meta => keys().meta.unwrap(),
            KeyUse::File => keys().file,
        };
        chip.set_key(slot, key, 1);
    }
    let data = sheet.file_settings.unwrap();
    let taken = chip.change_ndef_settings(&data);
    assert_eq!(taken, Ok(()), "{data:02X?} of {settings:?}");
    chip
}

#[test]
fn a_sheet_on_the_virtual_chip_gives_urls_that_verify() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        for settings in templates() {
            let template = Template::new(settings).unwrap();
            let settings = template.settings();
            let mut chip = encoded(&template);
            for counter in 1..=2 {
                let laid = pcscd.lay_down(chip);
                let url = watch.until_inlay().reading.url.unwrap();
                chip = laid.take_away();
                watch.until_empty();
                let request = Request::of_url(&url).unwrap();
                let read = template.read(&request);
                let read = read.unwrap_or_else(|| panic!("{url} is not of {settings:?}"));
                let code = read.code.unwrap().unwrap();
                let keys = InlayKeys::Aes(keys());
                let found = template.check(read.slug.as_deref(), &code, UID, &keys);
                assert!(found.is_authentic(), "{url} of {settings:?}: {found:?}");
                assert_eq!(found.counter, Some(counter), "{url}");
                if template.has(Field::Enc) {
                    let data = found.file_data.unwrap();
                    assert_eq!(data.expose(), SERIAL, "{url}");
                }
                if template.has(Field::Tamper) {
                    assert_eq!(found.tamper, Some(Tamper::Off), "nothing is measured yet");
                }
            }
        }
    });
}
