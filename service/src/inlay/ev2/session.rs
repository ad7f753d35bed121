//! What both sides know after an authentication, and the messages they protect with it.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128Enc, Block};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{Status, answer, cbc_decrypt, cbc_encrypt, padded, unpadded, wrapped};
use crate::inlay::key::AesKey;
use crate::inlay::session::{cmac, odd_bytes};

/// An authenticated session. Each command it makes moves its counter, as the chip moves its own.
pub struct Session {
    number: u8,
    ti: [u8; 4],
    counter: u16,
    enc: AesKey,
    mac: AesKey,
}

/// How a command and its answer are protected (data sheet section 9.1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Not at all, though the command is counted.
    Plain,
    /// By a MAC.
    Mac,
    /// Encrypted, and by a MAC.
    Full,
}

/// A command to be sent.
#[derive(PartialEq, Eq)]
pub struct Command {
    /// Its bytes.
    pub apdu: Vec<u8>,
    /// What its answer is checked by.
    pub reply: Reply,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Command({:02X}, redacted)", self.apdu[1])
    }
}

/// What an answer must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// How it is protected.
    pub protection: Protection,
    /// The counter of the chip when it answers.
    pub counter: u16,
}

/// Why an answer is none to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The chip refused. Any error ends the session (data sheet section 9.1.9).
    #[error("the chip answered {0}")]
    Status(Status),
    /// It has no status word, or content that is no such answer's.
    #[error("the answer is no answer to this command")]
    Malformed,
    /// Its MAC is not of this session.
    #[error("the answer has a wrong MAC")]
    WrongMac,
}

impl Session {
    /// From the randomness of both sides (data sheet section 9.1.7).
    pub(super) fn derive(
        number: u8,
        key: &AesKey,
        ti: [u8; 4],
        counter: u16,
        a: &[u8; 16],
        b: &[u8; 16],
    ) -> Self {
        let session_key = |label: [u8; 2]| {
            let mut vector = Zeroizing::new([0; 32]);
            vector[..2].copy_from_slice(&label);
            vector[2..6].copy_from_slice(&[0x00, 0x01, 0x00, 0x80]);
            vector[6..8].copy_from_slice(&a[..2]);
            for i in 0..6 {
                vector[8 + i] = a[2 + i] ^ b[i];
            }
            vector[14..24].copy_from_slice(&b[6..]);
            vector[24..].copy_from_slice(&a[8..]);
            AesKey::from_bytes(cmac(key, &*vector))
        };
        Self {
            number,
            ti,
            counter,
            enc: session_key([0xA5, 0x5A]),
            mac: session_key([0x5A, 0xA5]),
        }
    }

    /// One whose parts are known, as published transcripts have them.
    pub fn of_parts(number: u8, ti: [u8; 4], counter: u16, enc: AesKey, mac: AesKey) -> Self {
        Self {
            number,
            ti,
            counter,
            enc,
            mac,
        }
    }

    /// The number of the key that opened it.
    pub fn number(&self) -> u8 {
        self.number
    }

    pub(super) fn ti(&self) -> [u8; 4] {
        self.ti
    }

    pub(super) fn counter(&self) -> u16 {
        self.counter
    }

    /// A command in clear, which is counted.
    pub fn plain(&mut self, command: u8, data: &[&[u8]]) -> Command {
        self.counted(wrapped(command, data), Protection::Plain)
    }

    /// A command with a MAC.
    pub fn with_mac(&mut self, command: u8, header: &[u8]) -> Command {
        let mac = self.command_mac(command, &[header]);
        self.counted(wrapped(command, &[header, &mac]), Protection::Mac)
    }

    /// A command whose content is encrypted, `header` in clear before it. Without content nothing
    /// is encrypted on the way to the chip.
    pub fn full(&mut self, command: u8, header: &[u8], content: &[u8]) -> Command {
        let encrypted = if content.is_empty() {
            Vec::new()
        } else {
            cbc_encrypt(&self.enc, self.command_iv(), &padded(content))
        };
        let mac = self.command_mac(command, &[header, &encrypted]);
        let apdu = wrapped(command, &[header, &encrypted, &mac]);
        self.counted(apdu, Protection::Full)
    }

    fn counted(&mut self, apdu: Vec<u8>, protection: Protection) -> Command {
        // 65,536 commands: a session of ours has some thirty.
        self.counter = self.counter.wrapping_add(1);
        let reply = Reply {
            protection,
            counter: self.counter,
        };
        Command { apdu, reply }
    }

    /// The content of an answer, which must be one of success.
    pub fn open(&self, reply: Reply, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, ReplyError> {
        let (data, status) = answer(bytes).ok_or(ReplyError::Malformed)?;
        if status != Status::OK {
            return Err(ReplyError::Status(status));
        }
        if reply.protection == Protection::Plain {
            return Ok(Zeroizing::new(data.to_vec()));
        }
        let (content, mac) = data.split_last_chunk::<8>().ok_or(ReplyError::Malformed)?;
        let expected = self.mac(0x00, reply.counter, &[content]);
        if !bool::from(expected.ct_eq(mac)) {
            return Err(ReplyError::WrongMac);
        }
        if reply.protection == Protection::Mac || content.is_empty() {
            return Ok(Zeroizing::new(content.to_vec()));
        }
        let iv = self.iv([0x5A, 0xA5], reply.counter);
        let plain = cbc_decrypt(&self.enc, iv, content).ok_or(ReplyError::Malformed)?;
        unpadded(plain).ok_or(ReplyError::Malformed)
    }

    /// What the chip reads in a command of full protection that this session made when its
    /// counter was `counter`: its content, if MAC and padding are right.
    pub(super) fn as_the_chip_reads(
        &self,
        apdu: &[u8],
        counter: u16,
        header: usize,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let (&[_, command, _, _, length], rest) = apdu.split_first_chunk()?;
        let (data, [0x00]) = rest.split_at_checked(usize::from(length))? else {
            return None;
        };
        let (content, mac) = data.split_last_chunk::<8>()?;
        let expected = self.mac(command, counter, &[content]);
        let plain = cbc_decrypt(
            &self.enc,
            self.iv([0xA5, 0x5A], counter),
            content.get(header..)?,
        )?;
        let is_whole = bool::from(expected.ct_eq(mac));
        unpadded(plain).filter(|_| is_whole)
    }

    fn command_mac(&self, command: u8, parts: &[&[u8]]) -> [u8; 8] {
        self.mac(command, self.counter, parts)
    }

    /// The MAC of a command, or of an answer to it, by its first byte.
    fn mac(&self, first: u8, counter: u16, parts: &[&[u8]]) -> [u8; 8] {
        let mut input = vec![first];
        input.extend(counter.to_le_bytes());
        input.extend(self.ti);
        input.extend(parts.iter().copied().flatten());
        odd_bytes(cmac(&self.mac, &input))
    }

    fn command_iv(&self) -> [u8; 16] {
        self.iv([0xA5, 0x5A], self.counter)
    }

    fn iv(&self, label: [u8; 2], counter: u16) -> [u8; 16] {
        let mut iv = Block::default();
        iv[..2].copy_from_slice(&label);
        iv[2..6].copy_from_slice(&self.ti);
        iv[6..8].copy_from_slice(&counter.to_le_bytes());
        Aes128Enc::new(self.enc.expose().into()).encrypt_block(&mut iv);
        iv.into()
    }

    /// What must be stored to go on with it: to be wrapped.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![self.number]);
        bytes.extend(self.ti);
        bytes.extend(self.counter.to_le_bytes());
        bytes.extend(self.enc.expose());
        bytes.extend(self.mac.expose());
        bytes
    }

    /// From where it was stored.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[number, t0, t1, t2, t3, low, high], keys) = bytes.split_first_chunk()?;
        let (enc, mac) = keys.split_first_chunk::<16>()?;
        let mac = <[u8; 16]>::try_from(mac).ok()?;
        Some(Self {
            number,
            ti: [t0, t1, t2, t3],
            counter: u16::from_le_bytes([low, high]),
            enc: AesKey::from_bytes(*enc),
            mac: AesKey::from_bytes(mac),
        })
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session(key {}, redacted)", self.number)
    }
}
