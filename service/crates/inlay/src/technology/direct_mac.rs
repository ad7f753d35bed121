//! Chips that make their MAC with the inlay's own key, over bytes: there is no session key.

use subtle::ConstantTimeEq;

use crate::Uid;
use crate::assessment::{Assessment, Authenticity, FailedStep, Tamper};
use crate::template::{Field, Filled};

/// Judges a code. `mac` computes the MAC over its input, which is `None` if the code lacks a part
/// of it: a MAC is then computed all the same, so that the response time reveals nothing. `tamper`
/// reads the text of a state, which counts only if the code is authentic.
pub(super) fn assess<const N: usize>(
    code: &Filled,
    uid: Uid,
    input: Option<&[u8]>,
    mac: impl FnOnce(&[u8]) -> [u8; N],
    tamper: impl FnOnce(&str) -> Tamper,
) -> Assessment {
    let named = code.uid();
    let mac = mac(input.unwrap_or_default());
    let shown = code.bytes::<N>(Field::Mac);
    let same = bool::from(mac.ct_eq(&shown.unwrap_or([0; N]))) && shown.is_some();
    let authenticity = match named {
        Some(named) if named != uid => Authenticity::NotAuthentic(FailedStep::Uid),
        _ if same && input.is_some() => Authenticity::Authentic,
        _ => Authenticity::NotAuthentic(FailedStep::Mac),
    };
    let authentic = authenticity == Authenticity::Authentic;
    let tamper = code.get(Field::Tamper).map(|text| {
        if authentic {
            tamper(text)
        } else {
            Tamper::Unknown
        }
    });
    Assessment {
        authenticity,
        uid: named,
        counter: code.counter(),
        tamper,
        file_data: None,
    }
}
