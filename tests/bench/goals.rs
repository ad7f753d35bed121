//! Compares the measurements with the goals.

use crate::addresses::{Beside, Found, Way};
use crate::codes;
use crate::load::Case;
use crate::memory::Seen;
use crate::report::{cpu, each, median, p99, ratio};
use crate::turns::{Side, Turn};
use crate::{Figures, Rates};

/// The way to judge a figure.
#[derive(Clone, Copy)]
enum Bound {
    AtLeast,
    AtMost,
}

/// A goal and its measurement.
struct Goal {
    what: &'static str,
    bound: Bound,
    target: f64,
    /// A much better value than the goal, as an ambition.
    moonshot: Option<f64>,
    /// The measurement; `None` if it was not requested.
    measured: Option<f64>,
}

const fn at_least(
    what: &'static str,
    target: f64,
    moonshot: Option<f64>,
    measured: Option<f64>,
) -> Goal {
    Goal {
        what,
        bound: Bound::AtLeast,
        target,
        moonshot,
        measured,
    }
}

const fn at_most(
    what: &'static str,
    target: f64,
    moonshot: Option<f64>,
    measured: Option<f64>,
) -> Goal {
    Goal {
        what,
        bound: Bound::AtMost,
        target,
        moonshot,
        measured,
    }
}

/// Prints the goals that were measured.
pub(crate) fn print(figures: &Figures) {
    println!(
        "\n{:56} {:>8} {:>9} {:>9} {:>9}",
        "", "", "goal", "moonshot", "measured"
    );
    let goals = [
        calls(&figures.turns),
        of_webhooks(figures),
        others(figures),
        of_reports(figures),
        of_redirects(figures),
    ];
    for goal in goals.into_iter().flatten() {
        let Some(measured) = goal.measured else {
            continue;
        };
        let moonshot = goal
            .moonshot
            .map_or_else(String::new, |figure| format!("{figure:.2}"));
        let (bound, meets) = match goal.bound {
            Bound::AtLeast => ("at least", measured >= goal.target),
            Bound::AtMost => ("at most", measured <= goal.target),
        };
        println!(
            "{:56} {bound:>8} {:9.2} {moonshot:>9} {measured:9.2}  {}",
            goal.what,
            goal.target,
            if meets { "met" } else { "missed" }
        );
    }
}

/// Goals of taps, payloads and updates.
fn calls(turns: &[Turn]) -> Vec<Goal> {
    let was_measured = |case, side| {
        turns
            .iter()
            .any(|turn| turn.case == case && turn.side == side)
    };
    let of_bare = |case, side, figure: fn(&Turn) -> f64| {
        was_measured(case, side).then(|| ratio(turns, case, side, figure))
    };
    let rate = |case, side| of_bare(case, side, |turn| turn.rate);
    let scale = |many, few| {
        let rates = |side| each(turns, Case::Tap, side, |turn| turn.rate);
        let both = was_measured(Case::Tap, many) && was_measured(Case::Tap, few);
        both.then(|| median(rates(many).zip(rates(few)).map(|(many, few)| many / few)))
    };
    let database = |side| {
        let cost = |turn: &Turn| turn.database.as_secs_f64() * 1e6;
        was_measured(Case::Tap, side).then(|| median(each(turns, Case::Tap, side, cost)))
    };
    vec![
        at_least(
            "tap : bare, 1,000 tags",
            0.42,
            Some(0.52),
            rate(Case::Tap, Side::Few),
        ),
        at_least(
            "tap, 1,000,000 : 1,000 tags",
            0.90,
            Some(1.0),
            scale(Side::Many, Side::Few),
        ),
        at_least(
            "tap, 10,000,000 : 1,000 tags",
            0.80,
            Some(0.95),
            scale(Side::Huge, Side::Few),
        ),
        at_most(
            "tap p99 at 1,000,000 tags : bare p99",
            5.0,
            Some(2.5),
            of_bare(Case::Tap, Side::Many, p99),
        ),
        at_most(
            "server CPU per tap, 1,000 tags : bare",
            4.5,
            None,
            of_bare(Case::Tap, Side::Few, cpu),
        ),
        at_least(
            "payload : bare",
            0.60,
            Some(0.75),
            rate(Case::Payload, Side::Few),
        ),
        at_least(
            "update : bare, 1,000 tags",
            0.30,
            Some(0.40),
            rate(Case::Update, Side::Few),
        ),
        at_least(
            "update : bare, 1,000,000 tags",
            0.30,
            Some(0.40),
            rate(Case::Update, Side::Many),
        ),
        at_most(
            "PostgreSQL CPU per tap, 1,000 tags, in us",
            40.0,
            None,
            database(Side::OneNode),
        ),
        at_most(
            "PostgreSQL CPU per tap, 1,000,000 tags, in us",
            80.0,
            None,
            database(Side::ManyOnPostgres),
        ),
    ]
}

/// Goals of reports and exports.
fn of_reports(figures: &Figures) -> Vec<Goal> {
    let reports = figures.reports.as_ref();
    let slowest = reports.and_then(|reported| {
        let all = reported.reports.iter().map(|(_, median)| *median);
        all.max().map(|slowest| slowest.as_secs_f64())
    });
    let bytes = |bytes: u64| f64::from(u32::try_from(bytes >> 10).unwrap_or(u32::MAX));
    let exporting = reports.and_then(|reported| {
        let seen = &reported.export.seen;
        Some(bytes(*seen.last()?) / bytes(*seen.first()?))
    });
    vec![
        at_most(
            "the slowest report of 10,000,000 taps, in s",
            1.0,
            None,
            slowest,
        ),
        at_most(
            "memory after 10,000,000 exported rows : after a tenth",
            1.1,
            None,
            exporting,
        ),
    ]
}

/// Goals of taps next to dead webhook endpoints.
fn of_webhooks(figures: &Figures) -> Vec<Goal> {
    vec![
        at_least(
            "tap, 10 dead webhooks, 1,000,000 events waiting : none",
            0.95,
            Some(1.0),
            ratio_of(&figures.webhooks, "SQLite"),
        ),
        at_least(
            "the same on PostgreSQL",
            0.95,
            Some(1.0),
            ratio_of(&figures.webhooks, "PostgreSQL"),
        ),
    ]
}

/// The goal of taps next to redirects of another program.
fn of_redirects(figures: &Figures) -> Vec<Goal> {
    let ratio = figures.redirected.as_ref().map(|redirected| {
        let rounds = redirected.rounds.iter();
        median(rounds.map(|round| round.tap.rate / round.redirect.rate))
    });
    vec![at_least(
        "tap : redirect of chhoto-url, 10,000 entries",
        2.0,
        Some(2.5),
        ratio,
    )]
}

/// The median of a database's ratios, if it was measured.
fn ratio_of(rates: &Rates, database: &str) -> Option<f64> {
    let (_, pairs) = rates.iter().find(|(name, _)| *name == database)?;
    Some(median(pairs.iter().map(|pair| pair.ours / pair.other)))
}

/// Goals of all other measurements.
#[expect(clippy::too_many_lines, reason = "each goal, one after the other")]
fn others(figures: &Figures) -> Vec<Goal> {
    let alone = figures.alone.iter().map(|round| {
        let ours = round.tap.saturating_sub(round.bare);
        ours.as_secs_f64() / round.fdatasync.as_secs_f64()
    });
    let alone = (!figures.alone.is_empty()).then(|| median(alone));
    let way = |way| figures.addresses.iter().find(|found| found.way == way);
    let picc = way(Way::Picc(1)).map(|found| {
        let ratio = |beside: &Beside| beside.ours.p99.as_secs_f64() / beside.slug.p99.as_secs_f64();
        median(found.rounds.iter().map(ratio))
    });
    let cpu = |found: &Found| {
        let ours = found.rounds.iter().map(|beside| beside.ours.cpu);
        median(ours.map(|cpu| cpu.as_secs_f64()))
    };
    let nobody = way(Way::Nothing(64)).map(cpu);
    let nobody = nobody.zip(way(Way::Picc(64)).map(cpu));
    // No slower than the build before; two runs of one build differ by more than this.
    let before = way(Way::SlugBefore).map(|found| {
        let ratio = |beside: &Beside| beside.slug.cpu.as_secs_f64() / beside.ours.cpu.as_secs_f64();
        median(found.rounds.iter().map(ratio))
    });
    let grouped = way(Way::Grouped).map(|found| {
        let ratio = |beside: &Beside| beside.ours.cpu.as_secs_f64() / beside.slug.cpu.as_secs_f64();
        median(found.rounds.iter().map(ratio))
    });
    let aes = figures.codes.iter().find(|cost| cost.what == codes::AES);
    let import = figures.import.as_ref();
    let rows = import.map(|import| f64::from(import.rows) / import.elapsed.as_secs_f64());
    // The number of megabytes is small enough to be exact.
    let peak = import
        .map(|import| f64::from(u32::try_from(import.peak >> 10).unwrap_or(u32::MAX)) * 1.024e-3);
    let starts = figures.starts.iter().map(std::time::Duration::as_secs_f64);
    let starts = (!figures.starts.is_empty()).then(|| median(starts));
    let crashes = figures.starts_after_crashes.iter();
    let crashes = crashes.map(std::time::Duration::as_secs_f64);
    let crashes = (!figures.starts_after_crashes.is_empty()).then(|| median(crashes));
    let megabytes =
        |seen: &Seen| f64::from(u32::try_from(seen.memory >> 10).unwrap_or(u32::MAX)) * 1.024e-3;
    // Every tag was tapped in the first half, so growth in the second half would not end.
    let memory = &figures.memory;
    let grown = memory
        .last()
        .map(|last| megabytes(last) / megabytes(&memory[memory.len() / 2]));
    vec![
        at_most(
            "CPU of a tap by slug : by the earlier build",
            1.02,
            None,
            before,
        ),
        at_most(
            "CPU of a tap led by groups of four levels : by itself",
            1.05,
            None,
            grouped,
        ),
        at_most(
            "memory after 10,000,000 taps : after half of them",
            1.05,
            None,
            grown,
        ),
        at_most(
            "(one connection's tap - bare) : fdatasync, p50",
            1.5,
            Some(1.25),
            alone,
        ),
        at_least(
            "grouped commits : one commit per tap, SQLite",
            8.0,
            None,
            ratio_of(&figures.groups, "SQLite"),
        ),
        at_least(
            "the same on PostgreSQL",
            4.0,
            None,
            ratio_of(&figures.groups, "PostgreSQL"),
        ),
        at_most(
            "tap p99, 1,000,000 inlays behind one address : slug",
            1.2,
            Some(1.0),
            picc,
        ),
        at_most(
            "CPU, PICC data of other keys : valid, 64 keys",
            1.0,
            None,
            nobody.map(|(nobody, tap)| nobody / tap),
        ),
        at_most(
            "one code in AES mode, in us",
            1.0,
            None,
            aes.map(|cost| cost.seconds * 1e6),
        ),
        at_least(
            "import, rows a second with inlay keys",
            40_000.0,
            Some(100_000.0),
            rows,
        ),
        at_most("import, peak of memory in MB", 150.0, None, peak),
        at_most(
            "start to ready with 1,000,000 tags, in s",
            0.3,
            Some(0.1),
            starts,
        ),
        at_most(
            "the same after a crash, 1,000,000 unfolded taps, in s",
            2.0,
            None,
            crashes,
        ),
    ]
}
