//! Identification of the chip: its version, its UID, and its maker's signature.

use tapdesk_service::inlay::Uid;

use super::{Answer, Next, VirtualNtag424};
use crate::virtual_card::answer;

/// `HWSubType` of the chip without and with a tamper loop (section 10.5.2; `NT4H2421Tx`).
const PLAIN: u8 = 0x02;
const TAMPER: u8 = 0x08;

/// The chip's data about itself.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) uid: Uid,
    /// Hardware and software, in the form of `GetVersion`.
    version: [[u8; 7]; 2],
    /// Batch and date of production.
    production: [u8; 7],
    /// The maker's signature. A chip in software has none, because nobody signed it.
    signature: Option<[u8; 56]>,
    /// The UID that the reader shows, if it differs from the chip's own.
    shown: Option<Vec<u8>>,
}

impl Identity {
    /// The bytes of a chip in AN12196 rev 1.8, section 5.5, with this UID.
    pub(super) fn new(uid: Uid) -> Self {
        Self {
            uid,
            version: [
                [0x04, 0x04, PLAIN, 0x30, 0x00, 0x11, 0x05],
                [0x04, 0x04, 0x02, 0x01, 0x02, 0x11, 0x05],
            ],
            production: [0xCF, 0x39, 0xD4, 0x49, 0x80, 0x34, 0x20],
            signature: None,
            shown: None,
        }
    }

    pub(super) fn is_tag_tamper(&self) -> bool {
        self.version[0][2] & 0x0F == TAMPER
    }
}

impl VirtualNtag424 {
    /// A chip with a closed tamper loop, in factory state.
    pub fn tag_tamper(uid: Uid) -> Self {
        let mut chip = Self::new(uid);
        chip.identity.version[0][2] = TAMPER;
        chip
    }

    /// Sets the three parts of its version, without the UID in the last one.
    #[must_use]
    pub fn with_version(mut self, version: [[u8; 7]; 2], production: [u8; 7]) -> Self {
        self.identity.version = version;
        self.identity.production = production;
        self
    }

    /// Sets the maker's signature.
    #[must_use]
    pub fn with_signature(mut self, signature: [u8; 56]) -> Self {
        self.identity.signature = Some(signature);
        self
    }

    /// Shows this UID to the reader, and keeps its own: no genuine chip does that.
    #[must_use]
    pub fn showing(mut self, uid: Uid) -> Self {
        self.identity.shown = Some(uid.bytes().to_vec());
        self
    }

    /// The chip's own UID.
    pub fn uid(&self) -> Uid {
        self.identity.uid
    }

    /// Draws a new UID at each activation, if random UIDs are on (ISO 14443-3, section 6.5.4).
    pub(super) fn draw_shown_uid(&mut self) {
        if self.configuration.random_uid {
            let [a, b, c] = self.dice.draw();
            self.identity.shown = Some(vec![0x08, a, b, c]);
        }
    }

    /// The UID in the answer to the reader's own command.
    pub(super) fn shown_uid(&self) -> Vec<u8> {
        let own = self.identity.uid.bytes();
        answer(self.identity.shown.as_deref().unwrap_or(&own), 0x9000)
    }

    /// `GetVersion`, whose answer has three parts. In a session, the last part has the MAC of all.
    pub(super) fn get_version(&mut self, data: &[u8]) -> Answer {
        match &self.field.session {
            None if data.is_empty() => {}
            None => return Err(0x917E),
            Some(session) => {
                if !session.checked(0x60, data)?.is_empty() {
                    return Err(0x917E);
                }
            }
        }
        Ok(self.version_part(0))
    }

    pub(super) fn version_part(&mut self, part: u8) -> Vec<u8> {
        let Identity {
            uid,
            version,
            production,
            ..
        } = &self.identity;
        if let Some(part_of_it) = version.get(usize::from(part)) {
            self.field.next = Next::Version(part + 1);
            return answer(part_of_it, 0x91AF);
        }
        let uid = if self.configuration.random_uid {
            [0; 7]
        } else {
            uid.bytes()
        };
        let last = [uid, *production].concat();
        let all = [version.concat(), last.clone()].concat();
        let Some(session) = &mut self.field.session else {
            return answer(&last, 0x9100);
        };
        let sealed = session.answered(0x00, &all);
        answer(&sealed[version.len() * 7..], 0x9100)
    }

    /// `GetCardUID`: the chip's own UID, in any session.
    pub(super) fn get_card_uid(&mut self, data: &[u8]) -> Answer {
        self.in_full(0x51, 0, data, |chip, _, _| {
            Ok(chip.identity.uid.bytes().to_vec())
        })
    }

    /// `Read_Sig` (section 10.12). Its status is `9190`, as on real chips. With random UIDs it
    /// needs a session. Without a signature the command is not supported.
    pub(super) fn read_signature(&mut self, data: &[u8]) -> Answer {
        if self.configuration.random_uid && self.field.session.is_none() {
            return Err(0x91AE);
        }
        let signature = self.identity.signature.ok_or(0x911C_u16)?;
        let Some(session) = &mut self.field.session else {
            return match data {
                [0x00] => Ok(answer(&signature, 0x9190)),
                [_] => Err(0x919E),
                _ => Err(0x917E),
            };
        };
        match session.checked(0x3C, data)? {
            [0x00] => {
                let encrypted = session.encrypt(&signature);
                Ok(answer(&session.answered(0x90, &encrypted), 0x9190))
            }
            [_] => Err(0x919E),
            _ => Err(0x917E),
        }
    }
}
