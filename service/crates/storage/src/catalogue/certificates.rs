//! Certificates of the service's own domains, and the accounts that order them.

use super::table::Contents::{Configuration, Progress};
use super::table::Erasing::Nothing;
use super::table::Kind::{Bytes, Integer, Text};
use super::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "acme_accounts",
        Configuration,
        Nothing,
        1,
        &[
            column("directory", Text),
            column("credentials", Bytes).wrapped(),
        ],
    ),
    // A moved service continues with them: an authority gives out only so many in a week.
    Table::new(
        "certificates",
        Configuration,
        Nothing,
        2,
        &[
            column("domain", Text),
            column("directory", Text),
            column("chain", Text),
            column("key", Bytes).wrapped(),
            column("valid_from", Integer),
            column("until", Integer),
        ],
    ),
    Table::new(
        "certificate_states",
        Progress,
        Nothing,
        2,
        &[
            column("domain", Text),
            column("directory", Text),
            column("attempts", Integer),
            column("failures", Integer),
            column("next_at", Integer),
            column("error", Text),
            column("token", Text),
            column("answer", Text),
        ],
    ),
];
