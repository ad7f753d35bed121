//! Beep and light of readers that let programs control them.
//!
//! A reader may beep on its own when a chip is placed on it. The owner can switch that off, together
//! with the signals here; a kiosk is always quiet. Drivers may refuse escape commands, and a reader
//! may have another firmware than its name says: no signal is worth a failed read, so errors are
//! ignored.

use std::thread;
use std::time::Duration;

use super::board::OnReader;
use super::card::Card;
use super::profile::Signalling;

/// A signal about an inlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// It was read: the green light blinks once.
    Read,
    /// It could not be read: the red light blinks, with a beep.
    Failed,
}

/// How long the light of an ACR1252U shows, as on an ACR122U.
const BLINK: Duration = Duration::from_millis(100);
/// The bit of the reader's own beep in the behaviour of an ACR1252U (`E0 00 00 21`).
const OWN_BEEP: u8 = 0x08;

impl Signal {
    /// The signal about the content of a slot.
    pub(super) fn of(on: &OnReader) -> Option<Self> {
        match on {
            OnReader::Inlay(_) => Some(Self::Read),
            OnReader::Failed(_) => Some(Self::Failed),
            OnReader::Nothing | OnReader::Unavailable | OnReader::Module => None,
        }
    }

    /// Shows the signal on the reader of a card.
    pub(super) fn show(self, card: &mut dyn Card, by: Signalling) {
        match (by, self) {
            // Bits of the third parameter: the lights afterwards (green), and the lights that blink.
            // Then the times on and off in tenths of a second, how often, and whether it beeps.
            (Signalling::PseudoApdu, Self::Read) => {
                let _ = card.transmit(&[0xFF, 0x00, 0x40, 0xAA, 0x04, 0x01, 0x01, 0x01, 0x00]);
            }
            (Signalling::PseudoApdu, Self::Failed) => {
                let _ = card.transmit(&[0xFF, 0x00, 0x40, 0x5E, 0x04, 0x01, 0x01, 0x02, 0x01]);
            }
            (Signalling::Escape, Self::Read) => blink(card, 0x02),
            (Signalling::Escape, Self::Failed) => {
                // The time in hundredths of a second.
                let _ = card.control(&[0xE0, 0x00, 0x00, 0x28, 0x01, 0x14]);
                blink(card, 0x01);
            }
        }
    }
}

/// Switches the reader's own beep on or off.
pub(super) fn set_own_beep(card: &mut dyn Card, by: Signalling, is_on: bool) {
    match by {
        Signalling::PseudoApdu => {
            let switch = if is_on { 0xFF } else { 0x00 };
            let _ = card.transmit(&[0xFF, 0x00, 0x52, switch, 0x00]);
        }
        Signalling::Escape => {
            let Ok(answer) = card.control(&[0xE0, 0x00, 0x00, 0x21, 0x00]) else {
                return;
            };
            // Other bits of the behaviour stay as they are.
            if let [0xE1, 0x00, 0x00, 0x00, 0x01, behaviour] = *answer {
                let wanted = if is_on {
                    behaviour | OWN_BEEP
                } else {
                    behaviour & !OWN_BEEP
                };
                // The reader stores it, and its memory wears out.
                if wanted != behaviour {
                    let _ = card.control(&[0xE0, 0x00, 0x00, 0x21, 0x01, wanted]);
                }
            }
            if !is_on {
                light(card, 0x00);
            }
        }
    }
}

/// Shows lights of an ACR1252U for a moment. They stay as they are set, and a green light that stays
/// would seem to be about the next inlay.
fn blink(card: &mut dyn Card, lights: u8) {
    if light(card, lights) {
        thread::sleep(BLINK);
        light(card, 0x00);
    }
}

/// Sets the lights of an ACR1252U: bit 0 is red, bit 1 is green. Returns whether its driver lets
/// that through.
fn light(card: &mut dyn Card, lights: u8) -> bool {
    card.control(&[0xE0, 0x00, 0x00, 0x29, 0x01, lights])
        .is_ok()
}
