//! Tags, their groups with their images, their slugs, and their properties.

use super::table::Backend::Sqlite;
use super::table::Contents::{Configuration, Derived};
use super::table::Erasing::Nothing;
use super::table::Kind::{Bytes, Flag, Integer, Text};
use super::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "former_slugs",
        Configuration,
        Nothing,
        1,
        &[
            column("slug", Text),
            column("tag_id", Integer),
            column("replaced_at", Integer),
        ],
    ),
    Table::new(
        "tags",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("slug", Text),
            column("name", Text),
            column("title", Text),
            column("description", Text),
            column("language_code", Text),
            column("status", Text),
            column("experience_id", Integer),
            column("group_id", Integer),
            column("verifier_enabled", Flag),
            column("updates_require_verified", Flag),
            column("track_location", Flag),
            column("has_qr_code", Flag),
            column("simulated", Flag),
            column("location", Text),
            column("widget_settings", Text),
            column("created_at", Integer),
            column("updated_at", Integer),
            column("deleted_at", Integer),
            column("folded", Text),
        ],
    )
    .numbered()
    .postgres_only(&["name_order"]),
    Table::new(
        "tag_groups",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("parent_id", Integer),
            column("kind", Text),
            column("name", Text),
            column("folded", Text),
            column("code", Text),
            column("gtin", Text),
            column("status", Text),
            column("experience_id", Integer),
            column("recall_experience_id", Integer),
            column("title", Text),
            column("description", Text),
            column("language_code", Text),
            column("attributes", Text),
            column("data", Text),
            column("variables", Text),
            column("tag_count", Integer),
            column("created_at", Integer),
            column("updated_at", Integer),
        ],
    )
    .numbered(),
    // Each image may have megabytes.
    Table::new(
        "group_images",
        Configuration,
        Nothing,
        1,
        &[
            column("group_id", Integer),
            column("media_type", Text),
            column("digest", Text),
            column("created_at", Integer),
            column("bytes", Bytes),
        ],
    )
    .batch(8),
    // A value that a visitor wrote into a variable belongs to the tag, because the owner's page
    // asked for it. It is marked, so that no event and no later record contains it.
    Table::new(
        "properties",
        Configuration,
        Nothing,
        3,
        &[
            column("tag_id", Integer),
            column("class", Text),
            column("key", Text),
            column("value", Text),
            column("erased", Flag),
        ],
    ),
    Table::new(
        "tags_search",
        Derived,
        Nothing,
        0,
        &[column("folded", Text)],
    )
    .only(Sqlite),
];
