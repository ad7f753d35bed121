//! SQL that erases a tag's visitors, by the effects in the [catalogue](super::catalogue).

use super::catalogue::Erasing::{Columns, OfTaps};
use super::catalogue::{Table, tables};
use domain::clock::Millis;

/// Statements that delete rows about the tag `?1`, to run in this order, in the shared dialect.
pub(super) const OF_TAG: [&str; 5] = [
    "DELETE FROM outbox WHERE tag_id = ?1",
    "UPDATE webhook_states SET
         waiting = waiting - (SELECT count(*) FROM webhook_deliveries d
             WHERE d.webhook_id = webhook_states.webhook_id AND d.tag_id = ?1 AND d.waits),
         kept = kept - (SELECT count(*) FROM webhook_deliveries d
             WHERE d.webhook_id = webhook_states.webhook_id AND d.tag_id = ?1 AND NOT d.waits)
     WHERE webhook_id IN (SELECT webhook_id FROM webhook_deliveries WHERE tag_id = ?1)",
    "DELETE FROM webhook_attempts
     WHERE delivery_id IN (SELECT id FROM webhook_deliveries WHERE tag_id = ?1)",
    "DELETE FROM webhook_deliveries WHERE tag_id = ?1",
    "DELETE FROM submissions WHERE tag_id = ?1",
];

/// Counts an erasure, in its commit. Deliveries are made from data read earlier: those whose read
/// saw another count are not stored, because they may contain erased data.
pub(super) const ERASED: &str = "INSERT INTO settings (name, value) VALUES ('erasures', '1')
     ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(settings.value AS BIGINT) + 1 AS TEXT)";

/// The number of erasures so far; no row before the first.
pub(super) const ERASURES: &str =
    "SELECT CAST(value AS BIGINT) FROM settings WHERE name = 'erasures'";

/// How long the data that identifies a client is kept (decisions, "Payload retrieval").
pub const CLIENTS_KEPT: Millis = Millis::days(30);

/// The time before which all interactions have lost their client, in the shared dialect.
pub(super) const CLIENTS_ERASED_TO: &str =
    "SELECT CAST(value AS BIGINT) FROM settings WHERE name = 'clients_erased_to'";

/// Stores the time that [`CLIENTS_ERASED_TO`] reads.
pub(super) const SET_CLIENTS_ERASED_TO: &str =
    "INSERT INTO settings (name, value) VALUES ('clients_erased_to', CAST(CAST(?1 AS BIGINT) AS TEXT))
     ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// How far that time may lag while there is nothing to erase, so that an idle database is not
/// written to.
pub(super) const CLIENTS_LAG: Millis = Millis::days(1);

/// Statements that clear the visitor data of interactions, one for each table. Each ends before the
/// key: the caller appends a condition to the `WHERE id` or similar.
pub(super) fn clearing() -> impl Iterator<Item = String> {
    tables().filter_map(|table| match table.erasing {
        Columns(columns) => Some(format!(
            "UPDATE {} SET {columns} WHERE {}",
            table.name,
            key(table)
        )),
        OfTaps => Some(format!("DELETE FROM {} WHERE {}", table.name, key(table))),
        _ => None,
    })
}

/// Statements that delete the rows belonging to interactions, in the same form.
pub(super) fn removing_events() -> impl Iterator<Item = String> {
    let events = tables().filter(|table| key(table) == "interaction_id");
    events.map(|table| format!("DELETE FROM {} WHERE {}", table.name, key(table)))
}

fn key(table: &Table) -> &'static str {
    table.columns[0].name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Erasing::{OfTag, Visitors};

    #[test]
    fn what_is_cleared_is_a_column() {
        for table in tables() {
            let Columns(columns) = table.erasing else {
                continue;
            };
            for assignment in columns.split(", ") {
                let (column, _) = assignment.split_once(" = ").unwrap();
                let known = table.columns.iter().any(|known| known.name == column);
                assert!(known, "{column}");
            }
        }
    }

    #[test]
    fn visitors_are_rows_of_one_table_alone() {
        // `visits` is walked in batches by its own code.
        let mut rows = tables().filter(|table| table.erasing == Visitors);
        assert_eq!(rows.next().unwrap().name, "visits");
        assert!(rows.next().is_none());
    }

    #[test]
    fn rows_about_a_tag_are_removed() {
        for table in tables() {
            let removes = format!("DELETE FROM {}\n", table.name);
            let goes = OF_TAG.iter().any(|sql| {
                sql.starts_with(removes.trim_end())
                    && sql[removes.len() - 1..].starts_with(char::is_whitespace)
            });
            assert_eq!(goes, table.erasing == OfTag, "{}", table.name);
        }
    }

    /// PostgreSQL's own function deletes from the same tables.
    #[test]
    fn the_events_of_an_interaction_go_with_it_on_both_databases() {
        let function = include_str!("../../../migrations/postgres/functions/drop_traces.sql");
        let events: Vec<_> = removing_events().collect();
        assert!(!events.is_empty());
        for sql in events {
            assert!(function.contains(&format!("{sql} = ANY (ids)")), "{sql}");
        }
    }
}
