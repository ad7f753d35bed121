//! The mail server, notifications, and their messages.

use super::table::Contents::{Configuration, Progress};
use super::table::Erasing::Nothing;
use super::table::Kind::{Bytes, Flag, Integer, Text};
use super::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "mail",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("fields", Text),
            column("password", Bytes).wrapped(),
        ],
    ),
    Table::new(
        "notifications",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("fields", Text),
            column("chat", Bytes).wrapped(),
            column("created_at", Integer),
        ],
    )
    .numbered(),
    Table::new(
        "notification_states",
        Progress,
        Nothing,
        1,
        &[
            column("notification_id", Integer),
            column("outbox_seq", Integer),
            column("outbox_id", Integer),
            column("next_at", Integer),
            column("reported_until", Integer),
        ],
    ),
    // Alerts are counted, and name a tag but no visitor.
    Table::new(
        "notification_alerts",
        Progress,
        Nothing,
        2,
        &[
            column("notification_id", Integer),
            column("type", Text),
            column("alerts", Integer),
            column("first_at", Integer),
            column("last_at", Integer),
            column("message", Text),
            column("tag_id", Integer),
        ],
    ),
    // The original may still send its messages, so a copy begins without them.
    Table::new(
        "notification_messages",
        Progress,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("notification_id", Integer),
            column("at", Integer),
            column("subject", Text),
            column("text", Text),
            column("html", Text),
            column("chart", Bytes),
            column("alerts", Text),
        ],
    )
    .numbered(),
    Table::new(
        "notification_deliveries",
        Progress,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("notification_id", Integer),
            column("message_id", Integer),
            column("recipient", Text),
            column("waits", Flag),
            column("may_have_gone", Flag),
            column("attempts", Integer),
            column("next_at", Integer),
            column("tried_at", Integer),
            column("error", Text),
        ],
    )
    .numbered(),
];
