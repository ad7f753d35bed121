//! Groups of tags: their SQL, and the rules of their tree.
//!
//! A group is one row. Tags and groups below it are found through it, so that a change of a group,
//! or its move, writes one row however many tags are below.

mod counts;
mod images;
mod led;
mod rows;
mod tree;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{Query, Transaction, callers, tags};
use crate::search::{containing, fold};
use crate::value::{Value, unreadable, values};
use crate::{
    Access, CachedPart, Conflict, GroupEdit, GroupFilter, GroupNode, InUse, Invalid, StorageError,
};
use domain::audit::Note;
use domain::field_error::FieldError;
use domain::group::{Effective, Group, GroupFields, GroupKind, Lineage};
use domain::id::{ExperienceId, GroupId, TagId};
use domain::revision::Precondition;

pub(super) use counts::{Counted, count, counted};
pub(crate) use led::{
    assigned, below, below_all, chosen, is_in, leads, leads_to, led_to, tag_is_in,
};
pub(super) use tree::{Lineages, lineage};

/// The operations on groups.
impl Access {
    /// Stores a new group.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for the parent and the experiences, [`Conflict::InvalidPlace`] and
    /// [`Conflict::CodeTaken`].
    pub async fn insert_group(&self, group: GroupFields) -> Result<Group, StorageError> {
        self.change("insert_group", group, |tx, group| {
            Box::pin(insert(tx, group))
        })
        .await
    }

    /// The group with this id.
    pub async fn group(&self, id: GroupId) -> Result<Option<Group>, StorageError> {
        self.read_snapshot("group", id, |db, id| Box::pin(group(db, *id)))
            .await
    }

    /// At most `limit` groups that match `filter`, after the one with the id `after`, ordered by
    /// id.
    pub async fn groups(
        &self,
        filter: GroupFilter,
        after: Option<GroupId>,
        limit: usize,
    ) -> Result<Vec<Group>, StorageError> {
        let arguments = (filter, after, limit);
        self.read_snapshot("groups", arguments, |db, (filter, after, limit)| {
            Box::pin(list(db, filter, *after, *limit))
        })
        .await
    }

    /// All groups within reach, for a table that names many of them.
    pub async fn group_tree(&self) -> Result<Vec<GroupNode>, StorageError> {
        self.read("group_tree", (), |db, ()| Box::pin(tree::nodes(db)))
            .await
    }

    /// How many groups match `filter`.
    pub async fn count_groups(&self, filter: GroupFilter) -> Result<u64, StorageError> {
        self.read("count_groups", filter, |db, filter| {
            Box::pin(self::number(db, filter))
        })
        .await
    }

    /// The group with the groups above it, for a tap or another caller that sees one of its tags.
    pub async fn lineage(&self, id: GroupId) -> Result<Option<Arc<Lineage>>, StorageError> {
        self.run_read("lineage", id, |db, id| Box::pin(lineage(db, *id)))
            .await
    }

    /// The values of a tag as visitors get them.
    pub async fn effective(&self, id: TagId) -> Result<Option<Effective>, StorageError> {
        self.read_snapshot("effective", id, |db, id| Box::pin(effective(db, *id)))
            .await
    }

    /// Applies `edit` to a group.
    ///
    /// # Errors
    ///
    /// The error of `edit`, and those of [`Self::insert_group`]. A product with an image of its own
    /// keeps its kind.
    pub async fn edit_group(
        &self,
        id: GroupId,
        edit: GroupEdit,
    ) -> Result<Option<Group>, StorageError> {
        self.change("edit_group", (id, edit), |tx, (id, edit)| {
            Box::pin(self::edit(tx, *id, edit))
        })
        .await
    }

    /// Deletes an empty group, if it still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`], [`InUse::ByMembers`], [`InUse::ByImport`],
    /// [`InUse::ByTemplatesOfGroup`] and [`InUse::ByNotifications`].
    pub async fn delete_group_if(
        &self,
        id: GroupId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_group", (id, expected), |tx, (id, expected)| {
            Box::pin(delete(tx, *id, expected))
        })
        .await
    }
}

/// A group with its image, and with the number of all tags below it.
async fn group(db: &mut dyn Query, id: GroupId) -> Result<Option<Group>, StorageError> {
    let found = rows::select(db, "g.id = ?1", &values![id], "").await?;
    Ok(whole(db, found).await?.pop())
}

/// Completes groups by what is not in their rows.
async fn whole(db: &mut dyn Query, found: Vec<Group>) -> Result<Vec<Group>, StorageError> {
    let found = tree::with_totals(db, found).await?;
    images::with_images(db, found).await
}

/// The conditions of a filter, with their values.
fn conditions(filter: &GroupFilter) -> (String, Vec<Value<'static>>) {
    let (mut sql, mut values) = ("TRUE".to_owned(), Vec::new());
    match filter.parent {
        None => {}
        Some(None) => sql += " AND g.parent_id IS NULL",
        Some(Some(parent)) => {
            values.push(parent.into());
            sql = format!("{sql} AND g.parent_id = ?{}", values.len());
        }
    }
    if let Some(kind) = filter.kind {
        values.push(kind.as_str().into());
        sql = format!("{sql} AND g.kind = ?{}", values.len());
    }
    if let Some(q) = filter.q.as_deref().filter(|q| !q.is_empty()) {
        values.push(containing(&fold(q)).into());
        sql = format!("{sql} AND g.folded LIKE ?{} ESCAPE '\\'", values.len());
    }
    (sql, values)
}

async fn list(
    db: &mut dyn Query,
    filter: &GroupFilter,
    after: Option<GroupId>,
    limit: usize,
) -> Result<Vec<Group>, StorageError> {
    let (mut sql, mut values) = conditions(filter);
    if let Some(after) = after {
        values.push(after.into());
        sql = format!("{sql} AND g.id > ?{}", values.len());
    }
    values.push(Value::limit(limit));
    let order = format!("ORDER BY g.id LIMIT ?{}", values.len());
    let found = rows::select(db, &sql, &values, &order).await?;
    whole(db, found).await
}

async fn number(db: &mut dyn Query, filter: &GroupFilter) -> Result<u64, StorageError> {
    let (conditions, values) = conditions(filter);
    let reached = callers::groups(db.reach(), "g.id");
    let sql = format!("SELECT count(*) FROM tag_groups g WHERE {conditions}{reached}");
    db.count(&sql, &values).await
}

async fn effective(db: &mut dyn Query, id: TagId) -> Result<Option<Effective>, StorageError> {
    let Some(tag) = tags::tag(db, id).await? else {
        return Ok(None);
    };
    let lineage = match tag.fields.group_id {
        Some(group) => lineage(db, group).await?,
        None => None,
    };
    Ok(Some(Effective::of(&tag.fields, lineage.as_deref())))
}

async fn insert(tx: &mut dyn Transaction, fields: &GroupFields) -> Result<Group, StorageError> {
    if tx.reach().groups().is_some() && fields.parent_id.is_none() {
        return Err(Invalid::NoGroup("parent_id").into());
    }
    check(tx, None, None, fields).await?;
    let now = tx.now();
    let mut columns = rows::columns(fields)?;
    columns.push(("tag_count", 0_u64.into()));
    columns.push(("created_at", now.into()));
    columns.push(("updated_at", now.into()));
    let (names, row): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let inserted = super::insert_rows(tx, "tag_groups", &names, vec![row], "RETURNING id").await?;
    let id = inserted.into_iter().next();
    let id: GroupId = id.ok_or_else(|| unreadable("group"))?.take()?;
    tx.changes(Some(CachedPart::Group(id)));
    tx.note(Note::created(format!("groups/{id}"), fields));
    stored(tx, id).await
}

async fn edit(
    tx: &mut dyn Transaction,
    id: GroupId,
    edit: &GroupEdit,
) -> Result<Option<Group>, StorageError> {
    let Some(present) = group(tx, id).await? else {
        return Ok(None);
    };
    let after = edit(present.fields.clone())?;
    if after == present.fields {
        return Ok(Some(present));
    }
    if after.kind != GroupKind::Product && present.own_image().is_some() {
        let why = "Only a product has an image. Remove the image first.";
        return Err(Conflict::from(FieldError::of("kind", why)).into());
    }
    if tx.reach().groups().is_some()
        && after.parent_id.is_none()
        && present.fields.parent_id.is_some()
    {
        return Err(Invalid::NoGroup("parent_id").into());
    }
    check(tx, Some(id), Some(&present.fields), &after).await?;
    let (mut sets, mut values) = ("updated_at = ?2".to_owned(), values![id, tx.now()].to_vec());
    for (name, value) in rows::columns(&after)? {
        values.push(value);
        sets = format!("{sets}, {name} = ?{}", values.len());
    }
    let sql = format!("UPDATE tag_groups SET {sets} WHERE id = ?1");
    tx.execute(&sql, &values).await?;
    tx.changes(Some(CachedPart::Group(id)));
    tx.note(Note::changed(&present.fields, &after));
    stored(tx, id).await.map(Some)
}

/// Reads a group that this transaction has just written.
async fn stored(tx: &mut dyn Transaction, id: GroupId) -> Result<Group, StorageError> {
    group(tx, id).await?.ok_or_else(|| unreadable("group"))
}

/// Checks the rules between a group and other objects. `before` is what it replaces.
async fn check(
    tx: &mut dyn Transaction,
    id: Option<GroupId>,
    before: Option<&GroupFields>,
    after: &GroupFields,
) -> Result<(), StorageError> {
    let place = |group: &GroupFields| (group.parent_id, group.kind);
    if before.map(place) != Some(place(after)) {
        tree::check(tx, id, after).await?;
    }
    let links = [
        (
            after.experience_id,
            before.and_then(|before| before.experience_id),
            "experience",
        ),
        (
            after.recall_experience_id,
            before.and_then(|before| before.recall_experience_id),
            "recall experience",
        ),
    ];
    for (experience, before, noun) in links {
        if let Some(experience) = experience.filter(|_| experience != before)
            && !super::experiences::exists(tx, experience).await?
        {
            let id = experience.get();
            return Err(Conflict::Missing { noun, id }.into());
        }
    }
    if let Some(code) = &after.code {
        // The unique index says the same.
        let sql =
            "SELECT 1 FROM tag_groups WHERE coalesce(parent_id, 0) = ?1 AND code = ?2 AND id <> ?3";
        let parent = after.parent_id.map_or(0, GroupId::get);
        let itself = id.map_or(0, GroupId::get);
        if tx
            .exists(sql, &values![parent, code.as_str(), itself])
            .await?
        {
            return Err(Conflict::CodeTaken(code.to_string()).into());
        }
    }
    Ok(())
}

async fn delete(
    tx: &mut dyn Transaction,
    id: GroupId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = group(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    let groups = "SELECT count(*) FROM tag_groups WHERE parent_id = ?1";
    let groups = tx.count(groups, &values![id]).await?;
    let tags = "SELECT count(*) FROM tags WHERE group_id = ?1 AND deleted_at IS NULL";
    let tags = tx.count(tags, &values![id]).await?;
    if groups + tags > 0 {
        return Err(InUse::ByMembers { groups, tags }.into());
    }
    let reserved = "SELECT 1 FROM import_rows WHERE group_id = ?1 LIMIT 1";
    if tx.exists(reserved, &values![id]).await? {
        return Err(InUse::ByImport("group").into());
    }
    let templates = "SELECT count(*) FROM url_templates WHERE group_id = ?1";
    match tx.count(templates, &values![id]).await? {
        0 => {}
        templates => return Err(InUse::ByTemplatesOfGroup(templates).into()),
    }
    match super::notifications::of_group(tx, id).await? {
        0 => {}
        notifications => return Err(InUse::ByNotifications(notifications).into()),
    }
    let sql = "DELETE FROM group_images WHERE group_id = ?1";
    tx.execute(sql, &values![id]).await?;
    let sql = "DELETE FROM tag_groups WHERE id = ?1";
    tx.execute(sql, &values![id]).await?;
    tx.changes(Some(CachedPart::Group(id)));
    tx.note(Note::deleted(&present.fields));
    Ok(Some(()))
}

/// A group that a tag is in, or comes into.
#[derive(Clone, Copy)]
pub(super) struct Leading {
    /// The experience of tags in it that have none of their own.
    pub(super) experience: Option<ExperienceId>,
    /// Whether the caller sees the group.
    pub(super) within_reach: bool,
}

/// The groups of `wanted` that exist.
pub(super) async fn leading(
    db: &mut dyn Query,
    wanted: BTreeSet<GroupId>,
) -> Result<HashMap<GroupId, Leading>, StorageError> {
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let reached = callers::groups(db.reach(), "t.group_id");
    // The table is shaped like tags, each without an experience of its own.
    let led_to = led_to("t.");
    let sql = format!(
        "SELECT t.group_id, {led_to}, (TRUE{reached})
         FROM (SELECT id AS group_id, CAST(NULL AS BIGINT) AS experience_id FROM tag_groups
             WHERE id IN ids(?1)) t"
    );
    let found = db.query(&sql, &[Value::list(wanted)]).await?.into_iter();
    let found = found.map(|mut row| {
        let id = row.take()?;
        let leading = Leading {
            experience: row.take()?,
            within_reach: row.take()?,
        };
        Ok((id, leading))
    });
    found.collect()
}

/// Refuses the first group that does not exist within reach, with [`Conflict::Missing`].
pub(super) async fn all_exist(
    db: &mut dyn Query,
    wanted: BTreeSet<GroupId>,
) -> Result<(), StorageError> {
    let found = leading(db, wanted.clone()).await?;
    let exists = |id: &GroupId| found.get(id).is_some_and(|group| group.within_reach);
    match wanted.into_iter().find(|id| !exists(id)) {
        None => Ok(()),
        Some(id) => {
            let (noun, id) = ("group", id.get());
            Err(Conflict::Missing { noun, id }.into())
        }
    }
}

/// The experience of tags in a group that have none of their own.
///
/// # Errors
///
/// [`Conflict::Missing`] if there is no such group within reach.
pub(super) async fn existing(
    db: &mut dyn Query,
    group: GroupId,
) -> Result<Option<ExperienceId>, StorageError> {
    let found = leading(db, [group].into()).await?;
    match found.get(&group) {
        Some(leading) if leading.within_reach => Ok(leading.experience),
        _ => Err(Conflict::Missing {
            noun: "group",
            id: group.get(),
        }
        .into()),
    }
}
