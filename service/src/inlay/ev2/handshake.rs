//! The two halves of `AuthenticateEV2First` and `AuthenticateEV2NonFirst` (data sheet sections
//! 10.4.1 and 10.4.2).

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{MORE, Session, Status, answer, cbc_decrypt, cbc_encrypt, wrapped};
use crate::inlay::key::AesKey;

const FIRST: u8 = 0x71;
const NON_FIRST: u8 = 0x77;
/// What the second half of a `First` answers: TI, our number turned, capabilities of both.
const FIRST_REPLY: usize = 32;

/// The first half of an `AuthenticateEV2First` with the key `number`.
pub fn first(number: u8) -> Vec<u8> {
    // No capabilities of ours (LenCap 0).
    wrapped(FIRST, &[&[number, 0x00]])
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
        number: u8,
        key: AesKey,
        challenge: &[u8],
        a: [u8; 16],
    ) -> Result<(Vec<u8>, Self), HandshakeError> {
        Self::of(number, key, challenge, a, None)
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
        drop(session);
        Self::of(number, key, challenge, a, of)
    }

    fn of(
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
        let encrypted = <[u8; 16]>::try_from(data).map_err(|_| HandshakeError::Malformed)?;
        let plain = cbc_decrypt(&key, [0; 16], &encrypted).ok_or(HandshakeError::Malformed)?;
        let mut b = Zeroizing::new([0; 16]);
        b.copy_from_slice(&plain);
        let mut proof = Zeroizing::new([0; 32]);
        proof[..16].copy_from_slice(&a);
        proof[16..].copy_from_slice(&turned(&b));
        let apdu = wrapped(MORE[1], &[&cbc_encrypt(&key, [0; 16], &*proof)]);
        let handshake = Self {
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
        let plain = cbc_decrypt(&self.key, [0; 16], data).ok_or(HandshakeError::Malformed)?;
        let (ti, counter, proof) = match (self.of, plain.len()) {
            (None, FIRST_REPLY) => {
                let ti = std::array::from_fn(|i| plain[i]);
                (ti, 0, &plain[4..20])
            }
            (Some((ti, counter)), 16) => (ti, counter, &plain[..]),
            _ => return Err(HandshakeError::Malformed),
        };
        if !bool::from(turned(&self.a).ct_eq(proof)) {
            return Err(HandshakeError::NotProved);
        }
        let Self {
            number, key, a, b, ..
        } = self;
        Ok(Session::derive(number, &key, ti, counter, &a, &b))
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
        bytes
    }

    /// From where it was stored.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&number, rest) = bytes.split_first()?;
        let (key, rest) = rest.split_first_chunk::<16>()?;
        let (a, rest) = rest.split_first_chunk::<16>()?;
        let (b, rest) = rest.split_first_chunk::<16>()?;
        let of = match *rest {
            [] => None,
            [t0, t1, t2, t3, low, high] => {
                Some(([t0, t1, t2, t3], u16::from_le_bytes([low, high])))
            }
            _ => return None,
        };
        Some(Self {
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
