//! The communication mode of a command (data sheet section 9.1.7): plain, a MAC in both directions,
//! or a MAC and encrypted content.

use super::session::unpadded;
use super::{Answer, VirtualNtag424};
use crate::virtual_card::{answer, status};

impl VirtualNtag424 {
    /// A command in mode MAC: with MACs in a session, plain without one.
    pub(super) fn with_mac(
        &mut self,
        command: u8,
        data: &[u8],
        work: impl FnOnce(&mut Self, &[u8]) -> Result<Vec<u8>, u16>,
    ) -> Answer {
        let Some(session) = &self.field.session else {
            return Ok(answer(&work(self, data)?, 0x9100));
        };
        let content = session.checked(command, data)?;
        let done = work(self, content)?;
        Ok(self.sealed(&done))
    }

    /// A command in mode FULL, which needs a session. `work` gets the plain part before the
    /// encrypted content, and the decrypted content with its padding.
    pub(super) fn in_full(
        &mut self,
        command: u8,
        header: usize,
        data: &[u8],
        work: impl FnOnce(&mut Self, &[u8], &[u8]) -> Result<Vec<u8>, u16>,
    ) -> Answer {
        let session = self.field.session.as_mut().ok_or(0x91AE_u16)?;
        let content = session.checked(command, data)?;
        let (header, encrypted) = content.split_at_checked(header).ok_or(0x917E_u16)?;
        let plain = session.decrypt(encrypted).ok_or(0x911E_u16)?;
        let done = work(self, header, &plain)?;
        Ok(self.encrypted(&done))
    }

    /// An answer with its MAC, or without one if the command ended the session.
    pub(super) fn sealed(&mut self, data: &[u8]) -> Vec<u8> {
        match &mut self.field.session {
            Some(session) => answer(&session.answered(0x00, data), 0x9100),
            None => status(0x9100),
        }
    }

    /// The same with its content encrypted, if there is any.
    pub(super) fn encrypted(&mut self, data: &[u8]) -> Vec<u8> {
        match &mut self.field.session {
            Some(session) if !data.is_empty() => {
                let encrypted = session.encrypt(data);
                self.sealed(&encrypted)
            }
            _ => self.sealed(data),
        }
    }

    /// A plain answer. In a session it raises the command counter as well.
    pub(super) fn plain(&mut self, data: &[u8]) -> Vec<u8> {
        if let Some(session) = &mut self.field.session {
            session.counted();
        }
        answer(data, 0x9100)
    }
}

/// Decrypted content without its padding, or the error status.
pub(super) fn content(plain: &[u8]) -> Result<&[u8], u16> {
    unpadded(plain).ok_or(0x911E)
}
