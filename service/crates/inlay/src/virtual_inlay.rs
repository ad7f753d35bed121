//! An inlay in software, for simulators and tests: it makes the codes that an NTAG 424 DNA would
//! make.

use crate::code::{COUNTER_MAX, Code, Mirrored};
use crate::key::Keys;
use crate::technology::ntag424::session::{PiccData, mac_session_key, sdmmac};
use crate::{MacFrom, Mirror, Uid};

/// A chip's configuration and its read counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualInlay {
    /// UID that the codes name.
    pub uid: Uid,
    /// How it shows UID and counter.
    pub mirror: Mirror,
    /// Where the MAC's input begins.
    pub mac_from: MacFrom,
    /// Keys that make the codes.
    pub keys: Keys,
    /// The read counter: how often it was tapped, at most [`COUNTER_MAX`].
    pub counter: u32,
}

/// The counter has reached its end: the chip makes no further codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The inlay is used up: its read counter has reached its end.")]
pub struct UsedUp;

impl VirtualInlay {
    /// One tap: raises the counter (to 1 on the first), then makes the code. `padding` fills the
    /// encrypted PICC data, and is random on a chip.
    ///
    /// # Errors
    ///
    /// [`UsedUp`] if the counter is at [`COUNTER_MAX`].
    pub fn tap(&mut self, padding: [u8; 5]) -> Result<OneTimeCode, UsedUp> {
        if self.counter >= COUNTER_MAX {
            return Err(UsedUp);
        }
        self.counter += 1;
        Ok(self.code_at(self.counter, padding))
    }

    /// The code of the read with this counter (24 bits). `padding` fills the encrypted PICC data;
    /// the plain mirror has no use for it.
    pub fn code_at(&self, counter: u32, padding: [u8; 5]) -> OneTimeCode {
        let uid = self.uid;
        let mirrored = match self.mirror {
            Mirror::Plain => Mirrored::Plain { uid, counter },
            Mirror::Encrypted => Mirrored::Encrypted {
                picc: PiccData { uid, counter }.encrypt(self.keys.for_picc_data(), padding),
            },
        };
        let session_key = mac_session_key(&self.keys.file, uid, counter);
        let mac = sdmmac(&session_key, &mirrored.mac_input(self.mac_from));
        let code = Code { mirrored, mac };
        OneTimeCode {
            uid: mirrored.uid_text(),
            token: code.token(),
        }
    }
}

/// The texts of a code, as they are in the URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneTimeCode {
    /// The value of `uid`.
    pub uid: String,
    /// The value of `token`.
    pub token: String,
}

impl OneTimeCode {
    /// The one-time URL of a tag: `{tag_url}/{slug}?uid=...&token=...`.
    pub fn url(&self, tag_url: &str, slug: &str) -> String {
        let Self { uid, token } = self;
        format!("{tag_url}/{slug}?uid={uid}&token={token}")
    }
}
