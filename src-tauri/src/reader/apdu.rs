//! Commands and answers, each logged with its time and a description. Reading needs no key. The
//! data of commands that authenticate or change something is not logged: a session that the factory
//! key opened reveals every key that was sent in it.

use serde::Serialize;
use tapdesk_service::clock::Stopwatch;
use tapdesk_service::inlay::ev2::is_secret;

use super::card::{Card, Fault};
use super::profile::Profile;

/// One command and its answer, for the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Exchange {
    /// A description of the command.
    pub asked: String,
    /// The command in hexadecimal.
    pub command: String,
    /// The answer in hexadecimal, with its status word at the end; empty if none came.
    pub answer: String,
    /// A description of the status, or of the failure.
    pub said: String,
    /// How long it took, in microseconds.
    pub micros: u64,
}

/// A complete answer of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The bytes before the status word.
    pub data: Vec<u8>,
    /// The status word, as in `0x9000`.
    pub status: u16,
}

impl Answer {
    /// The data, if the status word is a success.
    pub fn ok(self) -> Option<Vec<u8>> {
        matches!(self.status, 0x9000 | 0x9100).then_some(self.data)
    }

    /// Whether the status word asks for a key or a password.
    pub fn is_locked(&self) -> bool {
        // Sources: ISO 7816-4; the chip's own; storage cards behind a reader (PC/SC part 3).
        matches!(self.status, 0x6982 | 0x6985 | 0x91AE | 0x919D | 0x6300)
    }
}

/// A card with a log of all exchanges.
pub struct Recorder<'c> {
    card: &'c mut dyn Card,
    log: Vec<Exchange>,
    /// Whether `AF` continues a command whose data is secret.
    in_secret: bool,
    /// The first fault after which the card is not usable any more.
    lost: Option<Fault>,
}

impl<'c> Recorder<'c> {
    /// Wraps `card` with an empty log.
    pub fn new(card: &'c mut dyn Card) -> Self {
        Self {
            card,
            log: Vec::new(),
            in_secret: false,
            lost: None,
        }
    }

    /// How the card's reader differs from PC/SC.
    pub(super) fn profile(&self) -> &'static Profile {
        self.card.profile()
    }

    /// The first fault after which the card is not usable any more; `None` if there was none.
    pub(super) fn lost(&self) -> Option<&Fault> {
        self.lost.as_ref()
    }

    fn note_fault(&mut self, fault: &Fault) {
        // The others can be a reader's way to refuse one command.
        let is_refusal = matches!(fault, Fault::Unsupported | Fault::Other(_));
        if !is_refusal && self.lost.is_none() {
            self.lost = Some(fault.clone());
        }
    }

    /// Returns the log of all exchanges.
    pub fn into_log(self) -> Vec<Exchange> {
        self.log
    }

    /// Activates the card again. The exchange is logged.
    pub fn reset(&mut self, asked: &str) -> Result<(), Fault> {
        let watch = Stopwatch::start();
        let outcome = self.card.reset();
        if let Err(fault) = &outcome {
            self.note_fault(fault);
        }
        let micros = u64::try_from(watch.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.log.push(Exchange {
            asked: asked.to_owned(),
            command: String::new(),
            answer: hex(outcome.as_deref().unwrap_or_default()),
            said: match &outcome {
                Ok(_) => "done".to_owned(),
                Err(fault) => fault.to_string(),
            },
            micros,
        });
        outcome.map(|_| ())
    }

    /// Sends a command. An answer of fewer than two bytes means that the card was removed.
    pub fn send(&mut self, asked: &str, command: &[u8]) -> Result<Answer, Fault> {
        let watch = Stopwatch::start();
        let outcome = self.card.transmit(command);
        let micros = u64::try_from(watch.elapsed().as_micros()).unwrap_or(u64::MAX);
        let whole = outcome.as_deref().unwrap_or_default();
        let answer = match (&outcome, whole.split_last_chunk::<2>()) {
            (Err(fault), _) => Err(fault.clone()),
            (Ok(_), None) => Err(Fault::Removed),
            (Ok(_), Some((data, status))) => Ok(Answer {
                data: data.to_vec(),
                status: u16::from_be_bytes(*status),
            }),
        };
        if let Err(fault) = &answer {
            self.note_fault(fault);
        }
        self.in_secret = is_secret(command, self.in_secret);
        let (command, shown) = if self.in_secret {
            let status = whole.len().saturating_sub(2);
            (
                format!("{}…", hex(&command[..2.min(command.len())])),
                format!("…{}", hex(&whole[status..])),
            )
        } else {
            (hex(command), hex(whole))
        };
        self.log.push(Exchange {
            asked: asked.to_owned(),
            command,
            answer: shown,
            said: match &answer {
                Ok(answer) => status_words(answer.status).to_owned(),
                Err(fault) => fault.to_string(),
            },
            micros,
        });
        answer
    }
}

/// Bytes as upper-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    base16ct::upper::encode_string(bytes)
}

/// Describes a status word (ISO 7816-4, data sheet `NT4H2421Gx` section 10.4.1).
fn status_words(status: u16) -> &'static str {
    match status {
        0x9000 | 0x9100 => "done",
        0x91AF => "there is more",
        0x6300 => "failed, or a password is needed",
        0x6700 | 0x917E => "wrong length",
        0x6982 | 0x91AE => "a key is needed",
        0x6985 | 0x919D => "not allowed",
        0x6986 => "no file is selected",
        0x6A81 | 0x6A86 => "not supported",
        0x6A82 | 0x91F0 => "there is no such file",
        0x6B00 | 0x91BE => "beyond the end of the file",
        0x6D00 | 0x6E00 | 0x911C => "unknown command",
        _ => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Says(Result<Vec<u8>, Fault>);

    impl Card for Says {
        fn transmit(&mut self, _: &[u8]) -> Result<Vec<u8>, Fault> {
            self.0.clone()
        }

        fn reset(&mut self) -> Result<Vec<u8>, Fault> {
            self.0.clone()
        }

        fn keep_alive(&mut self) -> Result<(), Fault> {
            Ok(())
        }
    }

    #[test]
    fn authentications_new_keys_and_settings_are_noted_without_their_data() {
        const SECRET: u8 = 0xEE;
        let mut card = Says(Ok(vec![SECRET, SECRET, 0x91, 0xAF]));
        let mut recorder = Recorder::new(&mut card);
        for [class, command] in [
            [0x90, 0x71],
            [0x90, 0xAF],
            [0x90, 0x77],
            [0x90, 0xAF],
            [0x90, 0xC4],
            [0x90, 0x5F],
            [0x90, 0x5C],
        ] {
            let command = [class, command, 0, 0, 2, SECRET, SECRET, 0];
            recorder.send("Something secret", &command).unwrap();
        }
        // Reading the version continues with AF as well.
        recorder.send("Version", &[0x90, 0x60, 0, 0, 0]).unwrap();
        recorder.send("Version", &[0x90, 0xAF, 0, 0, 0]).unwrap();
        let log = recorder.into_log();
        let (secret, open) = log.split_at(7);
        assert!(secret.iter().all(|one| one.answer == "…91AF"
            && one.command.starts_with("90")
            && !format!("{one:?}").contains("EE")));
        assert!(open.iter().all(|one| one.answer == "EEEE91AF"));
    }

    #[test]
    fn an_answer_too_short_for_a_status_is_that_of_a_card_that_left() {
        for short in [vec![], vec![0x90]] {
            let mut card = Says(Ok(short));
            let mut recorder = Recorder::new(&mut card);
            assert_eq!(recorder.send("UID", &[0xFF]), Err(Fault::Removed));
        }
    }

    #[test]
    fn every_exchange_is_noted_in_words() {
        let mut card = Says(Ok(vec![0x01, 0x6A, 0x82]));
        let mut recorder = Recorder::new(&mut card);
        let answer = recorder.send("Select the file", &[0x00, 0xA4]).unwrap();
        assert_eq!((answer.ok(), recorder.log.len()), (None, 1));
        let Exchange {
            command,
            answer,
            said,
            ..
        } = &recorder.into_log()[0];
        assert_eq!((command.as_str(), answer.as_str()), ("00A4", "016A82"));
        assert_eq!(said, "there is no such file");
    }
}
