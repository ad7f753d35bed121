//! Tables of interactions and their keys, and of the state that follows from them.

use crate::transfer::table::Kind::{Bytes, Flag, Integer, Text};
use crate::transfer::table::{Table, column, derived};

/// Columns with the progress of SQLite's folding, which is complete before a move.
const FOLDED: &[&str] = &["folded_to"];

pub(super) static TABLES: &[Table] = &[
    Table {
        // The order of commits only matters until webhooks got the taps.
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
        // The attempt that consumed a key only matters while it lasts.
        left_out: &["attempt"],
        // The row's position in SQLite's table, which no query uses.
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
        &[
            column("interaction_id", Integer),
            column("macros", Text),
            column("rule", Integer),
        ],
    ),
    Table::new(
        "same_browser",
        1,
        &[
            column("interaction_id", Integer),
            column("earlier", Integer),
        ],
    ),
    Table::new(
        "own_reads",
        2,
        &[
            column("inlay_id", Integer),
            column("counter", Integer),
            column("looked_at", Integer),
            column("passed", Flag),
        ],
    ),
    Table::new(
        "test_taps",
        1,
        &[
            column("tap_id", Integer),
            column("tag_id", Integer),
            column("experience_id", Integer),
            column("hour", Integer),
            column("reason", Text),
            column("origin", Text),
        ],
    ),
    Table {
        // Data of a single tap, used only for its own answer.
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
        "previews",
        1,
        &[column("hour", Integer), column("previews", Integer)],
    ),
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
