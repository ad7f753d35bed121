//! Silicon Craft SIC43S1, the chips with AES-CMAC (third byte of the UID: 21h). Those with
//! AES-OCB (10h, 20h) are not supported: no published code opens their tags.

use super::direct_mac;
use crate::Uid;
use crate::assessment::{Assessment, Tamper};
use crate::key::AesKey;
use crate::session::cmac;
use crate::template::{Field, Filled};

/// The key of a new chip, which follows from its UID: anyone can compute it.
pub fn factory_key(uid: Uid) -> AesKey {
    let mut key = [0xFF; 16];
    key[2..9].copy_from_slice(&uid.bytes());
    key[9..].copy_from_slice(&uid.bytes());
    AesKey::from_bytes(key)
}

/// Checks a code with an inlay's key.
pub fn check(code: &Filled, uid: Uid, key: &AesKey) -> Assessment {
    let input = mac_input(code);
    let mac = |input: &[u8]| cmac(key, input);
    direct_mac::assess(code, uid, input.as_deref(), mac, |flag| match flag {
        "00" => Tamper::Sealed,
        "AA" => Tamper::Open,
        _ => Tamper::Unknown,
    })
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
