//! The versions of the schema. A migration leads to each from the one before.

use tokio_postgres::{Client, Error, GenericClient};

use super::functions::{self, Functions};

/// The first version, by subject.
const FIRST: &str = concat!(
    include_str!("../../../../../migrations/postgres/V1/administration.sql"),
    include_str!("../../../../../migrations/postgres/V1/tags.sql"),
    include_str!("../../../../../migrations/postgres/V1/inlays.sql"),
    include_str!("../../../../../migrations/postgres/V1/experiences.sql"),
    include_str!("../../../../../migrations/postgres/V1/taps.sql"),
    include_str!("../../../../../migrations/postgres/V1/reports.sql"),
    include_str!("../../../../../migrations/postgres/V1/batches.sql"),
    include_str!("../../../../../migrations/postgres/V1/encoding.sql"),
    include_str!("../../../../../migrations/postgres/V1/webhooks.sql"),
    include_str!("../../../../../migrations/postgres/V1/notifications.sql"),
    include_str!("../../../../../migrations/postgres/V1/certificates.sql"),
);

/// The migrations to version 1, 2 and so on. A release only appends to them.
const MIGRATIONS: &[&str] = &[FIRST];

/// The versions that were applied. Migrations cannot create this table, because they are noted in
/// it.
const HISTORY: &str = "CREATE TABLE IF NOT EXISTS schema_versions (
    version    INTEGER PRIMARY KEY,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
)";

/// The newest version that this program knows.
pub(in crate::postgres) fn newest_known() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// The version of a database that has a history.
pub(super) async fn found(client: &impl GenericClient) -> Result<i32, Error> {
    let newest = "SELECT coalesce(max(version), 0) FROM schema_versions";
    Ok(client.query_one(newest, &[]).await?.get(0))
}

/// Creates or upgrades the schema and its functions to those of this program.
pub(super) async fn apply(client: &mut Client) -> Result<(), Error> {
    apply_all(MIGRATIONS, &functions::OURS, client).await
}

/// Runs all pending migrations and replaces changed functions, in one transaction: an interrupted
/// upgrade leaves the database as it was.
async fn apply_all(
    migrations: &[&str],
    functions: &Functions<'_>,
    client: &mut Client,
) -> Result<(), Error> {
    let mut transaction = client.transaction().await?;
    transaction.batch_execute(HISTORY).await?;
    let found = found(&transaction).await?;
    for (version, migration) in (1..).zip(migrations) {
        if version > found {
            transaction.batch_execute(migration).await?;
            let note = "INSERT INTO schema_versions (version) VALUES ($1)";
            transaction.execute(note, &[&version]).await?;
        }
    }
    functions.replace(&mut transaction).await?;
    transaction.commit().await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tapdesk_tests::TestDatabase;

    use super::*;
    use crate::catalogue::{Backend, Kind, described, moved, wrapped_in};

    /// All columns, functions and versions, and some rows.
    async fn content(client: &Client) -> Vec<String> {
        let sql = "SELECT format('%s.%s %s', table_name, column_name, data_type)
                FROM information_schema.columns WHERE table_schema = 'public'
            UNION ALL SELECT prosrc FROM pg_proc WHERE pronamespace = 'public'::REGNAMESPACE
            UNION ALL SELECT 'version ' || version FROM schema_versions
            UNION ALL SELECT format('tag %s %s', id, slug) FROM tags
            UNION ALL SELECT format('%s.%s=%s', tag_id, key, value) FROM properties
            ORDER BY 1";
        let rows = client.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    #[tokio::test]
    async fn an_upgrade_that_fails_anywhere_leaves_the_database_as_it_was() {
        let database = TestDatabase::create().await;
        let mut client = database.look_into().await;
        apply(&mut client).await.unwrap();
        let rows = "INSERT INTO tags (slug, name, title, description, language_code, status, verifier_enabled,
                updates_require_verified, track_location, has_qr_code, simulated, widget_settings, created_at,
                updated_at, folded)
            SELECT 'bottle-' || i, 'Ä ' || i, '', '', 'en_US', 'active', TRUE, FALSE, FALSE, FALSE, FALSE, '{}', i, i, ''
            FROM generate_series(1, 100) AS n (i);
            INSERT INTO properties (tag_id, class, key, value) SELECT id, 'variable', 'a', 'é' FROM tags";
        client.batch_execute(rows).await.unwrap();
        let before = content(&client).await;

        let second = "CREATE TABLE a (x INTEGER); ALTER TABLE tags ADD COLUMN y TEXT;";
        let third = "DROP TABLE sheets; DELETE FROM properties;";
        let failing = "INSERT INTO nowhere VALUES (1);";
        for steps in [
            vec![failing.to_owned()],
            vec![second.to_owned() + failing],
            vec![second.to_owned(), third.to_owned() + failing],
            vec![second.to_owned(), third.to_owned(), failing.to_owned()],
        ] {
            let steps = [FIRST].into_iter().chain(steps.iter().map(String::as_str));
            let steps: Vec<_> = steps.collect();
            let failed = apply_all(&steps, &functions::OURS, &mut client).await;
            assert!(failed.is_err());
            assert_eq!(content(&client).await, before);
        }
        let broken = Functions {
            files: &[("broken", "CREATE FUNCTION broken() RETURNS nothing")],
            ..functions::OURS
        };
        let failed = apply_all(&[FIRST, second, third], &broken, &mut client).await;
        assert!(failed.is_err());
        assert_eq!(content(&client).await, before);

        let steps = [FIRST, second, "DROP TABLE sheets;"];
        let ours = &functions::OURS;
        apply_all(&steps, ours, &mut client).await.unwrap();
        let after = content(&client).await;
        for row in ["tags.y text", "version 3", "100.a=é", "tag 1 bottle-1"] {
            assert!(after.contains(&row.to_owned()), "{row}: {after:?}");
        }
        assert!(!after.iter().any(|row| row.starts_with("sheets.")));
    }

    #[tokio::test]
    async fn every_table_and_column_is_in_the_catalogue() {
        let database = TestDatabase::create().await;
        let mut client = database.look_into().await;
        apply(&mut client).await.unwrap();
        let columns =
            "SELECT table_name::TEXT, column_name::TEXT, data_type::TEXT, is_identity = 'YES'
             FROM information_schema.columns
             WHERE table_schema = 'public' AND table_name <> 'schema_versions' AND table_name IN (
                 SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition)";
        let mut found: BTreeMap<String, BTreeMap<String, Option<Kind>>> = BTreeMap::new();
        let mut numbered = Vec::new();
        for row in client.query(columns, &[]).await.unwrap() {
            let (table, column, kind): (String, String, String) =
                (row.get(0), row.get(1), row.get(2));
            let kind = match kind.as_str() {
                "bigint" | "integer" | "smallint" => Kind::Integer,
                "boolean" => Kind::Flag,
                "text" => Kind::Text,
                "bytea" => Kind::Bytes,
                other => panic!("{table}.{column} is a {other}"),
            };
            if row.get(3) {
                numbered.push(table.clone());
            }
            found.entry(table).or_default().insert(column, Some(kind));
        }
        let described = described(Backend::Postgres);
        for (table, columns) in &mut found {
            // The catalogue has no kinds for columns that only one of the databases has.
            for (column, kind) in columns {
                let known = described.get(table).and_then(|columns| columns.get(column));
                if known == Some(&None) {
                    *kind = None;
                }
            }
        }
        assert_eq!(found, described);

        // Their ids continue after the moved rows.
        let moved = moved().filter(|table| numbered.iter().any(|name| name == table.name));
        for table in moved {
            assert!(table.numbered, "{}", table.name);
        }
        for table in crate::catalogue::tables().filter(|table| table.numbered) {
            assert!(
                numbered.iter().any(|name| name == table.name),
                "{}",
                table.name
            );
        }
    }

    #[test]
    fn the_catalogue_knows_every_wrapped_column() {
        assert_eq!(wrapped_in(FIRST), crate::catalogue::wrapped());
    }
}
