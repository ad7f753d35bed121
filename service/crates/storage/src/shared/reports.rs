//! Counts of taps for reports. They are computed later, so that taps need no extra work.
//!
//! Taps are counted in the order of their commits, up to a mark, which moves in the commit that
//! adds to the counts. Updates and submissions wait in `report_updates`: the commit of each writes
//! its row, and the commit that counts it deletes the row. So each is counted exactly once,
//! wherever counting is interrupted and on whichever node. A report is exact, because it reads the
//! counts and the uncounted rest as of one moment.

mod by_group;
mod of_group;
mod of_tag;
mod previews;
mod prune;
mod read;
mod seen;
mod test_taps;

use super::dialect::Dialect;
use super::{Query, Transaction, insert_rows};
use crate::value::{Row, Value, unreadable, values};
use crate::webhooks::CommitPosition;
use crate::{Access, StorageError};
use domain::clock::Timestamp;
use domain::id::ExperienceId;
use domain::interaction::{Reason, Tech, Traits};
use domain::report::{
    Count, CountKey, CountSpan, CountedTap, Counts, Dimension, Report, ReportRange,
};
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
        let mut report = if let Some(tag) = range.tag {
            self.report_of_tag(&range, tag).await?
        } else {
            let read = self.read_snapshot("report", range.clone(), |db, range| {
                Box::pin(read::report(db, range))
            });
            read.await?
        };
        // No count has these, so they are read from the interactions themselves.
        let counted = (range, report.buckets.clone());
        (report.visitors, report.tags) = self
            .read_snapshot("report_visitors", counted, |db, (range, counted)| {
                Box::pin(seen::visitors_and_tags(db, range, counted))
            })
            .await?;
        Ok(report)
    }

    /// Removes some hourly counts older than `keep_since`; daily counts stay. `true` if more may be
    /// left.
    pub async fn prune_report_hours(&self, keep_since: Timestamp) -> Result<bool, StorageError> {
        let first = CountSpan::Hour.of(keep_since);
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
     i.visitor_group, i.simulated, CASE WHEN EXISTS (SELECT 1 FROM tag_groups) THEN \
     (SELECT t.group_id FROM tags t WHERE t.id = i.tag_id) END AS tag_group, i.reason";

/// Whether an interaction `i` is a test tap of the real world, which is not counted. The commit
/// that recorded the tap also marked it as a test.
const IS_TEST: &str = "EXISTS (SELECT 1 FROM test_taps o WHERE o.tap_id = i.id)";

/// The first `?3` taps after a place in the order of commits. PostgreSQL commits taps in parallel:
/// only before the `settled` ones no further tap can appear.
fn after(dialect: Dialect, settled: bool) -> &'static str {
    match (dialect, settled) {
        // Ids follow the order of commits.
        (Dialect::Sqlite, _) => {
            "SELECT id, at, tag_id, experience_id, tech, country, system, language, visitor_group, simulated,
                 reason FROM interactions WHERE id > ?1 ORDER BY id LIMIT ?3"
        }
        (Dialect::Postgres, true) => {
            "SELECT seq, id, at, tag_id, experience_id, tech, country, system, language, visitor_group, simulated,
                 reason FROM taps_after(?1, ?2, ?3, TRUE)"
        }
        (Dialect::Postgres, false) => {
            "SELECT seq, id, at, tag_id, experience_id, tech, country, system, language, visitor_group, simulated,
                 reason FROM taps_after(?1, ?2, ?3, FALSE)"
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
         GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, is_test"
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
        at: CountSpan::Hour.begin(hour),
        experience: row.take()?,
        tech: row.text("technology", Tech::from_value)?,
        country: row.take()?,
        traits: Traits {
            system: row.optional_text("system", OperatingSystem::from_name)?,
            language: row.take()?,
            group: group(row.take()?)?,
        },
        simulated: row.take()?,
        tag_group: row.take()?,
        reason: row.text("reason", Reason::from_name)?,
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

const COLUMNS: [&str; 10] = [
    "group_id",
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

/// A row of `COLUMNS`.
fn row<'count>(key: &'count CountKey, count: &Count) -> Vec<Value<'count>> {
    values![
        key.tag_group,
        key.span.hours(),
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
}

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
    for table in [ALL_TAGS, BY_GROUP] {
        let of_groups = table == BY_GROUP;
        let counts = fold.counts.0.iter();
        let counts = counts.filter(|(key, _)| key.tag_group.is_some() == of_groups);
        let first = usize::from(!of_groups);
        let rows = counts
            .map(|(key, count)| row(key, count).split_off(first))
            .collect();
        let columns = &COLUMNS[first..];
        let key = columns[..columns.len() - 3].join(", ");
        let then = format!(
            "ON CONFLICT ({key}) DO UPDATE SET taps = {table}.taps + excluded.taps,
             updates = {table}.updates + excluded.updates,
             submissions = {table}.submissions + excluded.submissions"
        );
        insert_rows(tx, table, columns, rows, &then).await?;
    }
    Ok(true)
}

/// The counts of all tags.
const ALL_TAGS: &str = "report_counts";
/// The counts of tags in groups, by their group.
const BY_GROUP: &str = "report_group_counts";

/// The stored experience of taps that led to none: ids begin at 1.
const NO_EXPERIENCE: i64 = 0;

/// Some dimensions, for an `IN` condition. The table is ordered by dimension first, so the database
/// reads one range for each.
fn dimensions(wanted: impl Fn(Dimension) -> bool) -> String {
    let wanted = Dimension::ALL.into_iter().filter(|one| wanted(*one));
    let names = wanted.map(|dimension| format!("'{}'", dimension.as_str()));
    names.collect::<Vec<_>>().join(", ")
}
