//! The costs of the desktop: the time from its start to the first paint, its idle memory, and its
//! size. Time and memory are compared with a bare window, in turns.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads time and nothing but time"
)]

mod bare;
#[expect(dead_code, reason = "a benchmark asks less of a window than tests do")]
mod window;

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tapdesk_tests::eventually;
use window::{Desk, PROGRAM, Window};

/// Number of starts of each; odd, so that one of them is the median.
const STARTS: usize = 7;
/// The highest allowed ratios to the bare window's start and memory.
const GOALS: (f64, f64) = (1.5, 1.15);

/// The measurements of a program, start by start.
#[derive(Default)]
struct Seen {
    /// Times from the start to the first paint, in milliseconds.
    paints: Vec<f64>,
    /// Memory of all processes, in MiB.
    memory: Vec<f64>,
}

impl Seen {
    async fn add(&mut self, window: Window) {
        self.paints
            .push(first_paint(&window).await.as_secs_f64() * 1_000.0);
        self.memory.push(mebibytes(memory_of(window.process)));
        window.quit().await;
    }
}

fn main() {
    if std::env::args().any(|argument| argument == bare::BARE) {
        return bare::show();
    }
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    let [ours, bare] = runtime.block_on(measure());
    let first = ours.paints[0];
    tell(
        "start to first paint",
        "ms",
        ours.paints,
        bare.paints,
        GOALS.0,
    );
    println!("    {first:.0} ms with a new database");
    tell(
        "memory (PSS of all processes)",
        "MiB",
        ours.memory,
        bare.memory,
        GOALS.1,
    );
    println!("program: {:.1} MiB", size_of(Path::new(PROGRAM)));
    match package() {
        Some(package) => println!("package: {:.1} MiB", size_of(&package)),
        None => println!("package: none is built; make deb builds it"),
    }
}

/// Measures the desktop and the bare window.
async fn measure() -> [Seen; 2] {
    let this = std::env::current_exe().expect("a program knows where it is");
    let this = this.to_str().expect("its path is text");
    let (desk, other) = (Desk::new(), Desk::new());
    let (mut ours, mut bare) = (Seen::default(), Seen::default());
    for _ in 0..STARTS {
        ours.add(desk.open_ready().await).await;
        bare.add(other.open_program(this, &[bare::BARE]).await)
            .await;
    }
    [ours, bare]
}

/// Prints one line: the medians, their ratio, and the goal.
fn tell(what: &str, unit: &str, ours: Vec<f64>, bare: Vec<f64>, goal: f64) {
    let [ours, bare] = [ours, bare].map(|mut all| {
        all.sort_unstable_by(f64::total_cmp);
        all[all.len() / 2]
    });
    println!(
        "{what}: {ours:.0} {unit}, a bare window {bare:.0} {unit}: {:.2} times (goal {goal}), medians of {STARTS}",
        ours / bare
    );
}

/// The time from the start of the process to its first paint with content.
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

/// How long a process has been running, in hundredths of a second (proc(5)).
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

/// Memory of a process and its descendants in bytes; shared memory counts once.
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

/// The newest Debian package next to the program.
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
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn size_of(path: &Path) -> f64 {
    mebibytes(path.metadata().map_or(0, |data| data.len()))
}
