//! What is laid down in these tests.

use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

/// Where the inlays of these tests lead.
pub(crate) const TAG_URL: &str = "http://127.0.0.1:8787/t/k3v9qa";

/// An inlay of the encrypted mirror with keys of its own.
pub(crate) fn inlay() -> VirtualInlay {
    chip(Mirror::Encrypted, MacFrom::None)
}

/// An encoded chip with keys of its own.
pub(crate) fn bottle() -> VirtualNtag424 {
    VirtualNtag424::encoded(&inlay(), TAG_URL)
}
