//! The installation itself: secrets, settings, the logo of its pages, admin tokens, staff phones and the audit log.

use super::table::Backend::Postgres;
use super::table::Contents::{Configuration, History, Local};
use super::table::Erasing::Nothing;
use super::table::Kind::{Bytes, Integer, Text};
use super::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "secrets",
        Configuration,
        Nothing,
        1,
        &[column("name", Text), column("value", Bytes)],
    ),
    // Each database has its own identity, and its own mark of a move.
    Table {
        filter: "name NOT IN ('move', 'identity')",
        ..Table::new(
            "settings",
            Configuration,
            Nothing,
            1,
            &[column("name", Text), column("value", Text)],
        )
    },
    Table::new(
        "page_logo",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("media_type", Text),
            column("digest", Text),
            column("created_at", Integer),
            column("bytes", Bytes),
        ],
    ),
    Table::new(
        "tokens",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("hash", Bytes),
            column("created_at", Integer),
            column("scopes", Text),
            column("experience_ids", Text),
            column("group_ids", Text),
            column("expires_at", Integer),
            column("last_used_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "phones",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("created_at", Integer),
            column("scopes", Text),
            column("group_ids", Text),
            column("expires_at", Integer),
            column("pair_hash", Bytes),
            column("pair_until", Integer),
            column("cookies", Text),
            column("paired_at", Integer),
            column("last_used_at", Integer),
        ],
    )
    .numbered(),
    // Actions of administrators. `erase_audit` erases the values that they gave a tag.
    Table::new(
        "audit",
        History,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("at", Integer),
            column("actor", Text),
            column("name", Text),
            column("address", Text),
            column("action", Text),
            column("object", Text),
            column("digest", Bytes),
            column("hash", Bytes),
            column("salt", Bytes),
            column("changes", Text),
        ],
    ),
    Table::new(
        "audit_ends",
        History,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("anchor", Integer),
            column("anchor_hash", Bytes),
            column("head", Integer),
            column("head_hash", Bytes),
        ],
    ),
    Table::new(
        "clock",
        Local,
        Nothing,
        0,
        &[column("ahead", Integer), column("stands_at", Integer)],
    )
    .only(Postgres),
    Table::new(
        "configuration",
        Local,
        Nothing,
        0,
        &[column("epoch", Integer)],
    )
    .only(Postgres),
    Table::new(
        "functions",
        Local,
        Nothing,
        1,
        &[
            column("name", Text),
            column("digest", Bytes),
            column("revision", Integer),
        ],
    )
    .only(Postgres),
];
