//! Which database this is, as the server sees it. A database that was restored is another one, or
//! has another history, than the one that its rows are of: what was encoded after the copy was made
//! is not in it.

use serde::{Deserialize, Serialize};
use tokio_postgres::Transaction;

/// The row of `settings` in which a database notes which one it is. A dump has it, and so says of
/// whom it is a copy.
pub(super) const NAME: &str = "identity";

/// Which database it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    /// The cluster, by the number that `initdb` drew.
    system: i64,
    /// The database in it.
    database: u32,
    /// A table of ours: what a dump is restored into has other ones.
    table: u32,
    /// Which history of the cluster: each recovery from an archive, and each standby that takes
    /// over, begins another.
    timeline: i32,
}

/// What became of a database since a service opened it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// It is the same one.
    Same,
    /// Its cluster went back to a copy, or a standby took over: what was acknowledged last may be gone.
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

/// Notes which database it is; what became of it since it was noted last.
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
    // Numbers alone always have a form in JSON.
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
