//! The script of staff pages: it refuses photos that are too large, and scans one tag after the other in
//! browsers with Web NFC.

use std::sync::LazyLock;

use crate::integrity::integrity;

/// The script of staff pages. It has no texts and no secrets: the page has them.
pub const SCAN_SCRIPT: &str = include_str!("../../../../templates/staff-scan.js");

/// Subresource integrity of the script, which pages name.
pub(super) static SCAN_INTEGRITY: LazyLock<String> = LazyLock::new(|| integrity(SCAN_SCRIPT));
