//! The groups by which a search finds the tags in them: by their names, and by the values that they
//! give.

use std::collections::HashMap;

use crate::StorageError;
use crate::search::containing;
use crate::shared::{Query, callers};
use crate::value::{Value, unreadable, values};
use domain::id::GroupId;
use domain::tag::{Properties, PropertyKey};

/// Groups whose tags a condition finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InGroups {
    pub(super) ids: Vec<GroupId>,
    /// The number of tags in these groups.
    pub(super) tags: u64,
}

impl InGroups {
    /// The groups within reach whose name, code or GTIN has a folded word, with all groups below
    /// them.
    pub(super) async fn named(db: &mut dyn Query, word: &str) -> Result<Self, StorageError> {
        let reached = callers::groups(db.reach(), "g.id");
        let sql = format!(
            "WITH RECURSIVE found (id) AS (
                 SELECT g.id FROM tag_groups g WHERE g.folded LIKE ?1 ESCAPE '\\'{reached}
                 UNION SELECT g.id FROM found f JOIN tag_groups g ON g.parent_id = f.id)
             SELECT g.id, g.tag_count FROM found f JOIN tag_groups g ON g.id = f.id"
        );
        let mut found = Self::default();
        for mut row in db.query(&sql, &values![containing(word)]).await? {
            found.ids.push(row.take()?);
            found.tags += row.take::<u64>()?;
        }
        Ok(found)
    }

    /// The groups that give one of `wanted` to their tags.
    pub(super) async fn giving(
        db: &mut dyn Query,
        key: &PropertyKey,
        wanted: &[String],
    ) -> Result<Self, StorageError> {
        let mut found = Self::default();
        for given in given(db, key).await? {
            if wanted.contains(&given.value) {
                found.ids.push(given.group);
                found.tags += given.tags;
            }
        }
        Ok(found)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// A value that a group gives to the tags in it.
pub(super) struct Given {
    pub(super) group: GroupId,
    pub(super) value: String,
    /// The number of tags in the group itself.
    pub(super) tags: u64,
}

/// The value of an attribute that each group gives to the tags in it: its own, or that of the
/// nearest group above.
pub(super) async fn given(
    db: &mut dyn Query,
    key: &PropertyKey,
) -> Result<Vec<Given>, StorageError> {
    // Keys need no escaping in JSON. A value with the same text is sorted out below.
    let member = containing(&format!("\"{key}\":"));
    let sql = "SELECT g.id, g.attributes FROM tag_groups g WHERE g.attributes LIKE ?1 ESCAPE '\\'";
    let mut own = HashMap::<GroupId, String>::new();
    for mut row in db.query(sql, &values![member]).await? {
        let (id, mut attributes): (GroupId, Properties) = (row.take()?, row.json("group")?);
        if let Some(value) = attributes.0.remove(key) {
            own.insert(id, value);
        }
    }
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "WITH RECURSIVE given (id, giver) AS (
             SELECT id, id FROM tag_groups WHERE id IN ids(?1)
             UNION ALL SELECT g.id, v.giver FROM given v JOIN tag_groups g ON g.parent_id = v.id
             WHERE NOT (g.id IN ids(?1)))
         SELECT v.id, v.giver, g.tag_count FROM given v JOIN tag_groups g ON g.id = v.id";
    let found = db.query(sql, &[Value::list(own.keys())]).await?.into_iter();
    let given = found.map(|mut row| {
        let (group, giver): (GroupId, GroupId) = (row.take()?, row.take()?);
        let value = own.get(&giver).cloned();
        Ok(Given {
            group,
            value: value.ok_or_else(|| unreadable("group"))?,
            tags: row.take()?,
        })
    });
    given.collect()
}

/// The keys of the attributes that groups give to the tags in them.
pub(super) struct GivenKeys {
    /// The keys of groups with attributes of their own.
    own: HashMap<GroupId, Vec<PropertyKey>>,
    /// For each group: itself and the groups above it, as far as they have attributes.
    givers: HashMap<GroupId, Vec<GroupId>>,
}

impl GivenKeys {
    pub(super) fn is_empty(&self) -> bool {
        self.givers.is_empty()
    }

    pub(super) fn contains(&self, group: GroupId) -> bool {
        self.givers.contains_key(&group)
    }

    /// The groups that give something.
    pub(super) fn groups(&self) -> impl Iterator<Item = &GroupId> {
        self.givers.keys()
    }

    /// The keys that a group gives, those of two levels twice.
    pub(super) fn keys(&self, group: GroupId) -> impl Iterator<Item = &PropertyKey> {
        let givers = self.givers.get(&group).into_iter().flatten();
        givers.flat_map(move |giver| self.own.get(giver).into_iter().flatten())
    }
}

/// The keys that each group gives to the tags in it: its own, and those of all groups above.
pub(super) async fn given_keys(db: &mut dyn Query) -> Result<GivenKeys, StorageError> {
    let sql = "SELECT g.id, g.attributes FROM tag_groups g WHERE g.attributes <> '{}'";
    let mut own = HashMap::<GroupId, Vec<PropertyKey>>::new();
    for mut row in db.query(sql, &[]).await? {
        let (id, attributes): (GroupId, Properties) = (row.take()?, row.json("group")?);
        own.insert(id, attributes.0.into_keys().collect());
    }
    let mut givers = HashMap::<GroupId, Vec<GroupId>>::new();
    if !own.is_empty() {
        let sql = "WITH RECURSIVE given (id, giver) AS (
                 SELECT id, id FROM tag_groups WHERE id IN ids(?1)
                 UNION ALL SELECT g.id, v.giver FROM given v JOIN tag_groups g ON g.parent_id = v.id)
             SELECT v.id, v.giver FROM given v";
        for mut row in db.query(sql, &[Value::list(own.keys())]).await? {
            let (group, giver): (GroupId, GroupId) = (row.take()?, row.take()?);
            givers.entry(group).or_default().push(giver);
        }
    }
    Ok(GivenKeys { own, givers })
}
