//! Compares the service with the `ntag424` crate, an implementation of the chip's protocol that
//! shares only AES with ours.

use ntag424::KeyNumber;
use ntag424::key_diversification::diversify_aes128;
use ntag424::sdm::Verifier;
use ntag424::types::file_settings::{
    CryptoMode, CtrRetAccess, EncryptedContent, FileRead, MacWindow, Offset, PiccData, PlainMirror,
    ReadCtrFeatures, ReadCtrMirror, Sdm,
};
use tapdesk_service::entropy::{Entropy, SeededEntropy, bytes};
use tapdesk_service::inlay::code::COUNTER_MAX;
use tapdesk_service::inlay::diversify::diversify;
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::verify::{Candidate, verify};
use tapdesk_service::inlay::virtual_inlay::{OneTimeCode, VirtualInlay};
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use tapdesk_tests::length;

/// The other implementation's verifier for the file `uid=<uid>&token=<token>`.
fn oracle(mirror: Mirror, mac_from: MacFrom) -> Verifier {
    let offset = |at| Offset::new(at).unwrap();
    let counter = ReadCtrFeatures {
        limit: None,
        ret_access: CtrRetAccess::NoAccess,
    };
    let (uid, after_uid) = match mirror {
        Mirror::Plain => (4, 18),
        Mirror::Encrypted => (4, 36),
    };
    let token = after_uid + 7;
    let (picc_data, mac) = match mirror {
        Mirror::Plain => {
            let read_ctr = ReadCtrMirror {
                offset: offset(token),
                features: counter,
            };
            let uid = offset(uid);
            let mirrored = PlainMirror::Both { uid, read_ctr };
            (PiccData::Plain(mirrored), token + 6)
        }
        Mirror::Encrypted => {
            let picc_data = PiccData::Encrypted {
                key: KeyNumber::Key1,
                offset: offset(uid),
                content: EncryptedContent::Both(counter),
            };
            (picc_data, token)
        }
    };
    let input = match mac_from {
        MacFrom::None => mac,
        MacFrom::Uid => uid,
    };
    let file_read = FileRead::MacOnly {
        key: KeyNumber::Key2,
        window: MacWindow {
            input: offset(input),
            mac: offset(mac),
        },
    };
    let settings = Sdm::try_new(picc_data, Some(file_read), None, CryptoMode::Aes).unwrap();
    Verifier::try_new(&settings, CryptoMode::Aes).unwrap()
}

/// Replaces a hex digit by another one.
fn corrupt(code: &mut OneTimeCode, entropy: &dyn Entropy) {
    let [at, other] = bytes::<2>(entropy).map(usize::from);
    let length = code.uid.len();
    let at = at % (length + code.token.len());
    let (text, at) = if at < length {
        (&mut code.uid, at)
    } else {
        (&mut code.token, at - length)
    };
    let digits = "0123456789ABCDEF";
    let old = digits.find(&text[at..=at]).unwrap();
    let new = (old + 1 + other % 15) % 16;
    text.replace_range(at..=at, &digits[new..=new]);
}

#[test]
fn both_implementations_accept_the_same_codes() {
    let entropy = SeededEntropy::new(424);
    let settings = [Mirror::Plain, Mirror::Encrypted].map(|mirror| {
        [MacFrom::None, MacFrom::Uid].map(|mac_from| (mirror, mac_from, oracle(mirror, mac_from)))
    });
    let settings = settings.as_flattened();
    let mut accepted = 0;
    let total = length(5_000_u32, 100_000);
    for case in 0..total {
        let (mirror, mac_from, oracle) = &settings[case as usize % settings.len()];
        let (mirror, mac_from) = (*mirror, *mac_from);
        let [meta, file] = [bytes::<16>(&entropy), bytes::<16>(&entropy)];
        let uid = Uid::from_bytes(bytes(&entropy));
        let counter = u32::from_le_bytes(bytes(&entropy)) & COUNTER_MAX;
        let keys = Keys {
            meta: (mirror == Mirror::Encrypted).then(|| AesKey::from_bytes(meta)),
            file: AesKey::from_bytes(file),
        };
        let inlay = VirtualInlay {
            uid,
            mirror,
            mac_from,
            keys: keys.clone(),
            counter,
        };
        let mut code = inlay.code_at(counter, bytes(&entropy));
        let [kind] = bytes::<1>(&entropy);
        if kind % 2 == 1 {
            corrupt(&mut code, &entropy);
        }

        let file_text = format!("uid={}&token={}", code.uid, code.token);
        let theirs = oracle
            .verify_with_meta_key(file_text.as_bytes(), &file, &meta)
            .ok()
            .map(|found| (found.uid.unwrap(), found.read_ctr.unwrap()));
        let candidate = Candidate {
            uid,
            mirror,
            mac_from,
            keys,
        };
        let ours = verify(&code.uid, &code.token, &[candidate])
            .ok()
            .map(|found| (uid.bytes(), found.counter));
        assert_eq!(ours, theirs, "case {case}: {inlay:?} {code:?}");
        let expected = (kind % 2 == 0).then_some((uid.bytes(), counter));
        assert_eq!(ours, expected, "case {case}: {inlay:?} {code:?}");
        accepted += u32::from(ours.is_some());
    }
    assert!(accepted > total / 3 && accepted < total * 2 / 3);
}

#[test]
fn both_implementations_diversify_alike() {
    let entropy = SeededEntropy::new(10922);
    for case in 0..length(2_000_u32, 100_000) {
        let master = bytes::<16>(&entropy);
        let input = bytes::<31>(&entropy);
        let input = &input[..=case as usize % 31];
        let ours = diversify(&AesKey::from_bytes(master), input).unwrap();
        assert_eq!(ours.expose(), &diversify_aes128(&master, input), "{case}");
    }
}
