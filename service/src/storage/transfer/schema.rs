//! Every table and column that is moved, said once for both backends. A test
//! compares it with their migrations.

use super::table::Kind::{Bytes, Flag, Integer, Text};
use super::table::{Table, column, derived};

/// PostgreSQL's tables that are not moved: its time and its epoch, which start again, and how far
/// webhooks are in its order of commits, without which they are off.
pub const LEFT_OUT_POSTGRES: &[&str] = &[
    "clock",
    "configuration",
    "moved_history",
    "webhook_types",
    "webhook_states",
];

/// SQLite's tables that are not moved: its index of tags, which is made again, and how far
/// taps are folded, which is all of them; and how far webhooks are.
pub const LEFT_OUT_SQLITE: &[&str] = &["tags_search", "folded", "webhook_types", "webhook_states"];

/// How far SQLite's rows are folded. Everything is, before it is moved.
const FOLDED: &[&str] = &["folded_to"];

/// The tables of a database that are not in `found`, in the order in which they are moved.
/// `own` are those of its kind alone.
pub fn missing(own: &[&'static str], found: &[String]) -> Vec<&'static str> {
    let names = TABLES.iter().map(|table| table.name);
    names
        .chain(own.iter().copied())
        .filter(|name| found.iter().all(|one| one != name))
        .collect()
}

/// Every table, in the order in which they are moved.
pub static TABLES: &[Table] = &[
    Table::new(
        "secrets",
        1,
        &[column("name", Text), column("value", Bytes)],
    ),
    Table {
        filter: "name <> 'move'",
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
    // Before the tags: SQLite's index of tags has their former slugs, too.
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
        // What the one tap left for its own answer.
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
        // Each may be megabytes.
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
    Table::new(
        "sheets",
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("expected", Text),
            column("planned", Integer),
            column("created_at", Integer),
            column("closed_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "sheet_rows",
        2,
        &[
            column("sheet_id", Integer),
            column("position", Integer),
            column("at", Integer),
            column("row", Text),
        ],
    ),
    Table::new(
        "imports",
        1,
        &[
            column("id", Integer),
            column("state", Text),
            column("touched_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "import_rows",
        2,
        &[
            column("import_id", Integer),
            column("position", Integer),
            column("slug", Text),
            column("uid", Bytes),
            column("tag_id", Integer),
            column("experience_id", Integer),
            column("master_key_id", Integer),
            column("url_template_id", Integer),
            column("row", Text),
            column("inlay", Text),
        ],
    ),
    Table::new(
        "webhooks",
        1,
        &[
            column("id", Integer),
            column("fields", Text),
            column("secret", Bytes),
            column("previous_secret", Bytes),
            column("previous_until", Integer),
            column("created_at", Integer),
        ],
    )
    .numbered(),
    Table {
        // As that of the interactions.
        left_out: &["seq"],
        ..Table::new(
            "outbox",
            1,
            &[
                column("id", Integer),
                column("at", Integer),
                column("type", Text),
                column("tag_id", Integer),
                column("experience_id", Integer),
                column("simulated", Flag),
                column("data", Text),
            ],
        )
    }
    .numbered(),
    Table::new(
        "webhook_deliveries",
        1,
        &[
            column("id", Integer),
            column("webhook_id", Integer),
            column("event_id", Text),
            column("type", Text),
            column("at", Integer),
            column("tag_id", Integer),
            column("body", Text),
            column("waits", Flag),
            column("attempts", Integer),
            column("next_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "webhook_attempts",
        1,
        &[
            column("id", Integer),
            column("webhook_id", Integer),
            column("delivery_id", Integer),
            column("at", Integer),
            column("status", Integer),
            column("error", Text),
            column("response", Text),
            column("duration", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "encoding_roots",
        1,
        &[
            column("id", Integer),
            column("key", Bytes),
            column("key_print", Bytes),
            column("created_at", Integer),
            column("retired_at", Integer),
            column("backed_up_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "chips",
        1,
        &[
            column("uid", Bytes),
            column("confirmed", Integer),
            column("refusals", Integer),
            column("torn", Integer),
            column("refused", Text),
        ],
    ),
    Table::new(
        "chip_keys",
        3,
        &[
            column("uid", Bytes),
            column("generation", Integer),
            column("slot", Integer),
            column("state", Text),
            column("root_id", Integer),
            column("key", Bytes),
        ],
    ),
    Table::new(
        "encoding_runs",
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("settings", Text),
            column("planned", Integer),
            column("created_at", Integer),
            column("closed_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "encoding_run_tags",
        2,
        &[
            column("run_id", Integer),
            column("position", Integer),
            column("tag_id", Integer),
            column("uid", Bytes),
        ],
    ),
    Table::new(
        "encodings",
        1,
        &[
            column("id", Integer),
            column("uid", Bytes),
            column("run_id", Integer),
            column("tag_id", Integer),
            column("form", Text),
            column("generation", Integer),
            column("state", Text),
            column("reason", Text),
            column("seq", Integer),
            column("progress", Bytes),
            column("outcome", Text),
            column("created_at", Integer),
            column("updated_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "encoding_exchanges",
        2,
        &[
            column("encoding_id", Integer),
            column("number", Integer),
            column("at", Integer),
            column("name", Text),
            column("status", Integer),
        ],
    ),
];
