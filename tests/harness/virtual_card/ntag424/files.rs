//! The chip's three files, by its native commands (data sheet sections 10.7 and 10.8) and by those
//! of ISO 7816-4 (section 10.9).

mod set_up;

use super::mirror::{Read, Sdm, Traits};
use super::protection::content;
use super::settings::{FREE, FileSettings, Mode, NEVER, Use};
use super::{Answer, VirtualNtag424};
use crate::virtual_card::{answer, status};

/// The name of the NDEF application, which is the same on every NTAG 424 DNA.
const APPLICATION: [u8; 7] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01];
/// The capability container of a new chip (AN12196 rev 1.8, section 5.13).
const CAPABILITY_CONTAINER: [u8; 23] = [
    0x00, 0x17, 0x20, 0x01, 0x00, 0x00, 0xFF, 0x04, 0x06, 0xE1, 0x04, 0x01, 0x00, 0x00, 0x00, 0x05,
    0x06, 0xE1, 0x05, 0x00, 0x80, 0x82, 0x83,
];
/// The file with the NDEF message.
const NDEF: usize = 1;
/// Bytes of a command in one frame: 128 (table 4) without block header and check sum.
const FRAME: usize = 125;
/// File, offset and length before the data of `ReadData` and `WriteData`.
const HEADER: usize = 7;

/// Capability container, NDEF message, proprietary file: numbers 1 to 3 of the chip.
#[derive(Clone)]
pub(super) struct Files {
    files: [File; 3],
    /// The read counter, `SDMReadCtr`.
    counter: u32,
}

#[derive(Clone)]
struct File {
    content: Vec<u8>,
    settings: FileSettings,
    /// Whether it shows other settings than were written.
    misshown: bool,
}

/// The part of a file that `ReadData` and `WriteData` access.
struct Place {
    file: usize,
    offset: usize,
    length: usize,
}

impl Files {
    pub(super) fn factory() -> Self {
        let file = |content: &[u8], size, settings| {
            let mut content = content.to_vec();
            content.resize(size, 0);
            File {
                content,
                settings,
                misshown: false,
            }
        };
        let own = FileSettings::parse(&[0x03, 0x30, 0x23]).expect("as published");
        Self {
            files: [
                file(
                    &CAPABILITY_CONTAINER,
                    32,
                    FileSettings::plain(FREE, 0, 0, 0),
                ),
                file(&[], 256, FileSettings::plain(FREE, FREE, FREE, 0)),
                file(&[], 128, own),
            ],
            counter: 0,
        }
    }

    pub(super) fn switch_off_sdm(&mut self) {
        self.files[NDEF].settings.switch_off_sdm();
    }
}

impl VirtualNtag424 {
    /// A file by its number on the chip.
    fn numbered(number: u8) -> Result<usize, u16> {
        match number {
            1..=3 => Ok(usize::from(number - 1)),
            _ => Err(0x91F0),
        }
    }

    /// `ISOSelectFile`. Selecting an application by name, even the same one, ends the session.
    pub(super) fn select(&mut self, by_name: bool, data: &[u8]) -> Answer {
        if by_name {
            self.field.session = None;
            self.field.selected = None;
            self.field.application = *data == APPLICATION;
            return if self.field.application {
                Ok(status(0x9000))
            } else {
                Err(0x6A82)
            };
        }
        self.field.selected = match *data {
            [0xE1, file @ 3..=5] if self.field.application => Some(usize::from(file - 3)),
            _ => return Err(0x6A82),
        };
        Ok(status(0x9000))
    }

    /// The NDEF file as read without a key. The first read of a run raises the counter.
    fn seen(&mut self, file: usize) -> Result<Vec<u8>, u16> {
        let File {
            content, settings, ..
        } = &self.files.files[file];
        let sdm = settings.sdm();
        let opened = sdm.as_ref().is_some_and(Sdm::opens_file);
        if !opened && settings.granted(Use::Read, None)? != Mode::Plain {
            return Err(0x91AE);
        }
        let Some(sdm) = sdm.filter(|_| file == NDEF) else {
            return Ok(content.clone());
        };
        if let Some(run) = &self.field.run {
            return Ok(run.clone());
        }
        if sdm.is_used_up(self.files.counter) {
            return Err(0x919D);
        }
        self.files.counter += 1;
        // In AES mode, 5 random bytes pad the PICC data.
        let mut random = [0; 24];
        random[19..].copy_from_slice(&self.dice.draw::<5>());
        if self.configuration.lrp {
            random[..8].copy_from_slice(&self.dice.draw::<8>());
        }
        let keys = &self.keys;
        let seen = sdm.mirror(
            content,
            &Read {
                uid: self.identity.uid,
                counter: self.files.counter,
                keys: std::array::from_fn(|number| &keys[number].key),
                lrp: self.configuration.lrp,
                tamper: self.configuration.tamper_status(),
                random,
            },
        );
        self.field.run = Some(seen.clone());
        Ok(seen)
    }

    /// `ISOReadBinary`, for files that anyone may read, and only outside of sessions.
    pub(super) fn read_binary(&mut self, offset: usize, length: usize) -> Answer {
        let file = self.field.selected.ok_or(0x6986_u16)?;
        if self.field.session.is_some() {
            return Err(0x6982);
        }
        let seen = self.seen(file).map_err(|_| 0x6982_u16)?;
        match seen.get(offset..) {
            Some(rest) if !rest.is_empty() => Ok(answer(&rest[..length.min(rest.len())], 0x9000)),
            _ => Err(0x6B00),
        }
    }

    /// `ISOUpdateBinary`, for files that anyone may write, and only outside of sessions (table 92).
    pub(super) fn update_binary(&mut self, offset: usize, data: &[u8]) -> Answer {
        let file = self.field.selected.ok_or(0x6986_u16)?;
        let granted = self.files.files[file].settings.granted(Use::Write, None);
        if self.field.session.is_some() || granted.is_err() {
            return Err(0x6982);
        }
        self.put(file, offset, data).map_err(|_| 0x6B00_u16)?;
        Ok(status(0x9000))
    }

    fn put(&mut self, file: usize, offset: usize, data: &[u8]) -> Result<(), u16> {
        let content = &mut self.files.files[file].content;
        let place = content.get_mut(offset..offset + data.len());
        place.ok_or(0x91BE_u16)?.copy_from_slice(data);
        self.tally.writes += 1;
        Ok(())
    }

    /// `ReadData`. Without a session it returns the same as `ISOReadBinary`.
    pub(super) fn read_data(&mut self, data: &[u8]) -> Answer {
        let place = Place::parse(data)?;
        if self.field.session.is_none() {
            if data.len() != HEADER {
                return Err(0x917E);
            }
            let seen = self.seen(place.file)?;
            return Ok(answer(place.of(&seen, 256)?, 0x9100));
        }
        let File {
            content, settings, ..
        } = &self.files.files[place.file];
        let content = content.clone();
        match settings.granted(Use::Read, self.authenticated())? {
            Mode::Plain if data.len() != HEADER => Err(0x917E),
            Mode::Plain => {
                let read = place.of(&content, 256)?;
                Ok(self.plain(read))
            }
            Mode::Mac => self.with_mac(0xAD, data, |_, _| Ok(place.of(&content, 248)?.to_vec())),
            Mode::Full => self.in_full(0xAD, HEADER, data, |_, _, _| {
                Ok(place.of(&content, 239)?.to_vec())
            }),
        }
    }

    /// `WriteData`.
    pub(super) fn write_data(&mut self, data: &[u8]) -> Answer {
        let place = Place::parse(data)?;
        let settings = &self.files.files[place.file].settings;
        let mode = settings.granted(Use::Write, self.authenticated())?;
        if mode != Mode::Plain && !self.configuration.chained_writes && data.len() + 6 > FRAME {
            return Err(0x917E);
        }
        let write = |chip: &mut Self, data: &[u8]| match place.length {
            0 => Err(0x919E),
            length if length != data.len() => Err(0x917E),
            _ => chip.put(place.file, place.offset, data),
        };
        match mode {
            Mode::Plain => {
                write(self, &data[HEADER..])?;
                Ok(self.plain(&[]))
            }
            Mode::Mac => self.with_mac(0x8D, data, |chip, data| {
                let data = data.get(HEADER..).ok_or(0x917E_u16)?;
                write(chip, data).map(|()| Vec::new())
            }),
            Mode::Full => self.in_full(0x8D, HEADER, data, |chip, _, plain| {
                write(chip, content(plain)?).map(|()| Vec::new())
            }),
        }
    }

    /// The complete frames of a write whose rest did not arrive: a single frame is written
    /// completely or not at all (section 8.6).
    pub(super) fn write_frames(&mut self, command: &[u8], received: usize) {
        let whole = received.min(command.len() - 1) / FRAME * FRAME;
        if whole == 0 {
            return;
        }
        match *command {
            [0x90, 0x8D, ..] => {
                let Ok(place) = Place::parse(&command[5..whole]) else {
                    return;
                };
                let settings = &self.files.files[place.file].settings;
                let data = &command[5 + HEADER..whole];
                let data = match settings.granted(Use::Write, self.authenticated()) {
                    Err(_) => return,
                    Ok(Mode::Plain | Mode::Mac) => data.to_vec(),
                    Ok(Mode::Full) => {
                        let blocks = &data[..data.len() / 16 * 16];
                        let session = self.field.session.as_mut();
                        let plain = session.and_then(|session| session.decrypt(blocks));
                        plain.unwrap_or_default()
                    }
                };
                let data = &data[..data.len().min(place.length)];
                // Data after the file's end is not written.
                let _ = self.put(place.file, place.offset, data);
            }
            [0x00, 0xD6, high, low, ..] => {
                let Some(file) = self.field.selected else {
                    return;
                };
                let settings = &self.files.files[file].settings;
                let allowed = settings.granted(Use::Write, None).is_ok();
                if allowed && self.field.session.is_none() {
                    let offset = usize::from(u16::from_be_bytes([high, low]));
                    let _ = self.put(file, offset, &command[5..whole]);
                }
            }
            _ => {}
        }
    }

    /// `GetFileSettings`, with a MAC in a session.
    pub(super) fn get_file_settings(&mut self, data: &[u8]) -> Answer {
        self.with_mac(0xF5, data, |chip, data| {
            let &[number] = data else {
                return Err(0x917E);
            };
            let File {
                content,
                settings,
                misshown,
            } = &chip.files.files[Self::numbered(number)?];
            let mut shown = settings.shown(content.len());
            // A reserved bit of `FileOption`.
            shown[1] ^= u8::from(*misshown) << 7;
            Ok(shown)
        })
    }

    /// `ChangeFileSettings`. With SDM, the counter restarts at zero (section 9.3.1).
    pub(super) fn change_file_settings(&mut self, data: &[u8]) -> Answer {
        let &number = data.first().ok_or(0x917E_u16)?;
        let settings = &self.files.files[Self::numbered(number)?].settings;
        match settings.granted(Use::Change, self.authenticated())? {
            Mode::Plain => {
                self.change(number, &data[1..])?;
                Ok(self.plain(&[]))
            }
            _ => self.in_full(0x5F, 1, data, |chip, header, plain| {
                chip.change(header[0], content(plain)?).map(|()| Vec::new())
            }),
        }
    }

    fn change(&mut self, number: u8, data: &[u8]) -> Result<(), u16> {
        let index = Self::numbered(number)?;
        let file = &mut self.files.files[index];
        let traits = Traits {
            size: file.content.len(),
            lrp: self.configuration.lrp,
            tag_tamper: self.identity.is_tag_tamper(),
        };
        let settings = FileSettings::parse_for(data, traits).ok_or(0x919E_u16)?;
        if settings.has_sdm() && index != NDEF {
            return Err(0x919E);
        }
        file.settings = settings;
        if file.settings.has_sdm() {
            self.files.counter = 0;
        }
        self.tally.writes += 1;
        Ok(())
    }

    /// `GetFileCounters` (section 10.7.3): the read counter, encrypted if a key protects it.
    pub(super) fn get_file_counters(&mut self, data: &[u8]) -> Answer {
        let &number = data.first().ok_or(0x917E_u16)?;
        let sdm = self.files.files[Self::numbered(number)?].settings.sdm();
        let access = sdm.ok_or(0x919D_u16)?.counter_read;
        let counter = self.files.counter.to_le_bytes();
        let reported = [&counter[..3], &[0, 0]].concat();
        match access {
            NEVER => Err(0x919D),
            FREE => self.with_mac(0xF6, data, |_, _| Ok(reported)),
            key if self.authenticated() != Some(key) => Err(0x91AE),
            _ => self.in_full(0xF6, 1, data, |_, _, _| Ok(reported)),
        }
    }
}

impl Place {
    fn parse(data: &[u8]) -> Result<Self, u16> {
        let &[file, o0, o1, o2, l0, l1, l2] = data.first_chunk().ok_or(0x917E_u16)?;
        let number = |a, b, c| u32::from_le_bytes([a, b, c, 0]) as usize;
        Ok(Self {
            file: VirtualNtag424::numbered(file)?,
            offset: number(o0, o1, o2),
            length: number(l0, l1, l2),
        })
    }

    /// This part of a file, if an answer can hold it. Length 0 means the rest of the file.
    fn of<'c>(&self, content: &'c [u8], most: usize) -> Result<&'c [u8], u16> {
        let rest = content.get(self.offset..).filter(|rest| !rest.is_empty());
        let rest = rest.ok_or(0x91BE_u16)?;
        let length = if self.length == 0 {
            rest.len()
        } else {
            self.length
        };
        if length > most {
            return Err(0x917E);
        }
        rest.get(..length).ok_or(0x91BE)
    }
}
