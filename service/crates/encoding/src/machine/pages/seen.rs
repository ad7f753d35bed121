//! The pages that were read from a chip, and who may write them.

use crate::pages::Pages;
use inlay::technology::ntag21x::{
    AUTHLIM, CFGLCK, Memory, MirrorConfig, MirrorContent, NO_PASSWORD,
};
use inlay::technology::type2::{PAGE, READ};

/// The access bits of a capability container that make it read-only.
pub(super) const READ_ONLY: u8 = 0x0F;

/// The pages that were read from a chip.
pub(super) struct Seen {
    pub(super) head: [u8; READ],
    pub(super) data: Vec<u8>,
    /// Dynamic lock bytes, two configuration pages, the password's place.
    pub(super) tail: [u8; READ],
}

/// The UID in the first pages of a chip.
pub(super) fn uid_in(head: &[u8; READ]) -> [u8; 7] {
    let mut uid = [0; 7];
    // The fourth byte is the check byte of the three before it.
    uid[..3].copy_from_slice(&head[..3]);
    uid[3..].copy_from_slice(&head[4..8]);
    uid
}

impl Seen {
    pub(super) fn config(&self) -> [[u8; PAGE]; 2] {
        let pages = self.tail.as_chunks().0;
        [pages[1], pages[2]]
    }

    pub(super) fn uid(&self) -> [u8; 7] {
        uid_in(&self.head)
    }

    /// Whether the capability container, the dynamic and the static lock bytes each say "locked".
    pub(super) fn locks(&self, memory: Memory) -> [bool; 3] {
        let dynamic = self.tail.iter().zip(memory.all_locks);
        [
            self.head[15] & READ_ONLY == READ_ONLY,
            dynamic.clone().all(|(have, all)| have & all == all),
            self.head[10..12] == [0xFF, 0xFF],
        ]
    }

    /// Whether the chip can be locked: no password prevents it, or no lock is needed.
    pub(super) fn can_be_locked(&self, pages: &Pages) -> bool {
        let [cfg0, _] = self.config();
        let is_locked = self.locks(pages.memory) == [true; 3];
        !pages.lock || is_locked || cfg0[3] > pages.memory.locks
    }

    /// Whether the data area can be written, and locked if it is to be locked.
    pub(super) fn is_open(&self, pages: &Pages) -> bool {
        let memory = pages.memory;
        let last = memory.last_data_page();
        let [cfg0, _] = self.config();
        let mut dynamic = self.tail.iter().zip(memory.all_locks);
        self.head[10..12] == [0, 0]
            && self.head[15] & READ_ONLY == 0
            && dynamic.all(|(have, all)| have & all == 0)
            && cfg0[3] > last
            && self.can_be_locked(pages)
    }

    /// Whether the two configuration pages can be written. A password may protect them and no other
    /// page.
    pub(super) fn has_open_config(&self, memory: Memory) -> bool {
        let [cfg0, cfg1] = self.config();
        cfg0[3] > memory.locks + 2 && cfg1[0] & CFGLCK == 0
    }

    /// Whether a mirror covers a part of the data.
    pub(super) fn is_mirrored(&self) -> bool {
        let [cfg0, cfg1] = self.config();
        MirrorConfig::from_pages(cfg0, cfg1).content != MirrorContent::Nothing
    }
    /// Whether a page that has to be written needs a password.
    pub(super) fn is_closed(&self, pages: &Pages) -> bool {
        let config = self.config();
        let [cfg0, _] = config;
        let needs_config = pages.write_password || pages.config(config) != config;
        let last = if needs_config {
            pages.memory.last_page()
        } else {
            pages.memory.last_data_page()
        };
        cfg0[3] <= last
    }

    /// Whether the chip counts wrong passwords, and locks itself permanently after some.
    pub(super) fn counts_attempts(&self) -> bool {
        let [_, cfg1] = self.config();
        cfg1[0] & AUTHLIM != 0
    }

    /// The same pages without a password.
    pub(super) fn opened(mut self) -> Self {
        self.tail[2 * PAGE - 1] = NO_PASSWORD;
        self
    }
}
