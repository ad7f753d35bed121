//! Prints the figures as tables.

use std::time::Duration;

use crate::Figures;
use crate::addresses::{Found, Turn as FoundTurn};
use crate::commits::{Alone, Pair};
use crate::imports::Imports;
use crate::lists::Listed;
use crate::load::Case;
use crate::memory::Seen;
use crate::redirector::{Redirected, Round};
use crate::reports::{GOAL_MILLIS, Reported};
use crate::turns::{Side, Turn};

pub(crate) fn print(figures: &Figures) {
    if !figures.turns.is_empty() {
        turns(&figures.turns);
    }
    if !figures.alone.is_empty() {
        alone(&figures.alone);
    }
    for (database, pairs) in &figures.groups {
        println!(
            "storage without HTTP, taps/s on {database}: {:.0} with grouped commits, {:.0} with one commit each",
            median(pairs.iter().map(|pair| pair.ours)),
            median(pairs.iter().map(|pair| pair.other)),
        );
    }
    for (kind, import) in [("csv", &figures.import), ("xlsx", &figures.import_xlsx)] {
        let Some(import) = import else { continue };
        let seconds = import.elapsed.as_secs_f64();
        println!(
            "\nimport of {} tags with inlays, {kind}: {seconds:.1} s, peak of memory {} MB",
            import.rows,
            import.peak / 1_000_000
        );
    }
    if !figures.imports.is_empty() {
        imports(&figures.imports);
    }
    if !figures.memory.is_empty() {
        memory(&figures.memory);
    }
    if !figures.starts.is_empty() {
        println!(
            "\nstart to ready with 1,000,000 tags: {:.3} s (median)",
            median(figures.starts.iter().map(Duration::as_secs_f64))
        );
    }
    if !figures.starts_after_crashes.is_empty() {
        println!(
            "the same after a crash, with 1,000,000 unfolded taps: {:.3} s (median)",
            median(
                figures
                    .starts_after_crashes
                    .iter()
                    .map(Duration::as_secs_f64)
            )
        );
    }
    if !figures.lists.is_empty() {
        lists(&figures.lists);
    }
    if let Some(reported) = &figures.reports {
        reports(reported);
    }
    if !figures.webhooks.is_empty() {
        webhooks(&figures.webhooks);
    }
    if !figures.addresses.is_empty() {
        addresses(&figures.addresses);
    }
    if !figures.codes.is_empty() {
        println!("\none code, from the URL's text to the verdict");
        for cost in &figures.codes {
            println!("{:45} {:9.2} us", cost.what, cost.seconds * 1e6);
        }
    }
    if let Some(redirected) = &figures.redirected {
        redirects(redirected);
    }
}

fn turns(turns: &[Turn]) {
    println!(
        "\n64 keep-alive connections; medians of alternating turns; ratios to the bare answer"
    );
    println!(
        "{:8} {:26} {:>9} {:>6} {:>9} {:>9} {:>11} {:>6} {:>9}",
        "", "", "answers/s", "ratio", "p50 ms", "p99 ms", "CPU us/req", "ratio", "database"
    );
    // The first counted round has every case on every side, in their order.
    let first = turns.iter().filter(|turn| turn.round == turns[0].round);
    for Turn { case, side, .. } in first {
        let (case, side) = (*case, *side);
        let of = |figure: fn(&Turn) -> f64| median(each(turns, case, side, figure));
        let database = if side.is_on_postgres() {
            format!("{:9.1}", of(|turn| turn.database.as_secs_f64() * 1e6))
        } else {
            String::new()
        };
        println!(
            "{:8} {:26} {:9.0} {:6.2} {:9.2} {:9.2} {:11.1} {:6.2} {database}",
            format!("{case:?}").to_lowercase(),
            side.name(),
            of(|turn| turn.rate),
            ratio(turns, case, side, |turn| turn.rate),
            of(p50),
            of(p99),
            of(cpu),
            ratio(turns, case, side, cpu),
        );
    }
}

fn alone(rounds: &[Alone]) {
    let of = |time: fn(&Alone) -> Duration| median(rounds.iter().map(|round| millis(time(round))));
    println!(
        "\none connection (p50): tap {:.3} ms, bare answer {:.3} ms; one fdatasync of 4 KiB {:.3} ms",
        of(|round| round.tap),
        of(|round| round.bare),
        of(|round| round.fdatasync),
    );
}

/// Memory and bytes on disk by the number of taps.
fn memory(seen: &[Seen]) {
    println!(
        "\n{:>12} {:>12} {:>16}",
        "taps", "memory, MB", "file, bytes/tap"
    );
    let empty = seen[0].file;
    for look in seen {
        let taps = u64::try_from(look.taps).unwrap_or(u64::MAX);
        let each = (look.file - empty).checked_div(taps).unwrap_or(0);
        println!("{taps:>12} {:>12} {each:>16}", look.memory / 1_000_000);
    }
}

/// Taps with and without an import that stores all rows or none.
fn imports(databases: &[(&str, Imports)]) {
    let of = |times: &[Pair<Duration>], time: fn(&Pair<Duration>) -> Duration| {
        median(times.iter().map(|pair| millis(time(pair))))
    };
    println!("\ntaps of 64 connections beside an import of all rows or none");
    for (database, Imports { p50, p99 }) in databases {
        println!(
            "{database:12} p50 {:7.2} ms, p99 {:7.2} ms; without it p50 {:7.2} ms, p99 {:7.2} ms",
            of(p50, |pair| pair.ours),
            of(p99, |pair| pair.ours),
            of(p50, |pair| pair.other),
            of(p99, |pair| pair.other),
        );
    }
}

fn lists(lists: &[Listed]) {
    println!("\nlists of 1,000,000 tags while 10,000 taps a second come in (median; goal)");
    for list in lists {
        println!(
            "{:35} {:8.1} ms {:8.0} ms",
            list.what,
            millis(list.median),
            list.goal_millis
        );
    }
}

fn reports(reported: &Reported) {
    let seconds = reported.counted.as_secs_f64();
    println!("\nreports of 10,000,000 taps, counted within {seconds:.0} s (median; goal)");
    for (what, median) in &reported.reports {
        println!("{what:35} {:8.1} ms {GOAL_MILLIS:8.0} ms", millis(*median));
    }
    let export = &reported.export;
    let megabytes = |bytes: u64| bytes / 1_000_000;
    let seen = export
        .seen
        .iter()
        .map(|bytes| megabytes(*bytes).to_string());
    println!(
        "export of {} rows: {:.0} rows/s; memory {} MB before, {} MB at its peak, after each million {} MB",
        export.rows,
        f64::from(u32::try_from(export.rows).unwrap_or(u32::MAX)) / export.elapsed.as_secs_f64(),
        megabytes(export.before),
        megabytes(export.peak),
        seen.collect::<Vec<_>>().join(", "),
    );
}

/// Taps with dead endpoints: a median would hide a slow round.
fn webhooks(databases: &[(&str, Vec<Pair<f64>>)]) {
    println!("\ntaps/s beside ten dead endpoints, a million events waiting for each");
    for (database, pairs) in databases {
        let ratios = || pairs.iter().map(|pair| pair.ours / pair.other);
        println!(
            "{database:12} {:8.0}; without endpoints {:8.0}; ratio {:.3}, in the slowest round {:.3}",
            median(pairs.iter().map(|pair| pair.ours)),
            median(pairs.iter().map(|pair| pair.other)),
            median(ratios()),
            ratios().fold(f64::INFINITY, f64::min),
        );
    }
}

fn addresses(ways: &[Found]) {
    println!(
        "\ntaps of 1,000,000 inlays at URL templates, by how the tag is found; ratios to the slug beside it"
    );
    println!(
        "{:50} {:>9} {:>6} {:>8} {:>8} {:>6} {:>10} {:>6}",
        "", "answers/s", "ratio", "p50 ms", "p99 ms", "ratio", "CPU us", "ratio"
    );
    for Found { way, rounds } in ways {
        let of = |figure: fn(&FoundTurn) -> f64| {
            let ours = median(rounds.iter().map(|beside| figure(&beside.ours)));
            let ratios = rounds.iter();
            let ratios = ratios.map(|beside| figure(&beside.ours) / figure(&beside.slug));
            (ours, median(ratios))
        };
        let (rate, rates) = of(|turn| turn.rate);
        let (p50, _) = of(|turn| millis(turn.p50));
        let (p99, p99s) = of(|turn| millis(turn.p99));
        let (cpu, cpus) = of(|turn| turn.cpu.as_secs_f64() * 1e6);
        println!(
            "{:50} {rate:9.0} {rates:6.2} {p50:8.2} {p99:8.2} {p99s:6.2} {cpu:10.1} {cpus:6.2}",
            way.name()
        );
    }
}

/// One side of a round of redirects.
type FoundSide = fn(&Round) -> FoundTurn;

/// Taps, redirects of another program, and the bare server.
fn redirects(redirected: &Redirected) {
    println!(
        "\ntaps of 10,000 tags beside redirects of 10,000 links; ratios to the redirects of the same rounds"
    );
    println!(
        "{:10} {:>9} {:>6} {:>8} {:>8} {:>11}",
        "", "answers/s", "ratio", "p50 ms", "p99 ms", "CPU us/req"
    );
    let sides: [(&str, FoundSide); 3] = [
        ("tap", |round| round.tap),
        ("redirect", |round| round.redirect),
        ("bare", |round| round.bare),
    ];
    let rounds = &redirected.rounds;
    for (name, side) in sides {
        let of =
            |figure: fn(&FoundTurn) -> f64| median(rounds.iter().map(|round| figure(&side(round))));
        let ratios = rounds
            .iter()
            .map(|round| side(round).rate / round.redirect.rate);
        println!(
            "{name:10} {:9.0} {:6.2} {:8.2} {:8.2} {:11.1}",
            of(|turn| turn.rate),
            median(ratios),
            of(|turn| millis(turn.p50)),
            of(|turn| millis(turn.p99)),
            of(|turn| turn.cpu.as_secs_f64() * 1e6),
        );
    }
    println!(
        "redirects in their database when the last one was answered: {:.1} %",
        redirected.stored * 100.0
    );
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn p50(turn: &Turn) -> f64 {
    millis(turn.p50)
}

pub(crate) fn p99(turn: &Turn) -> f64 {
    millis(turn.p99)
}

pub(crate) fn cpu(turn: &Turn) -> f64 {
    turn.cpu.as_secs_f64() * 1e6
}

/// A figure of one side in the order of the rounds.
pub(crate) fn each(
    turns: &[Turn],
    case: Case,
    side: Side,
    figure: impl Fn(&Turn) -> f64,
) -> impl Iterator<Item = f64> {
    turns
        .iter()
        .filter(move |turn| turn.case == case && turn.side == side)
        .map(figure)
}

/// The median of a side's ratios to the bare turns of the same rounds.
pub(crate) fn ratio(
    turns: &[Turn],
    case: Case,
    side: Side,
    figure: impl Fn(&Turn) -> f64 + Copy,
) -> f64 {
    let bare = each(turns, case, Side::Bare, figure);
    median(
        each(turns, case, side, figure)
            .zip(bare)
            .map(|(ours, bare)| ours / bare),
    )
}

pub(crate) fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
