//! The configuration of the mirror, and its effect on the memory.

use crate::Uid;
use crate::technology::type2::{FIRST_PAGE, PAGE};

/// The mirror's settings of an NTAG 213, 215 or 216: configuration pages 0 and 1 (data sheet
/// section 8.5.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MirrorConfig {
    /// `MIRROR_CONF`: the mirrored values.
    pub content: MirrorContent,
    /// The page in which the mirror begins.
    pub page: u8,
    /// The byte in that page, 0 to 3.
    pub byte: u8,
    /// The first page that needs the password. A value above the last page protects no page.
    pub auth0: u8,
    /// `NFC_CNT_EN`: the counter counts.
    pub counter_enabled: bool,
    /// `NFC_CNT_PWD_PROT`: the counter is shown only after the password.
    pub counter_protected: bool,
}

/// The values that a chip mirrors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorContent {
    /// No value: the URL is static.
    Nothing,
    /// UID as 14 hex digits.
    Uid,
    /// Read counter as 6 hex digits.
    Counter,
    /// Both, with an `x` between them.
    Both,
}

/// The characters that a reader sees in place of the mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The characters of the mirror.
    pub text: String,
    /// Where they begin, in bytes from page 4.
    pub at: usize,
}

impl MirrorConfig {
    /// From the configuration pages 0 and 1.
    pub fn from_pages(cfg0: [u8; 4], cfg1: [u8; 4]) -> Self {
        let [mirror, _, page, auth0] = cfg0;
        let [access, ..] = cfg1;
        Self {
            content: match mirror >> 6 {
                0 => MirrorContent::Nothing,
                1 => MirrorContent::Uid,
                2 => MirrorContent::Counter,
                _ => MirrorContent::Both,
            },
            page,
            byte: mirror >> 4 & 3,
            auth0,
            counter_enabled: access & 0x10 != 0,
            counter_protected: access & 0x08 != 0,
        }
    }

    /// The characters that a reader without the password sees, for a counter after its read. A
    /// counter that is off or protected is not mirrored: the reader sees the stored text there.
    pub fn mirrored(&self, uid: Uid, counter: u32) -> Option<Written> {
        let page = self.page.checked_sub(FIRST_PAGE).map(usize::from)?;
        let at = page * PAGE + usize::from(self.byte);
        let shown = self.counter_enabled && !self.counter_protected;
        let text = match (self.content, shown) {
            (MirrorContent::Both, true) => format!("{uid}x{counter:06X}"),
            (MirrorContent::Uid, _) | (MirrorContent::Both, false) => uid.to_string(),
            (MirrorContent::Counter, true) => format!("{counter:06X}"),
            (MirrorContent::Counter, false) | (MirrorContent::Nothing, _) => return None,
        };
        Some(Written { text, at })
    }
}

impl Written {
    /// The memory from page 4 as a reader sees it; unchanged if the mirror does not fit.
    pub fn over(&self, memory: &[u8]) -> Vec<u8> {
        let mut memory = memory.to_vec();
        if let Some(place) = memory.get_mut(self.at..self.at + self.text.len()) {
            place.copy_from_slice(self.text.as_bytes());
        }
        memory
    }
}
