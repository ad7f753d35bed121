//! Tables of tags, inlays and experiences.

use crate::transfer::table::Kind::{Bytes, Flag, Integer, Text};
use crate::transfer::table::{Table, column, derived};

/// Columns with the progress of SQLite's folding, which is complete before a move.
const FOLDED: &[&str] = &["folded_to"];

pub(super) static TABLES: &[Table] = &[
    // Must precede the tags, because SQLite's index of tags contains former slugs, too.
    Table::new(
        "former_slugs",
        1,
        &[
            column("slug", Text),
            column("tag_id", Integer),
            column("replaced_at", Integer),
        ],
    ),
    Table {
        left_out: &["name_order"],
        ..Table::new(
            "tags",
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
                derived(
                    "folded",
                    Text,
                    "folded(name, slug, title) || coalesce((
                         SELECT group_concat(char(31) || f.slug, '' ORDER BY f.replaced_at, f.slug)
                         FROM former_slugs f WHERE f.tag_id = tags.id), '')",
                ),
            ],
        )
    }
    .numbered(),
    Table::new(
        "properties",
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
        "master_keys",
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("key", Bytes),
            column("key_print", Bytes),
            column("derivation", Text),
            column("created_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "url_templates",
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("settings", Text),
            column("first_tap_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "url_template_keys",
        2,
        &[
            column("url_template_id", Integer),
            column("key_print", Bytes),
            column("key", Bytes),
            column("master_key_id", Integer),
            column("position", Integer),
        ],
    ),
    Table::new(
        "inlays",
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
            column("meta_key", Bytes),
            column("file_key", Bytes),
            column("meta_key_print", Bytes),
            column("file_key_print", Bytes),
            column("factory_keys", Flag),
            column("simulated", Flag),
            column("created_at", Integer),
            column("updated_at", Integer),
            column("deleted_at", Integer),
            column("blocked_at", Integer),
        ],
    )
    .numbered(),
    Table {
        // Data of a single tap, used only for its own answer.
        left_out: &["before"],
        left_out_sqlite: FOLDED,
        ..Table::new(
            "counters",
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
    },
    Table::new(
        "former_counters",
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
        "experiences",
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
    Table {
        batch: 500,
        ..Table::new(
            "experience_versions",
            2,
            &[
                column("experience_id", Integer),
                column("version", Integer),
                column("name", Text),
                column("content", Text),
                column("published_at", Integer),
            ],
        )
    },
    Table {
        // Each image may have megabytes.
        batch: 8,
        ..Table::new(
            "images",
            1,
            &[
                column("id", Integer),
                column("experience_id", Integer),
                column("media_type", Text),
                column("bytes", Bytes),
                column("created_at", Integer),
            ],
        )
    }
    .numbered(),
];
