//! Test sheets, and imports under way.

use super::table::Contents::Configuration;
use super::table::Erasing::Nothing;
use super::table::Kind::{Bytes, Integer, Text};
use super::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "sheets",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("expected", Text),
            column("planned", Integer),
            column("created_at", Integer),
            column("closed_at", Integer),
            column("signed_off", Text),
        ],
    )
    .numbered(),
    Table::new(
        "sheet_rows",
        Configuration,
        Nothing,
        2,
        &[
            column("sheet_id", Integer),
            column("position", Integer),
            column("at", Integer),
            column("row", Text),
            column("recorder", Text),
        ],
    ),
    // Each photo may have a megabyte.
    Table::new(
        "sheet_photos",
        Configuration,
        Nothing,
        2,
        &[
            column("sheet_id", Integer),
            column("position", Integer),
            column("media_type", Text),
            column("digest", Text),
            column("bytes", Bytes),
        ],
    )
    .batch(8),
    Table::new(
        "imports",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("state", Text),
            column("touched_at", Integer),
        ],
    )
    .numbered(),
    // `inlay` has wrapped keys in its JSON. No such rows exist while keys are rotated.
    Table::new(
        "import_rows",
        Configuration,
        Nothing,
        2,
        &[
            column("import_id", Integer),
            column("position", Integer),
            column("slug", Text),
            column("uid", Bytes),
            column("tag_id", Integer),
            column("experience_id", Integer),
            column("group_id", Integer),
            column("master_key_id", Integer),
            column("url_template_id", Integer),
            column("row", Text),
            column("inlay", Text),
        ],
    ),
];
