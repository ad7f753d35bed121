//! The variables of forms. A tag that is assigned to an experience gets the variables that its page
//! writes, with empty values, in the commit of the assignment.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use crate::shared::{self, Query, Transaction, experiences, groups};
use crate::value::{Value, values};
use crate::{ChangedTag, StorageError};
use domain::group::led_to;
use domain::id::{ExperienceId, TagId};
use domain::tag::{PROPERTIES_MAX, PropertyKey, TagFields};

/// The variables that pages write, and the groups that lead to them. A transaction reads each of
/// them once.
#[derive(Default)]
pub(in crate::shared) struct Written {
    pages: HashMap<ExperienceId, BTreeSet<PropertyKey>>,
    groups: groups::Lineages,
}

impl Written {
    /// The variables that an experience's page writes: the published page, or else the draft.
    async fn by(
        &mut self,
        db: &mut dyn Query,
        id: ExperienceId,
    ) -> Result<&BTreeSet<PropertyKey>, StorageError> {
        let vacant = match self.pages.entry(id) {
            Entry::Occupied(known) => return Ok(known.into_mut()),
            Entry::Vacant(vacant) => vacant,
        };
        let sql =
            "SELECT coalesce(v.content, e.draft) FROM experiences e LEFT JOIN experience_versions v
             ON v.experience_id = e.id AND v.version = e.published WHERE e.id = ?1";
        let written = match db.row(sql, &values![id]).await? {
            Some(mut row) => experiences::content(&mut row)?.written_variables(),
            None => BTreeSet::new(),
        };
        Ok(vacant.insert(written))
    }

    /// Gives a new tag the variables that its groups predefine, where it has none of the key. A tag
    /// without room for all of them gets none.
    pub(in crate::shared) async fn predefine(
        &mut self,
        db: &mut dyn Query,
        tag: &mut TagFields,
    ) -> Result<(), StorageError> {
        let Some(lineage) = self.groups.of(db, tag.group_id).await? else {
            return Ok(());
        };
        let present = &mut tag.variables.0;
        let mut predefined = lineage.variables().0;
        predefined.retain(|key, _| !present.contains_key(key));
        if present.len() + predefined.len() <= PROPERTIES_MAX {
            present.extend(predefined);
        }
        Ok(())
    }

    /// Gives a new tag the variables of its groups and of its page, and returns the latter.
    pub(in crate::shared) async fn fill_new(
        &mut self,
        db: &mut dyn Query,
        tag: &mut TagFields,
    ) -> Result<Vec<PropertyKey>, StorageError> {
        self.predefine(db, tag).await?;
        self.fill(db, tag).await
    }

    /// Adds the missing variables of its page to a tag, and returns them. A tag without room for
    /// all of them gets none, and its owner sees the warning.
    pub(in crate::shared) async fn fill(
        &mut self,
        db: &mut dyn Query,
        tag: &mut TagFields,
    ) -> Result<Vec<PropertyKey>, StorageError> {
        let lineage = match tag.experience_id {
            None => self.groups.of(db, tag.group_id).await?,
            Some(_) => None,
        };
        let Some(experience) = led_to(tag.experience_id, lineage) else {
            return Ok(Vec::new());
        };
        let present = &mut tag.variables.0;
        let lacked = lacked(self.by(db, experience).await?, present.len(), |key| {
            present.contains_key(key)
        });
        present.extend(lacked.iter().map(|key| (key.clone(), String::new())));
        Ok(lacked)
    }
}

/// The variables of `written` that a tag does not have, if it has room for all of them.
fn lacked(
    written: &BTreeSet<PropertyKey>,
    present: usize,
    has: impl Fn(&PropertyKey) -> bool,
) -> Vec<PropertyKey> {
    let lacked: Vec<_> = written.iter().filter(|key| !has(key)).cloned().collect();
    if present + lacked.len() > PROPERTIES_MAX {
        return Vec::new();
    }
    lacked
}

/// Adds the missing variables to tags that were assigned to an experience, and notes them in
/// `changed`.
pub(super) async fn add(
    tx: &mut dyn Transaction,
    experience: ExperienceId,
    changed: Vec<&mut ChangedTag>,
) -> Result<(), StorageError> {
    let mut written = Written::default();
    let written = written.by(tx, experience).await?;
    if written.is_empty() {
        return Ok(());
    }
    let ids = changed.iter().map(|tag| tag.id);
    let sql = "SELECT tag_id, key FROM properties WHERE class = 'variable' AND tag_id IN ids(?1)";
    let mut present = HashMap::<TagId, BTreeSet<String>>::new();
    for mut row in tx.query(sql, &values![Value::list(ids)]).await? {
        let (tag, key) = (row.take()?, row.take()?);
        present.entry(tag).or_default().insert(key);
    }
    let mut rows = Vec::new();
    for tag in changed {
        let present = present.remove(&tag.id).unwrap_or_default();
        tag.added = lacked(written, present.len(), |key| present.contains(key.as_str()));
        let added = tag.added.iter();
        rows.extend(added.map(|key| values![tag.id, "variable", key.as_str(), ""].into()));
    }
    let columns = ["tag_id", "class", "key", "value"];
    shared::insert_rows(tx, "properties", &columns, rows, "").await?;
    Ok(())
}

/// Removes variables of tags that are still empty: undoing an assignment removes those that it
/// added.
pub(super) async fn remove(
    tx: &mut dyn Transaction,
    keys: &[PropertyKey],
    changed: &[ChangedTag],
) -> Result<(), StorageError> {
    let ids = changed.iter().map(|tag| tag.id);
    let sql = "DELETE FROM properties WHERE tag_id IN ids(?1) AND class = 'variable'
         AND key IN texts(?2) AND value = ''";
    let keys: BTreeSet<_> = keys.iter().map(PropertyKey::as_str).collect();
    tx.execute(sql, &values![Value::list(ids), Value::list(&keys)])
        .await
        .map(drop)
}
