//! Tables of webhooks, their events and attempts, and of submissions.

use crate::transfer::table::Kind::{Bytes, Flag, Integer, Text};
use crate::transfer::table::{Table, column};

pub(super) static TABLES: &[Table] = &[
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
            column("experience_ids", Text),
        ],
    )
    .numbered(),
    Table {
        // The order of commits, as in the interactions.
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
        "submissions",
        1,
        &[
            column("id", Integer),
            column("at", Integer),
            column("interaction_id", Integer),
            column("tag_id", Integer),
            column("experience_id", Integer),
            column("experience_version", Integer),
            column("form", Text),
            column("verification", Text),
            column("simulated", Flag),
            column("fields", Text),
            column("folded", Text),
            column("consent", Text),
            column("refused", Text),
        ],
    )
    .numbered(),
];
