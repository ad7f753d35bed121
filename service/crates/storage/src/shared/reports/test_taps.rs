//! Number of test taps in the period of a report.

use crate::StorageError;
use crate::shared::{Query, callers, groups};
use crate::value::{unreadable, values};
use domain::interaction::TapOrigin;
use domain::report::{ReportRange, TestTapCounts};
use domain::world::World;

/// Counts of the period, and of the period before.
pub(super) async fn counts(
    db: &mut dyn Query,
    range: &ReportRange,
) -> Result<(TestTapCounts, TestTapCounts), StorageError> {
    let (mut now, mut before) = Default::default();
    // Only real taps can be test taps.
    if range.world == World::Simulated {
        return Ok((now, before));
    }
    let reached = callers::taps(db.reach(), "experience_id", "tag_id");
    let (first, begin) = range.hours(true);
    let (_, end) = range.hours(false);
    let mut values = values![first, begin, end, range.experience].to_vec();
    let mut limits = String::new();
    if let Some(group) = range.group {
        values.push(group.into());
        let group = format!("?{}", values.len());
        let is_in = groups::tag_is_in(db.dialect(), "tag_id", &group);
        limits = format!(" AND {is_in}");
    }
    if let Some(tag) = range.tag {
        values.push(tag.into());
        limits = format!("{limits} AND tag_id = ?{}", values.len());
    }
    let sql = format!(
        "SELECT origin, hour < ?2, count(*) FROM test_taps
         WHERE hour >= ?1 AND hour < ?3 AND (CAST(?4 AS BIGINT) IS NULL OR experience_id = ?4){reached}{limits}
         GROUP BY 1, 2"
    );
    for mut row in db.query(&sql, &values).await? {
        let origin: String = row.take()?;
        let origin = TapOrigin::from_stored(&origin).ok_or_else(|| unreadable("origin"))?;
        let is_before: bool = row.take()?;
        let counts: &mut TestTapCounts = if is_before { &mut before } else { &mut now };
        counts.add(origin, row.take()?);
    }
    Ok((now, before))
}
