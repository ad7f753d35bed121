//! A service in another process, which can die, hang and come back.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tapdesk_tests::free_port;
use tempfile::TempDir;

/// The program on a machine without a display, always at the same address.
pub(crate) struct Elsewhere {
    pub(crate) base: String,
    home: TempDir,
    child: Child,
}

impl Elsewhere {
    pub(crate) fn start() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let authority = format!("127.0.0.1:{}", free_port());
        Self {
            child: spawn(home.path(), &authority),
            base: format!("http://{authority}"),
            home,
        }
    }

    /// The token of its administrators.
    pub(crate) fn token(&self) -> String {
        let file: PathBuf = self.home.path().join(".local/share/tapdesk/admin.token");
        let token = std::fs::read_to_string(file).expect("the service makes its token's file");
        token.trim().to_owned()
    }

    /// Kills the process like a crash.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
    }

    pub(crate) fn start_again(&mut self) {
        let authority = self.base.trim_start_matches("http://");
        self.child = spawn(self.home.path(), authority);
    }

    /// Sends the signal of this name (`STOP`).
    pub(crate) fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &process]).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill works");
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        // It may already be dead.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the program, and waits until it listens.
fn spawn(home: &Path, authority: &str) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tapdesk"))
        .args(["--listen", authority])
        .env_clear()
        .env("HOME", home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program can be started");
    let mut lines = BufReader::new(child.stdout.as_mut().expect("stdout is a pipe")).lines();
    let listens = lines.any(|line| line.is_ok_and(|line| line.starts_with("listening on ")));
    assert!(listens, "it did not start");
    child
}
