//! Chip commands that have no counterpart in PC/SC.
//!
//! A reader passes them on in a transparent session (PC/SC part 3, supplemental document 2.02.00).
//! Readers of ACS without such sessions pass them on by the `InCommunicateThru` of their controller
//! (ACR122U API 2.04, section 5.1). All other readers refuse. A failure here does not affect the
//! data that was read before.

use super::super::super::apdu::Recorder;

/// Begins and ends a transparent session.
const BEGIN: [u8; 8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x81, 0x00, 0x00];
const END: [u8; 8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82, 0x00, 0x00];
/// Data object 95 is the command to the chip, 97 is the chip's answer.
const EXCHANGE: u8 = 0x95;
const ANSWER: u8 = 0x97;
/// Prefix of a successful answer by the controller.
const COMMUNICATED: [u8; 3] = [0xD5, 0x43, 0x00];

/// The result of a command to the chip.
pub(super) enum Passed {
    /// The chip's answer, without the reader's frame.
    Answered(Vec<u8>),
    /// The chip did not answer. A chip falls silent after an unknown command, so it was activated
    /// again.
    Silent,
    /// The reader does not pass commands on.
    Refused,
}

/// Sends a command of at most a few bytes to the chip.
pub(super) fn ask(card: &mut Recorder<'_>, asked: &str, command: &[u8]) -> Passed {
    // The chip's commands have one or two bytes.
    let length = u8::try_from(command.len()).unwrap_or(0);
    let answer = if tell(card, "Begin a transparent session", &BEGIN).is_some() {
        let head = [0xFF, 0xC2, 0x00, 0x01, length + 2, EXCHANGE, length];
        let answer = tell(card, asked, &[&head[..], command, &[0x00]].concat());
        // The session must end even after an error, because in a session the reader does not detect
        // chips.
        tell(card, "End the transparent session", &END);
        answer.and_then(|answer| data_object(&answer, ANSWER))
    } else {
        let head = [0xFF, 0x00, 0x00, 0x00, length + 2, 0xD4, 0x42];
        let Some(answer) = tell(card, asked, &[&head[..], command].concat()) else {
            return Passed::Refused;
        };
        answer.strip_prefix(&COMMUNICATED).map(<[u8]>::to_vec)
    };
    if let Some(answer) = answer {
        return Passed::Answered(answer);
    }
    // The next command needs an active chip. If the chip is gone, that command fails.
    let _ = card.reset("New activation");
    Passed::Silent
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
