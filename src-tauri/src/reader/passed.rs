//! Commands of the chip itself, which some readers pass on, each in its own frame (see
//! [`Way`](super::profile::Way)). A failure here does not affect the data that was read before.
//!
//! A way that the reader does not have shows in its answer. Then the next one is tried, so that a
//! wrong profile costs a few commands and nothing else.

use super::apdu::{Answer, Recorder};
use super::card::{Card, Fault};
use super::profile::Way;

/// Begins and ends a transparent session.
const BEGIN: [u8; 8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x81, 0x00, 0x00];
const END: [u8; 8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82, 0x00, 0x00];
/// Data object 95 is the command to the chip, 97 is the chip's answer. C0 is the result of the
/// reader's command: the number of the object that failed, and a status.
const EXCHANGE: u8 = 0x95;
const ANSWER: u8 = 0x97;
const RESULT: u8 = 0xC0;
/// The beginning of an answer of the controller, and of a successful one.
const CONTROLLER: [u8; 2] = [0xD5, 0x43];
const COMMUNICATED: [u8; 3] = [0xD5, 0x43, 0x00];
/// The status of a command that succeeded.
const SUCCESS: u16 = 0x9000;
/// The status of readers that got no answer from the chip, and of some for a command that they do
/// not know.
const FAILED: u16 = 0x6300;
/// Statuses of readers for a command that they do not know, or not in this form.
const UNKNOWN: [u16; 7] = [0x6700, 0x6A80, 0x6A81, 0x6A86, 0x6B00, 0x6D00, 0x6E00];
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
            Tried::Answered(answer) if answer.len() > 1 => return Passed::Answered(answer),
            // The refusal of a chip has four bits, which some readers pass on as a byte. Every
            // answer to a command that is sent here is longer.
            Tried::Answered(_) | Tried::Silent => return silent(card),
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
            let begun = card.send("Begin a transparent session", &BEGIN);
            let has_begun =
                |begun: Answer| begun.status == SUCCESS && !UNKNOWN.contains(&result(&begun));
            if !begun.is_ok_and(has_begun) {
                return Tried::Refused;
            }
            let head = [0xFF, 0xC2, 0x00, 0x01, length + 2, EXCHANGE, length];
            let answer = card.send(asked, &[&head[..], command, &[0x00]].concat());
            // The session must end even after an error, because in a session the reader does not
            // detect chips.
            tell(card, "End the transparent session", &END);
            match answer {
                // It has sessions, and exchanges nothing in them.
                Ok(answer) if UNKNOWN.contains(&result(&answer)) => Tried::Refused,
                Ok(answer) => {
                    let answer = data_object(&answer.data, ANSWER);
                    answer.map_or(Tried::Silent, Tried::Answered)
                }
                Err(_) => Tried::Unclear,
            }
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
                Ok(answer) if answer.status == SUCCESS => Tried::Answered(answer.data),
                Ok(answer) if answer.status == FAILED => Tried::Unclear,
                _ => Tried::Refused,
            }
        }
    }
}

fn tell(card: &mut Recorder<'_>, asked: &str, command: &[u8]) -> Option<Vec<u8>> {
    card.send(asked, command).ok()?.ok()
}

/// The status of a command of a transparent session: that in its data object, if it has one.
fn result(answer: &Answer) -> u16 {
    let object = data_object(&answer.data, RESULT);
    match (answer.status, object.as_deref()) {
        (SUCCESS, Some(&[_, high, low])) => u16::from_be_bytes([high, low]),
        (status, _) => status,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::profile::Profile;

    /// Beginnings of commands, and the answers of a reader to them.
    type Answers = &'static [(&'static [u8], &'static [u8])];

    /// A reader with these answers. It knows no other command.
    struct Reader {
        profile: &'static Profile,
        answers: Answers,
        activations: u32,
    }

    impl Card for Reader {
        fn transmit(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault> {
            let mut answers = self.answers.iter();
            let known = answers.find(|(begin, _)| command.starts_with(begin));
            Ok(known.map_or(vec![0x6D, 0x00], |(_, answer)| answer.to_vec()))
        }

        fn reset(&mut self) -> Result<Vec<u8>, Fault> {
            self.activations += 1;
            Ok(vec![0x3B, 0x80, 0x80, 0x01, 0x01])
        }

        fn keep_alive(&mut self) -> Result<(), Fault> {
            Ok(())
        }

        fn profile(&self) -> &'static Profile {
            self.profile
        }
    }

    /// The answer to a relay, and how often the chip was activated again.
    fn relayed(name: &str, answers: Answers) -> (Vec<u8>, u32) {
        let mut reader = Reader {
            profile: Profile::of(name),
            answers,
            activations: 0,
        };
        let answer = relay(&mut reader, &[0x60]).unwrap();
        (answer, reader.activations)
    }

    /// Begins and ends of a session succeed.
    const SESSION: (&[u8], &[u8]) = (
        &[0xFF, 0xC2, 0x00, 0x00],
        &[0xC0, 0x03, 0x00, 0x90, 0x00, 0x90, 0x00],
    );
    const EXCHANGES: &[u8] = &[0xFF, 0xC2, 0x00, 0x01];
    const DIRECT: &[u8] = &[0xFF, 0x00, 0x00, 0x00];
    const PASSES: &[u8] = &[0xFF, 0xEF];

    #[test]
    fn a_refusal_that_a_reader_passes_on_as_a_byte_is_no_answer_of_the_chip() {
        let cases: [(&str, Answers); 3] = [
            (
                "ACS ACR122U",
                &[(DIRECT, &[0xD5, 0x43, 0x00, 0x00, 0x90, 0x00])],
            ),
            (
                "ACS ACR1252",
                &[
                    SESSION,
                    // Its last byte has four valid bits.
                    (
                        EXCHANGES,
                        &[
                            0xC0, 0x03, 0x00, 0x90, 0x00, 0x92, 0x01, 0x04, 0x97, 0x01, 0x00, 0x90,
                            0x00,
                        ],
                    ),
                ],
            ),
            ("uTrust 3700 F", &[(PASSES, &[0x00, 0x90, 0x00])]),
        ];
        for (name, answers) in cases {
            assert_eq!(relayed(name, answers), (SILENT.to_vec(), 1), "{name}");
        }
    }

    #[test]
    fn a_reader_that_begins_sessions_and_exchanges_nothing_does_not_make_the_chip_silent() {
        let cases: [Answers; 4] = [
            &[(EXCHANGES, &[0x6A, 0x81]), SESSION],
            &[(EXCHANGES, &[0x6D, 0x00]), SESSION],
            &[
                (EXCHANGES, &[0xC0, 0x03, 0x01, 0x6A, 0x81, 0x90, 0x00]),
                SESSION,
            ],
            // The session itself is refused, in its data object.
            &[(&[0xFF, 0xC2], &[0xC0, 0x03, 0x01, 0x6A, 0x81, 0x90, 0x00])],
        ];
        for answers in cases {
            let relayed = relayed("OMNIKEY 5022", answers);
            assert_eq!(relayed, (NOT_PASSED_ON.to_vec(), 0), "{answers:02X?}");
        }
    }

    #[test]
    fn the_next_way_is_tried_after_a_session_in_which_nothing_is_exchanged() {
        let answers: Answers = &[
            (EXCHANGES, &[0x6A, 0x81]),
            SESSION,
            (DIRECT, &[0xD5, 0x43, 0x00, 0x01, 0x02, 0x90, 0x00]),
        ];
        let expected = vec![0x01, 0x02, 0x90, 0x00];
        assert_eq!(relayed("Any reader", answers), (expected, 0));
    }

    #[test]
    fn a_chip_that_does_not_answer_in_a_session_is_silent() {
        let cases: [Answers; 2] = [
            &[
                (EXCHANGES, &[0xC0, 0x03, 0x01, 0x64, 0x01, 0x90, 0x00]),
                SESSION,
            ],
            &[(EXCHANGES, &[0x63, 0x00]), SESSION],
        ];
        for answers in cases {
            let relayed = relayed("ACS ACR1252", answers);
            assert_eq!(relayed, (SILENT.to_vec(), 1), "{answers:02X?}");
        }
    }
}
