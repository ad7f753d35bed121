//! A server as a process of its own, and the processor time it has used.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::bare::Answers;
use crate::fixture::Fixture;

/// The unit of times in `/proc`, `USER_HZ`: a hundredth of a second (proc(5)).
const TICK: Duration = Duration::from_millis(10);

/// A running server. Dropped, it is killed.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// The service on `fixture`'s database.
    pub(crate) fn service(fixture: &Fixture) -> Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tapdesk-service"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--database"])
            .arg(format!("sqlite:{}", fixture.database().display()));
        Self::start(&mut command, &[])
    }

    /// The bare server that gives `answers`.
    pub(crate) fn bare(answers: &Answers) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        Self::start(command.arg(crate::BARE), &serde_json::to_vec(answers)?)
    }

    fn start(command: &mut Command, input: &[u8]) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        // Dropped after writing: the server sees the end of its input.
        child
            .stdin
            .take()
            .context("stdin is a pipe")?
            .write_all(input)?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("stdout is a pipe")?).read_line(&mut line)?;
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .context("the server did not start")?
            .parse()?;
        Ok(Self { child, address })
    }

    /// User and system time of all threads so far (proc(5), `/proc/pid/stat`,
    /// fields 14 and 15).
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The second field is the program's name in brackets, and may hold anything.
        let (_, fields) = stat.rsplit_once(')').context("a name in brackets")?;
        let fields: Vec<_> = fields.split_whitespace().collect();
        let ticks =
            |field: usize| anyhow::Ok(fields.get(field - 3).context("a field")?.parse::<u32>()?);
        Ok(TICK * (ticks(14)? + ticks(15)?))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
