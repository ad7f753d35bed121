//! The figures as tables, and the goals beside what was measured.

use std::time::Duration;

use crate::commits::{Grouping, Pair};
use crate::imports::Imports;
use crate::load::Case;
use crate::turns::{Side, Turn};

const CASES: [Case; 3] = [Case::Tap, Case::Payload, Case::Update];

pub(crate) fn print(turns: &[Turn], single: &[Pair<Duration>], grouping: &Grouping) {
    cases(turns);
    commits(single, grouping);
    goals(turns, single, grouping);
}

fn cases(turns: &[Turn]) {
    println!(
        "\n64 keep-alive connections; medians of alternating turns; ratios to the bare answer"
    );
    println!(
        "{:8} {:26} {:>9} {:>6} {:>9} {:>9} {:>11} {:>6} {:>9}",
        "", "", "answers/s", "ratio", "p50 ms", "p99 ms", "CPU us/req", "ratio", "database"
    );
    for case in CASES {
        for side in Side::ALL {
            let of = |figure: fn(&Turn) -> f64| median(each(turns, case, side, figure));
            println!(
                "{:8} {:26} {:9.0} {:6.2} {:9.2} {:9.2} {:11.1} {:6.2} {:9.1}",
                format!("{case:?}").to_lowercase(),
                match side {
                    Side::Bare => "bare",
                    Side::Few => "SQLite, 1,000 tags",
                    Side::Many => "SQLite, 1,000,000 tags",
                    Side::OneNode => "PostgreSQL, one node",
                    Side::TwoNodes => "PostgreSQL, two nodes",
                    Side::ManyOnPostgres => "PostgreSQL, 1,000,000 tags",
                },
                of(|turn| turn.rate),
                ratio(turns, case, side, |turn| turn.rate),
                of(p50),
                of(p99),
                of(cpu),
                ratio(turns, case, side, cpu),
                if side.is_on_postgres() {
                    of(|turn| turn.database.as_secs_f64() * 1e6)
                } else {
                    0.0
                },
            );
        }
    }
}

fn commits(single: &[Pair<Duration>], grouping: &Grouping) {
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "\none connection's tap {:.3} ms, one fdatasync of 4 KiB {:.3} ms (p50)",
        median(single.iter().map(|pair| millis(pair.ours))),
        median(single.iter().map(|pair| millis(pair.other))),
    );
    for (database, pairs) in [
        ("SQLite", &grouping.sqlite),
        ("PostgreSQL", &grouping.postgres),
    ] {
        println!(
            "storage alone, taps/s on {database}: {:.0} with grouped commits, {:.0} with one commit each",
            median(pairs.iter().map(|pair| pair.ours)),
            median(pairs.iter().map(|pair| pair.other)),
        );
    }
}

/// Taps beside an import whose rows are stored all or none.
pub(crate) fn imports(databases: &[(&str, Imports)]) {
    let millis = |times: &[Pair<Duration>], time: fn(&Pair<Duration>) -> Duration| {
        median(times.iter().map(|pair| time(pair).as_secs_f64() * 1e3))
    };
    println!("\ntaps of 64 connections beside an import of all rows or none");
    for (database, Imports { p50, p99 }) in databases {
        println!(
            "{database:12} p50 {:7.2} ms, p99 {:7.2} ms; without it p50 {:7.2} ms, p99 {:7.2} ms",
            millis(p50, |pair| pair.ours),
            millis(p99, |pair| pair.ours),
            millis(p50, |pair| pair.other),
            millis(p99, |pair| pair.other),
        );
    }
}

fn goals(turns: &[Turn], single: &[Pair<Duration>], grouping: &Grouping) {
    let rate = |case| ratio(turns, case, Side::Few, |turn| turn.rate);
    let grouped = |pairs: &[Pair<f64>]| median(pairs.iter().map(|pair| pair.ours / pair.other));
    let syncs = median(
        single
            .iter()
            .map(|pair| pair.ours.as_secs_f64() / pair.other.as_secs_f64()),
    );
    let scale = |many, few| {
        let rates = |side| each(turns, Case::Tap, side, |turn| turn.rate);
        median(rates(many).zip(rates(few)).map(|(many, few)| many / few))
    };
    println!("\n{:62} {:>8} {:>8}", "goal", "", "measured");
    let at_least = |what: &str, goal: f64, measured: f64| {
        line(what, "at least", goal, measured, measured >= goal);
    };
    let at_most = |what: &str, goal: f64, measured: f64| {
        line(what, "at most", goal, measured, measured <= goal);
    };
    at_least("tap, of the bare answer's rate", 0.25, rate(Case::Tap));
    at_least(
        "payload, of the bare answer's rate",
        0.55,
        rate(Case::Payload),
    );
    at_least(
        "update, of the bare answer's rate",
        0.30,
        rate(Case::Update),
    );
    at_least(
        "grouped commits, of the rate of one commit per tap",
        8.0,
        grouped(&grouping.sqlite),
    );
    at_least("the same on PostgreSQL", 3.0, grouped(&grouping.postgres));
    at_most(
        "server CPU per tap, of the bare answer's",
        4.5,
        ratio(turns, Case::Tap, Side::Few, cpu),
    );
    at_most(
        "tap p99, of the bare answer's",
        5.0,
        ratio(turns, Case::Tap, Side::Few, p99),
    );
    at_most("one connection's tap p50, of one fdatasync", 1.3, syncs);
    at_least(
        "taps with 1,000,000 tags, of the rate with 1,000",
        0.75,
        scale(Side::Many, Side::Few),
    );
    at_least(
        "the same on PostgreSQL",
        0.75,
        scale(Side::ManyOnPostgres, Side::OneNode),
    );
}

fn line(what: &str, bound: &str, goal: f64, measured: f64, met: bool) {
    let verdict = if met { "met" } else { "missed" };
    println!("{what:53} {bound:>8} {goal:5.2} {measured:8.2}  {verdict}");
}

fn p50(turn: &Turn) -> f64 {
    turn.p50.as_secs_f64() * 1e3
}

fn p99(turn: &Turn) -> f64 {
    turn.p99.as_secs_f64() * 1e3
}

fn cpu(turn: &Turn) -> f64 {
    turn.cpu.as_secs_f64() * 1e6
}

/// A figure of one side in the order of the rounds.
fn each(
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
fn ratio(turns: &[Turn], case: Case, side: Side, figure: impl Fn(&Turn) -> f64 + Copy) -> f64 {
    let bare = each(turns, case, Side::Bare, figure);
    median(
        each(turns, case, side, figure)
            .zip(bare)
            .map(|(ours, bare)| ours / bare),
    )
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
