//! The virtual NTAG 424 DNA, compared byte for byte with complete published personalisations.

use std::sync::LazyLock;

use serde_json::Value;
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::originality::signer;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::{FileSettings, Session, VirtualNtag424};

static TRANSCRIPTS: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../vectors/encoding-transcripts.json");
    serde_json::from_str(text).expect("the vectors are JSON")
});

fn steps(id: &str) -> &'static [Value] {
    let transcripts = TRANSCRIPTS["transcripts"].as_array().unwrap();
    let transcript = transcripts.iter().find(|transcript| transcript["id"] == id);
    transcript.unwrap()["steps"].as_array().unwrap()
}

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    let pair = |i| u8::from_str_radix(&text[i..i + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(pair).collect()
}

fn array<const N: usize>(text: &Value) -> [u8; N] {
    hex(text).try_into().unwrap()
}

/// Asserts that the chip gives the recorded answer to each command, with the transcript's
/// randomness.
fn replays(chip: &mut VirtualNtag424, steps: &[Value]) {
    for step in steps {
        if step["rnd_b"].is_string() {
            chip.draws_next(&hex(&step["rnd_b"]));
            let is_first = !step["name"].as_str().unwrap().contains("NonFirst");
            if is_first {
                chip.draws_next(&hex(&step["ti"]));
            }
        }
    }
    for step in steps {
        let answer = chip.apdu(&hex(&step["c"]));
        if step["r"].is_string() {
            assert_eq!(answer, hex(&step["r"]), "{}", step["name"]);
        }
    }
}

/// Asserts that the chip has each key that a transcript set, with its version.
fn has_keys_of(chip: &VirtualNtag424, steps: &[Value]) {
    for step in steps.iter().filter(|step| step["new_key"].is_string()) {
        let name = step["name"].as_str().unwrap();
        let number = name.strip_prefix("ChangeKey ").unwrap()[..1]
            .parse()
            .unwrap();
        let new = AesKey::from_bytes(array(&step["new_key"]));
        assert_eq!(chip.key(number), &new, "{name}");
        assert_eq!([chip.key_version(number)], *hex(&step["key_version"]));
    }
}

#[test]
fn the_personalisation_of_an12196_runs_byte_for_byte() {
    let steps = steps("an12196-personalisation");
    let mut chip = VirtualNtag424::new(Uid::from_bytes([0x04, 0x96, 0x8C, 0xAA, 0x5C, 0x5E, 0x80]))
        .with_version(
            [
                [0x04, 0x04, 0x08, 0x30, 0x00, 0x11, 0x05],
                [0x04, 0x04, 0x02, 0x01, 0x01, 0x11, 0x05],
            ],
            [0xCD, 0x65, 0x93, 0x5D, 0x40, 0x21, 0x18],
        );
    // The note writes the message in full protection, with key 0.
    chip.set_ndef_settings(FileSettings::parse(&[0x03, 0x00, 0xE0]).unwrap());
    replays(&mut chip, steps);
    has_keys_of(&chip, steps);
    let message = steps.iter().find(|step| step["table"] == "18").unwrap();
    assert_eq!(chip.file(2)[..128], hex(&message["plain"]));
    assert_eq!(chip.file(3)[..10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(chip.file(1)[14], 0xFF, "marked read-only");
    assert!(chip.ndef_settings().has_sdm());
}

#[test]
fn boltlib_burns_and_wipes_a_chip_byte_for_byte() {
    let mut chip = VirtualNtag424::new(Uid::from_bytes([4, 1, 2, 3, 4, 5, 6]));
    replays(&mut chip, steps("boltlib-burn"));
    has_keys_of(&chip, steps("boltlib-burn"));
    assert!(chip.ndef_settings().has_sdm());
    chip.power_on();
    replays(&mut chip, steps("boltlib-wipe"));
    has_keys_of(&chip, steps("boltlib-wipe"));
    assert!(!chip.ndef_settings().has_sdm());
    assert!((0..5).all(|number| chip.key(number).is_factory() && chip.key_version(number) == 1));
}

#[test]
fn the_single_commands_of_an12196_are_answered_byte_for_byte() {
    let all = steps("an12196-single-commands");
    let step = |table: &str| all.iter().find(|step| step["table"] == table).unwrap();
    let session = |step: &Value| {
        let key = |name: &str| match &step[name] {
            Value::Null => AesKey::FACTORY,
            key => AesKey::from_bytes(array(key)),
        };
        Session::of_keys(0, array(&step["ti"]), 0, key("k_enc"), key("k_mac"))
    };
    let uid = Uid::from_bytes(array(&step("29")["plain_r"]));
    for table in ["8", "28", "29"] {
        let step = step(table);
        let mut chip = VirtualNtag424::new(uid);
        if table == "8" {
            let settings = [
                &[0x40, 0xEE, 0xEE, 0xD1, 0xFE, 0x00][..],
                &[0x1F, 0, 0, 0x44, 0, 0, 0x44, 0, 0, 0x20, 0, 0, 0x6A, 0, 0],
            ];
            chip.set_ndef_settings(FileSettings::parse(&settings.concat()).unwrap());
        }
        chip.resume(session(step));
        assert_eq!(
            chip.apdu(&hex(&step["c"])),
            hex(&step["r"]),
            "table {table}"
        );
        assert_eq!(chip.hides_uid(), table == "28");
    }
}

#[test]
fn a_real_chips_signature_is_its_makers() {
    let mut all = steps("an12196-single-commands").iter();
    let step = all.find(|step| step["table"] == "30").unwrap();
    let answer = hex(&step["r"]);
    let (signature, status) = answer.split_last_chunk::<2>().unwrap();
    assert_eq!(*status, [0x91, 0x90]);
    let uid: [u8; 7] = array(&step["uid"]);
    let mut chip =
        VirtualNtag424::new(Uid::from_bytes(uid)).with_signature(signature.try_into().unwrap());
    assert_eq!(chip.apdu(&hex(&step["c"])), answer);
    let maker = signer(&uid, signature).unwrap();
    assert_eq!(maker.chips, "NTAG 424 DNA");
    // A chip in software has no maker's signature, and says so.
    let mut other = VirtualNtag424::new(Uid::from_bytes(uid));
    assert_eq!(other.apdu(&hex(&step["c"])), [0x91, 0x1C]);
}
