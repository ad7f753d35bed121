//! Silicon Craft SIC43NT: a rolling code of 32 bits from the stream cipher MICKEY, with the time
//! stamp as its IV. Such a short code can be guessed in hours, so the caller must limit guesses.
//!
//! Sources: MICKEY version 1 (eSTREAM, 2005), and Silicon Craft's verification servers in Python
//! and Node (`sic43nt-server-pythonflask`, `sic43nt-server-node`), because no public document of
//! the vendor describes the code.
//!
//! # SIC43NT
//!
//! The values are those that both servers of Silicon Craft compute.
//!
//! ```
//! use inlay::Technology;
//! use inlay::assessment::Tamper;
//! use inlay::key::{InlayKeys, Sic43ntKey};
//! use inlay::template::{Request, Template, TemplateSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/?d={uid}{tamper}{counter}{mac}",
//!     Technology::Sic43Nt,
//! ))?;
//! let keys = InlayKeys::Rolling(Sic43ntKey::from_hex("F3091FF9C5D509EA2DC4")?);
//! let uid = "394930A1A2A3A4".parse()?;
//! for (url, tamper) in [
//!     // The flag 00 is not an input of the cipher, so it proves no closed loop.
//!     ("https://tags.example/?d=394930A1A2A3A4000000123466044E56", Tamper::Unknown),
//!     // Only a chip with "secure tamper" and an open loop makes this code.
//!     ("https://tags.example/?d=394930A1A2A3A4AA00001234B156AFD1", Tamper::Open),
//! ] {
//!     let request = Request::of_url(url).ok_or("the URL has no host")?;
//!     let found = template.read(&request).ok_or("the URL is not of this template")?;
//!     let code = found.code?.ok_or("the URL has no code")?;
//!     let verdict = template.check(None, &code, uid, &keys);
//!     assert!(verdict.is_authentic());
//!     assert_eq!((verdict.counter, verdict.tamper), (Some(0x1234), Some(tamper)));
//! }
//! assert!(!Technology::Sic43Nt.has_factory_key(uid, &keys));
//! # Ok(())
//! # }
//! ```

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
