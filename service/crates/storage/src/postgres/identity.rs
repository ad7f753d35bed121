//! The identity of a database, as the server sees it. A restored database has another identity, or
//! another history, than its rows claim: chips that were encoded after the copy are missing in it.

use serde::{Deserialize, Serialize};
use tokio_postgres::Transaction;

/// The row of `settings` with the database's own identity. A dump contains it, and so shows which
/// database it is a copy of.
pub(super) const NAME: &str = "identity";

/// The identity of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    /// The cluster, by the number that `initdb` generated.
    system: i64,
    /// The database in the cluster.
    database: u32,
    /// The id of one of our tables: it changes when a dump is restored.
    table: u32,
    /// The cluster's history: each recovery from an archive, and each standby that takes over,
    /// starts another one.
    timeline: i32,
}

/// The change of a database since a service last opened it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// It is the same database.
    Same,
    /// Its cluster was recovered from a copy, or a standby took over: the last acknowledged commits
    /// may be lost.
    Recovered,
    /// It was restored from a dump.
    Restored,
}

impl Identity {
    fn since(&self, noted: &Self) -> Since {
        let place = |of: &Self| (of.system, of.database, of.table);
        if place(self) != place(noted) {
            Since::Restored
        } else if self.timeline == noted.timeline {
            Since::Same
        } else {
            Since::Recovered
        }
    }
}

/// Stores the database's identity; returns the change since it was last stored.
pub(super) async fn note(transaction: &Transaction<'_>) -> Result<Since, tokio_postgres::Error> {
    let row = transaction
        .query_one(
            "SELECT (SELECT system_identifier FROM pg_control_system()),
                    (SELECT oid FROM pg_database WHERE datname = current_database()),
                    'configuration'::REGCLASS::OID,
                    (SELECT timeline_id FROM pg_control_checkpoint())",
            &[],
        )
        .await?;
    let present = Identity {
        system: row.try_get(0)?,
        database: row.try_get(1)?,
        table: row.try_get(2)?,
        timeline: row.try_get(3)?,
    };
    let noted = "SELECT value FROM settings WHERE name = $1";
    let noted = transaction.query_opt(noted, &[&NAME]).await?;
    let noted: Option<String> = noted.map(|row| row.try_get(0)).transpose()?;
    let noted = noted.and_then(|json| serde_json::from_str::<Identity>(&json).ok());
    let since = noted.map_or(Since::Same, |noted| present.since(&noted));
    // A struct of numbers can always be serialized as JSON.
    let json = serde_json::to_string(&present).unwrap_or_default();
    transaction
        .execute(
            "INSERT INTO settings (name, value) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE settings.value <> excluded.value",
            &[&NAME, &json],
        )
        .await?;
    Ok(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_and_a_recovery_are_told_apart() {
        let noted = Identity {
            system: 1,
            database: 2,
            table: 3,
            timeline: 4,
        };
        let with = |change: fn(&mut Identity)| {
            let mut other = noted.clone();
            change(&mut other);
            other.since(&noted)
        };
        assert_eq!(with(|_| ()), Since::Same);
        assert_eq!(with(|other| other.timeline = 5), Since::Recovered);
        for change in [
            (|other| other.system = 9) as fn(&mut Identity),
            |other| other.database = 9,
            |other| other.table = 9,
            |other| (other.table, other.timeline) = (9, 5),
        ] {
            assert_eq!(with(change), Since::Restored);
        }
    }
}
