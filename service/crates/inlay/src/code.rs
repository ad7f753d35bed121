//! The one-time code of a URL: its `uid` and `token`, parsed and written.
//!
//! | Mirror | `uid` | `token` |
//! |---|---|---|
//! | plain | 14 hex digits: UID | 6 hex digits: read counter, MSB first; 16 hex digits: SDMMAC |
//! | encrypted | 32 hex digits: `PICCENCData` | 16 hex digits: SDMMAC |
//!
//! Hex digits are read in either case and written in upper case, as the chip does.

use std::fmt;
use std::ops::Deref;

use crate::text::hex;
use crate::{MacFrom, Mirror, Uid};

/// The highest value of a chip's 24-bit read counter.
pub const COUNTER_MAX: u32 = 0xFF_FFFF;

/// A code as it is in a URL. It proves nothing until it is [verified](crate::verify).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// UID and counter, in clear or encrypted.
    pub mirrored: Mirrored,
    /// SDMMAC that the chip computed.
    pub mac: [u8; 8],
}

/// UID and counter as the chip mirrors them into the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirrored {
    /// UID and counter in clear.
    Plain {
        /// UID of the chip.
        uid: Uid,
        /// The read counter, at most [`COUNTER_MAX`].
        counter: u32,
    },
    /// Encrypted under the meta key.
    Encrypted {
        /// `PICCENCData`: UID and counter in one encrypted block.
        picc: [u8; 16],
    },
}

fn characters(number: usize) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{number} character{many}")
}

/// Why texts do not form a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// `uid` has a length that fits no mirror.
    #[error(
        "uid has {}; it is 14 hex digits with the plain mirror, 32 with the encrypted one",
        characters(*.length)
    )]
    UidLength {
        /// Its length in bytes of UTF-8.
        length: usize,
    },
    /// `token` has a length that does not fit the mirror which `uid` shows.
    #[error("token has {}; with this uid it is {expected} hex digits", characters(*.length))]
    TokenLength {
        /// Its length in bytes of UTF-8.
        length: usize,
        /// The length it should have.
        expected: usize,
    },
    /// `uid` contains characters that are not hex digits.
    #[error("uid is not all hex digits")]
    UidNotHex,
    /// `token` contains characters that are not hex digits.
    #[error("token is not all hex digits")]
    TokenNotHex,
}

impl Code {
    /// The code in a URL's `uid` and `token`.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if a length fits no mirror, or a character is not a hex digit.
    pub fn parse(uid: &str, token: &str) -> Result<Self, Malformed> {
        let expected = match uid.len() {
            14 => 22,
            32 => 16,
            length => return Err(Malformed::UidLength { length }),
        };
        if token.len() != expected {
            let length = token.len();
            return Err(Malformed::TokenLength { length, expected });
        }
        if expected == 16 {
            let picc = hex(uid).ok_or(Malformed::UidNotHex)?;
            let mac = hex(token).ok_or(Malformed::TokenNotHex)?;
            let mirrored = Mirrored::Encrypted { picc };
            Ok(Self { mirrored, mac })
        } else {
            let uid = Uid::from_bytes(hex(uid).ok_or(Malformed::UidNotHex)?);
            let [c0, c1, c2, mac @ ..]: [u8; 11] = hex(token).ok_or(Malformed::TokenNotHex)?;
            let counter = u32::from_be_bytes([0, c0, c1, c2]);
            let mirrored = Mirrored::Plain { uid, counter };
            Ok(Self { mirrored, mac })
        }
    }

    /// The text of `token`.
    pub fn token(&self) -> String {
        let mac = base16ct::HexDisplay(&self.mac);
        match self.mirrored {
            Mirrored::Plain { counter, .. } => {
                let counter = counter.to_be_bytes();
                format!("{:X}{mac:X}", base16ct::HexDisplay(&counter[1..]))
            }
            Mirrored::Encrypted { .. } => format!("{mac:X}"),
        }
    }
}

impl Mirrored {
    /// The mirror that shows UID and counter this way.
    pub fn mirror(&self) -> Mirror {
        match self {
            Self::Plain { .. } => Mirror::Plain,
            Self::Encrypted { .. } => Mirror::Encrypted,
        }
    }

    /// The text of `uid`.
    pub fn uid_text(&self) -> String {
        match self {
            Self::Plain { uid, .. } => uid.to_string(),
            Self::Encrypted { picc } => format!("{:X}", base16ct::HexDisplay(picc)),
        }
    }

    /// The characters of the URL that the MAC covers.
    pub fn mac_input(&self, mac_from: MacFrom) -> MacInput {
        let mut input = MacInput::EMPTY;
        if mac_from == MacFrom::Uid {
            match self {
                Self::Plain { uid, counter } => {
                    input.push_hex(&uid.bytes());
                    input.push(b"&token=");
                    input.push_hex(&counter.to_be_bytes()[1..]);
                }
                Self::Encrypted { picc } => {
                    input.push_hex(picc);
                    input.push(b"&token=");
                }
            }
        }
        input
    }
}

/// The input of an SDMMAC, on the stack: verifying allocates nothing.
#[derive(Clone, Copy)]
pub struct MacInput {
    /// As long as the longest input: 32 hex digits and `&token=`.
    buffer: [u8; 39],
    length: usize,
}

impl MacInput {
    const EMPTY: Self = Self {
        buffer: [0; 39],
        length: 0,
    };

    fn push(&mut self, text: &[u8]) {
        self.buffer[self.length..][..text.len()].copy_from_slice(text);
        self.length += text.len();
    }

    fn push_hex(&mut self, bytes: &[u8]) {
        let written = base16ct::upper::encode(bytes, &mut self.buffer[self.length..])
            .expect("the buffer holds the longest input");
        self.length += written.len();
    }
}

impl Deref for MacInput {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl fmt::Debug for MacInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MacInput({:?})", String::from_utf8_lossy(self))
    }
}
