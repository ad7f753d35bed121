//! Faults, and what the service makes of them: the real binary, killed, starved,
//! cut off, with its log and its files searched afterwards.

mod clock;
mod descriptors;
mod encoding;
mod endings;
mod keyring;
mod load;
mod lost_answers;
mod proxies;
mod sentinel;
mod sqlite;
mod template_hosts;
mod webhook_certificates;
mod webhooks;

use tapdesk_tests::Launch;

/// The binary.
const BINARY: &str = env!("CARGO_BIN_EXE_tapdesk-service");
/// Refusals are seen as they are, not as 429.
const REFUSALS_AS_THEY_ARE: (&str, &str) = ("TAPDESK_RATE_LIMIT", "off");

/// The binary in a new folder.
fn launch() -> Launch {
    let (name, value) = REFUSALS_AS_THEY_ARE;
    Launch::new(BINARY).env(name, value)
}
