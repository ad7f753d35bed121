//! Who may write a Type 2 chip, by all that says so: the lock bits of its first
//! pages, those of the pages behind them, the page from which on a password is
//! needed, and the capability container, which only phones respect.
//!
//! Sources: data sheets NTAG213/215/216 rev 3.2, sections 8.5.2, 8.5.3 and
//! 8.5.7; MF0ICU1, section 7.5.2; `MF0ULx1`, section 8.5.

use super::super::super::apdu::Recorder;
use super::super::super::card::Fault;
use super::super::{Chip, Lock};

/// The first page of the data area.
const DATA_PAGE: u8 = 4;
/// The highest page of an Ultralight from which four pages are read: the fourth
/// is the first configuration page of an EV1, or page 0 once more if there is none.
const ULTRALIGHT_END: u8 = 0x0D;

/// What pages 2 and 3 say.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// Page 0: the beginning of the UID. A chip that reads on past its end begins with it again.
    pub(super) first_page: [u8; 4],
    /// The lock bits of pages 3 to 15.
    pub(super) bits: [u8; 2],
    /// The capability container's access byte; 0 if there is no container.
    pub(super) access: u8,
}

/// What stands behind the data area.
enum Tail {
    Read {
        /// Lock bits of the pages from 16 on, and those of them that exist.
        bits: u16,
        all: u16,
        /// The first page that needs a password.
        auth0: u8,
        /// The last page of the data area.
        last: u8,
    },
    /// A password is needed to read it.
    Refused,
    Unknown,
}

/// Who may write it. `is_protected`: its data cannot be read without a password.
pub(super) fn lock(
    card: &mut Recorder<'_>,
    chip: Chip,
    head: Head,
    is_protected: bool,
) -> Result<Lock, Fault> {
    let tail = tail(card, chip, head)?;
    let first = u16::from_be_bytes([head.bits[0] & 0xF0, head.bits[1]]);
    Ok(match tail {
        Tail::Read { bits, all, .. } if first == 0xF0FF && bits == all => Lock::Locked,
        Tail::Read { auth0, .. } if auth0 <= DATA_PAGE => Lock::Key,
        Tail::Read {
            bits, auth0, last, ..
        } if first != 0 || bits != 0 || auth0 <= last => Lock::Partly,
        Tail::Read { .. } if head.access & 0x0F == 0x0F => Lock::Marked,
        Tail::Read { .. } => Lock::Open,
        Tail::Refused if is_protected => Lock::Key,
        Tail::Unknown if first == 0 => Lock::Unknown,
        Tail::Refused | Tail::Unknown => Lock::Partly,
    })
}

fn tail(card: &mut Recorder<'_>, chip: Chip, head: Head) -> Result<Tail, Fault> {
    let (page, last, all) = match chip {
        Chip::Ntag213 => (0x28, 0x27, 0x0FFF),
        Chip::Ntag215 => (0x82, 0x81, 0x00FF),
        Chip::Ntag216 => (0xE2, 0xE1, 0x3FFF),
        Chip::Ultralight => (ULTRALIGHT_END, 0x0F, 0),
        _ => return Ok(Tail::Unknown),
    };
    let asked = format!("Read pages {page} to {}: locks and password", page + 3);
    let answer = card.send(&asked, &[0xFF, 0xB0, 0x00, page, 0x10])?;
    if answer.is_locked() {
        return Ok(Tail::Refused);
    }
    let pages = answer.ok().unwrap_or_default();
    let ([locks, config, .., fourth], []) = pages.as_chunks::<4>() else {
        return Ok(Tail::Unknown);
    };
    let (bits, config) = match chip {
        Chip::Ultralight => (0, fourth),
        _ => (u16::from_le_bytes([locks[0], locks[1]]) & all, config),
    };
    // Read on from the first page: what follows is not there, or behind the password's page.
    let auth0 = if *config == head.first_page {
        u8::MAX
    } else {
        config[3]
    };
    Ok(Tail::Read {
        bits,
        all,
        auth0,
        last,
    })
}
