//! What both sides know after `AuthenticateEV2First`, and the messages they
//! protect with it (data sheet section 9.1).

use aes::cipher::{BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use aes::{Aes128, Block};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::session::cmac;

/// An authenticated session.
pub struct Session {
    /// The number of the key that it was authenticated with.
    pub key: u8,
    /// The transaction identifier.
    pub ti: [u8; 4],
    /// The command counter.
    pub counter: u16,
    enc: AesKey,
    mac: AesKey,
}

impl Session {
    /// From the randomness of both sides.
    pub fn derive(key: u8, secret: &AesKey, ti: [u8; 4], a: &[u8; 16], b: &[u8; 16]) -> Self {
        let session_key = |label: [u8; 2]| {
            let mut vector = [0; 32];
            vector[..2].copy_from_slice(&label);
            vector[2..6].copy_from_slice(&[0x00, 0x01, 0x00, 0x80]);
            vector[6..8].copy_from_slice(&a[..2]);
            for i in 0..6 {
                vector[8 + i] = a[2 + i] ^ b[i];
            }
            vector[14..24].copy_from_slice(&b[6..]);
            vector[24..].copy_from_slice(&a[8..]);
            AesKey::from_bytes(cmac(secret, &vector))
        };
        let (enc, mac) = (session_key([0xA5, 0x5A]), session_key([0x5A, 0xA5]));
        Self::of_keys(key, ti, 0, enc, mac)
    }

    /// One that is under way.
    pub fn of_keys(key: u8, ti: [u8; 4], counter: u16, enc: AesKey, mac: AesKey) -> Self {
        Self {
            key,
            ti,
            counter,
            enc,
            mac,
        }
    }

    /// Its two keys, for encryption and for MACs.
    pub fn keys(&self) -> (&AesKey, &AesKey) {
        (&self.enc, &self.mac)
    }

    /// The MAC of a command, or of an answer to it, by its first byte.
    fn mac(&self, first: u8, counter: u16, content: &[u8]) -> [u8; 8] {
        let input = [&[first], &counter.to_le_bytes()[..], &self.ti, content].concat();
        let full = cmac(&self.mac, &input);
        std::array::from_fn(|i| full[2 * i + 1])
    }

    /// A command's data without its MAC; `None` if the MAC is not its own.
    pub fn checked<'a>(&self, command: u8, data: &'a [u8]) -> Option<&'a [u8]> {
        let (content, mac) = data.split_last_chunk::<8>()?;
        (self.mac(command, self.counter, content) == *mac).then_some(content)
    }

    /// An answer with its MAC. The next command has the next counter.
    pub fn answered(&mut self, data: &[u8]) -> Vec<u8> {
        self.counter += 1;
        let mac = self.mac(0x00, self.counter, data);
        [data, &mac].concat()
    }

    fn iv(&self, label: [u8; 2], counter: u16) -> Block {
        let mut iv = Block::default();
        iv[..2].copy_from_slice(&label);
        iv[2..6].copy_from_slice(&self.ti);
        iv[6..8].copy_from_slice(&counter.to_le_bytes());
        Aes128::new(self.enc.expose().into()).encrypt_block(&mut iv);
        iv
    }

    /// A command's content, decrypted and without its padding.
    pub fn decrypt(&self, content: &[u8]) -> Option<Vec<u8>> {
        let iv = self.iv([0xA5, 0x5A], self.counter);
        let mut plain = cbc_decrypt(&self.enc, &iv.0, content)?;
        let end = plain.iter().rposition(|byte| *byte != 0x00)?;
        let padded = plain[end] == 0x80;
        plain.truncate(end);
        padded.then_some(plain)
    }

    /// An answer's content, padded and encrypted.
    pub fn encrypt(&self, content: &[u8]) -> Vec<u8> {
        let mut padded = [content, &[0x80]].concat();
        padded.resize(padded.len().next_multiple_of(16), 0x00);
        let iv = self.iv([0x5A, 0xA5], self.counter + 1);
        cbc_encrypt(&self.enc, &iv.0, &padded)
    }
}

/// AES-CBC of whole blocks.
///
/// # Panics
/// Where they are not whole.
pub(super) fn cbc_encrypt(key: &AesKey, iv: &[u8; 16], plain: &[u8]) -> Vec<u8> {
    let mut cipher = cbc::Encryptor::<Aes128>::new(key.expose().into(), iv.into());
    let blocks = plain.chunks(16).flat_map(|chunk| {
        let mut block = Block::try_from(chunk).expect("blocks are whole");
        cipher.encrypt_block(&mut block);
        block.0
    });
    blocks.collect()
}

/// The way back; `None` if the blocks are not whole.
pub(super) fn cbc_decrypt(key: &AesKey, iv: &[u8; 16], encrypted: &[u8]) -> Option<Vec<u8>> {
    let mut cipher = cbc::Decryptor::<Aes128>::new(key.expose().into(), iv.into());
    let mut plain = Vec::with_capacity(encrypted.len());
    for chunk in encrypted.chunks(16) {
        let mut block = Block::try_from(chunk).ok()?;
        cipher.decrypt_block(&mut block);
        plain.extend_from_slice(&block.0);
    }
    Some(plain)
}
