//! EV2 secure messaging of an NTAG 424 DNA, in AES mode (data sheet section 9.1, AN12196 sections 5
//! and 6) and in LRP mode (section 9.2, AN12321): the bytes of commands and the content of answers.
//!
//! Nothing here sends anything. A commit must come between making and sending a command. So a
//! command is a value, and its answer is checked later, perhaps by another process: a [`Session`]
//! can be stored.
//!
//! | Module | Subject |
//! |---|---|
//! | `handshake` | two halves of an authentication |
//! | `cipher` | session keys, MACs and encryption of both modes |
//! | `session` | messages and their counters |
//! | `commands` | the commands of personalisation, byte by byte |

mod cipher;
mod commands;
mod handshake;
mod session;

pub use commands::{
    GET_VERSION, MORE, READ_SIGNATURE, SELECT_APPLICATION, SELECT_NDEF, get_file_settings,
    get_key_version, is_secret, read_binary,
};
pub use handshake::{Handshake, HandshakeError, first};
pub use session::{Command, Protection, Reply, ReplyError, Session};

use aes::{Aes128, Block};
use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use zeroize::Zeroizing;

use crate::key::AesKey;

/// Number of the key that changes all others, the application's master key.
pub const KEY_0: u8 = 0;
/// How many keys the application has.
pub const KEYS: u8 = 5;
/// Number of the capability container's file.
pub const CC_FILE: u8 = 1;
/// Number of the NDEF file.
pub const NDEF_FILE: u8 = 2;

/// The status word of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status(pub u16);

impl Status {
    /// A native command was executed.
    pub const OK: Self = Self(0x9100);
    /// An ISO command was executed.
    pub const ISO_OK: Self = Self(0x9000);
    /// More data follow: `AF` requests them.
    pub const MORE: Self = Self(0x91AF);
    /// `Read_Sig` without authentication was executed.
    pub const SIGNATURE: Self = Self(0x9190);
    /// The CRC, MAC or padding is wrong; the session is over.
    pub const INTEGRITY: Self = Self(0x911E);
    /// The chip has another key.
    pub const AUTHENTICATION: Self = Self(0x91AE);
    /// The chip delays authentications, because wrong keys were tried.
    pub const DELAY: Self = Self(0x91AD);
    /// The key is locked for good, or the chip is in LRP mode.
    pub const DENIED: Self = Self(0x919D);
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04X}", self.0)
    }
}

impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Status({self})")
    }
}

/// An answer in its parts: data and status word. `None` if it has no status word.
pub fn answer(bytes: &[u8]) -> Option<(&[u8], Status)> {
    let (data, status) = bytes.split_last_chunk::<2>()?;
    Some((data, Status(u16::from_be_bytes(*status))))
}

/// A native command wrapped in an ISO APDU (data sheet section 8.3): `90 INS 00 00 Lc data 00`.
fn wrapped(command: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut apdu = vec![0x90, command, 0x00, 0x00];
    if length > 0 {
        // Every caller stays below 255: chunks of 100 bytes, keys and settings.
        apdu.push(u8::try_from(length).unwrap_or(u8::MAX));
        apdu.extend(parts.iter().copied().flatten());
    }
    apdu.push(0x00);
    apdu
}

/// AES-CBC of whole blocks. An incomplete last block is dropped; callers pad.
fn cbc_encrypt(key: &AesKey, iv: [u8; 16], plain: &[u8]) -> Vec<u8> {
    let mut cipher = cbc::Encryptor::<Aes128>::new(key.expose().into(), &iv.into());
    let mut encrypted = Vec::with_capacity(plain.len());
    for block in plain.as_chunks::<16>().0 {
        let mut block = Block::from(*block);
        cipher.encrypt_block(&mut block);
        encrypted.extend(block);
    }
    encrypted
}

/// Decrypts; `None` if the input is not whole blocks.
fn cbc_decrypt(key: &AesKey, iv: [u8; 16], encrypted: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (blocks, []) = encrypted.as_chunks::<16>() else {
        return None;
    };
    let mut cipher = cbc::Decryptor::<Aes128>::new(key.expose().into(), &iv.into());
    let mut plain = Zeroizing::new(Vec::with_capacity(encrypted.len()));
    for block in blocks {
        let mut block = Block::from(*block);
        cipher.decrypt_block(&mut block);
        plain.extend(block);
    }
    Some(plain)
}

/// Padding of ISO/IEC 9797-1 method 2: always 80h, then zeros to a whole block.
fn padded(plain: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut padded = Zeroizing::new(plain.to_vec());
    padded.push(0x80);
    let whole = padded.len().next_multiple_of(16);
    padded.resize(whole, 0x00);
    padded
}

/// Removes the padding; `None` if there is none.
fn unpadded(mut plain: Zeroizing<Vec<u8>>) -> Option<Zeroizing<Vec<u8>>> {
    let end = plain.iter().rposition(|byte| *byte != 0x00)?;
    let is_padded = plain[end] == 0x80;
    plain.truncate(end);
    is_padded.then_some(plain)
}

/// CRC-32/JAMCRC, by which `ChangeKey` checks a new key (data sheet section 10.6.1).
fn jam_crc(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}
