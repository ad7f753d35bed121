//! Functions and their triggers, each function in a file of its name. They are part of the program
//! rather than of a version of the schema: a start replaces those whose file has changed.
//!
//! Nodes of two versions may serve one database during an update. So a program leaves functions of
//! a newer one as they are, and a function may only change in ways that older nodes can bear; any
//! other change needs a new version of the schema.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, GenericClient, Transaction};

/// The names of files in a folder, with their content.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../../migrations/postgres/functions/", $name, ".sql")))),*]
    };
}

/// The functions of this program. A function in SQL comes after those that it calls.
pub(super) const OURS: Functions<'static> = Functions {
    revision: 1,
    files: files![
        "present",
        "simulated_ahead",
        "first_interaction",
        "week",
        "partition_of",
        "make_partition",
        "reserve_interactions",
        "interaction_of",
        "settled_before",
        "taps_after",
        "keys_expired_to",
        "expire_keys",
        "look_again",
        "expire_aged_keys",
        "risen_to",
        "record_taps",
        "led_to",
        "recalled_to",
        "update_variables_of",
        "update_variables",
        "tell_update",
        "tell_submission",
        "report_update",
        "report_submission",
        "drop_traces",
        "drop_traces_between",
        "drop_partition",
        "drop_due",
        "receive_history",
        "date_history",
        "history_since",
    ],
};

/// All functions of a program.
pub(super) struct Functions<'a> {
    /// Grows with each change of a file, so that an older program recognises newer functions.
    pub(super) revision: i32,
    /// The name of each function, and the statements that create or replace it.
    pub(super) files: &'a [(&'a str, &'a str)],
}

impl Functions<'_> {
    /// Replaces functions whose file has changed, creates those that are missing, and removes those
    /// that have no file any more. Leaves all as they are if a newer program has started here.
    pub(super) async fn replace(&self, transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let stored = "SELECT name, digest, revision FROM functions";
        let mut former = BTreeMap::new();
        for row in transaction.query(stored, &[]).await? {
            let (name, digest, revision): (String, Vec<u8>, i32) =
                (row.get(0), row.get(1), row.get(2));
            if revision > self.revision {
                return Ok(());
            }
            former.insert(name, digest);
        }
        for (name, sql) in self.files {
            let digest = Sha256::digest(sql);
            if former.remove(*name).is_some_and(|known| known == *digest) {
                continue;
            }
            create(transaction, name, sql).await?;
            let note = "INSERT INTO functions (name, digest, revision) VALUES ($1, $2, $3)
                ON CONFLICT (name) DO UPDATE SET digest = excluded.digest";
            transaction
                .execute(note, &[name, &digest.as_slice(), &self.revision])
                .await?;
        }
        for name in former.keys() {
            remove(transaction, name).await?;
            let forget = "DELETE FROM functions WHERE name = $1";
            transaction.execute(forget, &[name]).await?;
        }
        // On every row, because a newer program may have done nothing but remove a function.
        let raise = "UPDATE functions SET revision = $1 WHERE revision < $1";
        transaction.execute(raise, &[&self.revision]).await?;
        Ok(())
    }
}

/// Creates a function, or replaces it in place, so that a call that is on its way does not fail. If
/// that is impossible because its parameters or its result have changed, removes it first. Its
/// triggers are made again by its file, which may name others than before.
async fn create(transaction: &mut Transaction<'_>, name: &str, sql: &str) -> Result<(), Error> {
    let attempt = transaction.transaction().await?;
    remove_triggers(&attempt, name).await?;
    match attempt.batch_execute(sql).await {
        Ok(()) if overloads(&attempt, name).await?.len() == 1 => return attempt.commit().await,
        // The parameters or the result have changed. Removing it would not help against other errors.
        Err(error) if error.code() != Some(&SqlState::INVALID_FUNCTION_DEFINITION) => {
            return Err(error);
        }
        Ok(()) | Err(_) => attempt.rollback().await?,
    }
    remove(transaction, name).await?;
    transaction.batch_execute(sql).await
}

/// Removes all functions of a name, and their triggers.
async fn remove(transaction: &Transaction<'_>, name: &str) -> Result<(), Error> {
    remove_triggers(transaction, name).await?;
    for oid in overloads(transaction, name).await? {
        let drop = "SELECT format('DROP FUNCTION %s', $1::OID::REGPROCEDURE)";
        let drop = transaction.query_one(drop, &[&oid]).await?;
        transaction.batch_execute(drop.get(0)).await?;
    }
    Ok(())
}

/// Removes the triggers that call a function of this name.
async fn remove_triggers(transaction: &Transaction<'_>, name: &str) -> Result<(), Error> {
    for oid in overloads(transaction, name).await? {
        let drops = "SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::REGCLASS)
            FROM pg_trigger WHERE tgfoid = $1 AND tgparentid = 0";
        for drop in transaction.query(drops, &[&oid]).await? {
            transaction.batch_execute(drop.get(0)).await?;
        }
    }
    Ok(())
}

/// All functions of a name.
async fn overloads(client: &impl GenericClient, name: &str) -> Result<Vec<u32>, Error> {
    let sql = "SELECT oid FROM pg_proc
        WHERE pronamespace = current_schema()::REGNAMESPACE AND proname = $1";
    let rows = client.query(sql, &[&name]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tapdesk_tests::TestDatabase;
    use tokio_postgres::Client;

    use super::*;

    const FIRST: i32 = 1;
    const ONE: &str = "CREATE OR REPLACE FUNCTION one() RETURNS INTEGER LANGUAGE sql AS 'SELECT 1'";

    /// A database with nothing but the table of functions and a table for triggers.
    async fn empty() -> (TestDatabase, Client) {
        let database = TestDatabase::create().await;
        let client = database.look_into().await;
        let tables = "CREATE TABLE functions (name TEXT PRIMARY KEY, digest BYTEA NOT NULL, revision INTEGER NOT NULL);
            CREATE TABLE rows (x INTEGER);
            CREATE FUNCTION owners() RETURNS INTEGER LANGUAGE sql AS 'SELECT 7'";
        client.batch_execute(tables).await.unwrap();
        (database, client)
    }

    async fn replace(client: &mut Client, revision: i32, files: &[(&str, &str)]) {
        let mut transaction = client.transaction().await.unwrap();
        let functions = Functions { revision, files };
        functions.replace(&mut transaction).await.unwrap();
        transaction.commit().await.unwrap();
    }

    /// The id, signature and body of each function.
    async fn found(client: &Client) -> Vec<(u32, String)> {
        let sql = "SELECT oid, format('%s %s', oid::REGPROCEDURE, prosrc) FROM pg_proc
            WHERE pronamespace = 'public'::REGNAMESPACE ORDER BY 2";
        let rows = client.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    async fn bodies(client: &Client) -> Vec<String> {
        found(client)
            .await
            .into_iter()
            .map(|found| found.1)
            .collect()
    }

    #[tokio::test]
    async fn a_function_is_replaced_when_its_file_changes_and_removed_with_its_file() {
        let (_database, mut client) = empty().await;
        let two =
            "CREATE OR REPLACE FUNCTION two(a INTEGER) RETURNS INTEGER LANGUAGE sql AS 'SELECT 2'";
        replace(&mut client, FIRST, &[("one", ONE), ("two", two)]).await;
        let before = found(&client).await;
        let owners = "owners() SELECT 7";
        assert_eq!(
            bodies(&client).await,
            ["one() SELECT 1", owners, "two(integer) SELECT 2"]
        );
        replace(&mut client, FIRST, &[("one", ONE), ("two", two)]).await;
        assert_eq!(found(&client).await, before);

        // A change of the body keeps the function's id, by which running statements call it.
        let changed = ONE.replace('1', "10");
        replace(
            &mut client,
            FIRST,
            &[("one", changed.as_str()), ("two", two)],
        )
        .await;
        let after = found(&client).await;
        assert_eq!(after[0], (before[0].0, "one() SELECT 10".to_owned()));

        // Another parameter, another name of one, and another result.
        for (two, body) in [
            (two.replace("INTEGER)", "TEXT)"), "two(text) SELECT 2"),
            (
                two.replace("a INTEGER)", "b INTEGER)"),
                "two(integer) SELECT 2",
            ),
            (
                two.replace("RETURNS INTEGER", "RETURNS BIGINT"),
                "two(integer) SELECT 2",
            ),
        ] {
            replace(
                &mut client,
                FIRST,
                &[("one", changed.as_str()), ("two", two.as_str())],
            )
            .await;
            assert_eq!(bodies(&client).await, ["one() SELECT 10", owners, body]);
        }
        replace(&mut client, FIRST, &[("one", changed.as_str())]).await;
        assert_eq!(bodies(&client).await, ["one() SELECT 10", owners]);
        replace(&mut client, FIRST, &[]).await;
        assert_eq!(bodies(&client).await, [owners]);
        let noted = client.query("SELECT FROM functions", &[]).await.unwrap();
        assert!(noted.is_empty());
    }

    #[tokio::test]
    async fn a_trigger_comes_and_goes_with_its_function() {
        let (_database, mut client) = empty().await;
        let file = "CREATE OR REPLACE FUNCTION count_up() RETURNS TRIGGER LANGUAGE plpgsql AS
                'BEGIN NEW.x := NEW.x + 1; RETURN NEW; END';
            CREATE OR REPLACE TRIGGER count_up BEFORE INSERT ON rows FOR EACH ROW EXECUTE FUNCTION count_up();";
        let added = async |client: &Client| -> i32 {
            let insert = "INSERT INTO rows VALUES (1) RETURNING x";
            client.query_one(insert, &[]).await.unwrap().get(0)
        };
        replace(&mut client, FIRST, &[("count_up", file)]).await;
        assert_eq!(added(&client).await, 2);
        let changed = file.replace("+ 1", "+ 5");
        replace(&mut client, FIRST, &[("count_up", changed.as_str())]).await;
        assert_eq!(added(&client).await, 6);
        // Under another name it would run twice if the former one stayed.
        let renamed = changed.replace("TRIGGER count_up BEFORE", "TRIGGER counts BEFORE");
        replace(&mut client, FIRST, &[("count_up", renamed.as_str())]).await;
        assert_eq!(added(&client).await, 6);
        replace(&mut client, FIRST, &[]).await;
        assert_eq!(added(&client).await, 1);
    }

    #[tokio::test]
    async fn functions_of_a_newer_program_stay_when_an_older_node_starts() {
        let (_database, mut client) = empty().await;
        replace(&mut client, FIRST, &[("one", ONE)]).await;
        let newer = ONE.replace('1', "10");
        let two = "CREATE OR REPLACE FUNCTION two() RETURNS INTEGER LANGUAGE sql AS 'SELECT 2'";
        let both = [("one", newer.as_str()), ("two", two)];
        replace(&mut client, FIRST + 1, &both).await;
        // One that does nothing but remove a function is newer, too.
        replace(&mut client, FIRST + 2, &both[..1]).await;
        for (revision, files) in [
            (FIRST, &[("one", ONE)][..]),
            (FIRST, &[][..]),
            (FIRST + 1, &both[..]),
        ] {
            replace(&mut client, revision, files).await;
            assert_eq!(
                bodies(&client).await,
                ["one() SELECT 10", "owners() SELECT 7"]
            );
        }
    }

    /// The digest of all files, at the revision that they have.
    const DIGEST: &str = "4dc2614624bd2798aeba0c8bd0c95c6bc401ebc04425856031bf0f90f97fff5c";

    #[test]
    fn a_changed_file_has_a_higher_revision() {
        let all = OURS.files.iter().fold(Sha256::new(), |all, (name, sql)| {
            all.chain_update(name).chain_update(sql)
        });
        let digest = base16ct::lower::encode_string(&all.finalize());
        assert_eq!(
            (OURS.revision, digest.as_str()),
            (1, DIGEST),
            "raise the revision, and write it and the digest here"
        );
    }

    #[test]
    fn every_file_is_listed_and_creates_the_function_of_its_name() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres/functions");
        let files = std::fs::read_dir(folder).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        let mut listed: Vec<_> = OURS
            .files
            .iter()
            .map(|(name, _)| format!("{name}.sql"))
            .collect();
        listed.sort();
        assert_eq!(listed, names);
        for (name, sql) in OURS.files {
            let creates = format!("CREATE OR REPLACE FUNCTION {name}(");
            assert!(sql.contains(&creates), "{name}");
            assert_eq!(
                sql.matches("CREATE OR REPLACE FUNCTION").count(),
                1,
                "{name}"
            );
        }
    }
}
