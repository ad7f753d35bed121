//! The chips of these tests.

use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

/// The tag URL of these inlays.
pub(crate) const TAG_URL: &str = "http://127.0.0.1:8787/t/k3v9qa";

/// An inlay with the encrypted mirror and its own keys.
pub(crate) fn inlay() -> VirtualInlay {
    chip(Mirror::Encrypted, MacFrom::None)
}

/// An encoded chip with its own keys.
pub(crate) fn bottle() -> VirtualNtag424 {
    VirtualNtag424::encoded(&inlay(), TAG_URL)
}
