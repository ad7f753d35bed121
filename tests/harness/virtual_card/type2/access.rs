//! Writing to a page: bits of lock bytes and capability container can only be set, other pages are
//! written unless a lock prevents it (sections 8.5.2 to 8.5.7).

use super::{CFGLCK, Config, Field, REFUSED, VirtualType2};

/// The page of the capability container.
const CONTAINER: usize = 3;
/// The page of the static lock bytes, in its second half.
const STATIC_LOCKS: usize = 2;

impl VirtualType2 {
    /// `WRITE` of one page; returns the status.
    pub(super) fn write_page(&mut self, page: usize, data: [u8; 4]) -> u16 {
        if page >= self.chip.pages().0 {
            return 0x6A82;
        }
        if self.is_closed(page) {
            return REFUSED;
        }
        let allowed = self.chip.config();
        let place = &mut self.memory[page * 4..][..4];
        match allowed {
            // Bits can be set, but not cleared.
            _ if page == STATIC_LOCKS => {
                place[2] |= data[2];
                place[3] |= data[3];
            }
            _ if page == CONTAINER => {
                for (byte, new) in place.iter_mut().zip(data) {
                    *byte |= new;
                }
            }
            Some(Config { locks, .. }) if page == locks.0 => {
                place[0] |= data[0] & locks.1[0];
                place[1] |= data[1] & locks.1[1];
                place[2] |= data[2];
            }
            _ => place.copy_from_slice(&data),
        }
        self.writes += 1;
        0x9000
    }

    /// A page whose writing was cut off. Lock bytes and capability container are protected (section
    /// 8.5.2); any other page gets the bytes that have arrived.
    pub(super) fn tear_page(&mut self, page: usize, data: &[u8]) {
        let locks = self.chip.config().map(|config| config.locks.0);
        let protected = page == STATIC_LOCKS || page == CONTAINER || Some(page) == locks;
        if page < self.chip.pages().0 && !protected && !self.is_closed(page) {
            self.memory[page * 4..][..data.len()].copy_from_slice(data);
            self.writes += 1;
        }
    }

    /// Whether the page cannot be written now.
    fn is_closed(&mut self, page: usize) -> bool {
        let &mut Field {
            config: [cfg0, cfg1],
            authenticated,
            ..
        } = self.field();
        if page < STATIC_LOCKS {
            return true;
        }
        let Some(Config { locks, config }) = self.chip.config() else {
            return page != STATIC_LOCKS && self.is_locked(page);
        };
        if page >= usize::from(cfg0[3]) && !authenticated {
            return true;
        }
        match page {
            _ if page == STATIC_LOCKS || page == locks.0 => false,
            _ if page == config || page == config + 1 => cfg1[0] & CFGLCK != 0,
            _ if page > config + 1 => false,
            _ => self.is_locked(page),
        }
    }

    /// Whether a lock bit locks the page. Bit 3 of the static lock bytes is for page 3. A dynamic
    /// bit is for 2 pages of an NTAG213, and for 16 of the others.
    fn is_locked(&self, page: usize) -> bool {
        let bit = |bytes: &[u8], bit: usize| bytes[bit / 8] >> (bit % 8) & 1 == 1;
        if page < 16 {
            return bit(&self.memory[10..12], page);
        }
        let Some(Config { locks, config }) = self.chip.config() else {
            return false;
        };
        let pages = if config < 0x80 { 2 } else { 16 };
        bit(&self.memory[locks.0 * 4..][..2], (page - 16) / pages)
    }
}
