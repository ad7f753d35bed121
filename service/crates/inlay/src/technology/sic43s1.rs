//! Silicon Craft SIC43S1, the chips with AES-CMAC (third byte of the UID: 21h). Those with AES-OCB
//! (10h, 20h) are not supported: no published code opens their tags.
//!
//! Source: Silicon Craft's verification servers in Python and Node (`sic43s1-server-python`,
//! `sic43s1-server-nodejs`), because no public document of the vendor describes the code.
//!
//! # SIC43S1
//!
//! The values are those that both servers of Silicon Craft compute, with the chip's factory key.
//!
//! ```
//! use inlay::key::{InlayKeys, Keys};
//! use inlay::technology::sic43s1;
//! use inlay::template::{Request, Template, TemplateSettings};
//! use inlay::{Technology, Uid};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/?U={uid}&TF={tamper}&TS={counter}&SAC={mac}",
//!     Technology::Sic43S1,
//! ))?;
//! let url = "https://tags.example/?U=394A219E6B40BF&TF=00&TS=00000001\
//!     &SAC=797A85C2E48CC5764F120DE37285C875";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//! let uid: Uid = "394A219E6B40BF".parse()?;
//! let keys = InlayKeys::Aes(Keys { meta: None, file: sic43s1::factory_key(uid) });
//!
//! let verdict = template.check(None, &code, uid, &keys);
//! assert!(verdict.is_authentic());
//! assert_eq!(verdict.counter, Some(1));
//! // Everyone can compute this key, so the code still proves nothing.
//! assert!(Technology::Sic43S1.has_factory_key(uid, &keys));
//! # Ok(())
//! # }
//! ```

use super::direct_mac;
use crate::Uid;
use crate::assessment::{Assessment, Tamper};
use crate::key::{AesKey, cmac};
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
