//! The chip's five keys: versions, failure counters, and changes.

use tapdesk_service::inlay::key::AesKey;

use super::protection::content;
use super::{Answer, VirtualNtag424};

/// A key, its version and its failure counters.
#[derive(Clone)]
pub(super) struct Slot {
    pub(super) key: AesKey,
    pub(super) version: u8,
    pub(super) failures: Failures,
}

/// Unfinished proofs of a key (AN12196, figures 11 and 12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// `TotFailCtr`: all failures, reduced by each correct proof.
    pub total: u16,
    /// `SeqFailCtr`: in a row.
    pub in_a_row: u16,
}

impl Slot {
    /// The factory state: zeros with version 0.
    pub(super) const FACTORY: Self = Self {
        key: AesKey::FACTORY,
        version: 0,
        failures: Failures {
            total: 0,
            in_a_row: 0,
        },
    };
}

impl VirtualNtag424 {
    /// Sets all keys, with this version.
    #[must_use]
    pub fn with_keys(mut self, keys: [AesKey; 5], version: u8) -> Self {
        for (slot, key) in self.keys.iter_mut().zip(keys) {
            slot.key = key;
            slot.version = version;
        }
        self
    }

    /// Sets the key of a slot.
    pub fn set_key(&mut self, number: u8, key: AesKey, version: u8) {
        self.keys[usize::from(number)] = Slot {
            key,
            version,
            ..Slot::FACTORY
        };
    }

    /// The failure counters of a key.
    pub fn failures(&self, number: u8) -> Failures {
        self.keys[usize::from(number)].failures
    }

    /// Sets the failure counters of a key.
    pub fn set_failures(&mut self, number: u8, failures: Failures) {
        self.keys[usize::from(number)].failures = failures;
    }

    /// `GetKeyVersion` (section 10.6.2): for anyone, with a MAC in a session.
    pub(super) fn get_key_version(&mut self, data: &[u8]) -> Answer {
        self.with_mac(0x64, data, |chip, data| {
            let &[number] = data else {
                return Err(0x917E);
            };
            let slot = chip.keys.get(usize::from(number)).ok_or(0x9140_u16)?;
            Ok(vec![slot.version])
        })
    }

    /// `ChangeKey` (section 10.6.1), only with key 0. The new key 0 is sent as it is, so any
    /// decrypted value becomes the key. Another key is sent combined with the old one, and with its
    /// check sum.
    pub(super) fn change_key(&mut self, data: &[u8]) -> Answer {
        if self.authenticated() != Some(0) {
            return Err(0x91AE);
        }
        self.in_full(0xC4, 1, data, |chip, header, plain| {
            let slot = chip.keys.get(usize::from(header[0])).ok_or(0x9140_u16)?;
            let (sent, rest) = plain.split_first_chunk::<16>().ok_or(0x917E_u16)?;
            let (&version, rest) = rest.split_first().ok_or(0x917E_u16)?;
            let key = if header[0] == 0 {
                // Neither a check sum nor the padding protects against a wrong value.
                AesKey::from_bytes(*sent)
            } else {
                let old = slot.key.expose();
                let new: [u8; 16] = std::array::from_fn(|i| sent[i] ^ old[i]);
                if content(rest)? != jam_crc(&new).to_le_bytes() {
                    return Err(0x911E);
                }
                AesKey::from_bytes(new)
            };
            chip.set_key(header[0], key, version);
            chip.tally.writes += 1;
            if header[0] == 0 {
                chip.field.session = None;
            }
            Ok(Vec::new())
        })
    }
}

/// CRC-32/JAMCRC, the check sum of a new key in `ChangeKey`.
fn jam_crc(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}
