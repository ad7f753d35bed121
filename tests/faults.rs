//! Faults, and the service's reactions: the real binary is killed, starved or cut off, and its log
//! and files are searched afterwards.

mod acme;
mod address_certificates;
mod certificates;
mod clock;
mod crowds;
mod descriptors;
mod encoding;
mod endings;
mod keyring;
mod load;
mod locked;
mod lost_answers;
mod mail_certificates;
mod mail_library;
mod proxies;
mod sentinel;
mod sqlite;
mod template_hosts;
mod webhook_certificates;
mod webhooks;

use tapdesk_tests::Launch;

/// The path of the service's binary.
const BINARY: &str = env!("CARGO_BIN_EXE_tapdesk-service");
/// Without a rate limit, so that each refused request gets its own status, and not 429.
const REFUSALS_AS_THEY_ARE: (&str, &str) = ("TAPDESK_RATE_LIMIT", "off");

/// A launch of the binary in a new folder.
fn launch() -> Launch {
    let (name, value) = REFUSALS_AS_THEY_ARE;
    Launch::new(BINARY).env(name, value)
}
