//! Counts the keys of attributes.

use std::collections::{BTreeSet, HashMap};

use super::in_groups::{GivenKeys, given_keys};
use super::select::Select;
use super::tally::{Parts, Tally};
use crate::shared::Query;
use crate::value::Value;
use crate::{COUNTING, KeyCounts, StorageError, TagFilter};
use domain::clock::Stopwatch;
use domain::id::GroupId;
use domain::tag::PropertyKey;

/// The most frequent keys, at most `limit`. A key counts for each tag that has a value for it, of its
/// own or of a group above.
pub(super) async fn counts(
    db: &mut dyn Query,
    filter: &TagFilter,
    limit: usize,
    estimate: bool,
) -> Result<KeyCounts, StorageError> {
    let stopwatch = Stopwatch::start();
    let parts = Parts::of(db, filter).await?;
    let given = given_keys(db).await?;
    let mut tally = Tally::default();
    let mut counted = 0;
    for part in parts.all() {
        let select = parts.select(db.reach(), part);
        add(db, &mut tally, select, &given).await?;
        counted += 1;
        if estimate && stopwatch.elapsed() >= COUNTING {
            break;
        }
    }
    let (keys, exact) = tally.most_frequent(limit, parts.number(), counted);
    Ok(KeyCounts { keys, exact })
}

/// Adds the keys of a selection.
async fn add(
    db: &mut dyn Query,
    tally: &mut Tally<PropertyKey>,
    mut select: Select,
    given: &GivenKeys,
) -> Result<(), StorageError> {
    // Own keys are only counted by group where groups give some.
    let (group, by) = if given.is_empty() {
        ("CAST(NULL AS bigint)", "p.key")
    } else {
        ("matching.group_id", "of_group, p.key")
    };
    let properties = select.with_properties();
    let sql = format!(
        "SELECT {group} AS of_group, p.key, count(*) FROM {properties} AND p.class = 'attribute'
         GROUP BY {by}"
    );
    let mut own = HashMap::<GroupId, HashMap<PropertyKey, u64>>::new();
    for mut row in db.query_once(&sql, &select.values).await? {
        let group: Option<GroupId> = row.take()?;
        let key = row.text("property", |key| PropertyKey::parse(key).ok())?;
        let count: u64 = row.take()?;
        tally.add(key.clone(), count);
        if let Some(group) = group.filter(|group| given.contains(*group)) {
            own.entry(group).or_default().insert(key, count);
        }
    }
    if !given.is_empty() {
        let groups = select.bind(Value::list(given.groups()));
        let clauses = select.clauses();
        let sql = format!(
            "SELECT t.group_id, count(*) FROM {clauses} AND t.group_id IN ids({groups})
             GROUP BY t.group_id"
        );
        for mut row in db.query_once(&sql, &select.values).await? {
            let (group, tags): (GroupId, u64) = (row.take()?, row.take()?);
            let own = own.remove(&group).unwrap_or_default();
            let keys: BTreeSet<_> = given.keys(group).collect();
            for key in keys {
                // Tags with a value of their own are counted above.
                let inherit = tags.saturating_sub(own.get(key).copied().unwrap_or_default());
                if inherit > 0 {
                    tally.add(key.clone(), inherit);
                }
            }
        }
    }
    tally.give_up_rarest();
    Ok(())
}
