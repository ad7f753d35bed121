//! Webhooks, their events and attempts.

use super::table::Contents::{Configuration, History, Progress};
use super::table::Erasing::{Nothing, OfTag};
use super::table::Kind::{Bytes, Flag, Integer, Text};
use super::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
    Table::new(
        "webhooks",
        Configuration,
        Nothing,
        1,
        &[
            column("id", Integer),
            column("fields", Text),
            column("secret", Bytes).wrapped(),
            column("previous_secret", Bytes).wrapped(),
            column("previous_until", Integer),
            column("created_at", Integer),
            column("experience_ids", Text),
        ],
    )
    .numbered(),
    Table::new(
        "webhook_types",
        Progress,
        Nothing,
        2,
        &[column("type", Text), column("webhook_id", Integer)],
    ),
    Table::new(
        "webhook_states",
        Progress,
        Nothing,
        1,
        &[
            column("webhook_id", Integer),
            column("enabled", Flag),
            column("disabled", Text),
            column("tap_seq", Integer),
            column("tap_id", Integer),
            column("outbox_seq", Integer),
            column("outbox_id", Integer),
            column("again_seq", Integer),
            column("resends", Integer),
            column("waiting", Integer),
            column("kept", Integer),
            column("failures", Integer),
            column("failing_since", Integer),
            column("next_at", Integer),
            column("held_back", Flag),
            column("again_outbox_seq", Integer),
        ],
    ),
    Table::new(
        "outbox",
        History,
        OfTag,
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
    .numbered()
    .postgres_only(&["seq"]),
    // Waiting deliveries are not sent any more.
    Table::new(
        "webhook_deliveries",
        History,
        OfTag,
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
        History,
        OfTag,
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
];
