//! Faults, and what the service makes of them: the real binary, killed, starved,
//! cut off, with its log and its files searched afterwards.

mod clock;
mod descriptors;
mod disk;
mod durability;
mod endings;
mod load;
mod lost_answers;
mod sentinel;

use tapdesk_tests::Launch;

/// The binary in a new folder; refusals are seen as they are, not as 429.
fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_tapdesk-service")).env("TAPDESK_RATE_LIMIT", "off")
}
