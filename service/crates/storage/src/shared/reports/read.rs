//! Reads a report: the stored counts, and the taps that are not counted yet, as of one moment.

use std::collections::{BTreeMap, HashSet};

use super::{
    ALL_TAGS, BY_GROUP, UNCOUNTED_MAX, by_group, dimensions, mark, prune, taps_after, test_taps,
    updates,
};
use crate::StorageError;
use crate::shared::callers::condition;
use crate::shared::{Query, groups};
use crate::value::{Row, Value, values};
use domain::id::{ExperienceId, GroupId};
use domain::report::{Count, CountSpan, CountedTap, Dimension, Piece, Report, ReportRange};
use domain::scope::Reach;

/// Days whose hours are read at once: 8,784 rows.
const DAYS_AT_ONCE: i64 = 366;

pub(super) async fn report(
    db: &mut dyn Query,
    range: &ReportRange,
) -> Result<Report, StorageError> {
    let mut report = Report {
        complete: true,
        hours_since: prune::hours_since(db).await?,
        ..Report::default()
    };
    counted_values(db, range, &mut report).await?;
    counted_hours(db, range, &mut report).await?;
    let uncounted = uncounted(db, range, &mut report.complete).await?;
    for (tap, count) in &uncounted {
        report.add_tap(range, tap, *count);
    }
    report.groups = by_group::results(db, range, &uncounted).await?;
    report.test_taps = test_taps::counts(db, range).await?;
    report.names = names(db, &experiences(&report)).await?;
    Ok(report)
}

/// The taps, updates and submissions within reach that are in no stored count. `complete` becomes
/// false if there are more.
pub(super) async fn uncounted(
    db: &mut dyn Query,
    range: &ReportRange,
    complete: &mut bool,
) -> Result<Vec<(CountedTap, Count)>, StorageError> {
    let (from, _) = mark(db).await?;
    let (taps, all) = taps_after(db, from, UNCOUNTED_MAX, false).await?;
    let updates = updates(db, UNCOUNTED_MAX).await?;
    *complete = all < UNCOUNTED_MAX as u64 && updates.len() < UNCOUNTED_MAX;
    let reach = db.reach().clone();
    let wanted = match groups::chosen(range.group, &reach) {
        Some(chosen) => Some(ids(db, &chosen).await?),
        None => None,
    };
    let taps = taps.into_iter().map(|(tap, many)| (tap, Count::taps(many)));
    let updates = updates
        .into_iter()
        .filter_map(|(_, count, tap)| Some((tap?, count)));
    let found = taps.chain(updates).filter(|(tap, _)| {
        let in_groups = match &wanted {
            None => true,
            Some(groups) => tap.tag_group.is_some_and(|group| groups.contains(&group)),
        };
        let within = reach.groups().is_some() || reach.has(tap.experience);
        in_groups && within
    });
    Ok(found.collect())
}

/// The table that a report reads.
pub(super) fn table(range: &ReportRange, reach: &Reach) -> &'static str {
    match groups::chosen(range.group, reach) {
        None => ALL_TAGS,
        Some(_) => BY_GROUP,
    }
}

pub(super) const SUMS: &str = "CAST(sum(taps) AS BIGINT), CAST(sum(updates) AS BIGINT), \
     CAST(sum(submissions) AS BIGINT)";

/// Adds the stored counts by the values of all dimensions but the hours.
async fn counted_values(
    db: &mut dyn Query,
    range: &ReportRange,
    report: &mut Report,
) -> Result<(), StorageError> {
    let table = table(range, db.reach());
    let dimensions = dimensions(|dimension| dimension != Dimension::Hour);
    for before in [false, true] {
        for piece in range.pieces(before) {
            let (conditions, values) = conditions(db, range, piece);
            // The table is ordered by dimension, time and value. So the inner sums need no sorting,
            // and they merge the experiences into one row for each value.
            let sql = format!(
                "SELECT dimension, value, {SUMS} FROM (
                     SELECT dimension, value, sum(taps) AS taps, sum(updates) AS updates,
                         sum(submissions) AS submissions
                     FROM {table} WHERE dimension IN ({dimensions}) AND {conditions}
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
    Ok(())
}

/// Adds the stored counts of each hour. A day of UTC has its counts by the hour of the week, and
/// these are kept for ever.
async fn counted_hours(
    db: &mut dyn Query,
    range: &ReportRange,
    report: &mut Report,
) -> Result<(), StorageError> {
    let table = table(range, db.reach());
    let (mut first, end) = range.days();
    while first < end {
        let next = end.min(first + DAYS_AT_ONCE);
        let (conditions, values) = conditions(db, range, (CountSpan::Day, first, next));
        // Every tap has exactly one value in this dimension, so its sums count each tap once.
        let sql = format!(
            "SELECT slot, value, {SUMS} FROM {table}
             WHERE dimension = 'hour_of_week' AND {conditions} GROUP BY slot, value"
        );
        for mut row in db.query(&sql, &values).await? {
            let day: i64 = row.take()?;
            let of_week: i64 = row.text("hour of the week", |hour| hour.parse().ok())?;
            let hours = CountSpan::Day.hours();
            let hour = day * hours + of_week.rem_euclid(hours);
            report.add_hour(range, hour, count(&mut row)?);
        }
        first = next;
    }
    Ok(())
}

pub(super) fn count(row: &mut Row) -> Result<Count, StorageError> {
    Ok(Count {
        taps: row.take()?,
        updates: row.take()?,
        submissions: row.take()?,
    })
}

/// The conditions for one piece of time, and their values.
pub(super) fn conditions(
    db: &dyn Query,
    range: &ReportRange,
    (span, first, end): Piece,
) -> (String, Vec<Value<'static>>) {
    let mut conditions = String::from("span = ?1 AND slot >= ?2 AND slot < ?3");
    let mut values = values![span.hours(), first, end].to_vec();
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
    if let Some(chosen) = groups::chosen(range.group, db.reach()) {
        conditions = format!("{conditions} AND group_id IN ({chosen})");
    }
    if db.reach().groups().is_none() {
        conditions += &condition(db.reach(), "experience_id");
    }
    (conditions, values)
}

/// The groups of a query.
async fn ids(db: &mut dyn Query, sql: &str) -> Result<HashSet<GroupId>, StorageError> {
    let found = db.query(sql, &[]).await?.into_iter();
    found.map(|mut row| row.take()).collect()
}

/// The experiences in a report.
pub(super) fn experiences(report: &Report) -> Vec<i64> {
    let ids = report.values.keys();
    let ids = ids.filter(|(dimension, _)| *dimension == Dimension::Experience);
    ids.filter_map(|(_, value)| value.parse().ok()).collect()
}

/// The names of experiences.
pub(super) async fn names(
    db: &mut dyn Query,
    experiences: &[i64],
) -> Result<BTreeMap<ExperienceId, String>, StorageError> {
    let sql = "SELECT id, name FROM experiences WHERE id IN ids(?1)";
    let found = db.query(sql, &values![Value::list(experiences)]).await?;
    let found = found
        .into_iter()
        .map(|mut row| Ok((row.take()?, row.take()?)));
    found.collect()
}
