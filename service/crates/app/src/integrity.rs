//! Subresource integrity of the scripts that pages load.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha384};

/// The value of the attribute `integrity` for a script with this text.
pub fn integrity(script: &str) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(script)))
}
