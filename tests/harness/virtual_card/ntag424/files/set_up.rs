//! The chip's files as a test sets them up and looks at them, without commands.

use tapdesk_service::inlay::ev2::{SELECT_APPLICATION, SELECT_NDEF, read_binary};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror};

use super::super::VirtualNtag424;
use super::super::settings::{FREE, FileSettings};
use super::NDEF;
use crate::virtual_card::{VirtualCard as _, ndef};

/// The key with which these mirrors encrypt UID and counter.
const META_KEY: u8 = 1;
/// The key with which these mirrors generate their MAC.
const FILE_KEY: u8 = 2;

impl VirtualNtag424 {
    /// The chip of `inlay`, encoded with its mirror for the tag at `tag_url`. Its next read has the
    /// counter after the inlay's.
    ///
    /// # Panics
    /// When the URL is too long for the chip.
    pub fn encoded(inlay: &VirtualInlay, tag_url: &str) -> Self {
        let mut chip = Self::new(inlay.uid);
        chip.set_key(FILE_KEY, inlay.keys.file.clone(), 0);
        chip.set_key(META_KEY, inlay.keys.for_picc_data().clone(), 0);
        chip.files.counter = inlay.counter;
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
        // Key 0 writes and changes the settings; UID and counter are mirrored as ASCII.
        let mut data = vec![0x40, 0x00, 0xE0, 0xC1, 0xFF, meta << 4 | FILE_KEY];
        for place in places {
            let place = u32::try_from(place).expect("a file is small").to_le_bytes();
            data.extend_from_slice(&place[..3]);
        }
        chip.set_ndef_settings(FileSettings::parse(&data).expect("the settings are valid"));
        chip
    }

    /// Writes a message with one URL.
    ///
    /// # Panics
    /// When it is too long for the chip.
    pub fn set_url(&mut self, url: &str) {
        self.set_message(&ndef::uri(url));
    }

    /// Writes a message, preceded by its length.
    ///
    /// # Panics
    /// When it is too long for the chip.
    pub fn set_message(&mut self, message: &[u8]) {
        let length = u16::try_from(message.len()).expect("a message is short");
        let file = &mut self.files.files[NDEF].content;
        file[..2].copy_from_slice(&length.to_be_bytes());
        file[2..][..message.len()].copy_from_slice(message);
    }

    /// Shows other settings of its NDEF file than were written, like a chip of another make.
    #[must_use]
    pub fn with_other_settings_shown(mut self) -> Self {
        self.files.files[NDEF].misshown = true;
        self
    }

    /// Sets the settings of the NDEF file.
    pub fn set_ndef_settings(&mut self, settings: FileSettings) {
        self.files.files[NDEF].settings = settings;
    }

    /// Changes the settings of the NDEF file as `ChangeFileSettings` does under key 0.
    ///
    /// # Errors
    /// The status with which the chip refuses them.
    pub fn change_ndef_settings(&mut self, data: &[u8]) -> Result<(), u16> {
        self.change(2, data)
    }

    /// The settings of the NDEF file.
    pub fn ndef_settings(&self) -> &FileSettings {
        &self.files.files[NDEF].settings
    }

    /// The content of a file, 1 to 3, as it was written.
    ///
    /// # Panics
    /// When there is no such file.
    pub fn file(&self, number: usize) -> &[u8] {
        &self.files.files[number - 1].content
    }

    /// The URL that a phone reads when the chip enters its field.
    ///
    /// # Panics
    /// When it has no message of one URL.
    pub fn read_url(&mut self) -> String {
        self.power_on();
        for select in [&SELECT_APPLICATION[..], &SELECT_NDEF] {
            assert_eq!(self.apdu(select), [0x90, 0x00]);
        }
        let mut file = self.apdu(&read_binary(0, 0));
        file.truncate(self.message_end());
        ndef::url(&file[2..]).expect("a message of one URL")
    }

    /// Sets the read counter, as if it was read that often.
    pub fn set_counter(&mut self, counter: u32) {
        self.files.counter = counter;
    }

    /// The value of the read counter.
    pub fn counter(&self) -> u32 {
        self.files.counter
    }

    fn message_end(&self) -> usize {
        let file = &self.files.files[NDEF].content;
        2 + usize::from(u16::from_be_bytes([file[0], file[1]]))
    }
}
