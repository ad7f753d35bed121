//! EV2 secure messaging against published personalisations, byte for byte in both directions.

use std::sync::LazyLock;

use serde_json::Value;
use tapdesk_service::inlay::ev2::{
    self, Command, Handshake, Protection, ReplyError, Session, first,
};
use tapdesk_service::inlay::key::AesKey;

static TRANSCRIPTS: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../vectors/encoding-transcripts.json"))
        .expect("the transcripts are JSON")
});

fn steps(id: &str) -> &'static [Value] {
    let all = TRANSCRIPTS["transcripts"].as_array().unwrap();
    let found = all.iter().find(|one| one["id"] == id).unwrap();
    found["steps"].as_array().unwrap()
}

fn bytes(step: &Value, name: &str) -> Vec<u8> {
    let hex = step[name]
        .as_str()
        .unwrap_or_else(|| panic!("no {name} in {step}"));
    let pair = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(pair).collect()
}

fn array<const N: usize>(step: &Value, name: &str) -> [u8; N] {
    bytes(step, name).try_into().unwrap()
}

fn key(step: &Value, name: &str) -> AesKey {
    AesKey::from_bytes(array(step, name))
}

/// A command of ours is the published one, and opens the published answer.
fn exchange(session: &Session, made: &Command, step: &Value) -> Vec<u8> {
    assert_eq!(made.apdu, bytes(step, "c"), "{}", step["name"]);
    let opened = session.open(made.reply, &bytes(step, "r"));
    opened
        .unwrap_or_else(|error| panic!("{}: {error}", step["name"]))
        .to_vec()
}

/// Goes through a whole personalisation; answers how many steps it checked.
fn replay(id: &str) -> usize {
    let mut session: Option<Session> = None;
    let mut first_half: Option<&Value> = None;
    let mut checked = 0;
    for step in steps(id) {
        let apdu = bytes(step, "c");
        match apdu.as_slice() {
            [0x90, 0x71 | 0x77, ..] => first_half = Some(step),
            [0x90, 0xAF, _, _, 0x20, ..] => {
                let half = first_half.take().unwrap();
                let sent = bytes(half, "c");
                let number = sent[5];
                let (a, secret) = (array(step, "rnd_a"), key(step, "key"));
                let challenge = bytes(half, "r");
                let (response, handshake) = if sent[1] == 0x77 {
                    let session = session.take().unwrap();
                    assert_eq!(session.non_first(number), sent);
                    Handshake::respond_in(session, number, secret, &challenge, a).unwrap()
                } else {
                    if sent[4] == 0x02 {
                        assert_eq!(first(number), sent);
                    }
                    Handshake::respond(number, secret, &challenge, a).unwrap()
                };
                assert_eq!(response, apdu, "{}", step["name"]);
                let stored = handshake.to_bytes();
                let handshake = Handshake::from_bytes(&stored).unwrap();
                let opened = handshake.finish(&bytes(step, "r")).unwrap();
                assert_eq!(opened.number(), number);
                let parts = opened.to_bytes();
                assert_eq!(parts[7..23], array::<16>(step, "k_enc"));
                assert_eq!(parts[23..], array::<16>(step, "k_mac"));
                session = Session::from_bytes(&parts);
                checked += 2;
            }
            [0x90, 0x8D, _, _, _, file, low, high, ..] => {
                let session = session.as_mut().unwrap();
                let plain = bytes(step, "plain");
                let at = u16::from_le_bytes([*low, *high]);
                // The note writes the whole file at once, in full protection but for the CC.
                let protection = if *file == 1 {
                    Protection::Plain
                } else {
                    Protection::Full
                };
                let length = apdu[9];
                let content = if usize::from(length) == plain.len() {
                    plain
                } else {
                    let mut content = plain;
                    content.resize(usize::from(length), 0);
                    content
                };
                let made = session.write_data(protection, *file, at, &content);
                exchange(session, &made, step);
                checked += 1;
            }
            [0x90, 0x5F, _, _, _, file, ..] => {
                let session = session.as_mut().unwrap();
                let made = session.change_file_settings(*file, &bytes(step, "plain"));
                exchange(session, &made, step);
                checked += 1;
            }
            [0x90, 0xC4, _, _, _, 0x00, ..] => {
                let version = array::<1>(step, "key_version")[0];
                let new = key(step, "new_key");
                let made = session.take().unwrap().change_key_0(&new, version).unwrap();
                assert_eq!(made.apdu, apdu);
                assert_eq!(bytes(step, "r"), [0x91, 0x00]);
                checked += 1;
            }
            [0x90, 0xC4, _, _, _, number, ..] => {
                let session = session.as_mut().unwrap();
                let version = array::<1>(step, "key_version")[0];
                let (old, new) = (key(step, "old_key"), key(step, "new_key"));
                let made = session.change_key(*number, &old, &new, version);
                exchange(session, &made, step);
                checked += 1;
            }
            _ => {}
        }
    }
    checked
}

#[test]
fn the_personalisation_of_an12196_section_6() {
    assert_eq!(replay("an12196-personalisation"), 12);
}

#[test]
fn a_personalisation_and_a_reset_of_boltlib() {
    assert_eq!(replay("boltlib-burn"), 8);
    assert_eq!(replay("boltlib-wipe"), 8);
}

/// A session whose keys a step states.
fn session_of(step: &Value) -> Session {
    let enc = step["k_enc"]
        .as_str()
        .map_or(AesKey::FACTORY, |_| key(step, "k_enc"));
    let counter = u16::try_from(step["cmd_ctr"].as_u64().unwrap()).unwrap();
    Session::of_parts(0, array(step, "ti"), counter, enc, key(step, "k_mac"))
}

#[test]
fn single_commands_of_an12196_tables_8_28_and_29() {
    let all = steps("an12196-single-commands");
    let step = |table: &str| all.iter().find(|one| one["table"] == table).unwrap();

    let mut session = session_of(step("8"));
    let made = session.get_file_settings(ev2::NDEF_FILE);
    let shown = exchange(&session, &made, step("8"));
    assert_eq!(shown[..2], [0x00, 0x40]);

    let mut session = session_of(step("28"));
    let made = session.set_configuration(0x00, &bytes(step("28"), "plain"));
    exchange(&session, &made, step("28"));

    let mut session = session_of(step("29"));
    let made = session.get_card_uid();
    let uid = exchange(&session, &made, step("29"));
    assert_eq!(uid, bytes(step("29"), "plain_r"));
}

#[test]
fn an_answer_with_any_bit_changed_is_none() {
    let all = steps("an12196-single-commands");
    let step = all.iter().find(|one| one["table"] == "29").unwrap();
    let answer = bytes(step, "r");
    let mut session = session_of(step);
    let reply = session.get_card_uid().reply;
    for bit in 0..answer.len() * 8 {
        let mut other = answer.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        let error = session.open(reply, &other).unwrap_err();
        let in_status = bit / 8 >= answer.len() - 2;
        assert_eq!(matches!(error, ReplyError::Status(_)), in_status, "{bit}");
    }
    for length in 0..answer.len() - 2 {
        let cut = [&answer[..length], &[0x91, 0x00]].concat();
        assert!(session.open(reply, &cut).is_err());
    }
}

#[test]
fn a_session_shows_none_of_its_keys() {
    let step = &steps("an12196-single-commands")[2];
    let mut session = session_of(step);
    let command = session.get_card_uid();
    let text = format!("{session:?} {command:?}");
    assert!(text.contains("redacted"), "{text}");
    for secret in ["2B4D96", "379D32", "43, 77"] {
        assert!(!text.contains(secret), "{text}");
    }
}
