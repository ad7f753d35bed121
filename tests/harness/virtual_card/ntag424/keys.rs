//! The chip's keys: who proves to have one, and who changes one.

use tapdesk_service::entropy::bytes;
use tapdesk_service::inlay::key::AesKey;

use super::session::{cbc_decrypt, cbc_encrypt};
use super::{Next, Session, VirtualNtag424};
use crate::virtual_card::{answer, status};

impl VirtualNtag424 {
    /// `AuthenticateEV2First`, its first half. The key's number is the first byte.
    pub(super) fn authenticate(&mut self, data: &[u8]) -> Vec<u8> {
        let b = bytes(&self.entropy);
        self.challenge(data, b)
    }

    /// The same with this randomness.
    fn challenge(&mut self, data: &[u8], b: [u8; 16]) -> Vec<u8> {
        self.field.session = None;
        let Some(&number) = data.first().filter(|_| self.field.application) else {
            return status(0x917E);
        };
        let Some(key) = self.keys.get(usize::from(number)) else {
            return status(0x9140);
        };
        let challenge = cbc_encrypt(key, &[0; 16], &b);
        self.field.next = Next::Authentication { key: number, b };
        answer(&challenge, 0x91AF)
    }

    /// Its second half.
    pub(super) fn prove(&mut self, number: u8, b: &[u8; 16], data: &[u8]) -> Vec<u8> {
        let ti = bytes(&self.entropy);
        self.accept(number, b, data, ti)
    }

    /// The same with this transaction identifier.
    fn accept(&mut self, number: u8, b: &[u8; 16], data: &[u8], ti: [u8; 4]) -> Vec<u8> {
        let key = &self.keys[usize::from(number)];
        let Some(proof) = cbc_decrypt(key, &[0; 16], data) else {
            return status(0x917E);
        };
        let Some((a, turned)) = proof.split_first_chunk::<16>() else {
            return status(0x917E);
        };
        if turned != rotated(b) {
            return status(0x91AE);
        }
        let reply = [&ti[..], &rotated(a), &[0; 12]].concat();
        let reply = cbc_encrypt(key, &[0; 16], &reply);
        self.field.session = Some(Session::derive(number, key, ti, a, b));
        answer(&reply, 0x9100)
    }

    /// Authenticates with the randomness of a published transcript: the two answers.
    pub fn authenticate_as_published(
        &mut self,
        [first, second]: [&[u8]; 2],
        b: [u8; 16],
        ti: [u8; 4],
    ) -> [Vec<u8>; 2] {
        self.field.application = true;
        let number = first[5];
        let challenge = self.challenge(&first[5..first.len() - 1], b);
        self.field.next = Next::Nothing;
        let reply = self.accept(number, &b, &second[5..second.len() - 1], ti);
        [challenge, reply]
    }

    /// `ChangeKey`, by key 0 alone. The session of the key that is changed ends.
    pub(super) fn change_key(&mut self, data: &[u8]) -> Result<Vec<u8>, u16> {
        let by = self.authenticated();
        let (&number, data) = data.split_first().ok_or(0x917E_u16)?;
        let old = self.keys.get(usize::from(number)).ok_or(0x9140_u16)?;
        if by != Some(0) {
            return Err(0x919D);
        }
        let (sent, rest) = data.split_first_chunk::<16>().ok_or(0x917E_u16)?;
        let new: [u8; 16] = match (number, rest) {
            (0, [_]) => *sent,
            (1.., [_, check @ ..]) => {
                let new = std::array::from_fn(|i| sent[i] ^ old.expose()[i]);
                if check != jam_crc(&new).to_le_bytes() {
                    return Err(0x911E);
                }
                new
            }
            _ => return Err(0x917E),
        };
        self.keys[usize::from(number)] = AesKey::from_bytes(new);
        if number == 0 {
            self.field.session = None;
        }
        Ok(Vec::new())
    }
}

/// The first byte last.
fn rotated(bytes: &[u8; 16]) -> [u8; 16] {
    let mut rotated = *bytes;
    rotated.rotate_left(1);
    rotated
}

/// CRC-32/JAMCRC, as `ChangeKey` checks a new key with.
fn jam_crc(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}
