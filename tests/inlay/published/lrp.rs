//! LRP: its primitives, and sessions of secure messaging replayed with them.

use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::technology::ntag424::lrp::{FILE_KEY, Lrp, PICC_KEY};

use super::{array, bytes, key, one, text, vectors};

fn nibbles(hex: &str) -> Vec<u8> {
    let digit = |c: char| u8::try_from(c.to_digit(16).unwrap()).unwrap();
    hex.chars().map(digit).collect()
}

fn index(value: &serde_json::Value) -> usize {
    value.as_u64().unwrap().try_into().unwrap()
}

/// A message padded with 80h and zeros to complete blocks.
fn padded(mut message: Vec<u8>) -> Vec<u8> {
    message.push(0x80);
    message.resize(message.len().next_multiple_of(16), 0);
    message
}

fn primitives(id: &str) {
    one("lrp-primitives", id, |name, inputs, expected| {
        let lrp = Lrp::new(&key(inputs, "key"));
        if name.starts_with("eval") {
            let nibbles = nibbles(text(inputs, "nibbles"));
            let updated = index(&inputs["updated_key_index"]);
            let found = lrp.evaluate(updated, nibbles, inputs["finalize"] == true);
            assert_eq!(found, array(text(expected, "result")));
        } else if name.starts_with("lricb") {
            let plain = bytes(text(inputs, "plaintext"));
            let plain = if inputs["padding"] == true {
                padded(plain)
            } else {
                plain
            };
            let updated = index(&inputs["updated_key_index"]);
            let counter = || bytes(text(inputs, "counter"));
            let mut data = plain.clone();
            lrp.encrypt(updated, &mut counter(), &mut data);
            assert_eq!(data, bytes(text(expected, "ciphertext")));
            lrp.decrypt(updated, &mut counter(), &mut data);
            assert_eq!(data, plain);
        } else if name.starts_with("cmac") {
            let found = lrp.cmac(&bytes(text(inputs, "message")));
            assert_eq!(found, array(text(expected, "mac")));
            // K2, for a message whose last block is incomplete.
            let double = |block: u128| (block << 1) ^ ((block >> 127) * 0x87);
            let zeros = u128::from_be_bytes(lrp.evaluate(PICC_KEY, [0; 32], true));
            let subkey = double(double(zeros)).to_be_bytes();
            assert_eq!(subkey, array(text(expected, "subkey")));
        } else {
            let hex = |blocks: &[[u8; 16]]| -> Vec<String> {
                let digits = |block: &[u8; 16]| format!("{:032X}", u128::from_be_bytes(*block));
                blocks.iter().map(digits).collect()
            };
            let stated = |name: &str| -> Vec<String> {
                serde_json::from_value(expected[name].clone()).unwrap()
            };
            assert_eq!(hex(lrp.plaintexts()), stated("plaintexts"));
            let updated = stated("updated_keys");
            assert_eq!(hex(&lrp.updated_keys()[..updated.len()]), updated);
        }
    });
}

/// The session vector of an LRP authentication (AN12321), from both random numbers.
fn session_vector(a: [u8; 16], b: [u8; 16]) -> Vec<u8> {
    let mut vector = vec![0x00, 0x01, 0x00, 0x80];
    vector.extend(&a[..2]);
    vector.extend(a[2..8].iter().zip(&b[..6]).map(|(a, b)| a ^ b));
    vector.extend(&b[6..]);
    vector.extend(&a[8..]);
    vector.extend([0x96, 0x69]);
    vector
}

fn odd(full: [u8; 16]) -> Vec<u8> {
    full.iter().skip(1).step_by(2).copied().collect()
}

fn sessions(id: &str) {
    one("ntag424-lrp-session", id, |name, inputs, expected| {
        let base = key(inputs, "key");
        match name {
            "an12321-auth-lrp-first-key3" => {
                // A byte for LRP, the chip's random number, and the status.
                let b: [u8; 16] = bytes(text(inputs, "r1"))[1..17].try_into().unwrap();
                let a: [u8; 16] = array(text(inputs, "rnd_a"));
                let vector = session_vector(a, b);
                assert_eq!(vector, bytes(text(expected, "session_vector")));
                let session = Lrp::new(&AesKey::from_bytes(Lrp::new(&base).cmac(&vector)));
                let c2 = bytes(text(expected, "c2"));
                assert_eq!(c2[5..21], a);
                let mac = session.cmac(&[&a[..], &b].concat());
                assert_eq!(c2[21..37], mac);
                // The answer: encrypted identifier and capabilities, and a MAC over everything
                // before.
                let r2 = bytes(text(expected, "r2"));
                let (data, rest) = r2.split_at(16);
                let mac = session.cmac(&[&b[..], &a, data].concat());
                assert_eq!(rest[..16], mac);
                let mut plain = data.to_vec();
                session.decrypt(FILE_KEY, &mut [0; 4], &mut plain);
                assert_eq!(plain[..4], bytes(text(expected, "ti")));
            }
            "hw-getcarduid" => {
                let vector = bytes(text(inputs, "session_vector"));
                let session = Lrp::new(&AesKey::from_bytes(Lrp::new(&base).cmac(&vector)));
                let identifier = bytes(text(inputs, "ti"));
                let mut counter = vec![0, 0, 0, 1];
                for (round, exchange) in inputs["exchanges"].as_array().unwrap().iter().enumerate()
                {
                    let [command, answer] = [0, 1].map(|i| bytes(exchange[i].as_str().unwrap()));
                    let round = u16::try_from(round).unwrap();
                    let message = [&[0x51][..], &round.to_le_bytes(), &identifier].concat();
                    assert_eq!(command[5..13], odd(session.cmac(&message)));
                    let (data, mac) = answer[..24].split_at(16);
                    let message =
                        [&[0x00][..], &(round + 1).to_le_bytes(), &identifier, data].concat();
                    assert_eq!(mac, odd(session.cmac(&message)));
                    let mut plain = data.to_vec();
                    session.decrypt(FILE_KEY, &mut counter, &mut plain);
                    assert_eq!(plain, padded(bytes(text(expected, "uid"))));
                }
            }
            _ => gettt_status(inputs, expected, &base),
        }
    });
}

/// A real `TagTamper` chip: its identifier, then `GetTTStatus`, command and answer.
fn gettt_status(inputs: &serde_json::Value, expected: &serde_json::Value, base: &AesKey) {
    let [a, b] = ["rnd_a", "rnd_b"].map(|name| array(text(inputs, name)));
    let session = Lrp::new(&AesKey::from_bytes(
        Lrp::new(base).cmac(&session_vector(a, b)),
    ));
    let mut plain = bytes(text(inputs, "picc_data"));
    session.decrypt(FILE_KEY, &mut [0; 4], &mut plain);
    assert_eq!(plain[..4], bytes(text(expected, "ti")));
    let identifier = bytes(text(expected, "ti"));
    let message = [&[0xF7, 0, 0][..], &identifier].concat();
    assert_eq!(
        bytes(text(inputs, "command"))[5..13],
        odd(session.cmac(&message))
    );
    let answer = bytes(text(inputs, "response"));
    let (data, rest) = answer.split_at(16);
    let message = [&[0x00, 1, 0][..], &identifier, data].concat();
    assert_eq!(rest[..8], odd(session.cmac(&message)));
    let mut plain = data.to_vec();
    session.decrypt(FILE_KEY, &mut [0, 0, 0, 1], &mut plain);
    assert_eq!(plain, padded(text(expected, "tt_status").into()));
}

vectors! {
    primitives {
        eval_test_vec1 "lrp-primitives/eval-test_vec1",
        eval_test_vec3 "lrp-primitives/eval-test_vec3",
        eval_test_vec5 "lrp-primitives/eval-test_vec5",
        eval_test_vec7 "lrp-primitives/eval-test_vec7",
        eval_test_vec9 "lrp-primitives/eval-test_vec9",
        eval_test_vec11 "lrp-primitives/eval-test_vec11",
        lricb_test_vec1 "lrp-primitives/lricb-test_vec1",
        lricb_test_vec3 "lrp-primitives/lricb-test_vec3",
        lricb_test_vec5 "lrp-primitives/lricb-test_vec5",
        lricb_test_vec8 "lrp-primitives/lricb-test_vec8",
        lricb_test_vec11 "lrp-primitives/lricb-test_vec11",
        lricb_test_vec13 "lrp-primitives/lricb-test_vec13",
        lricb_test_vec37 "lrp-primitives/lricb-test_vec37",
        cmac_test_vec1 "lrp-primitives/cmac-test_vec1",
        cmac_test_vec3 "lrp-primitives/cmac-test_vec3",
        cmac_test_vec5 "lrp-primitives/cmac-test_vec5",
        cmac_test_vec8 "lrp-primitives/cmac-test_vec8",
        cmac_test_vec13 "lrp-primitives/cmac-test_vec13",
        plaintexts_and_updated_keys "lrp-primitives/plaintexts-and-updated-keys",
    }
    sessions {
        an12321_auth_lrp_first_key3 "ntag424-lrp-session/an12321-auth-lrp-first-key3",
        hw_getcarduid "ntag424-lrp-session/hw-getcarduid",
        hw_gettt_open "ntag424-lrp-session/hw-gettt-open",
    }
}
