//! What the desktop costs: from its start to the first thing on the screen, its
//! memory once it is idle, and its size. Figures of this machine, to compare
//! with one another alone.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads time and nothing but time"
)]

#[expect(dead_code, reason = "a benchmark asks less of a window than tests do")]
mod window;

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tapdesk_tests::eventually;
use window::{Desk, PROGRAM, Window};

/// How often it is started; odd, so that the median is one of them.
const STARTS: usize = 7;

#[tokio::main]
async fn main() {
    let desk = Desk::new();
    let mut paints = Vec::new();
    let mut memory = Vec::new();
    for _ in 0..STARTS {
        let window = desk.open_ready().await;
        paints.push(first_paint(&window).await);
        memory.push(memory_of(window.process));
        window.quit().await;
    }
    let first = paints[0];
    paints.sort_unstable();
    memory.sort_unstable();
    println!(
        "start to first paint: {} ms, the median of {STARTS}; {} ms with a new database",
        paints[STARTS / 2].as_millis(),
        first.as_millis()
    );
    println!(
        "memory (PSS of all its processes): {} MiB",
        memory[STARTS / 2] >> 20
    );
    println!("program: {:.1} MiB", mebibytes(Path::new(PROGRAM)));
    match package() {
        Some(package) => println!("package: {:.1} MiB", mebibytes(&package)),
        None => println!("package: none is built; make deb builds it"),
    }
}

/// From the start of the process to its first paint with content.
async fn first_paint(window: &Window) -> Duration {
    let painted = "(() => { const [paint] = performance.getEntriesByName('first-contentful-paint'); \
                   return paint ? performance.timeOrigin + paint.startTime : null; })()";
    let at = eventually("it is painted", async || {
        window.value_of(painted).await.as_f64()
    })
    .await;
    let since_start = running_for(window.process);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("it is after 1970");
    let since_paint = now.saturating_sub(Duration::from_secs_f64(at / 1_000.0));
    since_start.saturating_sub(since_paint)
}

/// How long a process has been running, to a hundredth of a second (proc(5)).
fn running_for(process: u32) -> Duration {
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let (_, after_name) = stat.rsplit_once(')').expect("the name is in brackets");
    let started = after_name
        .split_whitespace()
        .nth(19)
        .and_then(|ticks| ticks.parse::<f64>().ok());
    let uptime = fs::read_to_string("/proc/uptime").expect("the system tells its uptime");
    let uptime = uptime
        .split_whitespace()
        .next()
        .and_then(|seconds| seconds.parse::<f64>().ok());
    let running = uptime.expect("a number") - started.expect("a number") / TICKS_A_SECOND;
    Duration::try_from_secs_f64(running).unwrap_or_default()
}

/// The memory of a process and its descendants in bytes, what they share counted once.
fn memory_of(process: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let own = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let own = own.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    let children = fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let children =
        children.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children = children.map(|pids| {
        let pids = pids.split_whitespace().filter_map(|pid| pid.parse().ok());
        pids.map(memory_of).sum::<u64>()
    });
    own.unwrap_or_default() * 1024 + children.sum::<u64>()
}

/// The newest Debian package beside the program.
fn package() -> Option<std::path::PathBuf> {
    let folder = Path::new(PROGRAM).parent()?.join("bundle/deb");
    let files = fs::read_dir(folder).ok()?.flatten().map(|file| file.path());
    let packages = files.filter(|path| path.extension().is_some_and(|kind| kind == "deb"));
    packages.max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a size is shown with one decimal"
)]
fn mebibytes(path: &Path) -> f64 {
    let bytes = path.metadata().map_or(0, |data| data.len());
    bytes as f64 / f64::from(1 << 20)
}
