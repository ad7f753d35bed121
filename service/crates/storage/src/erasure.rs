//! The visitor data in each table, and the effect of erasing a tag's visitors on it. A test
//! compares this list with all tables, so that whoever adds a table decides about it.

use super::transfer::schema::tables;
use super::transfer::table::Table;
use domain::clock::Millis;

/// The effect of erasing a tag's visitors on a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// No effect: its rows identify no visitor.
    None,
    /// Deletes the rows of the tag's visitors.
    Rows,
    /// Deletes the rows about the tag.
    OfTag,
    /// Deletes the rows of the tag's interactions.
    OfTaps,
    /// Sets these columns in the rows of the tag's interactions. The SQL is valid in both dialects.
    Columns(&'static str),
}

use Effect::{Columns, None, OfTag, OfTaps, Rows};

/// Every table that a move copies, by name.
const EFFECTS: &[(&str, Effect)] = &[
    ("secrets", None),
    ("settings", None),
    ("tokens", None),
    // Actions of administrators. `erase_audit` erases the values that they gave a tag.
    ("audit", None),
    ("audit_ends", None),
    ("former_slugs", None),
    ("tags", None),
    // A value that a visitor wrote into a variable belongs to the tag, because the owner's page
    // asked for it. It is marked, so that no event and no later record contains it.
    ("properties", None),
    ("master_keys", None),
    ("url_templates", None),
    ("url_template_keys", None),
    ("inlays", None),
    ("counters", None),
    ("former_counters", None),
    ("virtual_inlays", None),
    ("experiences", None),
    ("experience_versions", None),
    ("images", None),
    (
        "interactions",
        Columns(
            "client = NULL, country = '', returning_month = FALSE, returning_day = FALSE, \
             key_hash = NULL, url_digest = NULL, system = NULL, language = NULL, visitor_group = NULL",
        ),
    ),
    ("expired_keys", None),
    // The fact that there was an update stays.
    ("updates", Columns("changes = '[]', request = NULL")),
    // The visitor's page named the variable.
    ("refused_updates", Columns("variable = NULL")),
    ("payload_reads", None),
    // A rule can depend on the visitor's country or language.
    ("left_out", Columns("rule = NULL")),
    ("same_browser", OfTaps),
    ("own_reads", None),
    ("test_taps", None),
    ("visits", Rows),
    ("tap_counts", None),
    ("previews", None),
    ("opened_tags", None),
    ("sheets", None),
    ("sheet_rows", None),
    ("imports", None),
    ("import_rows", None),
    ("webhooks", None),
    ("outbox", OfTag),
    // Waiting deliveries are not sent any more.
    ("webhook_deliveries", OfTag),
    ("webhook_attempts", OfTag),
    // Visitors wrote the values.
    ("submissions", OfTag),
    // Chips, and who encodes them: no visitor data.
    ("encoding_roots", None),
    ("chips", None),
    ("chip_keys", None),
    ("encoding_runs", None),
    ("encoding_run_tags", None),
    ("factory_orders", None),
    ("factory_order_positions", None),
    ("factory_order_keys", None),
    ("encodings", None),
    ("encoding_exchanges", None),
];

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
pub(super) const CLIENTS_KEPT: Millis = Millis::days(30);

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
    effects().filter_map(|(table, effect)| match effect {
        Columns(columns) => Some(format!(
            "UPDATE {} SET {columns} WHERE {}",
            table.name,
            key(table)
        )),
        OfTaps => Some(format!("DELETE FROM {} WHERE {}", table.name, key(table))),
        None | Rows | OfTag => Option::None,
    })
}

/// Statements that delete the rows belonging to interactions, in the same form.
pub(super) fn removing_told() -> impl Iterator<Item = String> {
    let told = tables().filter(|table| is_told_of_interactions(table));
    told.map(|table| format!("DELETE FROM {} WHERE {}", table.name, key(table)))
}

fn effects() -> impl Iterator<Item = (&'static Table, Effect)> {
    tables().filter_map(|table| {
        let named = EFFECTS.iter().find(|(name, _)| *name == table.name);
        named.map(|(_, effect)| (table, *effect))
    })
}

fn key(table: &Table) -> &'static str {
    table.columns[0].name
}

fn is_told_of_interactions(table: &Table) -> bool {
    key(table) == "interaction_id"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_says_what_erasing_does_to_it() {
        let named: Vec<_> = EFFECTS.iter().map(|(name, _)| *name).collect();
        let all: Vec<_> = tables().map(|table| table.name).collect();
        assert_eq!(named, all);
    }

    #[test]
    fn what_is_cleared_is_a_column() {
        for (table, effect) in effects() {
            let Columns(columns) = effect else { continue };
            for assignment in columns.split(", ") {
                let (column, _) = assignment.split_once(" = ").unwrap();
                assert!(
                    table.columns.iter().any(|known| known.name == column),
                    "{column}"
                );
            }
        }
    }

    #[test]
    fn visitors_are_rows_of_one_table_alone() {
        // `visits` is walked in batches by its own code.
        let rows: Vec<_> = effects().filter(|(_, effect)| *effect == Rows).collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].0.name, "visits");
    }

    #[test]
    fn rows_about_a_tag_are_removed() {
        for (table, effect) in effects() {
            let removes = format!("DELETE FROM {}\n", table.name);
            let goes = OF_TAG.iter().any(|sql| {
                sql.starts_with(removes.trim_end())
                    && sql[removes.len() - 1..].starts_with(char::is_whitespace)
            });
            assert_eq!(goes, effect == OfTag, "{}", table.name);
        }
    }

    /// PostgreSQL's own function deletes from the same tables.
    #[test]
    fn what_is_told_of_an_interaction_goes_with_it_on_both_databases() {
        let retention = include_str!("../../../migrations/postgres/V20__erased_values.sql");
        let told: Vec<_> = removing_told().collect();
        assert!(!told.is_empty());
        for sql in told {
            assert!(retention.contains(&format!("{sql} = ANY (ids)")), "{sql}");
        }
    }
}
