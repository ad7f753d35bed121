//! Reads an inlay: its chip, its memory, its message. One read per insertion, in one transaction.
//!
//! The chip raises its counter before the first of consecutive READ BINARY commands. So these
//! commands come last, with nothing between them.

mod codes;
mod message;
mod type2;
mod type4;

use serde::Serialize;
use tapdesk_service::inlay::Technology;
use tapdesk_service::inlay::originality::signer;
use tapdesk_service::inlay::technology::Access;
use tapdesk_service::inlay::uid::{LENGTHS, is_random};

use super::apdu::{Exchange, Recorder, hex};
use super::card::{Card, Fault};
pub use codes::Codes;
pub use message::Message;

/// Longest message that is read, in bytes.
const MESSAGE_MAX: usize = 4096;

/// Everything that was read from a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReadInlay"))]
pub struct Reading {
    /// The UID in hexadecimal; none if neither reader nor chip reports it.
    pub uid: Option<String>,
    /// Whether the UID is random each time the chip is powered.
    pub random_uid: bool,
    /// The answer to reset (ATR), in hexadecimal.
    pub atr: String,
    /// The kind of chip.
    pub chip: Chip,
    /// Bytes of memory for messages; none if unknown.
    pub memory: Option<usize>,
    /// Whether the chip's maker signed its UID.
    pub original: Original,
    /// Who may write to the chip.
    #[cfg_attr(
        test,
        ts(type = r#""open" | "key" | "partly" | "marked" | "locked" | "unknown""#)
    )]
    pub lock: Access,
    /// The codes that the chip writes into its URL.
    pub codes: Codes,
    /// The message on the chip.
    pub message: Message,
    /// The first URL in the message; none if it has no URL.
    pub url: Option<String>,
    /// A summary of the reading in one sentence.
    pub sentence: String,
}

impl Reading {
    /// Forgets the message, which was read before the chip was encoded or wiped.
    pub(super) fn was_encoded(&mut self) {
        self.lock = Access::Unknown;
        self.codes = Codes::Unknown;
        self.message = Message::Unread;
        self.url = None;
        "This chip was written a moment ago. Remove it, then place it again to read it."
            .clone_into(&mut self.sentence);
    }
}

/// A kind of chip, as far as it can be recognized. In JSON it is one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ChipKind"))]
#[serde(rename_all = "snake_case")]
pub enum Chip {
    /// A chip that reports two different UIDs, which no genuine chip does.
    Inconsistent,
    /// Another NFC Forum Type 2 tag.
    OtherType2,
    /// Another NFC Forum Type 4 tag.
    OtherType4,
    /// A card that is not an NFC Forum tag.
    Unknown,
    /// A chip that can be an inlay, by its memory or its version.
    #[serde(untagged)]
    Known(#[cfg_attr(test, ts(type = "Technology"))] Technology),
}

impl Chip {
    /// The service's technology of this chip; `None` if it has none.
    pub fn technology(self) -> Option<Technology> {
        match self {
            Self::Known(technology) => Some(technology),
            _ => None,
        }
    }

    /// The product name that people see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inconsistent => "chip with two UIDs",
            Self::OtherType2 => "Type 2 tag",
            Self::OtherType4 => "Type 4 tag",
            Self::Unknown => "card of another kind",
            Self::Known(technology) => technology.name(),
        }
    }

    /// The codes of a Type 2 chip. Not everyone may read the settings of such a chip. So the result
    /// is `Off` only if its kind cannot generate codes.
    fn codes_of_type2(self) -> Codes {
        match self.technology() {
            Some(technology) if !technology.rolls() => Codes::Off,
            _ => Codes::Unknown,
        }
    }
}

/// Whether a chip is genuine, by its maker's signature over the UID. A copy of the UID can include
/// the signature, so this verifies no tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Original {
    /// A known maker signed this UID.
    Yes,
    /// No known maker made the signature, or it belongs to another UID.
    No,
    /// The chip reports no signature, or no UID.
    Unknown,
}

impl Original {
    /// Verifies the signature that a chip reported.
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

/// Who may write to a chip, in words.
const fn access_words(access: Access) -> &'static str {
    match access {
        Access::Open => "anyone can write it",
        Access::Key => "it can be written only with its key",
        Access::Partly => "parts of it are locked",
        Access::Marked => "it is marked read-only but not locked",
        Access::Locked => "it is locked permanently",
        Access::Unknown => "its write access is unknown",
    }
}

/// The content of a card before it is described in words.
struct Contents {
    chip: Chip,
    memory: Option<usize>,
    lock: Access,
    message: Message,
    codes: Codes,
    /// The UID that the chip itself reports.
    uid: Option<[u8; 7]>,
    original: Original,
}

impl Contents {
    /// The content of a card that holds no messages.
    fn unknown() -> Self {
        Self {
            chip: Chip::Unknown,
            memory: None,
            lock: Access::Unknown,
            message: Message::None,
            codes: Codes::Unknown,
            uid: None,
            original: Original::Unknown,
        }
    }
}

/// Reads a card by its answer to reset. The log of exchanges is also returned after a failure.
pub fn read(card: &mut dyn Card, atr: &[u8]) -> (Result<Reading, Fault>, Vec<Exchange>) {
    let mut recorder = Recorder::new(card);
    let reading = identify(&mut recorder, atr);
    (reading, recorder.into_log())
}

/// The UID of the card that is on the reader now. The reader itself knows it, so the card gets no
/// command and its counter does not rise.
pub fn uid(card: &mut dyn Card) -> Result<Option<String>, Fault> {
    let uid = ask_uid(&mut Recorder::new(card))?;
    Ok(uid.as_deref().map(hex))
}

/// Whether the read got so far that the chip's counter may have risen.
pub fn may_have_counted(log: &[Exchange]) -> bool {
    let at = log
        .iter()
        .position(|one| one.asked == type4::SELECT_MESSAGE);
    at.is_some_and(|at| log.len() > at + 1)
}

/// The UID that the reader reported in a log of exchanges.
pub fn uid_in(log: &[Exchange]) -> Option<String> {
    let reported = log.first()?.answer.strip_suffix("9000")?;
    let digits = LENGTHS.map(|bytes| 2 * bytes);
    digits
        .contains(&reported.len())
        .then(|| reported.to_owned())
}

fn ask_uid(card: &mut Recorder<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let uid = card.send(
        "Ask the reader for the UID",
        &[0xFF, 0xCA, 0x00, 0x00, 0x00],
    )?;
    Ok(uid.ok().filter(|uid| LENGTHS.contains(&uid.len())))
}

fn identify(card: &mut Recorder<'_>, atr: &[u8]) -> Result<Reading, Fault> {
    let uid = ask_uid(card)?;
    let contents = if type2::is_storage_card(atr) {
        type2::read(card, atr)?
    } else {
        type4::read(card)?
    };
    let mut contents = contents.unwrap_or_else(Contents::unknown);
    let reported = contents.uid.map(|uid| uid.to_vec());
    // A genuine chip reports one UID, to the reader and on command. Two UIDs mean two sources.
    if let (Some(uid), Some(reported)) = (&uid, &reported)
        && uid.len() == reported.len()
        && uid != reported
    {
        contents.chip = Chip::Inconsistent;
    }
    let uid = uid.or(reported);
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
        (Message::Unread, _) => "was not read since it was written".to_owned(),
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
    let article = if chip.name().starts_with("NTAG") {
        "An"
    } else {
        "A"
    };
    format!(
        "{article} {} that {says}; {}.",
        chip.name(),
        access_words(*lock)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page's type of `lock` is written out, because [`Access`] is another crate's.
    #[test]
    fn the_page_knows_each_word_of_access() {
        let declared = <Reading as ts_rs::TS>::decl(&ts_rs::Config::new());
        for access in [
            Access::Open,
            Access::Key,
            Access::Partly,
            Access::Marked,
            Access::Locked,
            Access::Unknown,
        ] {
            let word = serde_json::to_string(&access).unwrap();
            assert!(declared.contains(&word), "{word} in {declared}");
        }
    }
}
