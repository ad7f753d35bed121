//! Silicon Craft SIC43S1, the chips with AES-CMAC (third byte of the UID: 21h). Those with
//! AES-OCB (10h, 20h) are not supported: no published code opens their tags.

use subtle::ConstantTimeEq;

use crate::inlay::Uid;
use crate::inlay::assessment::{Assessment, Authenticity, FailedStep, Tamper};
use crate::inlay::key::AesKey;
use crate::inlay::session::cmac;
use crate::inlay::template::{Field, Filled};

/// The key of a new chip, which follows from its UID: anyone can compute it.
pub fn factory_key(uid: Uid) -> AesKey {
    let mut key = [0xFF; 16];
    key[2..9].copy_from_slice(&uid.bytes());
    key[9..].copy_from_slice(&uid.bytes());
    AesKey::from_bytes(key)
}

/// Checks a code with an inlay's key.
pub fn check(code: &Filled, uid: Uid, key: &AesKey) -> Assessment {
    let named = code.uid();
    let input = mac_input(code);
    let mac = cmac(key, input.as_deref().unwrap_or_default());
    let shown = code.bytes::<16>(Field::Mac);
    let same = bool::from(mac.ct_eq(&shown.unwrap_or_default())) && shown.is_some();
    let authenticity = match named {
        Some(named) if named != uid => Authenticity::NotAuthentic(FailedStep::Uid),
        _ if same && input.is_some() => Authenticity::Authentic,
        _ => Authenticity::NotAuthentic(FailedStep::Mac),
    };
    let authentic = authenticity == Authenticity::Authentic;
    let tamper = code.get(Field::Tamper).map(|flag| match flag {
        "00" if authentic => Tamper::Sealed,
        "AA" if authentic => Tamper::Open,
        _ => Tamper::Unknown,
    });
    Assessment {
        authenticity,
        uid: named,
        counter: code.counter(),
        tamper,
        file_data: None,
    }
}

/// The code of a read, as the chip makes it.
pub fn mac(code: &Filled, key: &AesKey) -> Option<[u8; 16]> {
    mac_input(code).map(|input| cmac(key, &input))
}

/// Time stamp (MSB first), UID, and the flag as two characters.
fn mac_input(code: &Filled) -> Option<Vec<u8>> {
    let mut input = code.counter()?.to_be_bytes().to_vec();
    input.extend(code.uid()?.bytes());
    input.extend(code.get(Field::Tamper)?.bytes());
    Some(input)
}
