//! What lies on the reader: its chip, its memory, what it says. One read per
//! insertion, in one transaction.
//!
//! The chip raises its counter before the first of consecutive READ BINARY
//! commands, so these come last and nothing comes between them.

mod settings;
mod type2;
mod type4;

use serde::Serialize;
use tapdesk_service::inlay::Technology;
use tapdesk_service::inlay::originality::signer;

use super::apdu::{Exchange, Recorder, hex};
use super::card::{Card, Fault};
use super::ndef::{self, Record};
pub use settings::Codes;

/// Longest message that is read, in bytes.
const MESSAGE_MAX: usize = 4096;

/// What was read of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReadInlay"))]
pub struct Reading {
    /// The number it is known by, in hexadecimal; none if neither reader nor chip tell it.
    pub uid: Option<String>,
    /// Whether that number is random each time the chip is powered.
    pub random_uid: bool,
    /// Its answer to reset, in hexadecimal.
    pub atr: String,
    /// Which chip it is.
    pub chip: Chip,
    /// Bytes of memory for messages.
    pub memory: Option<usize>,
    /// Whether its maker signed its UID.
    pub original: Original,
    /// Who may write it.
    pub lock: Lock,
    /// Which codes it writes into its URL.
    pub codes: Codes,
    /// What is written on it.
    pub message: Message,
    /// The first URL of the message.
    pub url: Option<String>,
    /// All of it in one plain sentence.
    pub sentence: String,
}

/// A chip, as far as it lets itself be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ChipKind"))]
#[serde(rename_all = "snake_case")]
pub enum Chip {
    /// NXP NTAG 424 DNA.
    #[serde(rename = "ntag424dna")]
    Ntag424Dna,
    /// NXP NTAG 213, by its capability container.
    Ntag213,
    /// NXP NTAG 215, by its capability container.
    Ntag215,
    /// NXP NTAG 216, by its capability container.
    Ntag216,
    /// NXP MIFARE Ultralight, by its capability container.
    Ultralight,
    /// A chip that names two UIDs of its own: no honest one does.
    Inconsistent,
    /// Another NFC Forum Type 2 tag.
    OtherType2,
    /// Another NFC Forum Type 4 tag.
    OtherType4,
    /// A card that is no tag.
    Unknown,
}

impl Chip {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ntag424Dna => "NTAG 424 DNA",
            Self::Ntag213 => "NTAG213",
            Self::Ntag215 => "NTAG215",
            Self::Ntag216 => "NTAG216",
            Self::Ultralight => "MIFARE Ultralight",
            Self::Inconsistent => "chip with two UIDs",
            Self::OtherType2 => "Type 2 tag",
            Self::OtherType4 => "Type 4 tag",
            Self::Unknown => "card of another kind",
        }
    }

    /// The technology that the service knows it by.
    pub fn technology(self) -> Option<Technology> {
        match self {
            Self::Ntag424Dna => Some(Technology::Ntag424Dna),
            Self::Ntag213 => Some(Technology::Ntag213),
            Self::Ntag215 => Some(Technology::Ntag215),
            Self::Ntag216 => Some(Technology::Ntag216),
            Self::Ultralight => Some(Technology::Ultralight),
            Self::Inconsistent | Self::OtherType2 | Self::OtherType4 | Self::Unknown => None,
        }
    }
}

/// Whether a chip is its maker's, by the signature over its UID. Whoever copies the UID copies
/// the signature, too: it verifies no tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Original {
    /// A maker signed this UID.
    Yes,
    /// Its signature is of no known maker, or of another UID.
    No,
    /// It tells no signature, or no UID of its own.
    Unknown,
}

impl Original {
    /// The verdict on what a chip answered.
    fn of(uid: Option<[u8; 7]>, signature: Option<&[u8]>) -> Self {
        match (uid, signature) {
            (Some(uid), Some(signature)) => match signer(&uid, signature) {
                Some(_) => Self::Yes,
                None => Self::No,
            },
            _ => Self::Unknown,
        }
    }
}

/// Who may write a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ChipLock"))]
#[serde(rename_all = "snake_case")]
pub enum Lock {
    /// Anyone.
    Open,
    /// Whoever has the key.
    Key,
    /// Parts of it nobody, ever.
    Partly,
    /// Anyone with a tool: it is marked read-only, and not locked.
    Marked,
    /// Nobody, ever.
    Locked,
    /// It does not tell.
    Unknown,
}

impl Lock {
    fn words(self) -> &'static str {
        match self {
            Self::Open => "anyone can write it",
            Self::Key => "it can be written only with its key",
            Self::Partly => "parts of it are locked",
            Self::Marked => "it is marked read-only but not locked",
            Self::Locked => "it is locked permanently",
            Self::Unknown => "its write access is unknown",
        }
    }
}

/// What is written on a chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "NdefMessage"))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Message {
    /// Records.
    Records {
        /// In their order.
        records: Vec<Record>,
    },
    /// Formatted, and nothing written.
    Blank,
    /// Never formatted for messages.
    Unformatted,
    /// It is there for whoever has the key or the password.
    Protected,
    /// Something that is no message.
    Broken {
        /// What is wrong, as a sentence.
        reason: String,
    },
    /// The card is none that holds messages.
    None,
}

/// What a card says of its memory, before it comes to words.
struct Contents {
    chip: Chip,
    memory: Option<usize>,
    lock: Lock,
    message: Message,
    codes: Codes,
    /// The UID by the chip's own account.
    uid: Option<[u8; 7]>,
    original: Original,
}

impl Contents {
    /// A card that holds no messages.
    fn unknown() -> Self {
        Self {
            chip: Chip::Unknown,
            memory: None,
            lock: Lock::Unknown,
            message: Message::None,
            codes: Codes::Off,
            uid: None,
            original: Original::Unknown,
        }
    }
}

impl Message {
    /// The message in `bytes`.
    fn parse(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::Blank;
        }
        match ndef::parse(bytes) {
            Ok(records) if records == [Record::Empty] => Self::Blank,
            Ok(records) => Self::Records { records },
            Err(error) => Self::broken(error.to_string()),
        }
    }

    fn broken(reason: impl Into<String>) -> Self {
        Self::Broken {
            reason: reason.into(),
        }
    }

    fn url(&self) -> Option<&str> {
        match self {
            Self::Records { records } => ndef::url(records),
            _ => None,
        }
    }
}

/// Reads a card by its answer to reset. The exchanges come back however it went.
pub fn read(card: &mut dyn Card, atr: &[u8]) -> (Result<Reading, Fault>, Vec<Exchange>) {
    let mut recorder = Recorder::new(card);
    let reading = identify(&mut recorder, atr);
    (reading, recorder.into_log())
}

/// The UID of the card that lies there now. The reader knows it: the card is not
/// asked, and its counter does not rise.
pub fn uid(card: &mut dyn Card) -> Result<Option<String>, Fault> {
    let uid = ask_uid(&mut Recorder::new(card))?;
    Ok(uid.as_deref().map(hex))
}

/// Whether a read went far enough for the chip's counter to rise.
pub fn may_have_counted(log: &[Exchange]) -> bool {
    let at = log
        .iter()
        .position(|one| one.asked == type4::SELECT_MESSAGE);
    at.is_some_and(|at| log.len() > at + 1)
}

/// The UID that the reader told in an exchange of commands.
pub fn uid_in(log: &[Exchange]) -> Option<String> {
    let told = log.first()?.answer.strip_suffix("9000")?;
    [8, 14, 20].contains(&told.len()).then(|| told.to_owned())
}

fn ask_uid(card: &mut Recorder<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let uid = card.send(
        "Ask the reader for the UID",
        &[0xFF, 0xCA, 0x00, 0x00, 0x00],
    )?;
    // A UID has 4, 7 or 10 bytes (ISO 14443-3).
    Ok(uid.ok().filter(|uid| [4, 7, 10].contains(&uid.len())))
}

/// A UID of four bytes that begins with 08 is random (ISO 14443-3, section 6.5.4).
fn is_random(uid: &[u8]) -> bool {
    matches!(uid, [0x08, _, _, _])
}

fn identify(card: &mut Recorder<'_>, atr: &[u8]) -> Result<Reading, Fault> {
    let uid = ask_uid(card)?;
    let contents = if type2::is_storage_card(atr) {
        type2::read(card)?
    } else {
        type4::read(card)?
    };
    let mut contents = contents.unwrap_or_else(Contents::unknown);
    let told = contents.uid.map(|uid| uid.to_vec());
    // Whoever answers for the reader and whoever answers for the chip are not the same.
    if let (Some(uid), Some(told)) = (&uid, &told)
        && uid.len() == told.len()
        && uid != told
    {
        contents.chip = Chip::Inconsistent;
    }
    let uid = uid.or(told);
    let url = contents.message.url().map(str::to_owned);
    Ok(Reading {
        random_uid: uid.as_deref().is_some_and(is_random),
        uid: uid.as_deref().map(hex),
        atr: hex(atr),
        sentence: sentence(&contents, url.as_deref()),
        chip: contents.chip,
        memory: contents.memory,
        original: contents.original,
        lock: contents.lock,
        codes: contents.codes,
        message: contents.message,
        url,
    })
}

fn sentence(contents: &Contents, url: Option<&str>) -> String {
    let Contents { chip, lock, .. } = contents;
    let says = match (&contents.message, url) {
        (Message::None, _) => {
            return "Not a tag: this card has no message that phones can read. It may be a payment card, a key card or a passport."
                .to_owned();
        }
        (_, Some(_)) => "contains a URL".to_owned(),
        (Message::Records { .. }, None) => "contains a message without a URL".to_owned(),
        (Message::Blank, _) => "is formatted and empty".to_owned(),
        (Message::Unformatted, _) => "was never formatted".to_owned(),
        (Message::Protected, _) => "has a message that can only be read with its key".to_owned(),
        (Message::Broken { reason }, _) => {
            let reason = reason.trim_end_matches('.');
            format!(
                "contains a damaged message: {}{}",
                reason[..1].to_lowercase(),
                &reason[1..]
            )
        }
    };
    let article = match chip {
        Chip::Ntag424Dna | Chip::Ntag213 | Chip::Ntag215 | Chip::Ntag216 => "An",
        _ => "A",
    };
    format!("{article} {} that {says}; {}.", chip.name(), lock.words())
}
