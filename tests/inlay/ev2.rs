//! EV2 secure messaging, compared with published personalisations byte for byte in both directions.

use std::sync::LazyLock;

use serde_json::{Value, json};
use tapdesk_service::inlay::ev2::{
    self, Command, Handshake, HandshakeError, Protection, ReplyError, Session, first,
};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::technology::ntag424::lrp::Lrp;

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

/// Asserts that our command equals the published one, and decodes the published answer.
fn exchange(session: &Session, made: &Command, step: &Value) -> Vec<u8> {
    assert_eq!(made.apdu, bytes(step, "c"), "{}", step["name"]);
    let opened = session.open(made.reply, &bytes(step, "r"));
    opened
        .unwrap_or_else(|error| panic!("{}: {error}", step["name"]))
        .to_vec()
}

/// Replays a complete personalisation. Returns the number of steps that it checked.
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
                        assert_eq!(first(Mode::Aes, number), sent);
                    }
                    Handshake::respond(Mode::Aes, number, secret, &challenge, a).unwrap()
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
                // The note writes the whole file at once, in full protection except for the CC.
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

/// A session with the keys of a step.
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

/// A published exchange in LRP mode: its inputs, and its results.
fn lrp(id: &str) -> (Value, Value) {
    let vectors: Value = serde_json::from_str(include_str!("../vectors/inlays.json")).unwrap();
    let all = vectors.as_array().unwrap();
    let found = all.iter().find(|one| one["id"] == id).unwrap();
    (found["inputs"].clone(), found["expected"].clone())
}

/// A new session in LRP mode, built from the parts that are stored of it.
fn lrp_session(inputs: &Value, vector: &[u8], ti: &[u8]) -> Session {
    let base = Lrp::new(&key(inputs, "key"));
    let parts = [
        &[0x00][..],
        ti,
        &[0x00, 0x00],
        // The chip encrypted one block to send the identifier.
        &1_u32.to_le_bytes(),
        &base.cmac(vector),
    ];
    let session = Session::from_bytes(&parts.concat()).unwrap();
    assert_eq!(*session.to_bytes(), parts.concat());
    session
}

#[test]
fn the_authentication_in_lrp_mode_of_an12321() {
    let (inputs, expected) = lrp("ntag424-lrp-session/an12321-auth-lrp-first-key3");
    assert_eq!(first(Mode::Lrp, 3), bytes(&inputs, "c1"));
    let challenge = bytes(&inputs, "r1");
    let (secret, a) = (key(&inputs, "key"), array(&inputs, "rnd_a"));
    let (response, handshake) =
        Handshake::respond(Mode::Lrp, 3, secret.clone(), &challenge, a).unwrap();
    assert_eq!(response, bytes(&expected, "c2"));
    let handshake = Handshake::from_bytes(&handshake.to_bytes()).unwrap();
    let session = handshake.finish(&bytes(&expected, "r2")).unwrap();
    assert_eq!((session.mode(), session.number()), (Mode::Lrp, 3));
    let vector = bytes(&expected, "session_vector");
    let mut begun = lrp_session(&inputs, &vector, &bytes(&expected, "ti")).to_bytes();
    begun[0] = 3;
    assert_eq!(session.to_bytes(), begun);

    // An answer with a flipped bit is refused, and so is an answer in AES mode.
    let (_, other) = Handshake::respond(Mode::Lrp, 3, secret.clone(), &challenge, a).unwrap();
    let mut wrong = bytes(&expected, "r2");
    wrong[20] ^= 1;
    assert_eq!(other.finish(&wrong).unwrap_err(), HandshakeError::NotProved);
    let of_aes = [&challenge[1..17], &[0x91, 0xAF]].concat();
    let mixed = Handshake::respond(Mode::Lrp, 3, secret, &of_aes, a);
    assert_eq!(mixed.err(), Some(HandshakeError::Malformed));
}

#[test]
fn real_chips_in_lrp_mode_tell_their_uid_and_their_loop() {
    let (inputs, expected) = lrp("ntag424-lrp-session/hw-getcarduid");
    let vector = bytes(&inputs, "session_vector");
    let mut session = lrp_session(&inputs, &vector, &bytes(&inputs, "ti"));
    let exchanges = inputs["exchanges"].as_array().unwrap();
    // Both commands are created before the first answer arrives.
    let made = [session.get_card_uid(), session.get_card_uid()];
    assert_eq!(exchanges.len(), made.len());
    for (exchange, made) in exchanges.iter().zip(made) {
        let step = json!({"c": exchange[0], "r": exchange[1]});
        assert_eq!(made.apdu, bytes(&step, "c"));
        let reported = session.open(made.reply, &bytes(&step, "r")).unwrap();
        assert_eq!(*reported, bytes(&expected, "uid"));
    }

    let (inputs, expected) = lrp("ntag424-lrp-session/hw-gettt-open");
    let [a, b] = ["rnd_a", "rnd_b"].map(|name| array::<16>(&inputs, name));
    let mixed: Vec<u8> = (0..6).map(|i| a[2 + i] ^ b[i]).collect();
    let vector = [
        &[0x00, 0x01, 0x00, 0x80][..],
        &a[..2],
        &mixed,
        &b[6..],
        &a[8..],
        &[0x96, 0x69],
    ];
    let mut session = lrp_session(&inputs, &vector.concat(), &bytes(&expected, "ti"));
    let made = session.full(0xF7, &[], &[]);
    assert_eq!(made.apdu, bytes(&inputs, "command"));
    let reported = session.open(made.reply, &bytes(&inputs, "response"));
    assert_eq!(
        *reported.unwrap(),
        expected["tt_status"].as_str().unwrap().as_bytes()
    );
}

#[test]
fn the_switch_to_lrp_mode_of_an12321_table_3() {
    // Steps 2, 3, 7 and 27; the chip answers 9100 without a MAC.
    let step = json!({
        "ti": "ED56F6E6",
        "k_enc": "66A8CB93269DC9BC2885B7A91B9C697B",
        "k_mac": "7DE5F7E244A46D22E536804D07E8D70E",
        "cmd_ctr": 0,
        "c": "905C0000190541B2BA963075730426D0858D2AA6C4982F579E77FAB49F8300",
    });
    let session = session_of(&step);
    assert_eq!(session_of(&step).switch_to_lrp().apdu, bytes(&step, "c"));
    let reply = session_of(&step).switch_to_lrp().reply;
    assert!(session.open(reply, &[0x91, 0x00]).is_ok());
    let wrong = [&[7; 8][..], &[0x91, 0x00]].concat();
    assert_eq!(session.open(reply, &wrong), Err(ReplyError::WrongMac));
}
