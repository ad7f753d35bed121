//! Silicon Craft SIC43NT: a rolling code of 32 bits from the stream cipher MICKEY, with the time
//! stamp as its IV. Such a short code can be guessed in hours, so the caller must limit guesses.

mod mickey;

use subtle::ConstantTimeEq;

use crate::Uid;
use crate::assessment::{Assessment, Authenticity, FailedStep, Tamper};
use crate::key::Sic43ntKey;
use crate::template::{Field, Filled};

pub use mickey::keystream;

/// The flag of an open loop.
const OPEN: &str = "AA";

/// The key of a new chip, which follows from its UID: anyone can compute it.
pub fn factory_key(uid: Uid) -> Sic43ntKey {
    let mut key = [0xFF; 10];
    key[3..].copy_from_slice(&uid.bytes());
    Sic43ntKey::from_bytes(key)
}

/// The two codes of a read: closed, or open without "secure tamper"; and open with it.
pub fn codes(key: &Sic43ntKey, time_stamp: u32) -> [[u8; 4]; 2] {
    let stream: [u8; 12] = keystream(key.expose(), time_stamp);
    let code = |at: usize| std::array::from_fn(|i| stream[at + i]);
    [code(0), code(8)]
}

/// Checks a code with an inlay's key.
pub fn check(code: &Filled, uid: Uid, key: &Sic43ntKey) -> Assessment {
    let named = code.uid();
    let flag = code.get(Field::Tamper);
    let [plain, secure] = codes(key, code.counter().unwrap_or(0));
    let shown = code.bytes::<4>(Field::Mac);
    let given = shown.unwrap_or_default();
    let of_plain = bool::from(plain.ct_eq(&given)) && shown.is_some();
    // The second code comes from an open loop, so it is valid only with the flag of an open loop.
    let of_secure = bool::from(secure.ct_eq(&given)) && shown.is_some() && flag == Some(OPEN);
    let authenticity = match named {
        Some(named) if named != uid => Authenticity::NotAuthentic(FailedStep::Uid),
        Some(_) if (of_plain || of_secure) && code.counter().is_some() => Authenticity::Authentic,
        _ => Authenticity::NotAuthentic(FailedStep::Mac),
    };
    let authentic = authenticity == Authenticity::Authentic;
    Assessment {
        authenticity,
        uid: named,
        counter: code.counter(),
        // The flag is not an input of the cipher: only the second code proves anything about it.
        tamper: flag.map(|_| {
            if of_secure && authentic {
                Tamper::Open
            } else {
                Tamper::Unknown
            }
        }),
        file_data: None,
    }
}
