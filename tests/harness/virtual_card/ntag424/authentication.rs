//! Proofs of a key: `AuthenticateEV2First` and `NonFirst`, and their LRP variants (data sheet
//! sections 9.1.5, 9.2.5, 10.4).
//!
//! The failure counters rise with the first half, and fall with a correct second half (AN12196,
//! figures 11 and 12): an interrupted proof counts as failed.

use super::session::{cbc_decrypt, cbc_encrypt};
use super::{Answer, Next, Session, VirtualNtag424};
use crate::virtual_card::answer;

/// The number of consecutive failures from which the chip delays.
const DELAY_FROM: u16 = 50;
/// `PCDCap2.1` and `PDCap2.1`: the bit of LRP mode.
const LRP: u8 = 0x02;

/// The first half of a proof.
#[derive(Clone)]
pub(super) struct Handshake {
    key: u8,
    b: [u8; 16],
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    /// A first proof, with the capabilities that the reader sends.
    First([u8; 6]),
    /// A proof within a session, whose identifier and counter continue.
    NonFirst { ti: [u8; 4], counter: u16 },
}

impl VirtualNtag424 {
    /// Begins a session. `data` is the key's number, the length of the capabilities, and the
    /// capabilities.
    pub(super) fn authenticate_first(&mut self, data: &[u8]) -> Answer {
        self.field.session = None;
        let (&key, rest) = data.split_first().ok_or(0x917E_u16)?;
        let (&length, named) = rest.split_first().ok_or(0x917E_u16)?;
        if named.len() != usize::from(length) || named.len() > 6 {
            return Err(0x917E);
        }
        let mut capabilities = [0; 6];
        capabilities[..named.len()].copy_from_slice(named);
        if (capabilities[0] & LRP != 0) != self.configuration.lrp {
            return Err(0x919D);
        }
        self.challenge(key, Kind::First(capabilities))
    }

    /// Proves another key within a session.
    pub(super) fn authenticate_non_first(&mut self, data: &[u8]) -> Answer {
        let session = self.field.session.take().ok_or(0x919D_u16)?;
        let &[key] = data else {
            return Err(0x917E);
        };
        let (ti, counter) = (session.ti, session.counter);
        self.challenge(key, Kind::NonFirst { ti, counter })
    }

    /// The first half of a proof: draws and encrypts the chip's random number.
    fn challenge(&mut self, key: u8, kind: Kind) -> Answer {
        let limits = self.configuration.failures;
        let slot = self.keys.get_mut(usize::from(key)).ok_or(0x9140_u16)?;
        let failures = &mut slot.failures;
        if limits.enabled && failures.total >= limits.limit {
            return Err(0x919D);
        }
        // The length of the delay is not published; here it grows with every failure.
        let delay = failures.in_a_row.saturating_sub(DELAY_FROM - 1);
        if limits.enabled && self.field.delayed < delay {
            self.field.delayed += 1;
            return Err(0x91AD);
        }
        self.field.delayed = 0;
        failures.total = failures.total.saturating_add(1);
        failures.in_a_row = failures.in_a_row.saturating_add(1);
        let b = self.dice.draw();
        let challenge = if self.configuration.lrp {
            [&[0x01][..], &b].concat()
        } else {
            cbc_encrypt(&slot.key, &[0; 16], &b)
        };
        self.field.next = Next::Authentication(Handshake { key, b, kind });
        Ok(answer(&challenge, 0x91AF))
    }

    /// The second half of a proof: checks the reader's answer.
    pub(super) fn prove(&mut self, handshake: &Handshake, data: &[u8]) -> Answer {
        if data.len() != 32 {
            return Err(0x917E);
        }
        let proved = if self.configuration.lrp {
            self.prove_lrp(handshake, data)
        } else {
            self.prove_aes(handshake, data)
        };
        let Some((session, reply)) = proved else {
            self.tally.refusals += 1;
            return Err(0x91AE);
        };
        let decrement = self.configuration.failures.decrement;
        let failures = &mut self.keys[usize::from(handshake.key)].failures;
        failures.total = failures.total.saturating_sub(decrement);
        failures.in_a_row = 0;
        self.field.session = Some(session);
        Ok(answer(&reply, 0x9100))
    }

    fn prove_aes(&mut self, handshake: &Handshake, data: &[u8]) -> Option<(Session, Vec<u8>)> {
        let Handshake { key: number, b, .. } = handshake;
        let key = self.keys[usize::from(*number)].key.clone();
        let proof = cbc_decrypt(&key, &[0; 16], data)?;
        let (a, turned) = proof.split_first_chunk::<16>()?;
        if turned != rotated(b) {
            return None;
        }
        let (ti, counter, capabilities) = self.begun(&handshake.kind);
        let mut session = Session::derive(*number, &key, ti, a, b);
        session.counter = counter;
        let reply = match capabilities {
            Some(capabilities) => [&ti[..], &rotated(a), &capabilities].concat(),
            None => rotated(a).to_vec(),
        };
        Some((session, cbc_encrypt(&key, &[0; 16], &reply)))
    }

    fn prove_lrp(&mut self, handshake: &Handshake, data: &[u8]) -> Option<(Session, Vec<u8>)> {
        let Handshake { key: number, b, .. } = handshake;
        let (a, proof) = data.split_first_chunk::<16>()?;
        let key = self.keys[usize::from(*number)].key.clone();
        let mut session = Session::derive_lrp(*number, &key, [0; 4], a, b);
        if session.full_mac(&[&a[..], b].concat()) != *proof {
            return None;
        }
        let (ti, counter, capabilities) = self.begun(&handshake.kind);
        (session.ti, session.counter) = (ti, counter);
        let encrypted = capabilities.map_or_else(Vec::new, |capabilities| {
            session.encrypt_blocks(&[&ti[..], &capabilities].concat())
        });
        let mac = session.full_mac(&[&b[..], a, &encrypted].concat());
        Some((session, [&encrypted[..], &mac].concat()))
    }

    /// Identifier and counter of the session. A first proof also has the capabilities of chip and
    /// reader.
    fn begun(&mut self, kind: &Kind) -> ([u8; 4], u16, Option<[u8; 12]>) {
        match *kind {
            Kind::NonFirst { ti, counter } => (ti, counter, None),
            Kind::First(named) => {
                let mut capabilities = [0; 12];
                capabilities[0] = if self.configuration.lrp { LRP } else { 0 };
                capabilities[4..6].copy_from_slice(&self.configuration.capabilities);
                capabilities[6..].copy_from_slice(&named);
                (self.dice.draw(), 0, Some(capabilities))
            }
        }
    }
}

/// Moves the first byte to the end.
fn rotated(bytes: &[u8; 16]) -> [u8; 16] {
    let mut rotated = *bytes;
    rotated.rotate_left(1);
    rotated
}
