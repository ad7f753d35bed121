//! The UID, the number that identifies a chip.

use std::fmt;
use std::str::FromStr;

use crate::text::{as_text, hex};

/// The first byte of a random UID, which has four bytes (ISO/IEC 14443-3, section 6.5.4). A UID of 7
/// bytes begins with a manufacturer's number, and no manufacturer has this one.
pub const RANDOM_ID: u8 = 0x08;

/// The hex digits of a [`Uid`] as text.
pub(crate) const DIGITS: usize = 14;
/// The lengths that the UID of a card can have, in bytes (ISO/IEC 14443-3, section 6.5.4). Every chip
/// that can be an inlay has 7.
pub const LENGTHS: [usize; 3] = [4, 7, 10];

/// Whether a UID of 4, 7 or 10 bytes is random each time the chip is powered.
pub const fn is_random(uid: &[u8]) -> bool {
    matches!(uid, [RANDOM_ID, _, _, _])
}

/// The 7-byte UID of a chip (ISO/IEC 14443-3), burnt in by its manufacturer.
/// As text 14 upper-case hex digits; read in either case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid([u8; 7]);

impl Uid {
    /// The number of bytes.
    pub const LENGTH: usize = 7;

    /// From the bytes, in the order in which the chip sends them.
    pub const fn from_bytes(bytes: [u8; 7]) -> Self {
        Self(bytes)
    }

    /// The bytes, in the order in which the chip sends them.
    pub const fn bytes(self) -> [u8; 7] {
        self.0
    }

    /// Whether the first byte names NXP as the manufacturer (ISO/IEC 7816-6).
    pub const fn is_nxp(self) -> bool {
        self.0[0] == 0x04
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}", base16ct::HexDisplay(&self.0))
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uid({self})")
    }
}

/// A text that is not a valid [`Uid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a UID is 14 hex digits")]
pub struct UidError;

impl FromStr for Uid {
    type Err = UidError;

    fn from_str(text: &str) -> Result<Self, UidError> {
        hex(text).map(Self).ok_or(UidError)
    }
}

as_text!(Uid, "^[0-9A-Fa-f]{14}$");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_read_in_either_case_and_written_in_upper_case() {
        let uid: Uid = "04de5f1eacC040".parse().unwrap();
        assert_eq!(uid.bytes(), [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]);
        assert_eq!(uid.to_string(), "04DE5F1EACC040");
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_uid_is_its_text_in_json() {
        let uid = Uid::from_bytes([0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]);
        assert_eq!(serde_json::to_string(&uid).unwrap(), r#""04DE5F1EACC040""#);
    }

    #[test]
    fn what_is_not_14_hex_digits_is_no_uid() {
        for text in [
            "",
            "04",
            "04DE5F1EACC0",
            "04DE5F1EACC04",
            "04DE5F1EACC04000",
            "04DE5F1EACC04G",
            " 4DE5F1EACC040",
        ] {
            assert_eq!(text.parse::<Uid>(), Err(UidError), "{text:?}");
        }
    }
}
