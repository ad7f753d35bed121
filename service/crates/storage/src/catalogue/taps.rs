//! Interactions, and the rows that belong to them or follow from them.

use super::table::Backend::Postgres;
use super::table::Contents::{History, Local};
use super::table::Erasing::{Columns, Nothing, OfTag, OfTaps, Visitors};
use super::table::Kind::{Bytes, Flag, Integer, Text};
use super::table::{Table, column, derived};

/// Columns with the progress of SQLite's folding, which is complete before a move.
const FOLDED: &[&str] = &["folded_to"];

/// Clears the visitor data of interactions.
const VISITOR: &str = "client = NULL, country = '', returning_month = FALSE, \
     returning_day = FALSE, key_hash = NULL, url_digest = NULL, system = NULL, \
     language = NULL, visitor_group = NULL";

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "interactions",
        History,
        Columns(VISITOR),
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
            column("recall_group_id", Integer),
        ],
    )
    .postgres_only(&["seq"]),
    Table::new(
        "moved_history",
        Local,
        Nothing,
        1,
        &[column("id", Integer), column("newest", Integer)],
    )
    .only(Postgres),
    Table::new(
        "expired_keys",
        History,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("up_to", Integer),
            column("simulated_up_to", Integer),
            column("looked_to", Integer),
        ],
    ),
    // The fact that there was an update stays.
    Table::new(
        "updates",
        History,
        Columns("changes = '[]', request = NULL"),
        1,
        &[
            column("interaction_id", Integer),
            column("at", Integer),
            column("changes", Text),
            column("request", Bytes),
        ],
    )
    .postgres_only(&["attempt"])
    .sqlite_only(&["id"]),
    // The visitor's page named the variable.
    Table::new(
        "refused_updates",
        History,
        Columns("variable = NULL"),
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
        History,
        Nothing,
        1,
        &[
            column("interaction_id", Integer),
            column("first_at", Integer),
            column("reads", Integer),
        ],
    ),
    // A rule can depend on the visitor's country or language.
    Table::new(
        "left_out",
        History,
        Columns("rule = NULL"),
        1,
        &[
            column("interaction_id", Integer),
            column("macros", Text),
            column("rule", Integer),
        ],
    ),
    Table::new(
        "same_browser",
        History,
        OfTaps,
        1,
        &[
            column("interaction_id", Integer),
            column("earlier", Integer),
        ],
    ),
    // A photo may have a megabyte. Staff may have written about the visitor of another tap.
    Table::new(
        "staff_notes",
        History,
        OfTaps,
        1,
        &[
            column("interaction_id", Integer),
            column("at", Integer),
            column("phone", Text),
            column("note", Text),
            column("media_type", Text),
            column("digest", Text),
            column("photo", Bytes),
        ],
    )
    .batch(8),
    Table::new(
        "test_taps",
        History,
        Nothing,
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
    Table::new(
        "visits",
        History,
        Visitors,
        2,
        &[
            column("tag_id", Integer),
            column("client", Bytes),
            column("scans", Integer),
            column("last_at", Integer),
            column("last_interaction", Integer),
        ],
    )
    .postgres_only(&["before", "before_at"])
    .sqlite_only(FOLDED),
    Table {
        merged: Some(
            "(SELECT hour, reason, simulated, sum(taps)::BIGINT AS taps, 0 AS writer
              FROM tap_counts GROUP BY hour, reason, simulated) AS merged",
        ),
        ..Table::new(
            "tap_counts",
            History,
            Nothing,
            3,
            &[
                column("hour", Integer),
                column("reason", Text),
                column("simulated", Flag),
                column("taps", Integer),
                derived("writer", Integer, "0"),
            ],
        )
        .sqlite_only(FOLDED)
    },
    Table::new(
        "previews",
        History,
        Nothing,
        1,
        &[column("hour", Integer), column("previews", Integer)],
    ),
    Table::new(
        "opened_tags",
        History,
        Nothing,
        1,
        &[
            column("tag_id", Integer),
            column("at", Integer),
            column("interaction_id", Integer),
        ],
    ),
    // Visitors wrote the values.
    Table::new(
        "submissions",
        History,
        OfTag,
        1,
        &[
            column("id", Integer),
            column("at", Integer),
            column("interaction_id", Integer),
            column("tag_id", Integer),
            column("experience_id", Integer),
            column("experience_version", Integer),
            column("form", Text),
            column("verification", Text),
            column("simulated", Flag),
            column("fields", Text),
            column("folded", Text),
            column("consent", Text),
            column("refused", Text),
        ],
    )
    .numbered(),
];
