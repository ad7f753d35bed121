//! The maker's signature over a chip's UID (`READ_SIG`, data sheet NTAG213/215/216 rev 3.2, section
//! 10.8). If the reader does not pass the command on, it stays unknown whether the chip is genuine.

use tapdesk_service::inlay::technology::type2::{READ_SIGNATURE, SIGNATURE_LENGTH};

use super::super::super::apdu::Recorder;
use super::super::super::passed::{Passed, ask};
use super::super::Original;

/// Whether the maker signed this UID.
pub(super) fn original(card: &mut Recorder<'_>, uid: [u8; 7]) -> Original {
    let signature = match ask(card, "Ask for the maker's signature", &READ_SIGNATURE) {
        Passed::Answered(signature) if signature.len() == SIGNATURE_LENGTH => Some(signature),
        _ => None,
    };
    Original::of(Some(uid), signature.as_deref())
}
