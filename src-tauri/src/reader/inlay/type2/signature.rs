//! The maker's signature over a chip's UID (`READ_SIG`, data sheet NTAG213/215/216 rev 3.2, section
//! 10.8). If the reader does not pass the command on, it stays unknown whether the chip is genuine.

use super::super::super::apdu::Recorder;
use super::super::Original;
use super::passed::{Passed, ask};

/// The command `READ_SIG` for the first signature.
const READ_SIGNATURE: [u8; 2] = [0x3C, 0x00];
/// Length of a signature in bytes.
const SIGNATURE: usize = 32;

/// Whether the maker signed this UID.
pub(super) fn original(card: &mut Recorder<'_>, uid: [u8; 7]) -> Original {
    let signature = match ask(card, "Ask for the maker's signature", &READ_SIGNATURE) {
        Passed::Answered(signature) if signature.len() == SIGNATURE => Some(signature),
        _ => None,
    };
    Original::of(Some(uid), signature.as_deref())
}
