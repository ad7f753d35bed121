//! The tree: the groups above and below a group, and the rules of its place.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::rows;
use crate::shared::{Query, Transaction, callers};
use crate::value::{Value, values};
use crate::{Conflict, GroupNode, StorageError};
use domain::group::{Below, Group, GroupFields, GroupKind, InvalidPlace, LEVELS_MAX, Lineage};
use domain::id::GroupId;

/// The group ?1 and the groups above it. The limit stops a circle, which no write makes.
const ABOVE: &str = "WITH RECURSIVE up (id, level) AS (
         SELECT CAST(?1 AS BIGINT), 1
         UNION ALL SELECT g.parent_id, up.level + 1 FROM up JOIN tag_groups g ON g.id = up.id
         WHERE g.parent_id IS NOT NULL AND up.level < 8)";

/// A group with the groups above it, regardless of the caller's reach.
pub(in crate::shared) async fn lineage(
    db: &mut dyn Query,
    id: GroupId,
) -> Result<Option<Arc<Lineage>>, StorageError> {
    let columns = rows::COLUMNS;
    let sql = format!(
        "{ABOVE} SELECT {columns} FROM up JOIN tag_groups g ON g.id = up.id ORDER BY up.level DESC"
    );
    let mut lineage = None;
    for row in db.query(&sql, &values![id]).await? {
        let Group { id, fields, .. } = rows::read(row)?;
        let above = lineage.take();
        lineage = Some(Arc::new(Lineage { id, fields, above }));
    }
    Ok(lineage)
}

/// The lineages that an operation needs. It reads each of them once.
#[derive(Default)]
pub(in crate::shared) struct Lineages(HashMap<GroupId, Option<Arc<Lineage>>>);

impl Lineages {
    /// The group with the groups above it. `None` without a group.
    pub(in crate::shared) async fn of(
        &mut self,
        db: &mut dyn Query,
        group: Option<GroupId>,
    ) -> Result<Option<&Lineage>, StorageError> {
        let Some(id) = group else {
            return Ok(None);
        };
        let lineage = match self.0.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => vacant.insert(lineage(db, id).await?),
        };
        Ok(lineage.as_deref())
    }
}

/// The groups, each with the number of all tags below it.
pub(super) async fn with_totals(
    db: &mut dyn Query,
    mut groups: Vec<Group>,
) -> Result<Vec<Group>, StorageError> {
    if groups.is_empty() {
        return Ok(groups);
    }
    let sql = "WITH RECURSIVE below (root, id) AS (
             SELECT id, id FROM tag_groups WHERE id IN ids(?1)
             UNION ALL SELECT b.root, g.id FROM below b JOIN tag_groups g ON g.parent_id = b.id)
         SELECT b.root, CAST(sum(g.tag_count) AS BIGINT) FROM below b JOIN tag_groups g ON g.id = b.id
         GROUP BY b.root";
    let ids = Value::list(groups.iter().map(|group| group.id));
    let mut totals = HashMap::<GroupId, u64>::new();
    for mut row in db.query(sql, &[ids]).await? {
        totals.insert(row.take()?, row.take()?);
    }
    for group in &mut groups {
        group.tag_count = totals.get(&group.id).copied().unwrap_or_default();
    }
    Ok(groups)
}

/// Checks a group's place in the tree. `id` is `None` for a new group.
pub(super) async fn check(
    tx: &mut dyn Transaction,
    id: Option<GroupId>,
    group: &GroupFields,
) -> Result<(), StorageError> {
    let mut above = Vec::with_capacity(LEVELS_MAX);
    if let Some(parent) = group.parent_id {
        let sought = rows::select(tx, "g.id = ?1", &values![parent], "").await?;
        if sought.is_empty() {
            let id = parent.get();
            let noun = "parent group";
            return Err(Conflict::Missing { noun, id }.into());
        }
        let sql = format!("{ABOVE} SELECT g.id, g.kind FROM up JOIN tag_groups g ON g.id = up.id");
        for mut row in tx.query(&sql, &values![parent]).await? {
            if Some(row.take()?) == id {
                return Err(InvalidPlace::Circle.into());
            }
            above.push(row.text("group", GroupKind::parse)?);
        }
    }
    let below = match id {
        Some(id) => below(tx, id).await?,
        None => Below::default(),
    };
    Ok(InvalidPlace::check(group.kind, &above, below)?)
}

async fn below(db: &mut dyn Query, id: GroupId) -> Result<Below, StorageError> {
    let sql = "WITH RECURSIVE below (id, level) AS (
             SELECT id, 1 FROM tag_groups WHERE parent_id = ?1
             UNION ALL SELECT g.id, b.level + 1 FROM below b JOIN tag_groups g ON g.parent_id = b.id
             WHERE b.level < 8)
         SELECT CAST(coalesce(max(b.level), 0) AS BIGINT), count(CASE WHEN g.kind = 'product' THEN 1 END) > 0
         FROM below b JOIN tag_groups g ON g.id = b.id";
    let mut row = db.one(sql, &values![id]).await?;
    let levels: u64 = row.take()?;
    Ok(Below {
        levels: usize::try_from(levels).unwrap_or(LEVELS_MAX),
        has_product: row.take()?,
    })
}

/// All groups within reach.
pub(super) async fn nodes(db: &mut dyn Query) -> Result<Vec<GroupNode>, StorageError> {
    let reached = callers::groups(db.reach(), "g.id");
    let sql = format!(
        "SELECT g.id, g.parent_id, g.kind, g.name FROM tag_groups g WHERE TRUE{reached} ORDER BY g.id"
    );
    let found = db.query(&sql, &[]).await?.into_iter();
    let nodes = found.map(|mut row| {
        Ok(GroupNode {
            id: row.take()?,
            parent_id: row.take()?,
            kind: row.text("group", GroupKind::parse)?,
            name: row.take()?,
        })
    });
    nodes.collect()
}
