//! The two halves of `AuthenticateEV2First` and `AuthenticateEV2NonFirst`, and of their LRP
//! variants (data sheet sections 9.1.5, 9.2.5 and 10.4).

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cipher::{At, Cipher, Way};
use super::{MORE, Session, Status, answer, cbc_decrypt, cbc_encrypt, wrapped};
use crate::key::AesKey;
use crate::technology::Mode;

pub(super) const FIRST: u8 = 0x71;
pub(super) const NON_FIRST: u8 = 0x77;
/// Length of the answer to the second half of a `First`: TI, our number rotated, capabilities of
/// both.
const FIRST_REPLY: usize = 32;

/// The capabilities of the reader. A chip in LRP mode requires LRP there (`PCDCap2.1`, section
/// 9.2.5).
const LRP_CAPABILITIES: [u8; 6] = [0x02, 0, 0, 0, 0, 0];
/// The byte before the random number of a chip in LRP mode (`AuthMode`, section 10.4.3, table 38).
const LRP_MODE: u8 = 0x01;

/// The first half of an `AuthenticateEV2First` with the key `number`, or of an
/// `AuthenticateLRPFirst`. A chip accepts only the one of its own mode.
pub fn first(mode: Mode, number: u8) -> Vec<u8> {
    match mode {
        // We state no capabilities (LenCap 0).
        Mode::Aes => wrapped(FIRST, &[&[number, 0x00]]),
        Mode::Lrp => {
            let length = u8::try_from(LRP_CAPABILITIES.len()).unwrap_or(u8::MAX);
            wrapped(FIRST, &[&[number, length], &LRP_CAPABILITIES])
        }
    }
}

impl Session {
    /// The first half of an `AuthenticateEV2NonFirst` with the key `number`: TI and counter stay.
    pub fn non_first(&self, number: u8) -> Vec<u8> {
        wrapped(NON_FIRST, &[&[number]])
    }
}

/// Why an authentication failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The chip refused, or sent an unexpected status.
    #[error("the chip answered {0}")]
    Status(Status),
    /// An answer has the wrong length.
    #[error("the answer is no answer to this command")]
    Malformed,
    /// The chip does not have the key: anyone can repeat what the reader sent.
    #[error("the chip does not prove to have the key")]
    NotProved,
}

/// An authentication whose second half was made but not answered yet.
pub struct Handshake {
    mode: Mode,
    number: u8,
    key: AesKey,
    a: Zeroizing<[u8; 16]>,
    b: Zeroizing<[u8; 16]>,
    /// TI and command counter of the continued session, for a `NonFirst`.
    of: Option<([u8; 4], u16)>,
}

impl Handshake {
    /// Makes the second half from the answer to the first half, the assumed key, and 16 random
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the chip refused the first half, or its answer has another shape.
    pub fn respond(
        mode: Mode,
        number: u8,
        key: AesKey,
        challenge: &[u8],
        a: [u8; 16],
    ) -> Result<(Vec<u8>, Self), HandshakeError> {
        Self::of(mode, number, key, challenge, a, None)
    }

    /// Makes the second half in a session that continues.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the chip refused the first half, or its answer has another shape.
    pub fn respond_in(
        session: Session,
        number: u8,
        key: AesKey,
        challenge: &[u8],
        a: [u8; 16],
    ) -> Result<(Vec<u8>, Self), HandshakeError> {
        let of = Some((session.ti(), session.counter()));
        let mode = session.mode();
        drop(session);
        Self::of(mode, number, key, challenge, a, of)
    }

    fn of(
        mode: Mode,
        number: u8,
        key: AesKey,
        challenge: &[u8],
        a: [u8; 16],
        of: Option<([u8; 4], u16)>,
    ) -> Result<(Vec<u8>, Self), HandshakeError> {
        let (data, status) = answer(challenge).ok_or(HandshakeError::Malformed)?;
        if status != Status::MORE {
            return Err(HandshakeError::Status(status));
        }
        let mut b = Zeroizing::new([0; 16]);
        let mut proof = Zeroizing::new([0; 32]);
        proof[..16].copy_from_slice(&a);
        match mode {
            Mode::Aes => {
                let encrypted =
                    <[u8; 16]>::try_from(data).map_err(|_| HandshakeError::Malformed)?;
                let plain = cbc_decrypt(&key, [0; 16], &encrypted);
                b.copy_from_slice(&plain.ok_or(HandshakeError::Malformed)?);
                proof[16..].copy_from_slice(&turned(&b));
                let encrypted = cbc_encrypt(&key, [0; 16], &*proof);
                proof.copy_from_slice(&encrypted);
            }
            Mode::Lrp => {
                let &[LRP_MODE, ref random @ ..] = data else {
                    return Err(HandshakeError::Malformed);
                };
                *b = <[u8; 16]>::try_from(random).map_err(|_| HandshakeError::Malformed)?;
                let cipher = Cipher::derive(mode, &key, &a, &b);
                proof[16..].copy_from_slice(&cipher.mac(&[a, *b].concat()));
            }
        }
        let apdu = wrapped(MORE[1], &[&*proof]);
        let handshake = Self {
            mode,
            number,
            key,
            a: Zeroizing::new(a),
            b,
            of,
        };
        Ok((apdu, handshake))
    }

    /// The number of the key.
    pub fn number(&self) -> u8 {
        self.number
    }

    /// Opens the session with the answer to the second half.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the chip refused the second half, or its answer was not made with the
    /// key.
    pub fn finish(self, reply: &[u8]) -> Result<Session, HandshakeError> {
        let (data, status) = answer(reply).ok_or(HandshakeError::Malformed)?;
        if status != Status::OK {
            return Err(HandshakeError::Status(status));
        }
        match self.mode {
            Mode::Aes => self.finish_aes(data),
            Mode::Lrp => self.finish_lrp(data),
        }
    }

    fn finish_aes(self, data: &[u8]) -> Result<Session, HandshakeError> {
        let plain = cbc_decrypt(&self.key, [0; 16], data).ok_or(HandshakeError::Malformed)?;
        let (place, proof) = match (self.of, plain.len()) {
            (None, FIRST_REPLY) => {
                let ti = std::array::from_fn(|i| plain[i]);
                ((ti, 0), &plain[4..20])
            }
            (Some(place), 16) => (place, &plain[..]),
            _ => return Err(HandshakeError::Malformed),
        };
        if !bool::from(turned(&self.a).ct_eq(proof)) {
            return Err(HandshakeError::NotProved);
        }
        let cipher = Cipher::derive(self.mode, &self.key, &self.a, &self.b);
        Ok(Session::of_cipher(self.number, place, 0, cipher))
    }

    /// In LRP mode the answer is a MAC. In a `First` one, an encrypted block comes before it: TI
    /// and capabilities of both.
    fn finish_lrp(self, data: &[u8]) -> Result<Session, HandshakeError> {
        let (encrypted, proof) = data
            .split_last_chunk::<16>()
            .ok_or(HandshakeError::Malformed)?;
        let cipher = Cipher::derive(self.mode, &self.key, &self.a, &self.b);
        let expected = cipher.mac(&[&self.b[..], &*self.a, encrypted].concat());
        if !bool::from(expected.ct_eq(proof)) {
            return Err(HandshakeError::NotProved);
        }
        let (place, blocks) = match (self.of, encrypted.len()) {
            (None, 16) => {
                let at = At {
                    way: Way::Answer,
                    ti: [0; 4],
                    counter: 0,
                    blocks: 0,
                };
                let plain = cipher
                    .decrypt(at, encrypted)
                    .ok_or(HandshakeError::Malformed)?;
                let ti = std::array::from_fn(|i| plain[i]);
                ((ti, 0), 1)
            }
            (Some(place), 0) => (place, 0),
            _ => return Err(HandshakeError::Malformed),
        };
        Ok(Session::of_cipher(self.number, place, blocks, cipher))
    }

    /// The bytes to store. The caller wraps them.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![self.number]);
        bytes.extend(self.key.expose());
        bytes.extend(*self.a);
        bytes.extend(*self.b);
        if let Some((ti, counter)) = self.of {
            bytes.extend(ti);
            bytes.extend(counter.to_le_bytes());
        }
        if self.mode == Mode::Lrp {
            bytes.push(LRP_MODE);
        }
        bytes
    }

    /// From its stored bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&number, rest) = bytes.split_first()?;
        let (key, rest) = rest.split_first_chunk::<16>()?;
        let (a, rest) = rest.split_first_chunk::<16>()?;
        let (b, rest) = rest.split_first_chunk::<16>()?;
        // An odd length means that the mode follows the rest.
        let (mode, rest) = match *rest {
            [ref rest @ .., LRP_MODE] if rest.len().is_multiple_of(2) => (Mode::Lrp, rest),
            _ => (Mode::Aes, rest),
        };
        let of = match *rest {
            [] => None,
            [t0, t1, t2, t3, low, high] => {
                Some(([t0, t1, t2, t3], u16::from_le_bytes([low, high])))
            }
            _ => return None,
        };
        Some(Self {
            mode,
            number,
            key: AesKey::from_bytes(*key),
            a: Zeroizing::new(*a),
            b: Zeroizing::new(*b),
            of,
        })
    }
}

impl std::fmt::Debug for Handshake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handshake(key {}, redacted)", self.number)
    }
}

/// Rotates the bytes: the first byte becomes the last.
fn turned(bytes: &[u8; 16]) -> [u8; 16] {
    let mut turned = *bytes;
    turned.rotate_left(1);
    turned
}
