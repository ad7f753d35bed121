//! Properties of every code, inlay and text.

use proptest::prelude::*;
use tapdesk_service::entropy::{SeededEntropy, bytes};
use tapdesk_service::inlay::code::{COUNTER_MAX, Code, Malformed};
use tapdesk_service::inlay::diagnose::{Known, diagnose};
use tapdesk_service::inlay::diversify::{DiversificationInput, MasterKey};
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::verify::{Authentic, Candidate, CodeError, verify};
use tapdesk_service::inlay::virtual_inlay::{OneTimeCode, UsedUp, VirtualInlay};
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use tapdesk_tests::cases;

fn key() -> impl Strategy<Value = AesKey> {
    any::<[u8; 16]>().prop_map(AesKey::from_bytes)
}

fn mirror() -> impl Strategy<Value = Mirror> {
    prop_oneof![Just(Mirror::Plain), Just(Mirror::Encrypted)]
}

fn inlay() -> impl Strategy<Value = VirtualInlay> {
    let mac_from = prop_oneof![Just(MacFrom::None), Just(MacFrom::Uid)];
    let uid = any::<[u8; 7]>().prop_map(Uid::from_bytes);
    let parts = (uid, mirror(), mac_from, key(), key(), 0..COUNTER_MAX);
    parts.prop_map(
        |(uid, mirror, mac_from, meta, file, counter)| VirtualInlay {
            uid,
            mirror,
            mac_from,
            keys: Keys {
                meta: (mirror == Mirror::Encrypted).then_some(meta),
                file,
            },
            counter,
        },
    )
}

/// The inlay as configured in the service.
fn configured(inlay: &VirtualInlay) -> Candidate {
    Candidate {
        uid: inlay.uid,
        mirror: inlay.mirror,
        mac_from: inlay.mac_from,
        keys: inlay.keys.clone(),
    }
}

fn tapped(inlay: &mut VirtualInlay, seed: u64) -> OneTimeCode {
    inlay.tap(bytes(&SeededEntropy::new(seed))).unwrap()
}

fn check(code: &OneTimeCode, candidates: &[Candidate]) -> Result<Authentic, CodeError> {
    verify(&code.uid, &code.token, candidates)
}

/// The bytes of the text, with one bit flipped.
fn flip(text: &str, bit: usize) -> String {
    let mut digits: Vec<u8> = text.into();
    let at = bit / 4;
    let value = char::from(digits[at]).to_digit(16).unwrap() ^ (1 << (bit % 4));
    let digit = char::from_digit(value, 16).unwrap().to_ascii_uppercase();
    digits[at] = u8::try_from(digit).unwrap();
    String::from_utf8(digits).unwrap()
}

/// Random texts, and hex digits of the right lengths.
fn part() -> impl Strategy<Value = String> {
    let hex = prop_oneof![Just(14), Just(16), Just(22), Just(32)]
        .prop_flat_map(|n| proptest::string::string_regex(&format!("[0-9a-fA-F]{{{n}}}")).unwrap());
    prop_oneof![any::<String>(), hex, ".{14}", ".{22}"]
}

proptest! {
    #[test]
    fn a_tap_of_a_virtual_inlay_verifies_among_others(
        mut inlay in inlay(), others in prop::collection::vec(inlay(), 0..4), at in 0usize..5, seed: u64
    ) {
        let code = tapped(&mut inlay, seed);
        let mut candidates: Vec<_> = others.iter().map(configured).collect();
        let index = at.min(candidates.len());
        candidates.insert(index, configured(&inlay));
        let counter = inlay.counter;
        prop_assert_eq!(check(&code, &candidates), Ok(Authentic { index, counter }));
    }

    #[test]
    fn the_case_of_hex_digits_makes_no_difference(mut inlay in inlay(), seed: u64) {
        let code = tapped(&mut inlay, seed);
        let lower = OneTimeCode { uid: code.uid.to_lowercase(), token: code.token.to_lowercase() };
        let candidates = [configured(&inlay)];
        prop_assert!(check(&lower, &candidates).is_ok());
        prop_assert_eq!(check(&lower, &candidates), check(&code, &candidates));
    }

    #[test]
    fn a_code_with_one_bit_flipped_never_verifies(mut inlay in inlay(), seed: u64) {
        let code = tapped(&mut inlay, seed);
        let candidates = [configured(&inlay)];
        for bit in 0..4 * code.uid.len() {
            let uid = flip(&code.uid, bit);
            prop_assert!(verify(&uid, &code.token, &candidates).is_err(), "bit {} of uid", bit);
        }
        for bit in 0..4 * code.token.len() {
            let token = flip(&code.token, bit);
            prop_assert!(verify(&code.uid, &token, &candidates).is_err(), "bit {} of token", bit);
        }
    }

    #[test]
    fn a_code_verifies_with_no_other_inlay(mut inlay in inlay(), other in inlay(), seed: u64) {
        let code = tapped(&mut inlay, seed);
        prop_assert!(check(&code, &[configured(&other)]).is_err());
        let same_uid = Candidate { uid: inlay.uid, ..configured(&other) };
        prop_assert!(check(&code, &[same_uid]).is_err());
        prop_assert!(check(&code, &[]).is_err());
    }

    #[test]
    fn any_text_is_answered(uid in part(), token in part(), inlays in prop::collection::vec(inlay(), 0..3)) {
        let candidates: Vec<_> = inlays.iter().map(configured).collect();
        prop_assert!(verify(&uid, &token, &candidates).is_err());
        let known = Known { inlays: &candidates, ..Known::default() };
        let diagnosis = diagnose(&uid, &token, Some(&format!("?uid={uid}&token={token}")), &known);
        prop_assert!(!diagnosis.findings.is_empty());
    }

    #[test]
    fn what_parses_is_written_as_the_chip_writes_it(uid in part(), token in part()) {
        if let Ok(code) = Code::parse(&uid, &token) {
            prop_assert_eq!(code.mirrored.uid_text(), uid.to_ascii_uppercase());
            prop_assert_eq!(code.token(), token.to_ascii_uppercase());
        }
    }

    #[test]
    fn a_master_key_gives_each_inlay_the_keys_its_codes_verify_with(
        mut inlay in inlay(), key in key(), diversify_meta: bool, before in "([0-9A-F]{2}){0,12}", after in "([0-9A-F]{2}){0,12}", seed: u64
    ) {
        let text = format!("{before}{{uid}}{after}");
        let input: DiversificationInput = text.parse().unwrap();
        prop_assert_eq!(input.to_string(), text);
        let master = MasterKey { key, input, diversify_meta };
        inlay.keys = master.keys_for(inlay.uid, inlay.mirror);
        prop_assert_eq!(inlay.keys.meta.is_some(), inlay.mirror == Mirror::Encrypted);
        let undiversified = inlay.keys.meta.as_ref() == Some(&master.key);
        prop_assert_eq!(undiversified, inlay.mirror == Mirror::Encrypted && !diversify_meta);
        let code = tapped(&mut inlay, seed);
        prop_assert!(check(&code, &[configured(&inlay)]).is_ok());
    }
}

#[test]
fn of_10_000_random_codes_none_verifies() {
    let entropy = SeededEntropy::new(10_000);
    let keys = |meta| Keys {
        meta,
        file: AesKey::from_bytes(bytes(&entropy)),
    };
    let plain = Candidate {
        uid: Uid::from_bytes(bytes(&entropy)),
        mirror: Mirror::Plain,
        mac_from: MacFrom::None,
        keys: keys(None),
    };
    let encrypted = Candidate {
        mirror: Mirror::Encrypted,
        keys: keys(Some(AesKey::from_bytes(bytes(&entropy)))),
        ..plain.clone()
    };
    let hex = |bytes: &[u8]| {
        let halves = bytes.iter().flat_map(|b| [b >> 4, b & 0xF]);
        let digits = halves.map(|half| char::from(b"0123456789ABCDEF"[usize::from(half)]));
        digits.collect::<String>()
    };
    for _ in 0..cases(10_000) {
        let token = hex(&bytes::<11>(&entropy));
        let uid = plain.uid.to_string();
        let verdict = verify(&uid, &token, std::slice::from_ref(&plain));
        assert!(matches!(verdict, Err(CodeError::WrongMac { index: 0, .. })));

        let (uid, token) = (hex(&bytes::<16>(&entropy)), hex(&bytes::<8>(&entropy)));
        let verdict = verify(&uid, &token, std::slice::from_ref(&encrypted));
        assert!(matches!(verdict, Err(CodeError::UnknownInlay { .. })));
    }
}

#[test]
fn the_first_tap_is_1_and_the_last_is_the_counters_end() {
    let entropy = SeededEntropy::new(1);
    let mut inlay = VirtualInlay {
        uid: "04DE5F1EACC040".parse().unwrap(),
        mirror: Mirror::Plain,
        mac_from: MacFrom::None,
        keys: Keys {
            meta: None,
            file: AesKey::FACTORY,
        },
        counter: 0,
    };
    let first = inlay.tap(bytes(&entropy)).unwrap();
    assert_eq!(&first.token[..6], "000001");
    let url = first.url("https://example.com/t", "k3v9qa");
    let expected = "https://example.com/t/k3v9qa?uid=04DE5F1EACC040&token=000001";
    assert!(url.starts_with(expected), "{url}");

    inlay.counter = COUNTER_MAX - 1;
    assert_eq!(&inlay.tap(bytes(&entropy)).unwrap().token[..6], "FFFFFF");
    assert_eq!(inlay.tap(bytes(&entropy)), Err(UsedUp));
    assert_eq!(inlay.counter, COUNTER_MAX);
}

#[test]
fn two_taps_at_the_same_counter_look_different_when_encrypted() {
    let mut inlay = VirtualInlay {
        uid: "04DE5F1EACC040".parse().unwrap(),
        mirror: Mirror::Encrypted,
        mac_from: MacFrom::None,
        keys: Keys {
            meta: None,
            file: AesKey::FACTORY,
        },
        counter: 7,
    };
    let first = tapped(&mut inlay.clone(), 1);
    let second = tapped(&mut inlay, 2);
    assert_ne!(first.uid, second.uid);
    assert_eq!(first.token, second.token);
}

#[test]
fn a_malformed_code_is_answered_with_what_is_wrong() {
    let (plain, encrypted) = ("04DE5F1EACC040", "EF963FF7828658A599F3041510671E88");
    let (short, long) = ("94EED9EE65337086", "00003D94EED9EE65337086");
    let cases = [
        ("", short, Malformed::UidLength { length: 0 }),
        ("04DE5F1EACC0", long, Malformed::UidLength { length: 12 }),
        (
            plain,
            short,
            Malformed::TokenLength {
                length: 16,
                expected: 22,
            },
        ),
        (
            plain,
            "",
            Malformed::TokenLength {
                length: 0,
                expected: 22,
            },
        ),
        (
            encrypted,
            long,
            Malformed::TokenLength {
                length: 22,
                expected: 16,
            },
        ),
        ("04DE5F1EACC04G", long, Malformed::UidNotHex),
        (plain, "00003D94EED9EE6533708\u{0}", Malformed::TokenNotHex),
        // 14 bytes, but not 14 characters.
        ("04DE5F1EACC0é", long, Malformed::UidNotHex),
        (
            "EF963FF7828658A599F3041510671E8 ",
            short,
            Malformed::UidNotHex,
        ),
        (encrypted, "+4EED9EE65337086", Malformed::TokenNotHex),
    ];
    for (uid, token, expected) in cases {
        let verdict = verify::<Candidate>(uid, token, &[]);
        assert_eq!(
            verdict,
            Err(CodeError::Malformed(expected)),
            "{uid} {token}"
        );
    }
}

#[test]
fn an_unknown_inlay_is_told_as_far_as_the_code_tells_it() {
    let mut inlay = VirtualInlay {
        uid: "04DE5F1EACC040".parse().unwrap(),
        mirror: Mirror::Plain,
        mac_from: MacFrom::None,
        keys: Keys {
            meta: Some(AesKey::FACTORY),
            file: AesKey::FACTORY,
        },
        counter: 60,
    };
    let unknown = CodeError::UnknownInlay {
        uid: Some(inlay.uid),
        counter: Some(61),
    };
    let code = tapped(&mut inlay.clone(), 1);
    assert_eq!(check(&code, &[]), Err(unknown));

    inlay.mirror = Mirror::Encrypted;
    let neighbour = Candidate {
        uid: "04958CAA5C5E80".parse().unwrap(),
        ..configured(&inlay)
    };
    let code = tapped(&mut inlay, 1);
    assert_eq!(check(&code, &[neighbour]), Err(unknown));
    let untold = CodeError::UnknownInlay {
        uid: None,
        counter: None,
    };
    assert_eq!(check(&code, &[]), Err(untold));
}
