//! NXP NTAG 223 DNA and NTAG 224 DNA, also with `StatusDetect`: SUNCMAC (AN12998).
//!
//! The key is used directly: there is no session key, and the MAC is over bytes, not over the URL's
//! text. Known weakness: if the key's pages are not locked, the key can be recovered from the chip
//! ("BREAKMEIFYOUCAN", IACR ePrint 2026/100).
//!
//! # NTAG 223 DNA
//!
//! The values are those of AN12998.
//!
//! ```
//! use inlay::Technology;
//! use inlay::key::{AesKey, InlayKeys, Keys};
//! use inlay::template::{Request, Template, TemplateSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/?m={uid}x{counter}x{mac}",
//!     Technology::Ntag223Dna,
//! ))?;
//! let url = "https://tags.example/?m=04AA2BD2335780x000001xB188AC6F69140B92";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//! let file = AesKey::from_hex("00000000000000000000000000000000")?;
//! let keys = InlayKeys::Aes(Keys { meta: None, file });
//!
//! let verdict = template.check(None, &code, "04AA2BD2335780".parse()?, &keys);
//! assert!(verdict.proves_tap());
//! assert_eq!(verdict.counter, Some(1));
//! # Ok(())
//! # }
//! ```
//!
//! With `StatusDetect`, the chip also writes the state of a loop. The values are of a real chip
//! whose counter is off: its code is authentic, but it is always the same, so it proves no tap.
//!
//! ```
//! use inlay::Technology;
//! use inlay::assessment::Tamper;
//! use inlay::key::{AesKey, InlayKeys, Keys};
//! use inlay::template::{Request, Template, TemplateSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/?m={uid}x{counter}x{tamper}x{mac}",
//!     Technology::Ntag223Dna,
//! ))?;
//! let url = "https://tags.example/?m=046910EA841390x000000xCO00000000x146F1F74FFB89569";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//! let file = AesKey::from_hex("00000000000000000000000000000000")?;
//! let keys = InlayKeys::Aes(Keys { meta: None, file });
//!
//! let verdict = template.check(None, &code, "046910EA841390".parse()?, &keys);
//! assert!(verdict.is_authentic() && !verdict.proves_tap());
//! assert_eq!(verdict.tamper, Some(Tamper::Open));
//! # Ok(())
//! # }
//! ```
//!
//! # NTAG 224 DNA
//!
//! It makes its MAC as an NTAG 223 DNA does; its memory and its protocol differ. Two independent
//! implementations made the values.
//!
//! ```
//! use inlay::Technology;
//! use inlay::key::{AesKey, InlayKeys, Keys};
//! use inlay::template::{Request, Template, TemplateSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/?m={uid}x{counter}x{mac}",
//!     Technology::Ntag224Dna,
//! ))?;
//! let url = "https://tags.example/?m=042202DE5EB391x010203x5A192E8A51363D53";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//! let file = AesKey::from_hex("2202DE5EB391160D816783F769F96D6A")?;
//! let keys = InlayKeys::Aes(Keys { meta: None, file });
//!
//! let verdict = template.check(None, &code, "042202DE5EB391".parse()?, &keys);
//! assert!(verdict.proves_tap());
//! assert_eq!(verdict.counter, Some(0x01_02_03));
//! # Ok(())
//! # }
//! ```

use super::{Weakness, direct_mac};
use crate::Uid;
use crate::assessment::{Assessment, Tamper};
use crate::key::AesKey;
use crate::technology::ntag424::session::sdmmac;
use crate::template::{Field, Filled};

/// The published weakness of the chips ("BREAKMEIFYOUCAN").
pub const WEAKNESS: Weakness = Weakness {
    text: "Known weakness: if the pages of the keys are not locked, the key can be recovered from the chip. Lock them when you encode.",
    source: "IACR ePrint 2026/100",
    url: "https://eprint.iacr.org/2026/100",
};

/// The characters that a chip writes in place of `{tamper}` if `StatusDetect` is switched off.
pub const SWITCHED_OFF: &str = "0000000000";

/// Checks a code with an inlay's SUNCMAC key.
pub fn check(code: &Filled, uid: Uid, key: &AesKey) -> Assessment {
    let input = mac_input(code);
    let mac = |input: &[u8]| sdmmac(key, input);
    direct_mac::assess(code, uid, input.as_deref(), mac, state)
}

/// Reads the state that `StatusDetect` writes: stored, current, then a measurement. A chip with the
/// feature switched off writes zeros, and its MAC covers them (a real chip of AN12998).
fn state(text: &str) -> Tamper {
    match *text.as_bytes() {
        _ if text == SWITCHED_OFF => Tamper::Off,
        [stored, current, ..] => Tamper::from_letters(stored, current),
        _ => Tamper::Unknown,
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
        // field is 0. Only CO and zeros were seen on chips; the other letters are assumed to follow
        // the same rule.
        input.push(letters[0] << 4 | letters[1] & 15);
        let measurement = std::str::from_utf8(measurement).ok()?;
        input.extend(crate::text::hex::<4>(measurement)?);
    }
    Some(input)
}
