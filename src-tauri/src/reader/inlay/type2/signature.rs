//! The signature of a chip's maker over its UID (`READ_SIG`, data sheet NTAG213/215/216 rev 3.2,
//! section 10.8).
//!
//! PC/SC has no command for it. A reader passes it on in a transparent session (PC/SC part 3,
//! supplemental document 2.02.00), or by the `InCommunicateThru` of its controller, where it is one of
//! ACS that knows no such session (ACR122U API 2.04, section 5.1). Any other one refuses, and whether the chip is
//! original stays unknown. Nothing that goes wrong here spoils what was read before.

use super::super::super::apdu::Recorder;
use super::super::Original;

/// Bytes of a signature.
const SIGNATURE: usize = 32;
/// Begins and ends a transparent session.
const BEGIN: [u8; 8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x81, 0x00, 0x00];
const END: [u8; 8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82, 0x00, 0x00];
/// `READ_SIG` in it: data object 95 is sent to the chip, 97 is what it answers.
const EXCHANGE: [u8; 10] = [0xFF, 0xC2, 0x00, 0x01, 0x04, 0x95, 0x02, 0x3C, 0x00, 0x00];
const ANSWER: u8 = 0x97;
/// `READ_SIG` by the controller of an ACS reader, and what begins its answer: no error.
const COMMUNICATE: [u8; 9] = [0xFF, 0x00, 0x00, 0x00, 0x04, 0xD4, 0x42, 0x3C, 0x00];
const COMMUNICATED: [u8; 3] = [0xD5, 0x43, 0x00];

/// Whether the maker signed the UID. It is asked last of all: a chip that does not know the command
/// falls silent until it is activated again.
pub(super) fn original(card: &mut Recorder<'_>, uid: [u8; 7]) -> Original {
    let asked = "Ask for the maker's signature";
    let signature = if tell(card, "Begin a transparent session", &BEGIN).is_some() {
        let told = tell(card, asked, &EXCHANGE);
        // Whatever came: a reader in such a session looks for no chip.
        tell(card, "End the transparent session", &END);
        told.and_then(|told| data_object(&told, ANSWER))
    } else {
        let told = tell(card, asked, &COMMUNICATE);
        told.and_then(|told| Some(told.strip_prefix(&COMMUNICATED)?.to_vec()))
    };
    let whole = signature.filter(|signature| signature.len() == SIGNATURE);
    Original::of(Some(uid), whole.as_deref())
}

fn tell(card: &mut Recorder<'_>, asked: &str, command: &[u8]) -> Option<Vec<u8>> {
    card.send(asked, command).ok()?.ok()
}

/// The value of a data object with one byte each of tag and length.
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
