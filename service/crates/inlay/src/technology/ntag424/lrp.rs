//! LRP, the leakage resilient primitive over AES-128 (AN12304, with m = 4: a nibble at a time).
//!
//! Every evaluation of a block is 33 AES operations, each with a different key.

use std::fmt;

use aes::Aes128Enc;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::Mirrored;
use crate::diversify::double;
use crate::key::AesKey;

type Block = [u8; 16];

/// Index of the updated key that encrypts PICC data and makes MACs.
pub const PICC_KEY: usize = 0;

/// Which updated key encrypts file data.
pub const FILE_KEY: usize = 1;

/// How many updated keys are made: the product's two, and the published vectors' others.
const UPDATED_KEYS: usize = 4;

/// A key's schedule: its secret plaintexts and updated keys. Wiped when dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Lrp {
    plaintexts: [Block; 16],
    updated: [Block; UPDATED_KEYS],
}

impl Lrp {
    /// Expands a key: algorithms 1 and 2, some 40 AES operations.
    pub fn new(key: &AesKey) -> Self {
        let mut schedule = Self {
            plaintexts: [[0; 16]; 16],
            updated: [[0; 16]; UPDATED_KEYS],
        };
        chain(encrypt(key.expose(), [0x55; 16]), &mut schedule.plaintexts);
        chain(encrypt(key.expose(), [0xAA; 16]), &mut schedule.updated);
        schedule
    }

    /// The secret plaintexts, one for each nibble.
    pub fn plaintexts(&self) -> &[[u8; 16]; 16] {
        &self.plaintexts
    }

    /// The updated keys, of which [`PICC_KEY`] and [`FILE_KEY`] are indices.
    pub fn updated_keys(&self) -> &[[u8; 16]; UPDATED_KEYS] {
        &self.updated
    }

    /// Algorithm 3: evaluates nibbles, each under the key that the one before gave.
    pub fn evaluate(
        &self,
        updated_key: usize,
        nibbles: impl IntoIterator<Item = u8>,
        finalize: bool,
    ) -> [u8; 16] {
        let step =
            |key: Block, nibble: u8| encrypt(&key, self.plaintexts[usize::from(nibble & 15)]);
        let key = nibbles.into_iter().fold(self.updated[updated_key], step);
        if finalize {
            encrypt(&key, [0; 16])
        } else {
            key
        }
    }

    fn evaluate_bytes(&self, updated_key: usize, bytes: &[u8]) -> Block {
        let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        self.evaluate(updated_key, nibbles, true)
    }

    /// CMAC over LRP: NIST SP 800-38B with an evaluation in place of the cipher.
    pub fn cmac(&self, message: &[u8]) -> [u8; 16] {
        let subkey1 = double(u128::from_be_bytes(self.evaluate_bytes(PICC_KEY, &[0; 16])));
        let whole = !message.is_empty() && message.len().is_multiple_of(16);
        let last_at = if whole {
            message.len() - 16
        } else {
            message.len() / 16 * 16
        };
        let (blocks, tail) = message.split_at(last_at);
        let mut last = [0; 16];
        last[..tail.len()].copy_from_slice(tail);
        let subkey = if whole {
            subkey1
        } else {
            last[tail.len()] = 0x80;
            double(subkey1)
        };
        let mut state = 0;
        for block in blocks.chunks_exact(16) {
            let block = u128::from_be_bytes(block.try_into().expect("a chunk of 16 bytes"));
            state =
                u128::from_be_bytes(self.evaluate_bytes(PICC_KEY, &(state ^ block).to_be_bytes()));
        }
        let last = state ^ u128::from_be_bytes(last) ^ subkey;
        self.evaluate_bytes(PICC_KEY, &last.to_be_bytes())
    }

    /// LRICB encryption of whole blocks. The counter is a big-endian number of its own length; it
    /// rises by one with each block, and wraps.
    pub fn encrypt(&self, updated_key: usize, counter: &mut [u8], data: &mut [u8]) {
        for block in data.as_chunks_mut::<16>().0 {
            let key = self.evaluate_bytes(updated_key, counter);
            *block = encrypt(&key, *block);
            increment(counter);
        }
    }

    /// LRICB decryption of whole blocks.
    pub fn decrypt(&self, updated_key: usize, counter: &mut [u8], data: &mut [u8]) {
        for block in data.as_chunks_mut::<16>().0 {
            let key = self.evaluate_bytes(updated_key, counter);
            let mut plain = Array::from(*block);
            aes::Aes128Dec::new(&key.into()).decrypt_block(&mut plain);
            *block = plain.into();
            increment(counter);
        }
    }
}

impl fmt::Debug for Lrp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lrp(redacted)")
    }
}

/// The session vector: label, 128 bits, the mirrored values, zeros, and the label's other half
/// (`NT4H2421Gx` section 9.3.9.2).
pub fn session_vector(mirrored: Mirrored) -> [u8; 16] {
    let mut vector = [0; 16];
    vector[..4].copy_from_slice(&[0x00, 0x01, 0x00, 0x80]);
    mirrored.write_to(&mut vector[4..14]);
    vector[14..].copy_from_slice(&[0x1E, 0xE1]);
    vector
}

/// LRICB's first counter of file data: the read counter (LSB first), then zeros.
pub fn file_counter(mirrored: Mirrored) -> [u8; 6] {
    let [c0, c1, c2, _] = mirrored.counter.unwrap_or(0).to_le_bytes();
    [c0, c1, c2, 0, 0, 0]
}

/// Fills blocks with the encryption of `AAh` under a key that is replaced for each.
fn chain(mut key: Block, blocks: &mut [Block]) {
    for block in blocks {
        *block = encrypt(&key, [0xAA; 16]);
        key = encrypt(&key, [0x55; 16]);
    }
    key.zeroize();
}

fn encrypt(key: &Block, block: Block) -> Block {
    #[cfg(any(test, feature = "effort"))]
    crate::effort::count(1);
    let mut block = Array::from(block);
    Aes128Enc::new(key.into()).encrypt_block(&mut block);
    block.into()
}

fn increment(counter: &mut [u8]) {
    for byte in counter.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            return;
        }
    }
}
