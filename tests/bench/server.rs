//! A server in its own process, and the processor time that it uses.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tapdesk_tests::postgres::Cluster;
use tapdesk_tests::service::ADMIN_TOKEN;
use tokio::net::TcpStream;

use crate::bare::Answers;
use crate::fixture::Fixture;

/// The unit of times in `/proc`, `USER_HZ`: a hundredth of a second (proc(5)).
const TICK: Duration = Duration::from_millis(10);

/// The variable that names another build of the service, to compare it with this one.
const SERVICE: &str = "TAPDESK_BENCH_SERVICE";
/// The variable that names an earlier build of the service, which takes turns with this one. It
/// must have the same schema, because it runs on databases that this build made.
const BEFORE: &str = "TAPDESK_BENCH_BEFORE";

/// The earlier build of the service, if one is compared.
pub(crate) fn before() -> Option<OsString> {
    std::env::var_os(BEFORE)
}

/// A running server, which is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// The service on `fixture`'s database.
    pub(crate) fn service(fixture: &Fixture) -> Result<Self> {
        let built = env!("CARGO_BIN_EXE_tapdesk-service").into();
        Self::of_build(&std::env::var_os(SERVICE).unwrap_or(built), fixture)
    }

    /// The same by another build of the service.
    pub(crate) fn of_build(program: &OsStr, fixture: &Fixture) -> Result<Self> {
        let mut command = Command::new(program);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--database"])
            .arg(fixture.database())
            .env("TAPDESK_KEY_FILE", fixture.key_file())
            .env("TAPDESK_ADMIN_TOKEN", ADMIN_TOKEN)
            .env("TAPDESK_PRIVATE_WEBHOOKS", "1");
        Self::start(&mut command, &[])
    }

    /// The bare server, which repeats `answers`.
    pub(crate) fn bare(answers: &Answers) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        Self::start(command.arg(crate::BARE), &serde_json::to_vec(answers)?)
    }

    /// Another program, as soon as it listens on its port of the loopback.
    pub(crate) async fn of_other(command: &mut Command, port: u16) -> Result<Self> {
        const LOOK: Duration = Duration::from_millis(20);
        const LOOKS: u32 = 500;
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut server = Self { child, address };
        for _ in 0..LOOKS {
            if TcpStream::connect(address).await.is_ok() {
                return Ok(server);
            }
            if let Some(ended) = server.child.try_wait()? {
                anyhow::bail!("the program ended with {ended}");
            }
            tokio::time::sleep(LOOK).await;
        }
        anyhow::bail!("the program does not listen on port {port}")
    }

    fn start(command: &mut Command, input: &[u8]) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        // It is dropped after writing, so that the server sees the end of its input.
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

    /// Ends the server like an operator would, and waits for its end.
    pub(crate) fn end(mut self) -> Result<()> {
        self.signal("-TERM")?;
        let ended = self.child.wait()?;
        anyhow::ensure!(ended.success(), "the server ended with {ended}");
        Ok(())
    }

    /// Suspends the process until it is resumed.
    pub(crate) fn pause(&self) -> Result<()> {
        self.signal("-STOP")
    }

    /// Lets a stopped process continue.
    pub(crate) fn resume(&self) -> Result<()> {
        self.signal("-CONT")
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let process = self.child.id().to_string();
        let signalled = Command::new("kill").args([signal, &process]).status()?;
        anyhow::ensure!(signalled.success(), "the server gets its signal");
        Ok(())
    }

    /// Peak memory so far, in bytes.
    pub(crate) fn peak_memory(&self) -> Result<u64> {
        self.status("VmHWM:")
    }

    /// Present memory, in bytes.
    pub(crate) fn memory(&self) -> Result<u64> {
        self.status("VmRSS:")
    }

    /// A field of the process's memory (proc(5), `/proc/pid/status`), in bytes.
    fn status(&self, field: &str) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let found = status.lines().find_map(|line| line.strip_prefix(field));
        let kilobytes = found.and_then(|found| found.trim().strip_suffix(" kB"));
        Ok(kilobytes
            .context("the memory of a process")?
            .parse::<u64>()?
            * 1024)
    }

    /// Waits until it is idle: after a start it reads tags ahead of their taps, up to a million of
    /// them.
    pub(crate) async fn rests(&self) -> Result<()> {
        const LOOK: Duration = Duration::from_millis(500);
        let mut before = self.cpu()?;
        loop {
            tokio::time::sleep(LOOK).await;
            let now = self.cpu()?;
            // Housekeeping runs now and then.
            if now.saturating_sub(before) <= TICK {
                return Ok(());
            }
            before = now;
        }
    }

    /// Processor time so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let stat = Stat::of(&self.child.id().to_string())?;
        Ok(TICK * stat.own()?)
    }
}

/// Processor time of a database server so far: its first process, its children, and those of them
/// that have ended.
pub(crate) fn database_cpu(cluster: &Cluster) -> Result<Duration> {
    let first = cluster.server().to_string();
    let stat = Stat::of(&first)?;
    let mut ticks = stat.own()? + stat.ticks(16)? + stat.ticks(17)?;
    for process in std::fs::read_dir("/proc")? {
        let name = process?.file_name();
        // Entries that are not processes, and processes that ended in the meantime, have no such
        // file.
        if let Ok(stat) = Stat::of(&name.to_string_lossy())
            && stat.field(4)? == first
        {
            ticks += stat.own()?;
        }
    }
    Ok(TICK * ticks)
}

/// The state of a process (proc(5), `/proc/pid/stat`), from the third field on: the second is the
/// program's name in brackets, which may contain anything.
struct Stat(Vec<String>);

impl Stat {
    fn of(process: &str) -> Result<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
        let (_, fields) = stat.rsplit_once(')').context("a name in brackets")?;
        Ok(Self(fields.split_whitespace().map(str::to_owned).collect()))
    }

    fn field(&self, number: usize) -> Result<&str> {
        let field = self.0.get(number - 3).context("a field")?;
        Ok(field)
    }

    fn ticks(&self, number: usize) -> Result<u32> {
        Ok(self.field(number)?.parse()?)
    }

    /// User and system time of all threads so far.
    fn own(&self) -> Result<u32> {
        Ok(self.ticks(14)? + self.ticks(15)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
