//! Commands of the chip itself, as readers pass them on.

use super::{REFUSED, VirtualType2, answer, status};

/// How a reader passes on commands that PC/SC does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassesOn {
    /// In a transparent session (PC/SC part 3, supplemental document 2.02.00).
    InSession,
    /// By the controller's `InCommunicateThru` (ACR122U API 2.04). Such a reader also has pseudo-APDUs
    /// for beep and light.
    ByController,
    /// By the pseudo-APDU `FF EF` of Identiv's readers (`PAPDU_ISO14443_PART3_PASS_THRU`).
    PassThrough,
}

impl VirtualType2 {
    /// The chip's own answer; `None` if it falls silent.
    fn answer_of_chip(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        let answer = match command {
            _ if self.silent => None,
            [0x60] => self.chip.version().map(Vec::from),
            [0x3C, 0x00] => self.signature.map(Vec::from),
            [0x1B, password @ ..] if password.len() == 4 => self.authenticate(password),
            _ => None,
        };
        self.silent = answer.is_none();
        answer
    }

    /// Answers the reader's commands that pass the chip's own commands on.
    pub(super) fn passed_on(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        // Objects C0: no error; 92: complete bytes; 96: the chip's state.
        let done = [0xC0, 0x03, 0x00, 0x90, 0x00];
        match (self.passes_on?, command) {
            (
                PassesOn::InSession,
                [
                    0xFF,
                    0xC2,
                    0x00,
                    0x00,
                    0x02,
                    what @ (0x81 | 0x82),
                    0x00,
                    0x00,
                ],
            ) => {
                self.in_session = *what == 0x81;
                Some(answer(&done, 0x9000))
            }
            (PassesOn::InSession, [0xFF, 0xC2, 0x00, 0x01, _, 0x95, length, rest @ ..])
                if self.in_session =>
            {
                let passed = self.answer_of_chip(rest.get(..usize::from(*length))?);
                Some(match passed {
                    Some(passed) => {
                        let length = u8::try_from(passed.len()).expect("a short answer");
                        let state = [0x92, 0x01, 0x00, 0x96, 0x02, 0x00, 0x00, 0x97, length];
                        answer(&[&done[..], &state, &passed].concat(), 0x9000)
                    }
                    // The chip did not answer in time (PC/SC part 3, supplemental document, section
                    // 4).
                    None => answer(&[0xC0, 0x03, 0x01, 0x64, 0x01], 0x9000),
                })
            }
            (PassesOn::ByController, [0xFF, 0x00, 0x40 | 0x52, ..]) => {
                self.signals.note(command);
                Some(status(0x9000))
            }
            (PassesOn::PassThrough, [0xFF, 0xEF, 0x01, 0x00, length, own @ ..])
                if own.len() == usize::from(*length) =>
            {
                Some(match self.answer_of_chip(own) {
                    Some(shown) => answer(&shown, 0x9000),
                    None => status(REFUSED),
                })
            }
            (PassesOn::ByController, [0xFF, 0x00, 0x00, 0x00, _, 0xD4, 0x42, own @ ..]) => {
                Some(match self.answer_of_chip(own) {
                    Some(shown) => answer(&[&[0xD5, 0x43, 0x00][..], &shown].concat(), 0x9000),
                    // Timeout.
                    None => answer(&[0xD5, 0x43, 0x01], 0x9000),
                })
            }
            _ => None,
        }
    }
}
