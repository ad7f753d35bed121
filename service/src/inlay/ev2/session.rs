//! What both sides know after an authentication, and the messages they protect with it.

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cipher::{At, Cipher, Way};
use super::{Status, answer, padded, unpadded, wrapped};
use crate::inlay::key::AesKey;
use crate::inlay::session::odd_bytes;
use crate::inlay::technology::Mode;

/// An authenticated session. Each command it makes moves its counters, as the chip moves its own.
pub struct Session {
    number: u8,
    ti: [u8; 4],
    counter: u16,
    /// Blocks that were encrypted either way: `EncCtr`, which counts in LRP mode.
    blocks: u32,
    cipher: Cipher,
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
    /// By a MAC if there is one: to `SetConfiguration` chips answer with one (AN12196, table 28) and
    /// without (AN12321, table 3), by the option. What follows in the session proves it.
    IfAny,
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
    /// Blocks that were encrypted in the session before its content.
    pub blocks: u32,
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
    /// One that begins, or goes on after a proof of another key.
    pub(super) fn of_cipher(
        number: u8,
        (ti, counter): ([u8; 4], u16),
        blocks: u32,
        cipher: Cipher,
    ) -> Self {
        Self {
            number,
            ti,
            counter,
            blocks,
            cipher,
        }
    }

    /// One of AES mode whose parts are known, as published transcripts have them.
    pub fn of_parts(number: u8, ti: [u8; 4], counter: u16, enc: AesKey, mac: AesKey) -> Self {
        Self::of_cipher(number, (ti, counter), 0, Cipher::Aes { enc, mac })
    }

    /// The mode of the chip.
    pub fn mode(&self) -> Mode {
        self.cipher.mode()
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
    /// is encrypted on the way to the chip. If its answer has content, say so by
    /// [`expects`](Self::expects) before the next command is made.
    pub fn full(&mut self, command: u8, header: &[u8], content: &[u8]) -> Command {
        let encrypted = if content.is_empty() {
            Vec::new()
        } else {
            let padded = padded(content);
            let encrypted = self.cipher.encrypt(self.at(Way::Command), &padded);
            self.expects(padded.len());
            encrypted
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
            blocks: self.blocks,
        };
        Command { apdu, reply }
    }

    /// So many bytes are encrypted in the session: whole blocks, with their padding. Commands are
    /// made before the answers to those before them are there.
    pub fn expects(&mut self, bytes: usize) {
        let blocks = u32::try_from(bytes / 16).unwrap_or(u32::MAX);
        self.blocks = self.blocks.wrapping_add(blocks);
    }

    /// Where the next message stands.
    pub(super) fn at(&self, way: Way) -> At {
        At {
            way,
            ti: self.ti,
            counter: self.counter,
            blocks: self.blocks,
        }
    }

    /// The content of an answer, which must be one of success.
    pub fn open(&self, reply: Reply, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, ReplyError> {
        let (data, status) = answer(bytes).ok_or(ReplyError::Malformed)?;
        if status != Status::OK {
            return Err(ReplyError::Status(status));
        }
        let is_bare = reply.protection == Protection::IfAny && data.is_empty();
        if reply.protection == Protection::Plain || is_bare {
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
        let at = At {
            way: Way::Answer,
            ti: self.ti,
            counter: reply.counter,
            blocks: reply.blocks,
        };
        let plain = self.cipher.decrypt(at, content);
        let plain = plain.ok_or(ReplyError::Malformed)?;
        unpadded(plain).ok_or(ReplyError::Malformed)
    }

    /// What the chip reads in a command of full protection that this session made when it
    /// stood `at` this place: its content, if MAC and padding are right.
    pub(super) fn as_the_chip_reads(
        &self,
        apdu: &[u8],
        at: At,
        header: usize,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let (&[_, command, _, _, length], rest) = apdu.split_first_chunk()?;
        let (data, [0x00]) = rest.split_at_checked(usize::from(length))? else {
            return None;
        };
        let (content, mac) = data.split_last_chunk::<8>()?;
        let expected = self.mac(command, at.counter, &[content]);
        let plain = self.cipher.decrypt(at, content.get(header..)?)?;
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
        odd_bytes(self.cipher.mac(&input))
    }

    /// What must be stored to go on with it: to be wrapped.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![self.number]);
        bytes.extend(self.ti);
        bytes.extend(self.counter.to_le_bytes());
        if self.mode() == Mode::Lrp {
            bytes.extend(self.blocks.to_le_bytes());
        }
        bytes.extend(self.cipher.keys().iter());
        bytes
    }

    /// From where it was stored. The length tells the mode: two keys, or a number and one key.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[number, t0, t1, t2, t3, low, high], keys) = bytes.split_first_chunk()?;
        let place = ([t0, t1, t2, t3], u16::from_le_bytes([low, high]));
        if let Ok(keys) = <[u8; 32]>::try_from(keys) {
            let [enc, mac] = *keys.as_chunks().0 else {
                return None;
            };
            let [enc, mac] = [enc, mac].map(AesKey::from_bytes);
            return Some(Self::of_cipher(number, place, 0, Cipher::Aes { enc, mac }));
        }
        let (blocks, master) = keys.split_first_chunk::<4>()?;
        let master = AesKey::from_bytes(<[u8; 16]>::try_from(master).ok()?);
        let blocks = u32::from_le_bytes(*blocks);
        let cipher = Cipher::of_master(master);
        Some(Self::of_cipher(number, place, blocks, cipher))
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session(key {}, redacted)", self.number)
    }
}
