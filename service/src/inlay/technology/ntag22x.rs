//! NXP NTAG 223 DNA and NTAG 224 DNA, also with `StatusDetect`: SUNCMAC (AN12998).
//!
//! The key is used directly: there is no session key, and the MAC is over bytes, not over the
//! URL's text. Known weakness: if the key's pages are not locked, the key can be recovered from
//! the chip ("BREAKMEIFYOUCAN", IACR ePrint 2026/100).

use subtle::ConstantTimeEq;

use crate::inlay::Uid;
use crate::inlay::assessment::{Assessment, Authenticity, FailedStep, Tamper};
use crate::inlay::key::AesKey;
use crate::inlay::session::sdmmac;
use crate::inlay::template::{Field, Filled};

/// The weakness of the chips, for screens that offer them.
pub const KNOWN_WEAKNESS: &str = "The key of an NTAG 223 or 224 DNA can be recovered from the chip unless its key pages are locked (IACR ePrint 2026/100).";

/// Checks a code with an inlay's SUNCMAC key.
pub fn check(code: &Filled, uid: Uid, key: &AesKey) -> Assessment {
    let named = code.uid();
    let input = mac_input(code);
    let mac = sdmmac(key, input.as_deref().unwrap_or_default());
    let shown = code.bytes::<8>(Field::Mac);
    let same = bool::from(mac.ct_eq(&shown.unwrap_or_default())) && shown.is_some();
    let authenticity = match named {
        Some(named) if named != uid => Authenticity::NotAuthentic(FailedStep::Uid),
        _ if same && input.is_some() => Authenticity::Authentic,
        _ => Authenticity::NotAuthentic(FailedStep::Mac),
    };
    let authentic = authenticity == Authenticity::Authentic;
    let tamper = code.get(Field::Tamper).map(|text| match *text.as_bytes() {
        [stored, current, ..] if authentic => Tamper::from_letters(stored, current),
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

/// The SUNCMAC of a code, as the chip makes it.
pub fn mac(code: &Filled, key: &AesKey) -> Option<[u8; 8]> {
    mac_input(code).map(|input| sdmmac(key, &input))
}

/// UID, counter (MSB first), and with `StatusDetect` its 5 bytes: stored and current state as one
/// byte, then the measurement.
fn mac_input(code: &Filled) -> Option<Vec<u8>> {
    let mut input = code.uid()?.bytes().to_vec();
    input.extend(code.bytes::<3>(Field::Counter)?);
    if let Some(text) = code.get(Field::Tamper) {
        let (letters, measurement) = text.as_bytes().split_at_checked(2)?;
        // Each letter is its low nibble: C (43h) 3, O (4Fh) Fh, I (49h) 9; the digit 0 without a
        // field is 0. Only CO and zeros were seen on chips; the others follow the same rule.
        input.push(letters[0] << 4 | letters[1] & 15);
        let measurement = std::str::from_utf8(measurement).ok()?;
        input.extend(crate::inlay::text::hex::<4>(measurement)?);
    }
    Some(input)
}
