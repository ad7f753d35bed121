//! Interactions, with their keys and what follows from them.

use crate::storage::transfer::table::Kind::{Bytes, Flag, Integer, Text};
use crate::storage::transfer::table::{Table, column, derived};

/// How far SQLite's rows are folded. Everything is, before it is moved.
const FOLDED: &[&str] = &["folded_to"];

pub(super) static TABLES: &[Table] = &[
    Table {
        // The order of commits matters until they are told.
        left_out: &["seq"],
        ..Table::new(
            "interactions",
            1,
            &[
                column("id", Integer),
                column("at", Integer),
                column("tag_id", Integer),
                column("previous", Integer),
                column("inlay_id", Integer),
                column("uid", Bytes),
                column("reason", Text),
                column("counter", Integer),
                column("last_counter", Integer),
                column("tech", Text),
                column("experience_id", Integer),
                column("experience_version", Integer),
                column("client", Bytes),
                column("country", Text),
                column("returning_month", Flag),
                column("returning_day", Flag),
                column("key_issued", Flag),
                column("simulated", Flag),
                column("tamper", Text),
                column("file_data", Bytes),
                column("key_hash", Bytes),
                column("url_digest", Bytes),
                column("system", Text),
                column("language", Text),
                column("visitor_group", Integer),
            ],
        )
    },
    Table::new(
        "expired_keys",
        1,
        &[
            column("id", Integer),
            column("up_to", Integer),
            column("simulated_up_to", Integer),
            column("looked_to", Integer),
        ],
    ),
    Table {
        // Which attempt consumed a key matters as long as that attempt lasts.
        left_out: &["attempt"],
        // Where a row lies, which nobody asks for.
        left_out_sqlite: &["id"],
        ..Table::new(
            "updates",
            1,
            &[
                column("interaction_id", Integer),
                column("at", Integer),
                column("changes", Text),
                column("request", Bytes),
            ],
        )
    },
    Table::new(
        "refused_updates",
        1,
        &[
            column("interaction_id", Integer),
            column("at", Integer),
            column("fault", Text),
            column("variable", Text),
        ],
    ),
    Table::new(
        "payload_reads",
        1,
        &[
            column("interaction_id", Integer),
            column("first_at", Integer),
            column("reads", Integer),
        ],
    ),
    Table::new(
        "left_out",
        1,
        &[column("interaction_id", Integer), column("macros", Text)],
    ),
    Table {
        // What the one tap left for its own answer.
        left_out: &["before", "before_at"],
        left_out_sqlite: FOLDED,
        ..Table::new(
            "visits",
            2,
            &[
                column("tag_id", Integer),
                column("client", Bytes),
                column("scans", Integer),
                column("last_at", Integer),
                column("last_interaction", Integer),
            ],
        )
    },
    Table {
        left_out_sqlite: FOLDED,
        merged: Some(
            "(SELECT hour, reason, simulated, sum(taps)::BIGINT AS taps, 0 AS writer
              FROM tap_counts GROUP BY hour, reason, simulated) AS merged",
        ),
        ..Table::new(
            "tap_counts",
            3,
            &[
                column("hour", Integer),
                column("reason", Text),
                column("simulated", Flag),
                column("taps", Integer),
                derived("writer", Integer, "0"),
            ],
        )
    },
    Table::new(
        "opened_tags",
        1,
        &[
            column("tag_id", Integer),
            column("at", Integer),
            column("interaction_id", Integer),
        ],
    ),
];
