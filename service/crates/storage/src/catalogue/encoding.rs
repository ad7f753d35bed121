//! Encodings, keys on chips, encoding runs and factory orders.

use super::table::Contents::{Configuration, History};
use super::table::Erasing::Nothing;
use super::table::Kind::{Bytes, Integer, Text};
use super::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    // Chips, and who encodes them: no visitor data.
    Table::new(
        "encoding_roots",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("key", Bytes).wrapped(),
            column("key_print", Bytes),
            column("created_at", Integer),
            column("retired_at", Integer),
            column("backed_up_at", Integer),
            column("compromised_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "chips",
        Configuration,
        Nothing,
        1,
        &[
            column("uid", Bytes),
            column("confirmed", Integer),
            column("refusals", Integer),
            column("torn", Integer),
            column("refused", Text),
            column("bureau", Integer),
        ],
    ),
    Table::new(
        "chip_keys",
        Configuration,
        Nothing,
        3,
        &[
            column("uid", Bytes),
            column("generation", Integer),
            column("slot", Integer),
            column("state", Text),
            column("root_id", Integer),
            column("key", Bytes).wrapped(),
        ],
    ),
    Table::new(
        "encoding_runs",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("settings", Text),
            column("planned", Integer),
            column("created_at", Integer),
            column("closed_at", Integer),
            column("variables_added", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "encoding_run_tags",
        Configuration,
        Nothing,
        2,
        &[
            column("run_id", Integer),
            column("position", Integer),
            column("tag_id", Integer),
            column("uid", Bytes),
            column("skipped_at", Integer),
        ],
    ),
    Table::new(
        "factory_orders",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("name", Text),
            column("settings", Text),
            column("created_at", Integer),
            column("exported_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "factory_order_positions",
        Configuration,
        Nothing,
        2,
        &[
            column("order_id", Integer),
            column("position", Integer),
            column("tag_id", Integer),
            column("uid", Bytes),
            column("received_at", Integer),
        ],
    ),
    Table::new(
        "factory_order_keys",
        Configuration,
        Nothing,
        3,
        &[
            column("order_id", Integer),
            column("position", Integer),
            column("slot", Integer),
            column("key", Bytes).wrapped(),
        ],
    ),
    Table::new(
        "encodings",
        Configuration,
        Nothing,
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
            column("progress", Bytes).wrapped(),
            column("outcome", Text),
            column("created_at", Integer),
            column("updated_at", Integer),
            column("token_id", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "encoding_exchanges",
        History,
        Nothing,
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
