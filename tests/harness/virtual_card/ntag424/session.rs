//! The shared state after an authentication, and the messages that it protects: EV2 with AES (data
//! sheet section 9.1), and with LRP (section 9.2).

use aes::cipher::{BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use aes::{Aes128, Block};
use tapdesk_service::inlay::key::{AesKey, cmac};
use tapdesk_service::inlay::technology::ntag424::lrp::{FILE_KEY, Lrp};

/// The state of a chip after an authentication.
#[derive(Clone)]
pub struct Session {
    /// The number of the key that it was authenticated with.
    pub key: u8,
    /// The identifier that the chip drew for the transaction.
    pub ti: [u8; 4],
    /// The number of commands since the authentication.
    pub counter: u16,
    cipher: Cipher,
}

#[derive(Clone)]
enum Cipher {
    Aes {
        enc: AesKey,
        mac: AesKey,
    },
    Lrp {
        /// The expanded session master key; MACs use updated key 0, encryption uses 1.
        master: Box<Lrp>,
        /// `EncCtr`: blocks encrypted or decrypted so far.
        blocks: u32,
    },
}

/// The direction of a message.
#[derive(Clone, Copy)]
enum Way {
    Command,
    Answer,
}

impl Session {
    /// Derives the keys from the randomness of both sides, in AES mode.
    pub fn derive(key: u8, secret: &AesKey, ti: [u8; 4], a: &[u8; 16], b: &[u8; 16]) -> Self {
        let session_key = |label: [u8; 2]| {
            let head = [label[0], label[1], 0x00, 0x01, 0x00, 0x80];
            let vector = [&head[..], &context(a, b)].concat();
            AesKey::from_bytes(cmac(secret, &vector))
        };
        let (enc, mac) = (session_key([0xA5, 0x5A]), session_key([0x5A, 0xA5]));
        Self::of_keys(key, ti, 0, enc, mac)
    }

    /// The same in LRP mode (section 9.2.7).
    pub fn derive_lrp(key: u8, secret: &AesKey, ti: [u8; 4], a: &[u8; 16], b: &[u8; 16]) -> Self {
        let vector = [&[0x00, 0x01, 0x00, 0x80][..], &context(a, b), &[0x96, 0x69]].concat();
        let master = AesKey::from_bytes(Lrp::new(secret).cmac(&vector));
        let cipher = Cipher::Lrp {
            master: Box::new(Lrp::new(&master)),
            blocks: 0,
        };
        Self {
            key,
            ti,
            counter: 0,
            cipher,
        }
    }

    /// A session in progress, in AES mode.
    pub fn of_keys(key: u8, ti: [u8; 4], counter: u16, enc: AesKey, mac: AesKey) -> Self {
        let cipher = Cipher::Aes { enc, mac };
        Self {
            key,
            ti,
            counter,
            cipher,
        }
    }

    /// Its keys for encryption and for MACs; `None` in LRP mode.
    pub fn keys(&self) -> Option<(&AesKey, &AesKey)> {
        match &self.cipher {
            Cipher::Aes { enc, mac } => Some((enc, mac)),
            Cipher::Lrp { .. } => None,
        }
    }

    /// The MAC of some content, not truncated.
    pub(super) fn full_mac(&self, content: &[u8]) -> [u8; 16] {
        match &self.cipher {
            Cipher::Aes { mac, .. } => cmac(mac, content),
            Cipher::Lrp { master, .. } => master.cmac(content),
        }
    }

    /// The MAC of a command or its answer; `first` is their first byte.
    fn mac(&self, first: u8, counter: u16, content: &[u8]) -> [u8; 8] {
        let input = [&[first], &counter.to_le_bytes()[..], &self.ti, content].concat();
        let full = self.full_mac(&input);
        std::array::from_fn(|i| full[2 * i + 1])
    }

    /// A command's data without its MAC, or the error status.
    pub(super) fn checked<'a>(&self, command: u8, data: &'a [u8]) -> Result<&'a [u8], u16> {
        let (content, mac) = data.split_last_chunk::<8>().ok_or(0x917E_u16)?;
        if self.mac(command, self.counter, content) == *mac {
            Ok(content)
        } else {
            Err(0x911E)
        }
    }

    /// The data of an answer with its MAC; `status` is the second byte of the status word. The next
    /// command uses the next counter.
    pub(super) fn answered(&mut self, status: u8, data: &[u8]) -> Vec<u8> {
        self.counter = self.counter.wrapping_add(1);
        let mac = self.mac(status, self.counter, data);
        [data, &mac].concat()
    }

    /// Counts a command without protection that was executed (AN12196, table 25).
    pub(super) fn counted(&mut self) {
        self.counter = self.counter.wrapping_add(1);
    }

    /// A command's content, decrypted, with its padding; `None` if a block is incomplete.
    pub(super) fn decrypt(&mut self, content: &[u8]) -> Option<Vec<u8>> {
        let iv = self.iv(Way::Command);
        match &mut self.cipher {
            Cipher::Aes { enc, .. } => cbc_decrypt(enc, &iv, content),
            Cipher::Lrp { master, blocks } => {
                let mut plain = content.to_vec();
                let mut counter = blocks.to_be_bytes();
                master.decrypt(FILE_KEY, &mut counter, &mut plain);
                *blocks = u32::from_be_bytes(counter);
                content.len().is_multiple_of(16).then_some(plain)
            }
        }
    }

    /// An answer's content, padded and encrypted.
    pub(super) fn encrypt(&mut self, content: &[u8]) -> Vec<u8> {
        let mut padded = [content, &[0x80]].concat();
        padded.resize(padded.len().next_multiple_of(16), 0x00);
        self.encrypt_blocks(&padded)
    }

    /// Encrypts whole blocks with the next counter.
    pub(super) fn encrypt_blocks(&mut self, plain: &[u8]) -> Vec<u8> {
        let iv = self.iv(Way::Answer);
        match &mut self.cipher {
            Cipher::Aes { enc, .. } => cbc_encrypt(enc, &iv, plain),
            Cipher::Lrp { master, blocks } => {
                let mut encrypted = plain.to_vec();
                let mut counter = blocks.to_be_bytes();
                master.encrypt(FILE_KEY, &mut counter, &mut encrypted);
                *blocks = u32::from_be_bytes(counter);
                encrypted
            }
        }
    }

    /// The IV of CBC (section 9.1.4); LRP has none.
    fn iv(&self, way: Way) -> [u8; 16] {
        let Cipher::Aes { enc, .. } = &self.cipher else {
            return [0; 16];
        };
        let (label, counter) = match way {
            Way::Command => ([0xA5, 0x5A], self.counter),
            Way::Answer => ([0x5A, 0xA5], self.counter.wrapping_add(1)),
        };
        let mut iv = Block::default();
        iv[..2].copy_from_slice(&label);
        iv[2..6].copy_from_slice(&self.ti);
        iv[6..8].copy_from_slice(&counter.to_le_bytes());
        Aes128::new(enc.expose().into()).encrypt_block(&mut iv);
        iv.0
    }
}

/// The part of both sides' randomness that goes into a session key.
fn context(a: &[u8; 16], b: &[u8; 16]) -> [u8; 26] {
    let mut context = [0; 26];
    context[..2].copy_from_slice(&a[..2]);
    for i in 0..6 {
        context[2 + i] = a[2 + i] ^ b[i];
    }
    context[8..18].copy_from_slice(&b[6..]);
    context[18..].copy_from_slice(&a[8..]);
    context
}

/// Content without its padding of `80` and zeros; `None` if it has no padding.
pub(super) fn unpadded(plain: &[u8]) -> Option<&[u8]> {
    let end = plain.iter().rposition(|byte| *byte != 0x00)?;
    (plain[end] == 0x80).then_some(&plain[..end])
}

/// AES-CBC of complete blocks.
///
/// # Panics
///
/// When a block is incomplete.
pub(super) fn cbc_encrypt(key: &AesKey, iv: &[u8; 16], plain: &[u8]) -> Vec<u8> {
    let mut cipher = cbc::Encryptor::<Aes128>::new(key.expose().into(), iv.into());
    let blocks = plain.chunks(16).flat_map(|chunk| {
        let mut block = Block::try_from(chunk).expect("blocks are whole");
        cipher.encrypt_block(&mut block);
        block.0
    });
    blocks.collect()
}

/// Decrypts; `None` if a block is incomplete.
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
