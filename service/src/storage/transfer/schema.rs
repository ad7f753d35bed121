//! Every table and column that is moved, said once for both backends. A test
//! compares it with their migrations.

/// A table that both backends have.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// How many of its columns, from the first on, are its key.
    pub key: usize,
    /// What is moved of a row.
    pub columns: &'static [Column],
    /// Columns that PostgreSQL has for itself and fills again.
    pub left_out: &'static [&'static str],
    /// Columns that SQLite has for itself, with a value that stands for what was moved.
    pub left_out_sqlite: &'static [&'static str],
    /// Which rows are moved, in both dialects; all where it is empty.
    pub filter: &'static str,
    /// What PostgreSQL reads instead of the table, where several of its rows are one.
    pub merged: Option<&'static str>,
    /// Whether rows are numbered by the database, and no number is given twice.
    pub numbered: bool,
    /// Rows that are copied at once.
    pub batch: u32,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// What SQLite, which has no such column, derives its values from.
    pub derived: Option<&'static str>,
}

/// What a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Integer,
    /// Yes or no; 1 or 0 in SQLite.
    Flag,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

use Kind::{Bytes, Flag, Integer, Text};

impl Table {
    /// The columns of its key.
    pub fn key_columns(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }

    const fn new(name: &'static str, key: usize, columns: &'static [Column]) -> Self {
        Self {
            name,
            key,
            columns,
            left_out: &[],
            left_out_sqlite: &[],
            filter: "",
            merged: None,
            numbered: false,
            batch: 5_000,
        }
    }

    const fn numbered(mut self) -> Self {
        self.numbered = true;
        self
    }
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column {
        name,
        kind,
        derived: None,
    }
}

const fn derived(name: &'static str, kind: Kind, from: &'static str) -> Column {
    Column {
        name,
        kind,
        derived: Some(from),
    }
}

/// PostgreSQL's tables that are not moved: its time and its epoch, which begin anew.
pub const LEFT_OUT_POSTGRES: &[&str] = &["clock", "configuration", "moved_history"];

/// SQLite's tables that are not moved: its index of tags, which is made again, and how far
/// taps are folded, which is all of them.
pub const LEFT_OUT_SQLITE: &[&str] = &["tags_search", "folded"];

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
        ],
    )
    .numbered(),
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
        // The order of commits matters until they are folded.
        left_out_sqlite: &["seq"],
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
            ],
        )
    },
    Table {
        // Which attempt consumed a key matters as long as that attempt lasts.
        left_out: &["consumed_by"],
        // A key without its interaction is good for nothing.
        filter: "interaction_id IN (SELECT id FROM interactions)",
        ..Table::new(
            "rolling_keys",
            1,
            &[
                column("interaction_id", Integer),
                column("hash", Bytes),
                column("url_digest", Bytes),
                column("issued_at", Integer),
                column("consumed_at", Integer),
                column("request", Bytes),
                derived(
                    "tag_id",
                    Integer,
                    "(SELECT tag_id FROM interactions WHERE id = interaction_id)",
                ),
                derived(
                    "simulated",
                    Flag,
                    "(SELECT simulated FROM interactions WHERE id = interaction_id)",
                ),
                derived(
                    "verified",
                    Flag,
                    "(SELECT reason = 'verified' FROM interactions WHERE id = interaction_id)",
                ),
            ],
        )
    },
    Table::new(
        "updates",
        1,
        &[
            column("interaction_id", Integer),
            column("at", Integer),
            column("changes", Text),
        ],
    ),
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
];
