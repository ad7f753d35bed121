//! Counts of the results of taps.

use super::table::Contents::Derived;
use super::table::Erasing::Nothing;
use super::table::Kind::{Flag, Integer, Text};
use super::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    // Totals of past taps: they say nothing of a single visitor.
    Table::new(
        "report_counts",
        Derived,
        Nothing,
        6,
        &[
            column("span", Integer),
            column("dimension", Text),
            column("slot", Integer),
            column("value", Text),
            column("experience_id", Integer),
            column("simulated", Flag),
            column("taps", Integer),
            column("updates", Integer),
            column("submissions", Integer),
        ],
    ),
    Table::new(
        "report_group_counts",
        Derived,
        Nothing,
        7,
        &[
            column("group_id", Integer),
            column("span", Integer),
            column("dimension", Text),
            column("slot", Integer),
            column("value", Text),
            column("experience_id", Integer),
            column("simulated", Flag),
            column("taps", Integer),
            column("updates", Integer),
            column("submissions", Integer),
        ],
    ),
    Table::new(
        "report_mark",
        Derived,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("seq", Integer),
            column("tap_id", Integer),
            column("folds", Integer),
        ],
    ),
    Table::new(
        "report_updates",
        Derived,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("interaction_id", Integer),
            column("submission", Flag),
        ],
    ),
];
