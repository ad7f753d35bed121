//! The virtual NTAG 424 DNA, compared byte for byte with the published transcript.

use std::sync::LazyLock;

use serde_json::Value;
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::{Session, VirtualNtag424};

static VECTORS: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../vectors/ntag424.json")).expect("the vectors are JSON")
});

const SELECT: [u8; 13] = [
    0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0, 0, 0x85, 1, 1, 0,
];
const UID: Uid = Uid::from_bytes([0x04, 0x95, 0x8C, 0xAA, 0x5C, 0x5E, 0x80]);

fn bytes(vector: &Value, name: &str) -> Vec<u8> {
    let text = vector[name].as_str().unwrap();
    let pair = |i| u8::from_str_radix(&text[i..i + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(pair).collect()
}

fn array<const N: usize>(vector: &Value, name: &str) -> [u8; N] {
    bytes(vector, name).try_into().unwrap()
}

fn key(vector: &Value, name: &str) -> AesKey {
    AesKey::from_bytes(array(vector, name))
}

/// A chip in the session of a transcript, with the keys of `keys`.
fn in_session(vector: &Value, keys: &Value, counter: u16) -> VirtualNtag424 {
    let (enc, mac) = (key(keys, "enc_session_key"), key(keys, "mac_session_key"));
    let session = Session::of_keys(0, array(vector, "ti"), counter, enc, mac);
    let mut chip = VirtualNtag424::new(UID);
    chip.resume(session);
    chip
}

fn answers(chip: &mut VirtualNtag424, vector: &Value) {
    let answer = chip.transmit(&bytes(vector, "command")).unwrap();
    assert_eq!(answer, bytes(vector, "response"), "{}", vector["source"]);
}

#[test]
fn authenticate_ev2_first_of_an12196_table_14() {
    let vector = &VECTORS["authenticate_ev2_first"][0];
    let mut chip = VirtualNtag424::new(UID);
    chip.apdu(&SELECT);
    chip.draws_next(&bytes(vector, "rnd_b"));
    chip.draws_next(&bytes(vector, "ti"));
    assert_eq!(chip.apdu(&bytes(vector, "c1")), bytes(vector, "r1"));
    assert_eq!(chip.apdu(&bytes(vector, "c2")), bytes(vector, "r2"));
    let (enc, mac) = chip.session().unwrap().keys().unwrap();
    assert_eq!(enc, &key(vector, "enc_session_key"));
    assert_eq!(mac, &key(vector, "mac_session_key"));
}

#[test]
fn change_file_settings_of_an12196_table_19() {
    let vector = &VECTORS["commands"][0];
    let mut chip = in_session(vector, &VECTORS["authenticate_ev2_first"][0], 1);
    answers(&mut chip, vector);
    // Without authentication, the chip shows the settings that were set.
    chip.power_on();
    chip.apdu(&SELECT);
    let shown = chip.transmit(&[0x90, 0xF5, 0, 0, 1, 2, 0]).unwrap();
    let plain = bytes(vector, "plain");
    let expected = [
        &[0x00],
        &plain[..3],
        &[0x00, 0x01, 0x00],
        &plain[3..],
        &[0x91, 0x00],
    ]
    .concat();
    assert_eq!(shown, expected);
}

#[test]
fn change_key_of_an12196_tables_26_and_27() {
    let other = &VECTORS["commands"][1];
    let mut chip = in_session(other, other, 2);
    answers(&mut chip, other);
    assert_eq!(chip.key(2), &key(other, "new_key"));
    // The session continues with the next counter.
    let own = &VECTORS["commands"][2];
    answers(&mut chip, own);
    assert_eq!(chip.key(0), &key(own, "new_key"));
    assert!(chip.session().is_none(), "its key was changed");
}

#[test]
fn get_card_uid_of_an12196_table_28() {
    let vector = &VECTORS["get_card_uid"][0];
    assert_eq!(array(vector, "uid"), UID.bytes());
    answers(&mut in_session(vector, vector, 0), vector);
}

#[test]
fn a_changed_byte_is_refused_and_ends_the_session() {
    let vector = &VECTORS["commands"][1];
    let command = bytes(vector, "command");
    for at in 5..command.len() - 1 {
        let mut chip = in_session(vector, vector, 2);
        let mut command = command.clone();
        command[at] ^= 1;
        assert_eq!(chip.transmit(&command).unwrap(), [0x91, 0x1E], "byte {at}");
        assert!(chip.session().is_none());
        assert!(chip.key(2).is_factory());
    }
}
