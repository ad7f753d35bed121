//! The two halves of `AuthenticateEV2First` and `AuthenticateEV2NonFirst`, and of their LRP variants
//! (data sheet sections 9.1.5, 9.2.5 and 10.4).

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cipher::{At, Cipher, Way};
use super::{MORE, Session, Status, answer, cbc_decrypt, cbc_encrypt, wrapped};
use crate::inlay::key::AesKey;
use crate::inlay::technology::Mode;

const FIRST: u8 = 0x71;
const NON_FIRST: u8 = 0x77;
/// What the second half of a `First` answers: TI, our number turned, capabilities of both.
const FIRST_REPLY: usize = 32;

/// What the reader can, of which a chip in LRP mode wants to hear LRP (`PCDCap2.1`, section 9.2.5).
const LRP_CAPABILITIES: [u8; 6] = [0x02, 0, 0, 0, 0, 0];
/// What a chip in LRP mode puts before its random number (`AuthMode`, section 10.4.3, table 38).
const LRP_MODE: u8 = 0x01;

/// The first half of an `AuthenticateEV2First` with the key `number`, or of an
/// `AuthenticateLRPFirst`: a chip goes on with that of its own mode alone.
pub fn first(mode: Mode, number: u8) -> Vec<u8> {
    match mode {
        // No capabilities of ours (LenCap 0).
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

/// Why the halves do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The chip refused, or answered something else.
    #[error("the chip answered {0}")]
    Status(Status),
    /// An answer has another length than it must.
    #[error("the answer is no answer to this command")]
    Malformed,
    /// The chip does not have the key: whoever answers repeats what it heard.
    #[error("the chip does not prove to have the key")]
    NotProved,
}

/// An authentication whose second half was made and is not answered yet.
pub struct Handshake {
    mode: Mode,
    number: u8,
    key: AesKey,
    a: Zeroizing<[u8; 16]>,
    b: Zeroizing<[u8; 16]>,
    /// TI and command counter of the session that goes on, of a `NonFirst`.
    of: Option<([u8; 4], u16)>,
}

impl Handshake {
    /// From the answer to the first half, the key that is assumed, and 16 random bytes: the
    /// second half.
    pub fn respond(
        mode: Mode,
        number: u8,
        key: AesKey,
        challenge: &[u8],
        a: [u8; 16],
    ) -> Result<(Vec<u8>, Self), HandshakeError> {
        Self::of(mode, number, key, challenge, a, None)
    }

    /// The same in a session that goes on.
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

    /// The session, from the answer to the second half.
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

    /// In LRP mode the answer is a MAC, and before it in a `First` one encrypted block: TI and
    /// capabilities of both.
    fn finish_lrp(self, data: &[u8]) -> Result<Session, HandshakeError> {
        let (told, proof) = data
            .split_last_chunk::<16>()
            .ok_or(HandshakeError::Malformed)?;
        let cipher = Cipher::derive(self.mode, &self.key, &self.a, &self.b);
        let expected = cipher.mac(&[&self.b[..], &*self.a, told].concat());
        if !bool::from(expected.ct_eq(proof)) {
            return Err(HandshakeError::NotProved);
        }
        let (place, blocks) = match (self.of, told.len()) {
            (None, 16) => {
                let at = At {
                    way: Way::Answer,
                    ti: [0; 4],
                    counter: 0,
                    blocks: 0,
                };
                let plain = cipher.decrypt(at, told).ok_or(HandshakeError::Malformed)?;
                let ti = std::array::from_fn(|i| plain[i]);
                ((ti, 0), 1)
            }
            (Some(place), 0) => (place, 0),
            _ => return Err(HandshakeError::Malformed),
        };
        Ok(Session::of_cipher(self.number, place, blocks, cipher))
    }

    /// What must be stored to go on with it: to be wrapped.
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

    /// From where it was stored.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&number, rest) = bytes.split_first()?;
        let (key, rest) = rest.split_first_chunk::<16>()?;
        let (a, rest) = rest.split_first_chunk::<16>()?;
        let (b, rest) = rest.split_first_chunk::<16>()?;
        // An odd length is one with the mode behind the rest.
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

/// The first byte last.
fn turned(bytes: &[u8; 16]) -> [u8; 16] {
    let mut turned = *bytes;
    turned.rotate_left(1);
    turned
}
