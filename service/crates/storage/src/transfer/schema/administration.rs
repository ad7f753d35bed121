//! Tables of the installation itself: secrets, settings, admin tokens and the audit log.

use crate::transfer::table::Kind::{Bytes, Integer, Text};
use crate::transfer::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "secrets",
        1,
        &[column("name", Text), column("value", Bytes)],
    ),
    Table {
        // Each database has its own identity, and its own mark of a move.
        filter: "name NOT IN ('move', 'identity')",
        ..Table::new(
            "settings",
            1,
            &[column("name", Text), column("value", Text)],
        )
    },
    Table::new(
        "tokens",
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("hash", Bytes),
            column("created_at", Integer),
            column("scopes", Text),
            column("experience_ids", Text),
            column("expires_at", Integer),
            column("last_used_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "audit",
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
        1,
        &[
            column("id", Integer),
            column("anchor", Integer),
            column("anchor_hash", Bytes),
            column("head", Integer),
            column("head_hash", Bytes),
        ],
    ),
];
