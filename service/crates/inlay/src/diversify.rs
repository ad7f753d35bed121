//! Keys derived from a master key, a different one for each chip (NXP AN10922, AES-128).

use std::fmt;
use std::str::FromStr;

use aes::Aes128Enc;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

use crate::key::{AesKey, Keys};
use crate::text::as_text;
use crate::{Mirror, Uid};

/// The longest diversification input, in bytes (AN10922 section 2.2).
const INPUT_MAX: usize = 31;

/// The part of a [`DiversificationInput`]'s text that stands for the UID.
const PLACEHOLDER: &str = "{uid}";

/// The input from which a chip's key is derived, besides the master key: 1 to 31 bytes that include
/// the chip's UID. As text, it is hex digits around one `{uid}`, for example
/// `{uid}3042F54E585020416275`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiversificationInput {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl DiversificationInput {
    /// The input of the chip with this UID.
    pub fn bytes(&self, uid: Uid) -> Vec<u8> {
        [&self.before, uid.bytes().as_slice(), &self.after].concat()
    }
}

impl fmt::Display for DiversificationInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (&self.before, &self.after);
        write!(f, "{:X}", base16ct::HexDisplay(before))?;
        f.write_str(PLACEHOLDER)?;
        write!(f, "{:X}", base16ct::HexDisplay(after))
    }
}

/// A text that is not a valid [`DiversificationInput`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiversificationInputError {
    /// `{uid}` is missing or occurs twice.
    #[error("a diversification input contains {{uid}} exactly once, where the chip's UID goes")]
    Placeholder,
    /// The text around `{uid}` is not pairs of hex digits.
    #[error("a diversification input is pairs of hex digits around {{uid}}")]
    NotHex,
    /// The input has more than 31 bytes.
    #[error(
        "a diversification input is at most 31 bytes, the 7 of the UID included; this is {length}"
    )]
    Length {
        /// Its length in bytes, the UID included.
        length: usize,
    },
}

impl FromStr for DiversificationInput {
    type Err = DiversificationInputError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (before, after) = text
            .split_once(PLACEHOLDER)
            .ok_or(DiversificationInputError::Placeholder)?;
        if after.contains(PLACEHOLDER) {
            return Err(DiversificationInputError::Placeholder);
        }
        let hex = |text: &str| {
            base16ct::mixed::decode_vec(text).map_err(|_| DiversificationInputError::NotHex)
        };
        let (before, after) = (hex(before)?, hex(after)?);
        let length = before.len() + 7 + after.len();
        if length > INPUT_MAX {
            return Err(DiversificationInputError::Length { length });
        }
        Ok(Self { before, after })
    }
}

as_text!(
    DiversificationInput,
    "^([0-9A-Fa-f]{2})*[{]uid[}]([0-9A-Fa-f]{2})*$",
    // `{uid}` stands for 7 of the 31 bytes.
    max_length = 53
);

/// A diversification input that is empty or longer than 31 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a diversification input is 1 to 31 bytes")]
pub struct InputLengthError;

/// The AES-128 key derived from `master` and `input`, which is 1 to 31 bytes.
///
/// # Errors
///
/// [`InputLengthError`] if the input is empty or longer than 31 bytes.
pub fn diversify(master: &AesKey, input: &[u8]) -> Result<AesKey, InputLengthError> {
    if input.is_empty() || input.len() > INPUT_MAX {
        return Err(InputLengthError);
    }
    Ok(derive(master, input))
}

/// A CMAC over 01h and the input, except that AN10922 (section 2.2) always pads
/// to two blocks, where a CMAC pads a short message to one. The input is known
/// to be 1 to 31 bytes.
fn derive(master: &AesKey, input: &[u8]) -> AesKey {
    let padded = input.len() < INPUT_MAX;
    let mut blocks = [[0; 16]; 2];
    let message = blocks.as_flattened_mut();
    message[0] = 0x01;
    message[1..=input.len()].copy_from_slice(input);
    if padded {
        message[1 + input.len()] = 0x80;
    }
    let [first, last] = blocks.map(u128::from_be_bytes);

    let cipher = Aes128Enc::new(master.expose().into());
    let encrypt = |block: u128| {
        let mut block = Array::from(block.to_be_bytes());
        cipher.encrypt_block(&mut block);
        u128::from_be_bytes(block.into())
    };
    let subkey1 = double(encrypt(0));
    let subkey = if padded { double(subkey1) } else { subkey1 };
    let key = encrypt(encrypt(first) ^ last ^ subkey);
    AesKey::from_bytes(key.to_be_bytes())
}

/// Doubling in GF(2^128), as NIST SP 800-38B derives its subkeys.
pub(crate) fn double(block: u128) -> u128 {
    (block << 1) ^ ((block >> 127) * 0x87)
}

/// A key from which the keys of many inlays are derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MasterKey {
    /// Secret from which the keys are derived.
    pub key: AesKey,
    /// The input of its diversification.
    pub input: DiversificationInput,
    /// Whether the meta key is diversified too. If it is not, it is the master key
    /// itself: the encrypted mirror must be decrypted before the UID is known.
    pub diversify_meta: bool,
}

impl MasterKey {
    /// The keys of one inlay.
    pub fn keys_for(&self, uid: Uid, mirror: Mirror) -> Keys {
        let file = self.diversified(uid);
        let meta = match mirror {
            Mirror::Plain => None,
            Mirror::Encrypted if self.diversify_meta => Some(file.clone()),
            Mirror::Encrypted => Some(self.key.clone()),
        };
        Keys { meta, file }
    }

    /// The key of the chip with this UID.
    pub fn diversified(&self, uid: Uid) -> AesKey {
        derive(&self.key, &self.input.bytes(uid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> DiversificationInputError {
        text.parse::<DiversificationInput>().unwrap_err()
    }

    #[test]
    fn an_input_is_hex_around_one_uid() {
        let input: DiversificationInput = "3042{uid}f54e".parse().unwrap();
        assert_eq!(input.to_string(), "3042{uid}F54E");
        let uid = Uid::from_bytes([4, 1, 2, 3, 4, 5, 6]);
        let expected = [0x30, 0x42, 4, 1, 2, 3, 4, 5, 6, 0xF5, 0x4E];
        assert_eq!(input.bytes(uid), expected);

        assert_eq!(error("3042"), DiversificationInputError::Placeholder);
        assert_eq!(error("{uid}{uid}"), DiversificationInputError::Placeholder);
        assert_eq!(error("{UID}"), DiversificationInputError::Placeholder);
        assert_eq!(error("304{uid}"), DiversificationInputError::NotHex);
        assert_eq!(error("{uid}3G"), DiversificationInputError::NotHex);
        assert_eq!(error("{uid} 30"), DiversificationInputError::NotHex);
    }

    #[test]
    fn an_input_is_at_most_31_bytes_with_the_uid() {
        let of_length = |length: usize| format!("{{uid}}{}", "00".repeat(length - 7));
        assert!(of_length(31).parse::<DiversificationInput>().is_ok());
        let too_long = DiversificationInputError::Length { length: 32 };
        assert_eq!(error(&of_length(32)), too_long);
        for length in [0, 32] {
            let input = vec![0; length];
            assert_eq!(diversify(&AesKey::FACTORY, &input), Err(InputLengthError));
        }
    }
}
