//! Processes around the window: its display, its driver, and the program itself.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A process that is killed when this is dropped.
pub(super) struct Killed(pub(super) Child);

pub(super) struct Display {
    pub(super) name: String,
    _server: Killed,
}

/// The program that a driver started.
pub(super) fn program_of(driver: &Killed) -> u32 {
    let driver = driver.0.id();
    let children = fs::read_to_string(format!("/proc/{driver}/task/{driver}/children"));
    let children = children.expect("the system tells a process' children");
    let first = children
        .split_whitespace()
        .next()
        .expect("the program runs");
    first.parse().expect("a process id is a number")
}

/// Whether a process has ended, even if its parent has not noticed. Its locks are released with its
/// last thread, which may end after the first one.
pub(super) fn is_over(process: u32) -> bool {
    let state = match fs::read_to_string(format!("/proc/{process}/stat")) {
        // The state follows the name, which is in brackets.
        Ok(stat) => stat.rsplit(')').next().unwrap_or_default().to_owned(),
        Err(_) => return true,
    };
    let threads = fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count);
    state.trim().starts_with('Z') && threads <= 1
}

impl Display {
    pub(super) fn new() -> Self {
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24"])
            // A server that resets after its last client refuses the next client in the meantime.
            .args(["-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed");
        let mut server = Killed(server);
        let name = format!(":{}", first_line(&mut server.0).trim());
        Self {
            name,
            _server: server,
        }
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let stdout = child.stdout.as_mut().expect("stdout is a pipe");
    BufReader::new(stdout)
        .read_line(&mut line)
        .expect("stdout is text");
    line
}
