//! Counts of taps for reports. They are computed later, so that taps need no extra work.
//!
//! Taps are counted in the order of their commits, up to a mark, which moves in the commit that
//! adds to the counts. Updates and submissions wait in `report_updates`: the commit of each writes
//! its row, and the commit that counts it deletes the row. So each is counted exactly once,
//! wherever counting is interrupted and on whichever node. A report is exact, because it reads the
//! counts and the uncounted rest as of one moment.

mod prune;
mod test_taps;

use std::collections::BTreeMap;

use super::callers::condition;
use super::dialect::Dialect;
use super::{Query, Transaction, insert_rows};
use crate::value::{Row, Value, unreadable, values};
use crate::webhooks::CommitPosition;
use crate::{Access, StorageError};
use domain::clock::{Millis, Timestamp};
use domain::id::ExperienceId;
use domain::interaction::{Tech, Traits};
use domain::report::{Bucket, Count, CountedTap, Counts, Dimension, Report, ReportRange};
use domain::visitor::OperatingSystem;

/// Taps counted in one transaction. They change some hundred counts. Taps wait for that for about a
/// millisecond.
const TAPS_AT_ONCE: usize = 5_000;
/// Updates and submissions counted in one transaction, for which taps wait.
const UPDATES_AT_ONCE: usize = 500;
/// Most uncounted taps that a report reads: more than arrive between two rounds of counting.
const UNCOUNTED_MAX: usize = 100_000;

/// The operations on counts of taps.
impl Access {
    /// Adds some of the new taps to the counts. `true` if more are left.
    pub async fn fold_reports(&self) -> Result<bool, StorageError> {
        let found = self
            .read_snapshot("uncounted", (), |db, ()| Box::pin(uncounted(db)))
            .await?;
        let Some(fold) = found else {
            return Ok(false);
        };
        let more = fold.more;
        let folded = self
            .change("fold_reports", fold, |tx, fold| Box::pin(add(tx, fold)))
            .await?;
        Ok(folded && more)
    }

    /// A report of the taps of a period, including taps that are not counted yet.
    pub async fn report(&self, range: ReportRange) -> Result<Report, StorageError> {
        self.read_snapshot("report", range, |db, range| Box::pin(report(db, range)))
            .await
    }

    /// Adds `previews` that programs fetched in an hour; `hour` is its number since 1970.
    pub async fn note_previews(&self, hour: i64, previews: u64) -> Result<(), StorageError> {
        let added = "INSERT INTO previews (hour, previews) VALUES (?1, ?2) \
            ON CONFLICT (hour) DO UPDATE SET previews = previews.previews + excluded.previews";
        self.change_at_once("note_previews", added, values![hour, previews].to_vec())
            .await
            .map(drop)
    }

    /// How many previews programs fetched, from the hour of `since` to the hour of the moment
    /// before `until`. Previews that are not stored yet are missing.
    pub async fn previews(&self, since: Timestamp, until: Timestamp) -> Result<u64, StorageError> {
        let last = Bucket::Hour.of(until.minus(Millis::new(1)));
        let hours = (Bucket::Hour.of(since), last);
        self.read("previews", hours, |db, (first, last)| {
            Box::pin(async move {
                let sum = "SELECT CAST(coalesce(sum(previews), 0) AS BIGINT) FROM previews \
                    WHERE hour BETWEEN ?1 AND ?2";
                let sum: i64 = db.one(sum, &values![*first, *last]).await?.take()?;
                Ok(sum.cast_unsigned())
            })
        })
        .await
    }

    /// Removes some hourly counts older than `keep_since`; daily counts stay. `true` if more may be
    /// left.
    pub async fn prune_report_hours(&self, keep_since: Timestamp) -> Result<bool, StorageError> {
        let first = Bucket::Hour.of(keep_since);
        // Most rounds find no old counts, and need no transaction.
        let due = self
            .read("due_report_hours", first, |db, first| {
                Box::pin(prune::is_due(db, *first))
            })
            .await?;
        if !due {
            return Ok(false);
        }
        self.change("prune_report_hours", first, |tx, first| {
            Box::pin(prune::hours(tx, *first))
        })
        .await
    }
}

/// An addition to the counts.
struct Fold {
    /// How often the mark had been moved before. If it was moved since, another node counted.
    folds: u64,
    /// The place of the mark after this addition.
    to: CommitPosition,
    counts: Counts,
    /// Rows of `report_updates` that these counts include.
    updates: Vec<i64>,
    more: bool,
}

async fn mark(db: &mut dyn Query) -> Result<(CommitPosition, u64), StorageError> {
    let sql = "SELECT seq, tap_id, folds FROM report_mark WHERE id = 1";
    let mut row = db.one(sql, &[]).await?;
    let place = CommitPosition {
        seq: row.take()?,
        id: row.take()?,
    };
    Ok((place, row.take()?))
}

/// The columns of a tap in an alias `i`, in the order in which [`tap`] reads them.
const TAP: &str = "i.at / 3600000 AS hour, i.experience_id, i.tech, i.country, i.system, i.language, \
     i.visitor_group, i.simulated";

/// Whether an interaction `i` is a test tap of the real world, which is not counted. The commit
/// that recorded the tap also marked it as a test.
const IS_TEST: &str = "EXISTS (SELECT 1 FROM test_taps o WHERE o.tap_id = i.id)";

/// The first `?3` taps after a place in the order of commits. PostgreSQL commits taps in parallel:
/// only before the `settled` ones no further tap can appear.
fn after(dialect: Dialect, settled: bool) -> &'static str {
    match (dialect, settled) {
        // Ids follow the order of commits.
        (Dialect::Sqlite, _) => {
            "SELECT id, at, experience_id, tech, country, system, language, visitor_group, simulated
             FROM interactions WHERE id > ?1 ORDER BY id LIMIT ?3"
        }
        (Dialect::Postgres, true) => {
            "SELECT seq, id, at, experience_id, tech, country, system, language, visitor_group, simulated
             FROM interactions WHERE (seq, id) > (?1, ?2) AND seq < (SELECT told_before())
             ORDER BY seq, id LIMIT ?3"
        }
        (Dialect::Postgres, false) => {
            "SELECT seq, id, at, experience_id, tech, country, system, language, visitor_group, simulated
             FROM interactions WHERE (seq, id) > (?1, ?2) ORDER BY seq, id LIMIT ?3"
        }
    }
}

/// Visitors' taps after a place, grouped by equal values, and the number of all taps.
async fn taps_after(
    db: &mut dyn Query,
    place: CommitPosition,
    limit: usize,
    settled: bool,
) -> Result<(Vec<(CountedTap, u64)>, u64), StorageError> {
    let within = after(db.dialect(), settled);
    let sql = format!(
        "SELECT {TAP}, count(*), is_test FROM (SELECT i.*, {IS_TEST} AS is_test FROM ({within}) i) i
         GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, is_test"
    );
    let values = values![place.seq, place.id, Value::limit(limit)];
    let (mut taps, mut all) = (Vec::new(), 0);
    for mut row in db.query(&sql, &values).await? {
        let tap = tap(&mut row)?;
        let many = row.take()?;
        all += many;
        let is_test: bool = row.take()?;
        if !is_test {
            taps.push((tap, many));
        }
    }
    Ok((taps, all))
}

fn tap(row: &mut Row) -> Result<CountedTap, StorageError> {
    let hour: i64 = row.take()?;
    Ok(CountedTap {
        at: Bucket::Hour.begin(hour),
        experience: row.take()?,
        tech: row.text("technology", Tech::from_value)?,
        country: row.take()?,
        traits: Traits {
            system: row.optional_text("system", OperatingSystem::from_name)?,
            language: row.take()?,
            group: group(row.take()?)?,
        },
        simulated: row.take()?,
    })
}

fn group(group: Option<u32>) -> Result<Option<u8>, StorageError> {
    let group = group.map(u8::try_from).transpose();
    group.map_err(|_| unreadable("group of visitors"))
}

/// Updates and submissions that are not counted yet: the row, its kind, and the visitor's tap, if
/// it still exists.
async fn updates(
    db: &mut dyn Query,
    limit: usize,
) -> Result<Vec<(i64, Count, Option<CountedTap>)>, StorageError> {
    let sql = format!(
        "SELECT r.id, r.submission, i.id IS NOT NULL AND NOT {IS_TEST}, {TAP}
         FROM report_updates r LEFT JOIN interactions i ON i.id = r.interaction_id
         ORDER BY r.id LIMIT ?1"
    );
    let found = db.query(&sql, &values![Value::limit(limit)]).await?;
    let found = found.into_iter().map(|mut row| {
        let id = row.take()?;
        let count = Count::outcome(row.take()?);
        let counts: bool = row.take()?;
        let tap = counts.then(|| tap(&mut row)).transpose()?;
        Ok((id, count, tap))
    });
    found.collect()
}

/// The next addition to the counts; `None` if everything is counted.
async fn uncounted(db: &mut dyn Query) -> Result<Option<Fold>, StorageError> {
    let (from, folds) = mark(db).await?;
    let mut counts = Counts::default();
    let (taps, all) = taps_after(db, from, TAPS_AT_ONCE, true).await?;
    for (tap, many) in &taps {
        counts.add(tap, Count::taps(*many));
    }
    let to = if all == 0 {
        from
    } else {
        last(db, from).await?
    };
    let mut counted = Vec::new();
    for (id, count, tap) in updates(db, UPDATES_AT_ONCE).await? {
        // The tap was removed, so its updates and submissions are not counted; nor are those of
        // test taps.
        if let Some(tap) = tap {
            counts.add(&tap, count);
        }
        counted.push(id);
    }
    if all == 0 && counted.is_empty() {
        return Ok(None);
    }
    let more = all == TAPS_AT_ONCE as u64 || counted.len() == UPDATES_AT_ONCE;
    Ok(Some(Fold {
        folds,
        to,
        counts,
        updates: counted,
        more,
    }))
}

/// The place of the last tap in the next addition.
async fn last(db: &mut dyn Query, from: CommitPosition) -> Result<CommitPosition, StorageError> {
    let within = after(db.dialect(), true);
    let sql = match db.dialect() {
        Dialect::Sqlite => format!("SELECT max(id), 0 FROM ({within}) i"),
        Dialect::Postgres => {
            format!("SELECT seq, id FROM ({within}) i ORDER BY seq DESC, id DESC LIMIT 1")
        }
    };
    let values = values![from.seq, from.id, Value::limit(TAPS_AT_ONCE)];
    let mut row = db.one(&sql, &values).await?;
    Ok(CommitPosition {
        seq: row.take()?,
        id: row.take()?,
    })
}

const COLUMNS: [&str; 9] = [
    "span",
    "slot",
    "dimension",
    "value",
    "experience_id",
    "simulated",
    "taps",
    "updates",
    "submissions",
];

/// Adds to the counts; `false` if another node added meanwhile.
async fn add(tx: &mut dyn Transaction, fold: &Fold) -> Result<bool, StorageError> {
    let sql = "UPDATE report_mark SET seq = ?1, tap_id = ?2, folds = folds + 1
         WHERE id = 1 AND folds = ?3";
    let values = values![fold.to.seq, fold.to.id, fold.folds];
    if tx.execute(sql, &values).await? == 0 {
        return Ok(false);
    }
    if !fold.updates.is_empty() {
        let sql = "DELETE FROM report_updates WHERE id IN ids(?1)";
        tx.execute(sql, &values![Value::list(&fold.updates)])
            .await?;
    }
    let rows = fold.counts.0.iter().map(|(key, count)| {
        values![
            key.bucket.hours(),
            key.slot,
            key.dimension.as_str(),
            &key.value,
            key.experience.map_or(NO_EXPERIENCE, ExperienceId::get),
            key.simulated,
            count.taps,
            count.updates,
            count.submissions,
        ]
        .to_vec()
    });
    let then = "ON CONFLICT (span, slot, dimension, value, experience_id, simulated) DO UPDATE SET
         taps = report_counts.taps + excluded.taps, updates = report_counts.updates + excluded.updates,
         submissions = report_counts.submissions + excluded.submissions";
    insert_rows(tx, "report_counts", &COLUMNS, rows.collect(), then).await?;
    Ok(true)
}

/// The stored experience of taps that led to none: ids begin at 1.
const NO_EXPERIENCE: i64 = 0;

async fn report(db: &mut dyn Query, range: &ReportRange) -> Result<Report, StorageError> {
    let (from, _) = mark(db).await?;
    let mut report = Report {
        complete: true,
        hours_since: prune::hours_since(db).await?,
        ..Report::default()
    };
    counted(db, range, &mut report).await?;
    let mut counts = Counts::default();
    let (taps, all) = taps_after(db, from, UNCOUNTED_MAX, false).await?;
    for (tap, many) in &taps {
        counts.add(tap, Count::taps(*many));
    }
    let updates = updates(db, UNCOUNTED_MAX).await?;
    report.complete = all < UNCOUNTED_MAX as u64 && updates.len() < UNCOUNTED_MAX;
    for (_, count, tap) in updates {
        if let Some(tap) = tap {
            counts.add(&tap, count);
        }
    }
    let reach = db.reach().clone();
    for (key, count) in &counts.0 {
        if reach.limit().is_none() || reach.has(key.experience) {
            report.add(range, key, *count);
        }
    }
    report.test_taps = test_taps::counts(db, range).await?;
    report.names = names(db, &report).await?;
    Ok(report)
}

/// All dimensions, for an `IN` condition. The table is ordered by dimension first, so the database
/// reads one range for each.
fn dimensions() -> String {
    let names = Dimension::ALL.map(|dimension| format!("'{}'", dimension.as_str()));
    names.join(", ")
}

const SUMS: &str = "CAST(sum(taps) AS BIGINT), CAST(sum(updates) AS BIGINT), \
     CAST(sum(submissions) AS BIGINT)";

/// Adds the stored counts to the report.
async fn counted(
    db: &mut dyn Query,
    range: &ReportRange,
    report: &mut Report,
) -> Result<(), StorageError> {
    let dimensions = dimensions();
    for before in [false, true] {
        for (bucket, first, end) in range.pieces(before) {
            let (conditions, values) = conditions(db, range, (bucket, first, end));
            // The table is ordered by dimension, time and value. So the inner sums need no sorting,
            // and they merge the experiences into one row for each value.
            let sql = format!(
                "SELECT dimension, value, {SUMS} FROM (
                     SELECT dimension, value, sum(taps) AS taps, sum(updates) AS updates,
                         sum(submissions) AS submissions
                     FROM report_counts WHERE dimension IN ({dimensions}) AND {conditions}
                     GROUP BY dimension, slot, value
                 ) sums GROUP BY dimension, value"
            );
            for mut row in db.query(&sql, &values).await? {
                let dimension = row.text("dimension", Dimension::from_name)?;
                let value = (dimension, row.take()?);
                report.add_value(value, before, count(&mut row)?);
            }
        }
    }
    let (conditions, values) = conditions(db, range, (range.bucket, range.first, range.end));
    // Every tap has exactly one value in this dimension, so its sums count each tap once.
    let sql = format!(
        "SELECT slot, {SUMS} FROM report_counts
         WHERE dimension = 'experience' AND {conditions} GROUP BY slot"
    );
    for mut row in db.query(&sql, &values).await? {
        let slot = row.take()?;
        report.add_slot(slot, count(&mut row)?);
    }
    Ok(())
}

fn count(row: &mut Row) -> Result<Count, StorageError> {
    Ok(Count {
        taps: row.take()?,
        updates: row.take()?,
        submissions: row.take()?,
    })
}

/// The conditions for one piece of time, and their values.
fn conditions(
    db: &dyn Query,
    range: &ReportRange,
    (bucket, first, end): (Bucket, i64, i64),
) -> (String, Vec<Value<'static>>) {
    let mut conditions = String::from("span = ?1 AND slot >= ?2 AND slot < ?3");
    let mut values = values![bucket.hours(), first, end].to_vec();
    let chosen = [
        ("simulated", range.world.simulated().map(Value::from)),
        ("experience_id", range.experience.map(Value::from)),
    ];
    for (column, value) in chosen {
        if let Some(value) = value {
            values.push(value);
            conditions.push_str(" AND ");
            conditions.push_str(column);
            conditions.push_str(" = ?");
            conditions.push_str(&values.len().to_string());
        }
    }
    conditions += &condition(db.reach(), "experience_id");
    (conditions, values)
}

/// The names of the experiences in a report.
async fn names(
    db: &mut dyn Query,
    report: &Report,
) -> Result<BTreeMap<ExperienceId, String>, StorageError> {
    let ids = report.values.keys();
    let ids = ids.filter(|(dimension, _)| *dimension == Dimension::Experience);
    let ids: Vec<i64> = ids.filter_map(|(_, value)| value.parse().ok()).collect();
    let sql = "SELECT id, name FROM experiences WHERE id IN ids(?1)";
    let found = db.query(sql, &values![Value::list(&ids)]).await?;
    let found = found
        .into_iter()
        .map(|mut row| Ok((row.take()?, row.take()?)));
    found.collect()
}
