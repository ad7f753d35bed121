//! An NTAG 424 DNA, command by command (data sheet `NT4H2421Gx` rev 3.0,
//! section 10). Absent: LRP, file data in cipher, limits of the counter.

mod keys;
mod session;
mod settings;

use tapdesk_service::entropy::{SeededEntropy, bytes};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};

pub use session::Session;
pub use settings::{FREE, FileSettings, NEVER};

use super::{GET_UID, VirtualCard, answer, ndef, status};

/// The name of the application that every NTAG 424 DNA has, the NDEF application.
const APPLICATION: [u8; 7] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01];
/// The capability container of a new chip (AN12196 rev 1.8, section 5.13).
const CAPABILITY_CONTAINER: [u8; 23] = [
    0x00, 0x17, 0x20, 0x01, 0x00, 0x00, 0xFF, 0x04, 0x06, 0xE1, 0x04, 0x01, 0x00, 0x00, 0x00, 0x05,
    0x06, 0xE1, 0x05, 0x00, 0x80, 0x82, 0x83,
];
/// The key that the mirrors here encrypt UID and counter with.
const META_KEY: u8 = 1;
/// The key that the mirrors here make their MAC with.
const FILE_KEY: u8 = 2;
/// The file with the NDEF message.
const NDEF: usize = 1;

/// An NTAG 424 DNA.
pub struct VirtualNtag424 {
    uid: Uid,
    keys: [AesKey; 5],
    /// Capability container, NDEF message, proprietary file: numbers 1 to 3 of the chip.
    files: [File; 3],
    counter: u32,
    entropy: SeededEntropy,
    /// The UID that the reader sees, if it is not the chip's own.
    shown: Option<Vec<u8>>,
    /// Whether the UID is hidden in the chip's version as well.
    random: bool,
    field: Field,
}

struct File {
    content: Vec<u8>,
    settings: FileSettings,
}

/// What the chip forgets when it leaves the field.
#[derive(Default)]
struct Field {
    application: bool,
    selected: Option<usize>,
    /// The NDEF file as this run of reads sees it.
    run: Option<Vec<u8>>,
    next: Next,
    session: Option<Session>,
}

/// What `AF` goes on with.
#[derive(Default)]
enum Next {
    #[default]
    Nothing,
    Version(u8),
    Authentication {
        key: u8,
        b: [u8; 16],
    },
}

impl VirtualNtag424 {
    /// A chip as it leaves the factory: keys of zeros, an empty message, no SDM.
    pub fn new(uid: Uid) -> Self {
        let file = |content: &[u8], size, settings| {
            let mut content = content.to_vec();
            content.resize(size, 0);
            File { content, settings }
        };
        Self {
            uid,
            keys: std::array::from_fn(|_| AesKey::FACTORY),
            files: [
                file(
                    &CAPABILITY_CONTAINER,
                    32,
                    FileSettings::plain(FREE, 0, 0, 0),
                ),
                file(&[], 256, FileSettings::plain(FREE, FREE, FREE, 0)),
                file(
                    &[],
                    128,
                    FileSettings::parse(&[0x03, 0x30, 0x23]).expect("as published"),
                ),
            ],
            counter: 0,
            entropy: SeededEntropy::new(u64::from(uid.bytes()[6])),
            shown: None,
            random: false,
            field: Field::default(),
        }
    }

    /// Shows a random UID from now on, as `SetConfiguration` makes it (data sheet section 10.5.1).
    #[must_use]
    pub fn with_random_uid(mut self) -> Self {
        let [a, b, c] = bytes(&self.entropy);
        self.shown = Some(vec![0x08, a, b, c]);
        self.random = true;
        self
    }

    /// Shows the reader this UID, and keeps its own: no honest chip does.
    #[must_use]
    pub fn showing(mut self, uid: Uid) -> Self {
        self.shown = Some(uid.bytes().to_vec());
        self
    }

    /// The chip of `inlay`, encoded with its mirror for the tag at `tag_url`: the
    /// first read after this has the counter after the inlay's.
    ///
    /// # Panics
    /// When the URL is too long for the chip.
    pub fn encoded(inlay: &VirtualInlay, tag_url: &str) -> Self {
        let mut chip = Self::new(inlay.uid);
        chip.keys[usize::from(FILE_KEY)] = inlay.keys.file.clone();
        chip.keys[usize::from(META_KEY)] = inlay.keys.for_picc_data().clone();
        chip.counter = inlay.counter;
        let (uid, token) = match inlay.mirror {
            Mirror::Plain => (14, 22),
            Mirror::Encrypted => (32, 16),
        };
        let zeros = |digits| "0".repeat(digits);
        chip.set_url(&format!(
            "{tag_url}?uid={}&token={}",
            zeros(uid),
            zeros(token)
        ));
        let url_end = chip.message_end();
        let token_at = url_end - token;
        let uid_at = token_at - "&token=".len() - uid;
        let mac_at = url_end - 16;
        let input = match inlay.mac_from {
            MacFrom::None => mac_at,
            MacFrom::Uid => uid_at,
        };
        let (meta, places) = match inlay.mirror {
            Mirror::Plain => (FREE, vec![uid_at, token_at, input, mac_at]),
            Mirror::Encrypted => (META_KEY, vec![uid_at, input, mac_at]),
        };
        // Written and changed with key 0; UID and counter mirrored, as ASCII.
        let mut data = vec![0x40, 0x00, 0xE0, 0xC1, 0xFF, meta << 4 | FILE_KEY];
        for place in places {
            let place = u32::try_from(place).expect("a file is small").to_le_bytes();
            data.extend_from_slice(&place[..3]);
        }
        chip.files[NDEF].settings = FileSettings::parse(&data).expect("the settings are valid");
        chip
    }

    /// Writes a message of one URL.
    ///
    /// # Panics
    /// When it is too long for the chip.
    pub fn set_url(&mut self, url: &str) {
        self.set_message(&ndef::uri(url));
    }

    /// Writes a message, its length before it.
    ///
    /// # Panics
    /// When it is too long for the chip.
    pub fn set_message(&mut self, message: &[u8]) {
        let length = u16::try_from(message.len()).expect("a message is short");
        let file = &mut self.files[NDEF].content;
        file[..2].copy_from_slice(&length.to_be_bytes());
        file[2..][..message.len()].copy_from_slice(message);
    }

    /// Sets the settings of the NDEF file.
    pub fn set_ndef_settings(&mut self, settings: FileSettings) {
        self.files[NDEF].settings = settings;
    }

    /// Goes on with a session that is under way.
    pub fn resume(&mut self, session: Session) {
        self.field.application = true;
        self.field.session = Some(session);
    }

    /// A key of the chip.
    pub fn key(&self, number: u8) -> &AesKey {
        &self.keys[usize::from(number)]
    }

    /// How often it was read.
    pub fn counter(&self) -> u32 {
        self.counter
    }

    fn message_end(&self) -> usize {
        let file = &self.files[NDEF].content;
        2 + usize::from(u16::from_be_bytes([file[0], file[1]]))
    }

    fn authenticated(&self) -> Option<u8> {
        self.field.session.as_ref().map(|session| session.key)
    }

    fn select(&mut self, by_name: bool, data: &[u8]) -> u16 {
        self.field.session = None;
        if by_name {
            self.field.application = *data == APPLICATION;
            self.field.selected = None;
            return if self.field.application {
                0x9000
            } else {
                0x6A82
            };
        }
        self.field.selected = match *data {
            [0xE1, file @ 3..=5] if self.field.application => Some(usize::from(file - 3)),
            _ => return 0x6A82,
        };
        0x9000
    }

    /// `ISOReadBinary`. The first of a run raises the counter.
    fn read_binary(&mut self, offset: usize, length: usize) -> Vec<u8> {
        let Some(number) = self.field.selected else {
            return status(0x6986);
        };
        let File { content, settings } = &self.files[number];
        if !settings.readable(self.authenticated()) {
            return status(0x6982);
        }
        if number == NDEF && settings.has_sdm() && self.field.run.is_none() {
            self.counter += 1;
            let padding = bytes(&self.entropy);
            let (uid, keys) = (self.uid, &self.keys);
            self.field.run = Some(settings.mirror(content, uid, self.counter, keys, padding));
        }
        let seen = self.field.run.as_ref().unwrap_or(content);
        match seen.get(offset..) {
            Some(rest) if !rest.is_empty() => answer(&rest[..length.min(rest.len())], 0x9000),
            _ => status(0x6B00),
        }
    }

    /// `ISOUpdateBinary`.
    fn update_binary(&mut self, offset: usize, data: &[u8]) -> u16 {
        let key = self.authenticated();
        let Some(number) = self.field.selected else {
            return 0x6986;
        };
        let file = &mut self.files[number];
        if !file.settings.writable(key) {
            return 0x6982;
        }
        match file.content.get_mut(offset..offset + data.len()) {
            Some(place) => {
                place.copy_from_slice(data);
                0x9000
            }
            None => 0x6B00,
        }
    }

    /// A native command, wrapped.
    fn native(&mut self, command: u8, data: &[u8]) -> Vec<u8> {
        match (command, std::mem::take(&mut self.field.next)) {
            (0x60, _) => self.version(0),
            (0xAF, Next::Version(part)) => self.version(part),
            (0x71, _) => self.authenticate(data),
            (0xAF, Next::Authentication { key, b }) => self.prove(key, &b, data),
            (0xF5, _) => self.get_file_settings(data),
            (0x5F, _) => self.protected(0x5F, data, Self::change_file_settings),
            (0xC4, _) => self.protected(0xC4, data, Self::change_key),
            (0x51, _) => self.protected(0x51, data, |chip, _| Ok(chip.uid.bytes().to_vec())),
            _ => status(0x911C),
        }
    }

    /// `GetVersion`: hardware, software, production (AN12196 rev 1.8, section 5.5).
    fn version(&mut self, part: u8) -> Vec<u8> {
        self.field.next = Next::Version(part + 1);
        match part {
            0 => answer(&[0x04, 0x04, 0x02, 0x30, 0x00, 0x11, 0x05], 0x91AF),
            1 => answer(&[0x04, 0x04, 0x02, 0x01, 0x02, 0x11, 0x05], 0x91AF),
            _ => {
                self.field.next = Next::Nothing;
                let batch = [0xCF, 0x39, 0xD4, 0x49, 0x80, 0x34, 0x20];
                let uid = if self.random {
                    [0; 7]
                } else {
                    self.uid.bytes()
                };
                answer(&[&uid[..], &batch].concat(), 0x9100)
            }
        }
    }

    /// The session, if one is authenticated.
    pub fn session(&self) -> Option<&Session> {
        self.field.session.as_ref()
    }

    /// `GetFileSettings`, plain or, in a session, with a MAC.
    fn get_file_settings(&mut self, data: &[u8]) -> Vec<u8> {
        if !self.field.application {
            return status(0x911C);
        }
        let content = match &self.field.session {
            None => Some(data),
            Some(session) => session.checked(0xF5, data),
        };
        let Some(content) = content else {
            return status(0x911E);
        };
        let File { content, settings } = match content {
            [number @ 1..=3] => &self.files[usize::from(number - 1)],
            _ => return status(0x91F0),
        };
        let shown = settings.shown(content.len());
        match &mut self.field.session {
            None => answer(&shown, 0x9100),
            Some(session) => answer(&session.answered(&shown), 0x9100),
        }
    }

    /// A command in full protection: its MAC is checked and its content decrypted,
    /// the answer is encrypted and gets a MAC.
    fn protected(
        &mut self,
        command: u8,
        data: &[u8],
        work: fn(&mut Self, &[u8]) -> Result<Vec<u8>, u16>,
    ) -> Vec<u8> {
        let Some(session) = &self.field.session else {
            return status(0x91AE);
        };
        let Some(content) = session.checked(command, data) else {
            self.field.session = None;
            return status(0x911E);
        };
        // The number of a key or a file stands in clear before the rest.
        let plain = match content.split_first() {
            None => Some(Vec::new()),
            Some((number, encrypted)) => session
                .decrypt(encrypted)
                .map(|plain| [&[*number], &plain[..]].concat()),
        };
        let done = plain.map_or(Err(0x911E), |plain| work(self, &plain));
        match (done, &mut self.field.session) {
            (Err(refused), _) => {
                self.field.session = None;
                status(refused)
            }
            (Ok(_), None) => status(0x9100),
            (Ok(data), Some(session)) => {
                let data = if data.is_empty() {
                    data
                } else {
                    session.encrypt(&data)
                };
                answer(&session.answered(&data), 0x9100)
            }
        }
    }

    /// `ChangeFileSettings`. With SDM, the counter begins again.
    fn change_file_settings(&mut self, data: &[u8]) -> Result<Vec<u8>, u16> {
        let key = self.authenticated();
        let (&number, data) = data.split_first().ok_or(0x917E_u16)?;
        let file = usize::from(number).checked_sub(1);
        let file = file
            .and_then(|file| self.files.get_mut(file))
            .ok_or(0x91F0_u16)?;
        if !file.settings.changeable(key) {
            return Err(0x919D);
        }
        file.settings = FileSettings::parse(data).ok_or(0x919E_u16)?;
        if file.settings.has_sdm() {
            self.counter = 0;
        }
        Ok(Vec::new())
    }
}

impl VirtualCard for VirtualNtag424 {
    fn atr(&self) -> Vec<u8> {
        vec![0x3B, 0x81, 0x80, 0x01, 0x80, 0x80]
    }

    fn power_on(&mut self) {
        self.field = Field::default();
        if self.random {
            let [a, b, c] = bytes(&self.entropy);
            self.shown = Some(vec![0x08, a, b, c]);
        }
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        let data = |offset: usize| {
            let length = usize::from(*command.get(4)?);
            command.get(offset..offset + length)
        };
        let is_read = matches!(command, [0x00, 0xB0, ..]);
        if !is_read {
            self.field.run = None;
        }
        Some(match *command {
            ref whole if *whole == GET_UID => {
                let own = self.uid.bytes();
                answer(self.shown.as_deref().unwrap_or(&own), 0x9000)
            }
            [0x00, 0xA4, how @ (0x00 | 0x04), ..] => match data(5) {
                Some(data) => status(self.select(how == 0x04, data)),
                None => status(0x6700),
            },
            [0x00, 0xB0, high @ 0x00..=0x7F, low, length] => {
                let length = match length {
                    0 => 256,
                    length => usize::from(length),
                };
                self.read_binary(usize::from(u16::from_be_bytes([high, low])), length)
            }
            [0x00, 0xD6, high @ 0x00..=0x7F, low, ..] => match data(5) {
                Some(data) => {
                    let offset = usize::from(u16::from_be_bytes([high, low]));
                    status(self.update_binary(offset, data))
                }
                None => status(0x6700),
            },
            [0x90, native, 0x00, 0x00, 0x00] => self.native(native, &[]),
            [0x90, native, 0x00, 0x00, ..] => match data(5) {
                Some(data) if command.len() == data.len() + 6 => self.native(native, data),
                _ => status(0x917E),
            },
            _ => status(0x6D00),
        })
    }
}
