//! The settings of the NDEF file (data sheet section 10.7.1, table 69), as `ChangeFileSettings`
//! takes them: file option, access rights, and the positions of all values that Secure Dynamic
//! Messaging mirrors. [`FileSettings`] parses them from an answer to `GetFileSettings`.

mod answer;

pub use answer::{FileSettings, ShownCodes};

use crate::template::{Field, Layout, Template};

/// The slot of the key that encrypts PICC data.
pub const META_SLOT: u8 = 1;
/// The slot of the key that makes the MAC.
pub const FILE_SLOT: u8 = 2;

/// Access without any authentication.
const FREE: u8 = 0xE;
/// No access, whatever the key.
const NEVER: u8 = 0xF;
/// Mirrors are on; communication is in clear, as a phone's is.
const SDM: u8 = 0x40;

/// Access rights of a finished chip: everyone reads, key 0 writes and changes.
const LOCKED_BY_KEY_0: [u8; 2] = [0x00, 0xE0];
/// Access rights of a new chip: everyone reads and writes, key 0 changes.
const FACTORY_RIGHTS: [u8; 2] = [0xE0, 0xEE];

/// Mirrors off, and only key 0 writes: a file that is half written makes no codes.
pub const SDM_OFF: [u8; 3] = [0x00, LOCKED_BY_KEY_0[0], LOCKED_BY_KEY_0[1]];
/// As the chip leaves the factory.
pub const FACTORY: [u8; 3] = [0x00, FACTORY_RIGHTS[0], FACTORY_RIGHTS[1]];

/// The settings by which a chip writes its URL according to the template. `layout` is the
/// template's, for the tag's slug.
pub fn sdm_settings(template: &Template, layout: &Layout) -> Vec<u8> {
    let has = |field| template.has(field);
    let picc = has(Field::Picc);
    let (uid, counter) = (picc || has(Field::Uid), picc || has(Field::Counter));
    let meta = match (picc, uid || counter) {
        (true, _) => META_SLOT,
        (false, true) => FREE,
        (false, false) => NEVER,
    };
    let file = if has(Field::Mac) { FILE_SLOT } else { NEVER };
    let flags = [
        (0x80, uid),
        (0x40, counter),
        (0x10, has(Field::Enc)),
        (0x08, layout.tamper.is_some()),
        // ASCII is the only encoding there is.
        (0x01, true),
    ];
    let options = flags.iter().filter(|(_, on)| *on).map(|(flag, _)| flag);
    let [rw_change, read_write] = LOCKED_BY_KEY_0;
    let mut settings = vec![SDM, rw_change, read_write, options.sum()];
    settings.extend([NEVER << 4 | NEVER, meta << 4 | file]);
    let mut offset = |at: Option<usize>| {
        if let Some(at) = at {
            // A file has 256 bytes.
            let at = u32::try_from(at).unwrap_or(u32::MAX).to_le_bytes();
            settings.extend(&at[..3]);
        }
    };
    if !picc {
        offset(layout.offset(Field::Uid));
        offset(layout.offset(Field::Counter));
    }
    offset(layout.offset(Field::Picc));
    offset(layout.tamper);
    if has(Field::Mac) {
        offset(layout.mac_input);
        if let Some((at, length)) = layout.offset(Field::Enc).zip(template.length(Field::Enc)) {
            offset(Some(at));
            offset(Some(length));
        }
        offset(layout.offset(Field::Mac));
    }
    settings
}

/// The part of an answer of `GetFileSettings` that can be compared; `None` if the file is not a
/// standard data file.
pub fn of_answer(shown: &[u8]) -> Option<Vec<u8>> {
    let (&[kind, option, rw_change, read_write, _, _, _], sdm) = shown.split_first_chunk()?;
    (kind == 0x00).then(|| [&[option, rw_change, read_write], sdm].concat())
}

/// Whether settings mirror the state of a tamper loop.
pub fn has_tamper(settings: &[u8]) -> bool {
    settings.get(3).is_some_and(|options| options & 0x08 != 0)
}

/// Whether key 0 may change settings that are like these.
pub fn changed_by_key_0(settings: &[u8]) -> bool {
    settings
        .get(1)
        .is_some_and(|rights| rights.trailing_zeros() >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MacFrom, Mirror};

    fn settings(mirror: Mirror, mac_from: MacFrom) -> (Vec<u8>, Layout) {
        let template = Template::canonical("https://tags.example.com/t", mirror, mac_from).unwrap();
        let layout = template.layout(Some("bottle-1")).unwrap();
        (sdm_settings(&template, &layout), layout)
    }

    #[test]
    fn both_mirrors_have_their_offsets_in_the_order_of_the_data_sheet() {
        let at = |at: Option<usize>| u8::try_from(at.unwrap()).unwrap();
        let (encrypted, layout) = settings(Mirror::Encrypted, MacFrom::None);
        let (picc, mac) = (
            at(layout.offset(Field::Picc)),
            at(layout.offset(Field::Mac)),
        );
        let head = [0x40, 0x00, 0xE0, 0xC1, 0xFF, 0x12];
        assert_eq!(
            encrypted,
            [&head[..], &[picc, 0, 0, mac, 0, 0, mac, 0, 0]].concat()
        );
        let (plain, layout) = settings(Mirror::Plain, MacFrom::Uid);
        let [uid, counter, mac] =
            [Field::Uid, Field::Counter, Field::Mac].map(|field| at(layout.offset(field)));
        let head = [0x40, 0x00, 0xE0, 0xC1, 0xFF, 0xE2];
        let places = [uid, 0, 0, counter, 0, 0, uid, 0, 0, mac, 0, 0];
        assert_eq!(plain, [&head[..], &places].concat());
    }

    /// AN12196 rev 1.8, table 8, has a file of another chip; this is table 12's shape.
    #[test]
    fn what_a_chip_answers_is_compared_without_the_size_of_the_file() {
        let shown = [0x00, 0x00, 0xE0, 0xEE, 0x00, 0x01, 0x00];
        assert_eq!(of_answer(&shown).unwrap(), FACTORY);
        assert!(changed_by_key_0(&FACTORY) && changed_by_key_0(&SDM_OFF));
        assert!(!changed_by_key_0(&[0x00, 0x0F, 0xE0]));
        assert_eq!(of_answer(&shown[..6]), None);
    }
}
