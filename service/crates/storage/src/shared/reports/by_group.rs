//! The results of groups: each of the groups directly below that of the report, or each top group,
//! with everything below it.

use std::collections::HashMap;

use super::BY_GROUP;
use super::read::{SUMS, conditions, count};
use crate::StorageError;
use crate::shared::{Query, callers, groups};
use crate::value::{Value, values};
use domain::group::GroupKind;
use domain::id::GroupId;
use domain::report::{Count, CountSpan, CountedTap, GroupResults, ReportRange};
use domain::scope::Reach;

/// Most groups of a report, those with most taps: more than anybody reads.
const GROUPS_MAX: usize = 100;

type Results = HashMap<GroupId, (Count, Count)>;

/// The groups of a report, those with most taps first. `uncounted` are the taps of the report that
/// are in no stored count.
pub(super) async fn results(
    db: &mut dyn Query,
    range: &ReportRange,
    uncounted: &[(CountedTap, Count)],
) -> Result<Vec<GroupResults>, StorageError> {
    // Most services have no groups.
    if !db.exists("SELECT 1 FROM tag_groups LIMIT 1", &[]).await? {
        return Ok(Vec::new());
    }
    let part = part(range, db.reach());
    let mut results = Results::new();
    counted(db, range, &part, &mut results).await?;
    add_uncounted(db, range, &part, uncounted, &mut results).await?;
    let mut results: Vec<_> = results.into_iter().collect();
    let order = |(id, (now, before)): &(GroupId, (Count, Count))| {
        std::cmp::Reverse((now.taps, before.taps, std::cmp::Reverse(*id)))
    };
    results.sort_unstable_by_key(order);
    results.truncate(GROUPS_MAX);
    let names = names(db, &results).await?;
    let results = results.into_iter().filter_map(|(group_id, counts)| {
        let (kind, name) = names.get(&group_id)?.clone();
        Some(GroupResults {
            group_id,
            kind,
            name,
            counts,
        })
    });
    Ok(results.collect())
}

/// The groups of the report (`root`), each with the groups below it (`id`).
fn part(range: &ReportRange, reach: &Reach) -> String {
    let top = match (range.group, reach.groups()) {
        // Ids are numbers, so nothing can be injected into the statement.
        (Some(group), _) => format!("g.parent_id = {group}"),
        (None, None) => "g.parent_id IS NULL".to_owned(),
        (None, Some(groups)) => {
            let within = groups::below_all(groups);
            format!("(g.parent_id IS NULL OR g.parent_id NOT IN ({within}))")
        }
    };
    let reached = callers::groups(reach, "g.id");
    format!(
        "WITH RECURSIVE part (root, id) AS (
             SELECT g.id, g.id FROM tag_groups g WHERE {top}{reached}
             UNION ALL SELECT p.root, g.id FROM part p JOIN tag_groups g ON g.parent_id = p.id)"
    )
}

async fn counted(
    db: &mut dyn Query,
    range: &ReportRange,
    part: &str,
    results: &mut Results,
) -> Result<(), StorageError> {
    for before in [false, true] {
        for piece in range.pieces(before) {
            let (conditions, values) = conditions(db, range, piece);
            // Every tap has exactly one value in this dimension.
            let sql = format!(
                "{part} SELECT p.root, {SUMS} FROM part p JOIN {BY_GROUP} c ON c.group_id = p.id
                 WHERE dimension = 'experience' AND {conditions} GROUP BY p.root"
            );
            for mut row in db.query(&sql, &values).await? {
                let group = row.take()?;
                add(results, group, before, count(&mut row)?);
            }
        }
    }
    Ok(())
}

async fn add_uncounted(
    db: &mut dyn Query,
    range: &ReportRange,
    part: &str,
    uncounted: &[(CountedTap, Count)],
    results: &mut Results,
) -> Result<(), StorageError> {
    let mut found = HashMap::<GroupId, Vec<(bool, Count)>>::new();
    for (tap, count) in uncounted {
        let before = range.is_before(CountSpan::Hour.of(tap.at));
        if let (Some(group), Some(before), true) = (
            tap.tag_group,
            before,
            range.has(tap.simulated, tap.experience),
        ) {
            found.entry(group).or_default().push((before, *count));
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    let sql = format!("{part} SELECT p.id, p.root FROM part p WHERE p.id IN ids(?1)");
    for mut row in db.query(&sql, &values![Value::list(found.keys())]).await? {
        let (group, root): (GroupId, GroupId) = (row.take()?, row.take()?);
        for (before, count) in found.remove(&group).unwrap_or_default() {
            add(results, root, before, count);
        }
    }
    Ok(())
}

fn add(results: &mut Results, group: GroupId, before: bool, count: Count) {
    let (now, earlier) = results.entry(group).or_default();
    *(if before { earlier } else { now }) += count;
}

async fn names(
    db: &mut dyn Query,
    results: &[(GroupId, (Count, Count))],
) -> Result<HashMap<GroupId, (GroupKind, String)>, StorageError> {
    let sql = "SELECT id, kind, name FROM tag_groups WHERE id IN ids(?1)";
    let ids = Value::list(results.iter().map(|(id, _)| id));
    let found = db.query(sql, &[ids]).await?.into_iter();
    let names = found.map(|mut row| {
        let id = row.take()?;
        let kind = row.text("group", GroupKind::parse)?;
        Ok((id, (kind, row.take()?)))
    });
    names.collect()
}
