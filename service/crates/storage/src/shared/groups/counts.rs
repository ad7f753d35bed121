//! How many tags are in each group itself. The number is stored, so that a list of groups counts no
//! tags; every operation that moves tags in or out updates it in its commit.

use std::collections::BTreeMap;

use crate::StorageError;
use crate::shared::{Query, Transaction};
use crate::value::{Value, values};
use domain::id::{GroupId, TagId};

/// Numbers of tags by their group.
pub(in crate::shared) type Counted = BTreeMap<GroupId, i64>;

/// The condition for tags that are counted.
const COUNTS: &str = "group_id IS NOT NULL AND deleted_at IS NULL AND NOT simulated";

/// How many of these tags each group counts.
pub(in crate::shared) async fn counted(
    db: &mut dyn Query,
    tags: &[TagId],
) -> Result<Counted, StorageError> {
    if tags.is_empty() {
        return Ok(Counted::new());
    }
    let sql = format!(
        "SELECT group_id, count(*) FROM tags WHERE id IN ids(?1) AND {COUNTS} GROUP BY group_id"
    );
    let found = db
        .query(&sql, &values![Value::list(tags)])
        .await?
        .into_iter();
    found
        .map(|mut row| Ok((row.take()?, row.take()?)))
        .collect()
}

/// Changes the stored numbers, after tags that were counted as `before` are counted as `after`.
pub(in crate::shared) async fn count(
    tx: &mut dyn Transaction,
    before: &Counted,
    after: &Counted,
) -> Result<(), StorageError> {
    let mut changes = after.clone();
    for (group, tags) in before {
        *changes.entry(*group).or_default() -= tags;
    }
    let sql = "UPDATE tag_groups SET tag_count = tag_count + ?2 WHERE id = ?1";
    for (group, tags) in changes.into_iter().filter(|(_, tags)| *tags != 0) {
        tx.execute(sql, &values![group, tags]).await?;
    }
    Ok(())
}
