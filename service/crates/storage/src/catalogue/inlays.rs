//! Inlays, their keys, counters and URL templates.

use super::table::Backend::Sqlite;
use super::table::Contents::{Configuration, Derived, History, Local};
use super::table::Erasing::Nothing;
use super::table::Kind::{Bytes, Flag, Integer, Text};
use super::table::{Table, column};

/// Columns with the progress of SQLite's folding, which is complete before a move.
const FOLDED: &[&str] = &["folded_to"];

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "master_keys",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("key", Bytes).wrapped(),
            column("key_print", Bytes),
            column("derivation", Text),
            column("created_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "url_templates",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("settings", Text),
            column("first_tap_at", Integer),
            column("unlisted", Text),
            column("create_limit", Integer),
            column("experience_id", Integer),
            column("group_id", Integer),
            column("file_key", Bytes).wrapped(),
            column("file_key_print", Bytes),
            column("created_on", Integer),
            column("created", Integer),
            column("limited_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "url_template_keys",
        Configuration,
        Nothing,
        2,
        &[
            column("url_template_id", Integer),
            column("position", Integer),
            column("key_print", Bytes),
            column("key", Bytes).wrapped(),
            column("master_key_id", Integer),
            column("opens", Flag),
        ],
    ),
    Table::new(
        "inlays",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("uid", Bytes),
            column("technology", Text),
            column("mode", Text),
            column("url_template_id", Integer),
            column("tag_id", Integer),
            column("mirror", Text),
            column("mac_from", Text),
            column("master_key_id", Integer),
            column("meta_key", Bytes).wrapped(),
            column("file_key", Bytes).wrapped(),
            column("meta_key_print", Bytes),
            column("file_key_print", Bytes),
            column("factory_keys", Flag),
            column("simulated", Flag),
            column("created_at", Integer),
            column("updated_at", Integer),
            column("deleted_at", Integer),
            column("blocked_at", Integer),
            column("other_keys", Bytes).wrapped(),
            column("other_keys_print", Bytes),
        ],
    )
    .numbered(),
    Table::new("inlays_search", Derived, Nothing, 0, &[column("uid", Text)]).only(Sqlite),
    Table::new(
        "counters",
        History,
        Nothing,
        1,
        &[
            column("inlay_id", Integer),
            column("key_version", Integer),
            column("last", Integer),
            column("seen", Integer),
            column("risen_on", Integer),
            column("risen", Integer),
        ],
    )
    .postgres_only(&["before"])
    .sqlite_only(FOLDED),
    Table::new("folded", Local, Nothing, 0, &[column("up_to", Integer)]).only(Sqlite),
    Table::new(
        "former_counters",
        History,
        Nothing,
        3,
        &[
            column("inlay_id", Integer),
            column("file_key_print", Bytes),
            column("meta_key_print", Bytes),
            column("last", Integer),
            column("seen", Integer),
        ],
    ),
    Table::new(
        "virtual_inlays",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("inlay_id", Integer),
            column("counter", Integer),
            column("created_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "own_reads",
        History,
        Nothing,
        2,
        &[
            column("inlay_id", Integer),
            column("counter", Integer),
            column("looked_at", Integer),
            column("passed", Flag),
        ],
    ),
    Table::new(
        "unlisted_chips",
        History,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("uid", Bytes),
            column("url_template_id", Integer),
            column("technology", Text),
            column("meta_key_print", Bytes),
            column("file_key_print", Bytes),
            column("last", Integer),
            column("first_seen_at", Integer),
            column("last_seen_at", Integer),
            column("taps", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "tap_made_inlays",
        History,
        Nothing,
        1,
        &[
            column("inlay_id", Integer),
            column("tag_id", Integer),
            column("url_template_id", Integer),
            column("made_at", Integer),
        ],
    ),
];
