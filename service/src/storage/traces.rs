//! What each table keeps of visitors, and what erasing a tag's visitors does to it. A test
//! compares the tables here with all that there are: who adds one decides.

use super::transfer::schema::tables;
use super::transfer::table::Table;

/// What erasing the visitors of a tag does to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Traces {
    /// Nothing: no visitor can be told from its rows.
    None,
    /// Rows of the tag's visitors go.
    Rows,
    /// Rows about the tag go.
    OfTag,
    /// In the rows of the tag's interactions these columns get these values, in both dialects.
    Columns(&'static str),
}

use Traces::{Columns, None, OfTag, Rows};

/// Every table that is moved, by name.
const TRACES: &[(&str, Traces)] = &[
    ("secrets", None),
    ("settings", None),
    ("tokens", None),
    // What administrators did. The values that they gave the tag are erased by its own rows.
    ("audit", None),
    ("audit_ends", None),
    ("former_slugs", None),
    ("tags", None),
    // What a visitor wrote into a variable is the tag's, as its owner's page asked for it.
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
    // That there was an update stays.
    ("updates", Columns("changes = '[]', request = NULL")),
    ("refused_updates", None),
    ("payload_reads", None),
    ("left_out", None),
    ("visits", Rows),
    ("tap_counts", None),
    ("opened_tags", None),
    ("sheets", None),
    ("sheet_rows", None),
    ("imports", None),
    ("import_rows", None),
    ("webhooks", None),
    ("outbox", OfTag),
    // What waits is not sent any more.
    ("webhook_deliveries", OfTag),
    ("webhook_attempts", OfTag),
    // A visitor wrote them.
    ("submissions", OfTag),
    // Chips and who encodes them: no visitor.
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

/// What removes rows about the tag `?1`, in this order, in the words of the plane.
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

/// Notes that something is erased, in its commit. Deliveries are made of what was read before:
/// those whose read has another number are not stored.
pub(super) const ERASED: &str = "INSERT INTO settings (name, value) VALUES ('erasures', '1')
     ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(settings.value AS BIGINT) + 1 AS TEXT)";

/// How often something was erased; no row if it never was.
pub(super) const ERASURES: &str =
    "SELECT CAST(value AS BIGINT) FROM settings WHERE name = 'erasures'";

/// What clears the rows of interactions, one statement for each table, up to the key: it ends
/// in `WHERE id` or the like.
pub(super) fn clearing() -> impl Iterator<Item = String> {
    traced().filter_map(|(table, traces)| match traces {
        Columns(columns) => Some(format!(
            "UPDATE {} SET {columns} WHERE {}",
            table.name,
            key(table)
        )),
        None | Rows | OfTag => Option::None,
    })
}

/// What removes what is told of interactions, in the same form.
pub(super) fn removing_told() -> impl Iterator<Item = String> {
    let told = tables().filter(|table| is_told_of_interactions(table));
    told.map(|table| format!("DELETE FROM {} WHERE {}", table.name, key(table)))
}

fn traced() -> impl Iterator<Item = (&'static Table, Traces)> {
    tables().filter_map(|table| {
        let named = TRACES.iter().find(|(name, _)| *name == table.name);
        named.map(|(_, traces)| (table, *traces))
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
        let named: Vec<_> = TRACES.iter().map(|(name, _)| *name).collect();
        let all: Vec<_> = tables().map(|table| table.name).collect();
        assert_eq!(named, all);
    }

    #[test]
    fn what_is_cleared_is_a_column() {
        for (table, traces) in traced() {
            let Columns(columns) = traces else { continue };
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
        // It is walked in batches of its own.
        let rows: Vec<_> = traced().filter(|(_, traces)| *traces == Rows).collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].0.name, "visits");
    }

    #[test]
    fn rows_about_a_tag_are_removed() {
        for (table, traces) in traced() {
            let removes = format!("DELETE FROM {}\n", table.name);
            let goes = OF_TAG.iter().any(|sql| {
                sql.starts_with(removes.trim_end())
                    && sql[removes.len() - 1..].starts_with(char::is_whitespace)
            });
            assert_eq!(goes, traces == OfTag, "{}", table.name);
        }
    }

    /// PostgreSQL's own function says the same.
    #[test]
    fn what_is_told_of_an_interaction_goes_with_it_on_both_databases() {
        let retention = include_str!("../../migrations/postgres/V1/retention.sql");
        let told: Vec<_> = removing_told().collect();
        assert!(!told.is_empty());
        for sql in told {
            assert!(retention.contains(&format!("{sql} = ANY (ids)")), "{sql}");
        }
    }
}
