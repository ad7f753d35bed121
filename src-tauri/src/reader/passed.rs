//! Commands of the chip itself, which some readers pass on, each in its own frame (see
//! [`Way`](super::profile::Way)). A failure here does not affect the data that was read before.
//!
//! A way that the reader does not have shows in its answer. Then the next one is tried, so that a
//! wrong profile costs a few commands and nothing else.

use super::apdu::Recorder;
use super::card::{Card, Fault};
use super::profile::Way;

/// Begins and ends a transparent session.
const BEGIN: [u8; 8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x81, 0x00, 0x00];
const END: [u8; 8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82, 0x00, 0x00];
/// Data object 95 is the command to the chip, 97 is the chip's answer.
const EXCHANGE: u8 = 0x95;
const ANSWER: u8 = 0x97;
/// The beginning of an answer of the controller, and of a successful one.
const CONTROLLER: [u8; 2] = [0xD5, 0x43];
const COMMUNICATED: [u8; 3] = [0xD5, 0x43, 0x00];
/// The status of readers that got no answer from the chip, and of some for a command that they do
/// not know.
const FAILED: u16 = 0x6300;
/// Statuses of a relay's answer to a command of the chip, as the admin API defines them.
const DONE: [u8; 2] = [0x90, 0x00];
const SILENT: [u8; 2] = [0x63, 0x00];
const NOT_PASSED_ON: [u8; 2] = [0x6A, 0x81];

/// The result of a command to the chip.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// The chip's answer, without the reader's frame.
    Answered(Vec<u8>),
    /// The chip refused, or did not answer. It falls silent then, so it was activated again.
    Silent,
    /// The reader does not pass commands on.
    Refused,
}

/// The result of one way.
enum Tried {
    Answered(Vec<u8>),
    Silent,
    /// The reader does not have this way.
    Refused,
    /// The reader does not have this way, or the chip is silent: both have the same answer.
    Unclear,
}

/// Sends a command of at most a few bytes to the chip.
pub(super) fn ask(card: &mut Recorder<'_>, asked: &str, command: &[u8]) -> Passed {
    let mut is_unclear = false;
    for way in card.profile().ways() {
        match try_way(way, card, asked, command) {
            Tried::Answered(answer) => return Passed::Answered(answer),
            Tried::Silent => return silent(card),
            Tried::Refused => {}
            Tried::Unclear => is_unclear = true,
        }
    }
    if is_unclear {
        silent(card)
    } else {
        Passed::Refused
    }
}

/// Sends a command of the chip for a relay. Returns the chip's answer and a status.
pub(super) fn relay(card: &mut dyn Card, command: &[u8]) -> Result<Vec<u8>, Fault> {
    // The log is dropped: it may contain a password.
    let mut recorder = Recorder::new(card);
    let passed = ask(&mut recorder, "Pass a command on", command);
    if let (Passed::Silent | Passed::Refused, Some(fault)) = (&passed, recorder.lost()) {
        return Err(fault.clone());
    }
    Ok(match passed {
        Passed::Answered(answer) => [&answer[..], &DONE].concat(),
        Passed::Silent => SILENT.to_vec(),
        Passed::Refused => NOT_PASSED_ON.to_vec(),
    })
}

fn silent(card: &mut Recorder<'_>) -> Passed {
    // The next command needs an active chip. If the chip is gone, that command fails.
    let _ = card.reset("New activation");
    Passed::Silent
}

fn try_way(way: Way, card: &mut Recorder<'_>, asked: &str, command: &[u8]) -> Tried {
    // The chip's commands have a few bytes.
    let length = u8::try_from(command.len()).unwrap_or(0);
    match way {
        Way::Session => {
            if tell(card, "Begin a transparent session", &BEGIN).is_none() {
                return Tried::Refused;
            }
            let head = [0xFF, 0xC2, 0x00, 0x01, length + 2, EXCHANGE, length];
            let answer = tell(card, asked, &[&head[..], command, &[0x00]].concat());
            // The session must end even after an error, because in a session the reader does not
            // detect chips.
            tell(card, "End the transparent session", &END);
            let answer = answer.and_then(|answer| data_object(&answer, ANSWER));
            answer.map_or(Tried::Silent, Tried::Answered)
        }
        Way::Controller => {
            let head = [0xFF, 0x00, 0x00, 0x00, length + 2, 0xD4, 0x42];
            match tell(card, asked, &[&head[..], command].concat()) {
                Some(answer) if answer.starts_with(&COMMUNICATED) => {
                    Tried::Answered(answer[COMMUNICATED.len()..].to_vec())
                }
                Some(answer) if answer.starts_with(&CONTROLLER) => Tried::Silent,
                _ => Tried::Refused,
            }
        }
        Way::PassThrough => {
            // The third byte lets the reader compute the checksum, and remove it from the answer.
            let head = [0xFF, 0xEF, 0x01, 0x00, length];
            match card.send(asked, &[&head[..], command].concat()) {
                // One byte is a refusal of the chip.
                Ok(answer) if answer.status == 0x9000 && answer.data.len() > 1 => {
                    Tried::Answered(answer.data)
                }
                Ok(answer) if answer.status == 0x9000 => Tried::Silent,
                Ok(answer) if answer.status == FAILED => Tried::Unclear,
                _ => Tried::Refused,
            }
        }
    }
}

fn tell(card: &mut Recorder<'_>, asked: &str, command: &[u8]) -> Option<Vec<u8>> {
    card.send(asked, command).ok()?.ok()
}

/// The value of a data object whose tag and length have one byte each.
fn data_object(mut objects: &[u8], wanted: u8) -> Option<Vec<u8>> {
    while let &[tag, length, ref rest @ ..] = objects {
        let (value, others) = rest.split_at_checked(usize::from(length))?;
        if tag == wanted {
            return Some(value.to_vec());
        }
        objects = others;
    }
    None
}
