//! The script that scans one tag after the other, in browsers with Web NFC.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha384};

/// The script of staff pages. It has no texts and no secrets: the page has them.
pub const SCAN_SCRIPT: &str = include_str!("../../../../templates/staff-scan.js");

/// Subresource integrity of the script, which pages name.
pub(super) static SCAN_INTEGRITY: LazyLock<String> =
    LazyLock::new(|| format!("sha384-{}", STANDARD.encode(Sha384::digest(SCAN_SCRIPT))));
