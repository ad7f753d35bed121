//! The instructions for a person or an encoder's program to write chips for a template.

use super::{Field, Layout, LayoutError, Template};
use crate::technology::Family;
use crate::technology::ntag424::file_settings::{FILE_SLOT, META_SLOT, sdm_settings};
use crate::technology::type2::{FIRST_PAGE, MESSAGE, PAGE, TERMINATOR};

/// The instructions to encode a template's chips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodingSheet {
    /// The URL, with zeros in place of mirrored values.
    pub url: String,
    /// The memory to which the bytes are written.
    pub written_to: Memory,
    /// The bytes, with zeros in place of mirrored values.
    pub bytes: Vec<u8>,
    /// The mirrored values, in the order of the URL.
    pub mirrors: Vec<Mirrored>,
    /// Start and length of the MAC's input in [`Self::bytes`]; `None` if the kind of chip fixes the
    /// input.
    pub mac_input: Option<(usize, usize)>,
    /// The index in [`Self::bytes`] of the tamper loop's letters, in clear or inside `{enc}`.
    pub tamper: Option<usize>,
    /// The data of `ChangeFileSettings` of an NTAG 424 DNA, without the file's number.
    pub file_settings: Option<Vec<u8>>,
    /// The slots of the chip's keys.
    pub slots: Vec<(KeyUse, u8)>,
    /// The page, and the byte in it, at which the mirror begins. Only for chips that mirror all
    /// values in one run.
    pub mirror_start: Option<(usize, usize)>,
}

/// The memory to which the bytes of a sheet are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The NDEF file of a Type 4 tag, from its first byte: the length, then the message.
    NdefFile,
    /// The pages of a Type 2 tag from page 4 on: the NDEF TLV and the terminator.
    Pages,
}

/// The purpose of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    /// It encrypts UID and counter (`SDMMetaRead`).
    Meta,
    /// It makes the MAC, and encrypts file data (`SDMFileRead`).
    File,
}

/// The position of a placeholder in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirrored {
    /// Placeholder that is mirrored.
    pub field: Field,
    /// Index of its first byte.
    pub offset: usize,
    /// Number of its bytes.
    pub length: usize,
}

impl Template {
    /// How the chip of the tag with this slug is written.
    ///
    /// # Errors
    ///
    /// [`LayoutError`] if the template has `{*}`, if it needs a slug and none is given, or if the
    /// URL does not fit into the chip.
    pub fn encoding_sheet(&self, slug: Option<&str>) -> Result<EncodingSheet, LayoutError> {
        let layout = self.layout(slug)?;
        let family = self.settings().technology.family();
        let of_424 = family == Family::Ntag424;
        let (bytes, shift) = if of_424 {
            (layout.file.clone(), 0)
        } else {
            type_2(&layout.file)
        };
        let mirrors: Vec<_> = layout
            .offsets
            .iter()
            .filter(|(field, _)| field.is_of_code())
            .filter_map(|&(field, offset)| {
                Some(Mirrored {
                    field,
                    offset: offset + shift,
                    length: self.length(field)?,
                })
            })
            .collect();
        let mac = layout.offset(Field::Mac).filter(|_| of_424);
        let mac_input = layout.mac_input.zip(mac);
        let in_one_run = matches!(family, Family::Ntag21x | Family::Ntag22x);
        let first = mirrors.first().filter(|_| in_one_run);
        Ok(EncodingSheet {
            url: self.url(slug, &super::Filled::default()),
            written_to: if of_424 {
                Memory::NdefFile
            } else {
                Memory::Pages
            },
            mac_input: mac_input.map(|(start, mac)| (start, mac - start)),
            tamper: layout.tamper.map(|at| at + shift),
            file_settings: of_424.then(|| sdm_settings(self, &layout)),
            slots: self.slots(),
            mirror_start: first.map(|first| {
                (
                    usize::from(FIRST_PAGE) + first.offset / PAGE,
                    first.offset % PAGE,
                )
            }),
            bytes,
            mirrors,
        })
    }

    fn slots(&self) -> Vec<(KeyUse, u8)> {
        if self.settings().technology.family() != Family::Ntag424 {
            return Vec::new();
        }
        let meta = self.has(Field::Picc).then_some((KeyUse::Meta, META_SLOT));
        let file = self.has(Field::Mac).then_some((KeyUse::File, FILE_SLOT));
        meta.into_iter().chain(file).collect()
    }
}

/// The pages of a Type 2 tag with the message of an NDEF file, and by how much they shift it.
fn type_2(file: &[u8]) -> (Vec<u8>, usize) {
    let message = &file[Layout::LENGTH..];
    let head = match u8::try_from(message.len()) {
        Ok(length) if length < u8::MAX => vec![MESSAGE, length],
        _ => vec![MESSAGE, u8::MAX, file[0], file[1]],
    };
    let shift = head.len() - Layout::LENGTH;
    ([&head[..], message, &[TERMINATOR]].concat(), shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Technology;
    use crate::template::TemplateSettings;

    fn sheet(text: &str, technology: Technology) -> EncodingSheet {
        let template = Template::new(TemplateSettings::new(text, technology)).unwrap();
        template.encoding_sheet(Some("k3v9qa")).unwrap()
    }

    /// AN12196 rev 1.8, section 5.8.1: its URL, and the offsets of its `ChangeFileSettings`.
    #[test]
    fn the_sheet_of_the_application_note() {
        let sheet = sheet(
            "https://choose.url.com/ntag424?e={picc}&c={mac}",
            Technology::Ntag424Dna,
        );
        assert_eq!(sheet.bytes[..7], [0x00, 0x51, 0xD1, 0x01, 0x4D, 0x55, 0x04]);
        let settings = sheet.file_settings.unwrap();
        assert_eq!(settings[3], 0xC1);
        assert_eq!(
            settings[6..],
            [0x20, 0, 0, 0x43, 0, 0, 0x43, 0, 0],
            "as published"
        );
        assert_eq!(sheet.slots, [(KeyUse::Meta, 1), (KeyUse::File, 2)]);
        assert_eq!(sheet.mac_input, Some((0x43, 0)));
    }

    #[test]
    fn a_type_2_tag_has_pages_and_the_start_of_its_mirror() {
        let sheet = sheet(
            "https://x.example/{slug}?m={uid}x{counter}",
            Technology::Ntag213,
        );
        assert_eq!(sheet.written_to, Memory::Pages);
        let text = b"x.example/k3v9qa?m=";
        assert_eq!(sheet.bytes[7..7 + text.len()], *text);
        // 16 bytes come before page 4, and 7 before the text.
        let at = 7 + text.len();
        assert_eq!(sheet.mirrors[0].offset, at);
        assert_eq!(sheet.mirror_start, Some((4 + at / 4, at % 4)));
        assert_eq!(sheet.bytes.last(), Some(&0xFE));
        assert_eq!(
            sheet.bytes[..2],
            [0x03, u8::try_from(sheet.bytes.len() - 3).unwrap()]
        );
        assert!(sheet.file_settings.is_none() && sheet.slots.is_empty());
    }

    #[test]
    fn a_long_message_moves_everything_by_the_longer_head() {
        let text = format!(
            "https://x.example/{}/{{slug}}?m={{uid}}x{{counter}}",
            "y".repeat(213)
        );
        let sheet = sheet(&text, Technology::Ntag216);
        assert_eq!(sheet.bytes[..2], [0x03, 0xFF]);
        let at = sheet.mirrors[0].offset;
        assert_eq!(sheet.bytes[at - 2..=at], *b"m=0");
    }
}
