//! Tests that this machine cannot run.

use std::fs::OpenOptions;
use std::io::Write as _;

/// Skips the running test for the reason `why`: it needs something that this machine lacks or
/// forbids. The caller returns after it.
///
/// A skipped test shows nothing, so it fails, unless the environment allows it by
/// `TAPDESK_ALLOW_SKIPS=1`. Then it is a line of the file that `TAPDESK_SKIPPED` names, and `make
/// test` counts it as skipped, not as passed.
///
/// # Panics
///
/// Unless the environment allows it.
#[track_caller]
pub fn skip(why: &str) {
    let allowed = std::env::var("TAPDESK_ALLOW_SKIPS").is_ok_and(|allowed| allowed == "1");
    assert!(
        allowed,
        "this test cannot run here: {why}. TAPDESK_ALLOW_SKIPS=1 leaves it out."
    );
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    println!("skipped {test}: {why}");
    if let Some(file) = std::env::var_os("TAPDESK_SKIPPED") {
        let list = OpenOptions::new().create(true).append(true).open(file);
        let mut list = list.expect("the list of skipped tests can be written");
        writeln!(list, "{test}: {why}").expect("the list of skipped tests can be written");
    }
}
