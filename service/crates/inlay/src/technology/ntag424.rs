//! NXP NTAG 424 DNA with Secure Dynamic Messaging, in AES and in LRP mode (`NT4H2421Gx` section
//! 9.3, AN12196, AN12304).
//!
//! Both modes share the shape: PICC data under the meta key name the chip and its read counter; a
//! session key follows from the file key and both; it makes the MAC and encrypts the file data.
//!
//! # NTAG 424 DNA
//!
//! A URL with encrypted UID, counter and file data (AN12196 table 6). The MAC's input begins at
//! `{enc}`.
//!
//! ```
//! use inlay::Technology;
//! use inlay::key::{AesKey, InlayKeys, Keys};
//! use inlay::template::{MacStart, Request, Template, TemplateSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings {
//!     mac_from: MacStart::Enc,
//!     enc_length: Some(32),
//!     ..TemplateSettings::new(
//!         "https://tags.example/?picc_data={picc}&enc={enc}&cmac={mac}",
//!         Technology::Ntag424Dna,
//!     )
//! })?;
//! let url = "https://tags.example/?picc_data=FD91EC264309878BE6345CBE53BADF40\
//!     &enc=CEE9A53E3E463EF1F459635736738962&cmac=ECC1E7F6C6C73BF6";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//! // The keys of a new chip. A chip in use has its own.
//! let keys = InlayKeys::Aes(Keys {
//!     meta: Some(AesKey::FACTORY),
//!     file: AesKey::FACTORY,
//! });
//!
//! let verdict = template.check(None, &code, "04958CAA5C5E80".parse()?, &keys);
//! assert!(verdict.proves_tap());
//! assert_eq!(verdict.counter, Some(8));
//! let data = verdict.file_data.ok_or("the code has no file data")?;
//! assert_eq!(data.expose(), b"xxxxxxxxxxxxxxxx");
//! # Ok(())
//! # }
//! ```
//!
//! In LRP mode the PICC data have 48 characters. The values are of a real chip, from the tests of
//! the project `ntag424-java`.
//!
//! ```
//! # use inlay::Technology;
//! # use inlay::key::{AesKey, InlayKeys, Keys};
//! # use inlay::technology::Mode;
//! # use inlay::template::{Request, Template, TemplateSettings};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings {
//!     mode: Mode::Lrp,
//!     ..TemplateSettings::new(
//!         "https://tags.example/?p={picc}&c={mac}",
//!         Technology::Ntag424Dna,
//!     )
//! })?;
//! let url = "https://tags.example/\
//!     ?p=B3373525DC0343DEDB5F8E89F5387402EDFB8C22186FC129&c=A3773D237775F892";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//! # let keys = InlayKeys::Aes(Keys { meta: Some(AesKey::FACTORY), file: AesKey::FACTORY });
//! let verdict = template.check(None, &code, "04827F12647380".parse()?, &keys);
//! assert!(verdict.is_authentic());
//! assert_eq!(verdict.counter, Some(30));
//! # Ok(())
//! # }
//! ```
//!
//! # NTAG 424 DNA `TagTamper`
//!
//! Two letters in the file data show the state of the loop: permanent, then current (`NT4H2421Tx`
//! section 10.2). Two independent implementations made the values.
//!
//! ```
//! # use inlay::Technology;
//! # use inlay::key::{AesKey, InlayKeys, Keys};
//! use inlay::assessment::Tamper;
//! # use inlay::template::{MacStart, Request, Template, TemplateSettings};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(TemplateSettings {
//!     mac_from: MacStart::Enc,
//!     enc_length: Some(32),
//!     tamper_at: Some(0),
//!     ..TemplateSettings::new(
//!         "https://tags.example/?picc_data={picc}&enc={enc}&cmac={mac}",
//!         Technology::Ntag424DnaTt,
//!     )
//! })?;
//! let url = "https://tags.example/?picc_data=2ABCF938A4D24E709C06E05A20C60ECB\
//!     &enc=FAA9E6FC44C7CED42BF243117070EAEC&cmac=615422B4907CC329";
//! let request = Request::of_url(url).ok_or("the URL has no host")?;
//! let found = template.read(&request).ok_or("the URL is not of this template")?;
//! let code = found.code?.ok_or("the URL has no code")?;
//! # let keys = InlayKeys::Aes(Keys { meta: Some(AesKey::FACTORY), file: AesKey::FACTORY });
//! let verdict = template.check(None, &code, "04FED21F016BD7".parse()?, &keys);
//! assert!(verdict.is_authentic());
//! assert_eq!(verdict.tamper, Some(Tamper::Sealed));
//! # Ok(())
//! # }
//! ```

pub mod file_settings;
pub mod lrp;
mod picc;
pub mod session;

use subtle::ConstantTimeEq;

use super::type2::NXP;
use super::{Mode, Technology};
use crate::Uid;
use crate::assessment::{Assessment, Authenticity, FailedStep, FileData, Tamper};
use crate::key::{AesKey, Keys};
use crate::template::{Field, Filled};

pub use picc::{MetaKey, Mirrored};

/// Bytes of the answer to `Read_Sig`: two numbers of the curve secp224r1.
pub const SIGNATURE_LENGTH: usize = 56;

/// The chip whose answer to `GetVersion` begins with this part, the hardware's; `None` if it is
/// another chip.
///
/// The vendor is NXP and the type is NTAG. The low half of the subtype is 2 for DNA and 8 for
/// `TagTamper`; its high half is the capacitance (data sheets `NT4H2421Gx` and `NT4H2421Tx` rev
/// 3.0, section 10.5.2).
///
/// ```
/// use inlay::Technology;
/// use inlay::technology::ntag424;
///
/// let hardware = [0x04, 0x04, 0x02, 0x30, 0x00, 0x11, 0x05];
/// assert_eq!(ntag424::of_version(&hardware), Some(Technology::Ntag424Dna));
/// ```
pub fn of_version(hardware: &[u8]) -> Option<Technology> {
    let &[NXP, 0x04, subtype, ..] = hardware else {
        return None;
    };
    match subtype & 0x0F {
        0x02 => Some(Technology::Ntag424Dna),
        0x08 => Some(Technology::Ntag424DnaTt),
        _ => None,
    }
}

/// A code with the facts that its template adds.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Values of the placeholders.
    pub code: &'a Filled,
    /// The chip's text that the MAC covers.
    pub mac_input: &'a [u8],
    /// The position of the tamper letters in the file data.
    pub tamper_at: Option<usize>,
    /// Whether the MAC covers tamper letters in clear.
    pub tamper_covered: bool,
}

/// Checks a code with an inlay's keys; `uid` is the inlay's. The work is the same whichever step
/// fails, so the response time reveals nothing to the sender.
pub fn check(mode: Mode, message: &Message<'_>, uid: Uid, keys: &Keys) -> Assessment {
    let code = message.code;
    let opened = match code.get(Field::Picc) {
        Some(_) => MetaKey::new(mode, keys.for_picc_data()).open(code),
        None => Some(Mirrored {
            uid: code.uid(),
            counter: code.counter(),
        }),
    };
    judge(mode, message, uid, &keys.file, opened)
}

/// Checks a code whose PICC data were decrypted before, with a key that many inlays share.
pub fn judge(
    mode: Mode,
    message: &Message<'_>,
    uid: Uid,
    file_key: &AesKey,
    opened: Option<Mirrored>,
) -> Assessment {
    let code = message.code;
    let mirrored = opened.unwrap_or_default();
    let session = Session::new(mode, file_key, mirrored);
    let mac = session.mac(message.mac_input);
    // A missing MAC is compared with zeros, and the comparison then counts as unequal.
    let shown = code.bytes::<8>(Field::Mac);
    let same = mac.ct_eq(&shown.unwrap_or_default()) & u8::from(shown.is_some()).into();
    let of_inlay = mirrored.uid.is_none_or(|named| named == uid);

    let authenticity = match (opened, bool::from(same)) {
        (None, _) => Authenticity::NotAuthentic(FailedStep::PiccData),
        (Some(_), _) if !of_inlay => Authenticity::NotAuthentic(FailedStep::Uid),
        (Some(_), false) => Authenticity::NotAuthentic(FailedStep::Mac),
        (Some(_), true) => Authenticity::Authentic,
    };
    let authentic = authenticity == Authenticity::Authentic;
    // Decrypted in any case, so that the work stays the same; the result of a wrong key is dropped.
    let data = code
        .all_bytes(Field::Enc)
        .map(|data| session.decrypt(&data));
    let data = data.filter(|_| authentic).map(FileData::new);
    Assessment {
        authenticity,
        uid: mirrored.uid,
        counter: mirrored.counter,
        tamper: tamper(message, data.as_ref(), authentic),
        file_data: data,
    }
}

/// The state of the loop: permanent, then current (`NT4H2421Tx` section 10.2). In clear and outside
/// of the MAC's input anyone can write it, and sections 9.3.5 and 11.7.1 allow that layout.
fn tamper(message: &Message<'_>, data: Option<&FileData>, authentic: bool) -> Option<Tamper> {
    let letters = match (message.tamper_at, message.code.get(Field::Tamper)) {
        (Some(at), _) => data.and_then(|data| data.expose().get(at..at + 2)),
        (None, Some(letters)) => Some(letters.as_bytes()).filter(|_| message.tamper_covered),
        (None, None) => return None,
    };
    Some(match letters {
        Some(&[permanent, current]) if authentic => Tamper::from_letters(permanent, current),
        _ => Tamper::Unknown,
    })
}

/// The keys of one read.
pub enum Session {
    /// Session in AES mode.
    Aes {
        /// The file key, from which the key of encrypted file data follows.
        file: AesKey,
        /// `KSesSDMFileReadMAC`, which makes the SDMMAC.
        mac: AesKey,
        /// The mirrored values that they are derived from.
        mirrored: Mirrored,
    },
    /// Of LRP mode: one key, used as two.
    Lrp {
        /// The session's master key, expanded.
        key: Box<lrp::Lrp>,
        /// The mirrored values that it is derived from.
        mirrored: Mirrored,
    },
}

impl Session {
    /// Derives a session from the file key and the mirrored values.
    pub fn new(mode: Mode, file_key: &AesKey, mirrored: Mirrored) -> Self {
        match mode {
            Mode::Aes => Self::Aes {
                file: file_key.clone(),
                mac: session::session_key(file_key, session::Purpose::Mac, mirrored),
                mirrored,
            },
            Mode::Lrp => {
                let master = lrp::Lrp::new(file_key).cmac(&lrp::session_vector(mirrored));
                let key = Box::new(lrp::Lrp::new(&AesKey::from_bytes(master)));
                Self::Lrp { key, mirrored }
            }
        }
    }

    /// The SDMMAC of `input`: the odd bytes of its CMAC (`NT4H2421Gx` section 9.3.8).
    pub fn mac(&self, input: &[u8]) -> [u8; 8] {
        match self {
            Self::Aes { mac, .. } => session::sdmmac(mac, input),
            Self::Lrp { key, .. } => session::odd_bytes(key.cmac(input)),
        }
    }

    /// File data, decrypted: whole blocks (section 9.3.6; no padding).
    pub fn decrypt(&self, data: &[u8]) -> Vec<u8> {
        let mut data = data.to_vec();
        match self {
            Self::Aes { file, mirrored, .. } => {
                let key = session::session_key(file, session::Purpose::Encryption, *mirrored);
                session::decrypt_file(&key, *mirrored, &mut data);
            }
            Self::Lrp { key, mirrored } => {
                key.decrypt(lrp::FILE_KEY, &mut lrp::file_counter(*mirrored), &mut data);
            }
        }
        data
    }

    /// File data as the chip encrypts it: whole blocks.
    pub fn encrypt(&self, data: &[u8]) -> Vec<u8> {
        let mut data = data.to_vec();
        match self {
            Self::Aes { file, mirrored, .. } => {
                let key = session::session_key(file, session::Purpose::Encryption, *mirrored);
                session::encrypt_file(&key, *mirrored, &mut data);
            }
            Self::Lrp { key, mirrored } => {
                key.encrypt(lrp::FILE_KEY, &mut lrp::file_counter(*mirrored), &mut data);
            }
        }
        data
    }
}
