//! NXP NTAG 210 to 216, NTAG 213 TT and MIFARE Ultralight: the ASCII mirror of UID and counter
//! (NTAG213/215/216 data sheet section 8.7). It has no MAC: anyone can write the next number, so
//! nothing here is ever authentic.
//!
//! # NTAG 210
//!
//! It mirrors its UID. A template with a counter is refused.
//!
//! ```
//! use inlay::Technology;
//! use inlay::assessment::Authenticity;
//! use inlay::key::InlayKeys;
//! use inlay::template::{Request, Template, TemplateSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/{slug}?m={uid}",
//!     Technology::Ntag210,
//! ))?;
//! let url = "https://tags.example/bottle-41?m=04E141124C2880";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//! let verdict = template.check(None, &code, "04E141124C2880".parse()?, &InlayKeys::None);
//! assert_eq!(verdict.authenticity, Authenticity::NotCheckable);
//! assert_eq!(verdict.uid, Some("04E141124C2880".parse()?));
//!
//! let text = "https://tags.example/{slug}?m={uid}x{counter}";
//! assert!(Template::new(TemplateSettings::new(text, Technology::Ntag210)).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # NTAG 212
//!
//! It has more memory than an NTAG 210. `GET_VERSION` tells a reader which chip it is (NTAG210/212
//! data sheet rev 3.0 table 14).
//!
//! ```
//! use inlay::Technology;
//! use inlay::technology::type2;
//!
//! let answer = [0x00, 0x04, 0x04, 0x01, 0x01, 0x00, 0x0E, 0x03];
//! assert_eq!(type2::of_version(&answer), Some(Technology::Ntag212));
//! assert!(!Technology::Ntag212.rolls());
//! ```
//!
//! # NTAG 213
//!
//! The mirror of UID and counter, from the chip's two configuration pages (NTAG213F/216F data sheet
//! rev 3.1 section 8.7).
//!
//! ```
//! use inlay::technology::ntag21x::MirrorConfig;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = MirrorConfig::from_pages([0xD4, 0x00, 0x0C, 0xFF], [0x10, 0x05, 0x00, 0x00]);
//! let written = config.mirrored("04E141124C2880".parse()?, 16_177);
//! let written = written.ok_or("the mirror is off")?;
//! assert_eq!(written.text, "04E141124C2880x003F31");
//! // It begins in byte 1 of page 0Ch, and user memory begins at page 4.
//! assert_eq!(written.at, (0x0C - 4) * 4 + 1);
//! # Ok(())
//! # }
//! ```
//!
//! # NTAG 213 TT
//!
//! It also mirrors eight characters for its tamper loop: zeros, or the owner's text after the loop
//! was open. No MAC covers them.
//!
//! ```
//! use inlay::Technology;
//! use inlay::assessment::Tamper;
//! use inlay::key::InlayKeys;
//! use inlay::template::{Request, Template, TemplateSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/{slug}?m={uid}x{counter}x{tamper}",
//!     Technology::Ntag213Tt,
//! ))?;
//! let url = "https://tags.example/bottle-41?m=04E141124C2880x000012x00000000";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//! let verdict = template.check(None, &code, "04E141124C2880".parse()?, &InlayKeys::None);
//! assert_eq!(verdict.counter, Some(18));
//! // Anyone can write these characters, so they prove no closed loop.
//! assert_eq!(verdict.tamper, Some(Tamper::Unknown));
//! # Ok(())
//! # }
//! ```
//!
//! # NTAG 215
//!
//! The chip makes no MAC, but NXP signed its UID. The values are of a real chip.
//!
//! ```
//! use inlay::originality;
//!
//! let uid = [0x04, 0xF4, 0x37, 0xC2, 0x99, 0x3C, 0x80];
//! let signature = 0x4D5D1005FE28968B2B9A44288253D7D9_u128.to_be_bytes();
//! let signature = [signature, 0xE8833F3CE9C81C2144E1240EB822749F_u128.to_be_bytes()].concat();
//! let signer = originality::signer(&uid, &signature);
//! assert_eq!(signer.map(|signer| signer.chips), Some("NTAG21x, NTAG 5"));
//! ```
//!
//! # NTAG 216
//!
//! The bytes that a reader writes, and the page at which the mirror begins.
//!
//! ```
//! use inlay::Technology;
//! use inlay::template::{Template, TemplateSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/{slug}?m={uid}x{counter}",
//!     Technology::Ntag216,
//! ))?;
//! let sheet = template.encoding_sheet(Some("bottle-41"))?;
//! assert_eq!(sheet.url, "https://tags.example/bottle-41?m=00000000000000x000000");
//! // An NDEF TLV with 51 bytes, which are written from page 4 on.
//! assert_eq!(sheet.bytes[..2], [0x03, 51]);
//! // Page 12, byte 0.
//! assert_eq!(sheet.mirror_start, Some((12, 0)));
//! # Ok(())
//! # }
//! ```
//!
//! # MIFARE Ultralight
//!
//! Its URL is static. The signature over its UID shows that NXP made a chip with this UID. The
//! values are those of a real Ultralight EV1.
//!
//! ```
//! use inlay::Technology;
//! use inlay::originality;
//! use inlay::template::{Template, TemplateSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings::new(
//!     "https://tags.example/{slug}",
//!     Technology::Ultralight,
//! ))?;
//! assert!(!template.has_code());
//!
//! let uid = [0x04, 0xC1, 0x28, 0x5A, 0x37, 0x30, 0x80];
//! let signature = 0xCEA2EB0B3C95D0844A95B824A7553703_u128.to_be_bytes();
//! let signature = [signature, 0xB3702378033BF0987899DB70151A19E7_u128.to_be_bytes()].concat();
//! let signer = originality::signer(&uid, &signature).ok_or("nobody signed it")?;
//! assert_eq!(signer.chips, "MIFARE Ultralight EV1");
//! # Ok(())
//! # }
//! ```

mod memory;
mod mirror;
mod password;

use crate::assessment::{Assessment, Authenticity, Tamper};
use crate::template::{Field, Filled};

pub use memory::Memory;
pub use mirror::{MirrorConfig, MirrorContent, Written};
pub use password::{AUTHLIM, CFGLCK, NO_PASSWORD, PROT, PROTECTED_FROM, PWD_AUTH, WritePassword};

/// Reads the values of a code. A counter of 0 is switched off, or has not counted yet.
pub fn check(code: &Filled) -> Assessment {
    Assessment {
        authenticity: Authenticity::NotCheckable,
        uid: code.uid(),
        counter: code.counter(),
        tamper: code.get(Field::Tamper).map(|_| Tamper::Unknown),
        file_data: None,
    }
}
