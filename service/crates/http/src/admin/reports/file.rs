//! A report as a file.

use std::borrow::Cow;

use super::Found;
use super::view::{Sums, by_verdict};
use crate::admin::export::{Format, line, text_cell};
use domain::report::{Count, Dimension};

const COLUMNS: [&str; 13] = [
    "dimension",
    "value",
    "name",
    "taps",
    "updates",
    "submissions",
    "visitors",
    "programs",
    "taps_before",
    "updates_before",
    "submissions_before",
    "visitors_before",
    "programs_before",
];

/// Taps, updates, submissions, visitors and programs of a row. Empty cells are `None`.
type Numbers = [Option<u64>; 5];
const NONE: Numbers = [None; 5];

/// The file as CSV: the series first, then the dimensions.
pub(super) fn text(found: &Found) -> Vec<u8> {
    let (range, report) = (&found.range, &found.report);
    let mut text = Format::Csv.head(COLUMNS.into_iter());
    let mut add = |dimension: &str, value: &str, name: &str, numbers: (Numbers, Numbers)| {
        text.extend(row([dimension, value, name], numbers));
    };
    let (now, before) = found.totals().parts();
    add("total", "", "", (now.numbers(), before.numbers()));
    let buckets = &range.buckets;
    for (bucket, hours) in buckets.hours().enumerate() {
        let numbers = (found.bucket(bucket, hours).numbers(), NONE);
        let (start, name) = (buckets.local_start(hours.0), buckets.name(hours.0));
        add(buckets.step().as_str(), &start, &name, numbers);
    }
    for ((dimension, value), counts) in &report.values {
        let experience = value
            .parse()
            .ok()
            .filter(|_| *dimension == Dimension::Experience);
        let name = experience.and_then(|id| report.names.get(&id));
        let name = name.map_or("", String::as_str);
        add(dimension.as_str(), value, name, numbers(*counts));
    }
    for (verdict, counts) in by_verdict(report) {
        add("verdict", verdict.as_str(), "", numbers(counts));
    }
    for group in &report.groups {
        let id = group.group_id.to_string();
        add("group", &id, &group.name, numbers(group.counts));
    }
    for found in report.tags.iter().flatten() {
        let now = Sums::from(found).numbers();
        let id = found.tag.tag_id.to_string();
        add("tag", &id, &found.tag.tag_name, (now, NONE));
    }
    let (now, before) = report.test_taps;
    let tests = [
        ("reader", now.reader, before.reader),
        ("kiosk", now.kiosk, before.kiosk),
    ];
    for (origin, now, before) in tests {
        if now + before > 0 {
            let counts = (Count::taps(now), Count::taps(before));
            add("test_taps", origin, "", numbers(counts));
        }
    }
    text
}

/// The cells of counts in the period, and in the period before.
fn numbers((now, before): (Count, Count)) -> (Numbers, Numbers) {
    (Sums::from(now).numbers(), Sums::from(before).numbers())
}

/// One row of the file.
fn row(cells: [&str; 3], (now, before): (Numbers, Numbers)) -> Vec<u8> {
    let texts = cells.into_iter().map(text_cell);
    let numbers = now.into_iter().chain(before);
    let numbers = numbers.map(|number| number.map_or(Cow::Borrowed(""), |n| n.to_string().into()));
    line(texts.chain(numbers))
}
