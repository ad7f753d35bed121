//! Experiences, their published versions, and their images.

use super::table::Contents::Configuration;
use super::table::Erasing::Nothing;
use super::table::Kind::{Bytes, Integer, Text};
use super::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "experiences",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("kind", Text),
            column("draft", Text),
            column("published", Integer),
            column("created_at", Integer),
            column("updated_at", Integer),
            column("deleted_at", Integer),
            column("folded", Text),
        ],
    )
    .numbered(),
    Table::new(
        "experience_versions",
        Configuration,
        Nothing,
        2,
        &[
            column("experience_id", Integer),
            column("version", Integer),
            column("name", Text),
            column("content", Text),
            column("published_at", Integer),
        ],
    )
    .batch(500),
    // Each image may have megabytes.
    Table::new(
        "images",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("experience_id", Integer),
            column("media_type", Text),
            column("bytes", Bytes),
            column("created_at", Integer),
        ],
    )
    .numbered()
    .batch(8),
];
