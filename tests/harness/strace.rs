//! Processes under strace: a trace of their system calls, or their end during one.

use std::process::Command;

use crate::process::Launch;
use crate::skip::skip;

/// Whether this machine can trace; if not, the running test is skipped.
pub fn can_trace() -> bool {
    let traced = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .output();
    let can = traced.is_ok_and(|output| output.status.success());
    if !can {
        skip("strace is missing, or may not trace here");
    }
    can
}

impl Launch {
    /// The same under strace with `options`.
    #[must_use]
    pub fn under_strace(mut self, options: &[&str]) -> Self {
        // -D: the service is the child and receives the signals; strace runs beside it.
        let strace = ["strace", "-D", "-f"].iter().chain(options).chain(&["--"]);
        let strace: Vec<_> = strace.map(|&word| word.to_owned()).collect();
        self.command.splice(0..0, strace);
        self
    }

    /// Starts the service, and kills it with SIGKILL in the `nth` `call` that one of its threads
    /// makes. Returns whether it was killed before it listened.
    ///
    /// # Panics
    ///
    /// When it refuses to start.
    pub async fn is_killed_in(&self, call: &str, nth: usize) -> bool {
        let trace = format!("trace={call}");
        let inject = format!("inject={call}:signal=SIGKILL:when={nth}");
        let options = ["-o", "/dev/null", "-e", &trace, "-e", &inject];
        let said = self.log().len();
        let started = self.clone().under_strace(&options).try_start().await;
        let said = self.log().split_off(said);
        assert!(!said.contains("tapdesk-service: "), "{call} {nth}: {said}");
        started.is_none()
    }
}
