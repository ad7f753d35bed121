//! Writes chips that have pages of four bytes instead of files: NTAG 213, 215 and 216 (data sheet
//! NTAG213/215/216 rev 3.2).
//!
//! Only lock bytes and capability container survive an interrupted write. So the order is: the
//! message's length as 0, the message, its length, the mirror. An interrupted write then reads as
//! empty, never as a cut URL, and all of it can be repeated. Locks come last, because no lock bit
//! can be cleared. A write password is set only if it is wanted, last and in a step of its own.

use super::plan::PlanError;
use inlay::technology::ntag21x::{AUTHLIM, Memory, MirrorConfig, NO_PASSWORD, PROT};
use inlay::technology::type2::{FIRST_PAGE, MESSAGE, PAGE, TERMINATOR};
use inlay::template::{Field, Layout, LayoutError, Template};
use inlay::{Technology, Uid};

/// `MIRROR_CONF` and `MIRROR_BYTE` in the first byte of the configuration.
const MIRROR_BITS: u8 = 0xF0;
/// `NFC_CNT_EN` and `NFC_CNT_PWD_PROT` in `ACCESS`.
const COUNTER_ENABLED: u8 = 0x10;
const COUNTER_PROTECTED: u8 = 0x08;
/// The first configuration page of a new chip.
const FACTORY_CONFIG: [u8; PAGE] = [0x04, 0x00, 0x00, NO_PASSWORD];

/// The pages that a chip is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a choice of its own that a person made"
)]
pub struct Pages {
    /// Technology that these pages are for.
    pub technology: Technology,
    /// The layout of its memory.
    pub memory: Memory,
    /// The data area, from its first page on, in whole pages.
    pub data: Vec<u8>,
    /// Where the length of the message is in `data`.
    length_at: usize,
    mirror: Option<Mirror>,
    /// Whether these are the pages of a new chip.
    factory: bool,
    /// Whether the chip is locked against writing, which cannot be undone.
    pub lock: bool,
    /// Whether the chip gets a write password. It is set once everything else is proved.
    pub write_password: bool,
    /// Whether the chip has a write password afterwards if it has one of ours now.
    pub keeps_password: bool,
}

/// The characters that the chip mirrors over its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mirror {
    uid: bool,
    counter: bool,
    /// Where it begins in the data.
    at: usize,
}

impl Pages {
    /// The pages for a template, neither locked nor with a password.
    pub(super) fn new(template: &Template, layout: &Layout) -> Result<Self, PlanError> {
        let technology = template.settings().technology;
        let memory = Memory::of(technology).ok_or(PlanError::Chip)?;
        let message = &layout.file[Layout::LENGTH..];
        let room = usize::from(memory.size) * 8 - memory.before.len() - 3;
        // A length of one byte: 255 would mean that two more bytes follow.
        let length = u8::try_from(message.len())
            .ok()
            .filter(|length| *length < u8::MAX);
        let Some(length) = length.filter(|_| message.len() <= room) else {
            return Err(LayoutError::TooLong {
                length: message.len(),
                max: room.min(usize::from(u8::MAX) - 1),
            }
            .into());
        };
        let mut data = memory.before.to_vec();
        data.extend([MESSAGE, length]);
        let begin = data.len();
        data.extend(message);
        data.push(TERMINATOR);
        data.resize(data.len().next_multiple_of(PAGE), 0);
        let first = layout.offset(Field::Uid).or(layout.offset(Field::Counter));
        let mirror = first.map(|offset| Mirror {
            uid: template.has(Field::Uid),
            counter: template.has(Field::Counter),
            at: begin + offset - Layout::LENGTH,
        });
        Ok(Self {
            technology,
            memory,
            data,
            length_at: begin - 1,
            mirror,
            factory: false,
            lock: false,
            write_password: false,
            keeps_password: false,
        })
    }

    /// The pages of a new chip; `None` if this kind of chip is not supported.
    pub fn factory(technology: Technology) -> Option<Self> {
        let memory = Memory::of(technology)?;
        let mut data = memory.before.to_vec();
        data.extend([MESSAGE, 0, TERMINATOR]);
        data.resize(usize::from(memory.data_pages) * PAGE, 0);
        Some(Self {
            technology,
            memory,
            length_at: memory.before.len() + 1,
            data,
            mirror: None,
            factory: true,
            lock: false,
            write_password: false,
            keeps_password: false,
        })
    }

    /// The configuration pages to write to a chip that now has these. Reserved bits stay, and so
    /// does `AUTH0`: a password is put into force and out of it in steps of their own.
    pub fn config(&self, [cfg0, cfg1]: [[u8; PAGE]; 2]) -> [[u8; PAGE]; 2] {
        if self.factory {
            let counter = COUNTER_ENABLED | COUNTER_PROTECTED;
            let [access, rest @ ..] = cfg1;
            let [a, b, c] = rest;
            return [FACTORY_CONFIG, [access & !counter, a, b, c]];
        }
        let kept = cfg0[0] & !MIRROR_BITS;
        let mut wanted = [[kept, cfg0[1], 0, cfg0[3]], cfg1];
        wanted[1][0] &= !(COUNTER_ENABLED | COUNTER_PROTECTED);
        if self.write_password {
            // Anyone may read, and wrong passwords lock nothing.
            wanted[1][0] &= !(PROT | AUTHLIM);
        }
        if let Some(Mirror { uid, counter, at }) = self.mirror {
            let [page, byte] = [at / PAGE, at % PAGE].map(|part| u8::try_from(part).unwrap_or(0));
            wanted[0][0] |= u8::from(counter) << 7 | u8::from(uid) << 6 | byte << 4;
            wanted[0][2] = FIRST_PAGE + page;
            wanted[1][0] |= u8::from(counter) * COUNTER_ENABLED;
        }
        wanted
    }

    /// The writes of the data area, in order: number and bytes of pages. `seen` is its present
    /// content, if known.
    pub fn writes(&self, seen: Option<&[u8]>) -> Vec<(u8, [u8; PAGE])> {
        let pages: Vec<[u8; PAGE]> = self.data.as_chunks().0.to_vec();
        let first = self.length_at / PAGE;
        let same = |index: usize| {
            let seen = seen.and_then(|seen| seen.as_chunks::<PAGE>().0.get(index));
            seen == Some(&pages[index])
        };
        let mut empty = pages[first];
        let length = self.length_at % PAGE;
        empty[length] = 0;
        for (byte, value) in empty.iter_mut().skip(length + 1).zip([TERMINATOR, 0, 0]) {
            *byte = value;
        }
        let mut writes = vec![(first, empty)];
        let others = (0..pages.len()).filter(|index| *index != first && !same(*index));
        writes.extend(others.map(|index| (index, pages[index])));
        if pages[first] != empty {
            writes.push((first, pages[first]));
        }
        let numbered = |(index, page)| (FIRST_PAGE + u8::try_from(index).unwrap_or(u8::MAX), page);
        writes.into_iter().map(numbered).collect()
    }

    /// Whether the data area is as planned. Bytes that a mirror of this configuration covers are
    /// ignored.
    pub fn is_written(&self, seen: &[u8], [cfg0, cfg1]: [[u8; PAGE]; 2]) -> bool {
        let Some(seen) = seen.get(..self.data.len()) else {
            return false;
        };
        let mirror = MirrorConfig::from_pages(cfg0, cfg1);
        let uid = Uid::from_bytes([0; 7]);
        match mirror.mirrored(uid, 0) {
            Some(over) => over.over(seen) == over.over(&self.data),
            None => seen == self.data,
        }
    }

    /// Whether writing over a data area like this one loses nothing: it has no message, an empty
    /// one, or this one. A mirror's characters do not count as data: somebody left the mirror on,
    /// and no phone reads a message whose beginning it covers.
    pub fn is_free(&self, seen: &[u8], config: [[u8; PAGE]; 2]) -> bool {
        let [cfg0, cfg1] = config;
        let mirror = MirrorConfig::from_pages(cfg0, cfg1).mirrored(Uid::from_bytes([0; 7]), 0);
        let mut below = seen.to_vec();
        if let Some(over) = mirror {
            let characters = below.iter_mut().skip(over.at).take(over.text.len());
            characters.for_each(|byte| *byte = 0);
        }
        is_empty(&below) || self.is_written(seen, config)
    }

    /// The message in a data area; `None` if the area is too short.
    pub fn message<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]> {
        let length = usize::from(*data.get(self.length_at)?);
        data.get(self.length_at + 1..)?.get(..length)
    }
}

/// Whether a data area has no message, or an empty one: of no bytes, or of one empty record
/// (NDEF 1.0, section 3.2.6).
fn is_empty(mut data: &[u8]) -> bool {
    loop {
        data = match data {
            [] | [TERMINATOR, ..] | [MESSAGE, 0x00, ..] | [MESSAGE, 0x03, 0xD0, 0x00, 0x00, ..] => {
                return true;
            }
            [0x00, rest @ ..] => rest,
            // Blocks for lock bits and other reserved bytes.
            [0x01 | 0x02, length, rest @ ..] => rest.get(usize::from(*length)..).unwrap_or(&[]),
            // A message, or a byte that begins no block of a Type 2 Tag.
            _ => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_area_is_empty_if_it_has_no_message_or_one_of_nothing() {
        for empty in [
            &[][..],
            &[0x00; 16],
            &[0x03, 0x00, 0xFE, 0x00, 0xAA],
            &[0x01, 0x03, 0xA0, 0x0C, 0x34, 0x03, 0x00, 0xFE],
            &[0x03, 0x03, 0xD0, 0x00, 0x00, 0xFE],
            &[0x00, 0x02, 0x01, 0xAA],
            &[0x01, 0xFF],
        ] {
            assert!(is_empty(empty), "{empty:?}");
        }
        for used in [
            &[0x03, 0x05, 0xD1, 0x01, 0x01, b'U', 0x00, 0xFE][..],
            &[0x01, 0x03, 0xA0, 0x0C, 0x34, 0x03, 0x09, 0xD1],
            &[0x03, 0xFF, 0x01, 0x00],
            &[0x03, 0x03, 0xD1, 0x00, 0x00],
            // Data that are not NDEF.
            &[0xA5, 0x00, 0x00, 0x00],
        ] {
            assert!(!is_empty(used), "{used:?}");
        }
    }
}
