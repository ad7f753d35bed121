//! The session that an authentication opens, and the messages that it protects.

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cipher::{At, Cipher, Way};
use super::{Status, answer, padded, unpadded, wrapped};
use crate::key::AesKey;
use crate::technology::Mode;
use crate::technology::ntag424::session::odd_bytes;

/// An authenticated session. Each command it makes moves its counters, as the chip moves its own.
pub struct Session {
    number: u8,
    ti: [u8; 4],
    counter: u16,
    /// Blocks that were encrypted in either direction: `EncCtr`, which LRP mode uses.
    blocks: u32,
    cipher: Cipher,
}

/// How a command and its answer are protected (data sheet section 9.1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// No protection, though the command is counted.
    Plain,
    /// A MAC over the content.
    Mac,
    /// Encryption and a MAC.
    Full,
    /// A MAC if there is one. Depending on the option, chips answer `SetConfiguration` with a MAC
    /// (AN12196, table 28) or without (AN12321, table 3). The following messages of the session
    /// prove it.
    IfAny,
}

/// A command to be sent.
#[derive(PartialEq, Eq)]
pub struct Command {
    /// APDU, ready to send.
    pub apdu: Vec<u8>,
    /// How its answer is checked.
    pub reply: Reply,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Command({:02X}, redacted)", self.apdu[1])
    }
}

/// The expected form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// How the answer is protected.
    pub protection: Protection,
    /// The counter of the chip when it answers.
    pub counter: u16,
    /// Blocks that were encrypted in the session before its content.
    pub blocks: u32,
}

/// Why an answer does not belong to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The chip refused. Any error ends the session (data sheet section 9.1.9).
    #[error("the chip answered {0}")]
    Status(Status),
    /// It has no status word, or its content does not fit the command.
    #[error("the answer is no answer to this command")]
    Malformed,
    /// Its MAC was not made in this session.
    #[error("the answer has a wrong MAC")]
    WrongMac,
}

impl Session {
    /// A session that begins, or continues after another key was proved.
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

    /// A session of AES mode with these parts, as in published transcripts.
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

    /// A command whose content is encrypted; `header` is sent in clear before it. Without content
    /// nothing is encrypted on the way to the chip. If its answer has content, call
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
        // The counter wraps after 65,536 commands; our sessions have some thirty.
        self.counter = self.counter.wrapping_add(1);
        let reply = Reply {
            protection,
            counter: self.counter,
            blocks: self.blocks,
        };
        Command { apdu, reply }
    }

    /// Counts blocks that an answer will encrypt: `bytes` is their size with padding, in whole
    /// blocks. Needed because commands are made before earlier answers have arrived.
    pub fn expects(&mut self, bytes: usize) {
        let blocks = u32::try_from(bytes / 16).unwrap_or(u32::MAX);
        self.blocks = self.blocks.wrapping_add(blocks);
    }

    /// The position of the next message in the session.
    pub(super) fn at(&self, way: Way) -> At {
        At {
            way,
            ti: self.ti,
            counter: self.counter,
            blocks: self.blocks,
        }
    }

    /// The content of an answer, whose status must be success.
    ///
    /// # Errors
    ///
    /// [`ReplyError`] if the status is not success, or if the answer's MAC, padding or length is
    /// wrong.
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

    /// The content that the chip decrypts from a fully protected command that this session made at
    /// the position `at`; `None` if MAC or padding is wrong.
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

    /// The bytes to store. The caller wraps them.
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

    /// From its stored bytes. The length shows the mode: two keys, or a number and one key.
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
