//! The layout of the `ntag424` crate: AN10922 over UID, application, slot and system identifier.

use std::fmt;
use std::str::FromStr;

use crate::Uid;
use crate::diversify::diversify;
use crate::key::AesKey;
use crate::text::as_text;

/// The NDEF application of the chip (`NT4H2421Gx` section 8.2.2).
const APPLICATION: [u8; 7] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01];

/// An application's own name in its keys: at most 16 characters of ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemId(String);

/// A text that is not a valid [`SystemId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a system identifier has at most 16 characters of ASCII")]
pub struct SystemIdError;

impl SystemId {
    /// The key in a slot of the chip `uid`.
    pub(super) fn key(&self, master: &AesKey, uid: Uid, slot: u8) -> AesKey {
        let input = [&uid.bytes()[..], &APPLICATION, &[slot], self.0.as_bytes()].concat();
        diversify(master, &input).expect("UID, application, slot and 16 characters are 31 bytes")
    }
}

impl fmt::Display for SystemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SystemId {
    type Err = SystemIdError;

    fn from_str(text: &str) -> Result<Self, SystemIdError> {
        if text.len() <= 16
            && text
                .bytes()
                .all(|byte| byte.is_ascii_graphic() || byte == b' ')
        {
            Ok(Self(text.to_owned()))
        } else {
            Err(SystemIdError)
        }
    }
}

as_text!(SystemId, "^[ -~]{0,16}$", max_length = 16);

/// The meta key that all inlays share.
pub(super) fn shared_key(master: &AesKey) -> AesKey {
    diversify(master, b"PICC").expect("4 bytes are an input")
}
