//! Tables of test sheets and of imports under way.

use crate::transfer::table::Kind::{Bytes, Integer, Text};
use crate::transfer::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
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
