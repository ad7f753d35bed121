//! Inserts many new inlays at once. One query per kind of object checks the objects that all of
//! them refer to, and multi-row statements store those that did not exist before.

use std::collections::{HashMap, HashSet};

use super::{COLUMNS, FROM, STORED, UPDATE, read, search, store, values_of};
use crate::shared::{self, Query, Transaction, counters, unlisted, url_templates};
use crate::value::{Row, Value, unreadable, values};
use crate::{CachedPart, Conflict, Invalid, KeptInlay, StorageError};
use domain::id::{InlayId, MasterKeyId, TagId, UrlTemplateId};
use domain::inventory::{Inlay, InlayFields, NewInlay, SealedKeys, UrlTemplate};
use inlay::Uid;
use inlay::key::KeyFingerprint;

/// The existing objects that some inlays refer to.
pub(super) struct Needed {
    master_keys: HashSet<MasterKeyId>,
    templates: HashMap<UrlTemplateId, UrlTemplate>,
}

impl Needed {
    /// Looks up the objects that `inlays` refer to.
    pub(super) async fn look<'a>(
        db: &mut dyn Query,
        inlays: impl Iterator<Item = &'a InlayFields> + Clone + Send,
    ) -> Result<Self, StorageError> {
        let keys = inlays.clone().filter_map(|inlay| inlay.keys.as_ref());
        let keys: HashSet<_> = keys.filter_map(SealedKeys::master_key_id).collect();
        let wanted: HashSet<_> = inlays.filter_map(|inlay| inlay.url_template_id).collect();
        let mut templates = HashMap::new();
        for id in wanted {
            let found = url_templates::find(db, id).await?;
            templates.extend(found.map(|template| (id, template)));
        }
        Ok(Self {
            master_keys: existing_keys(db, keys).await?,
            templates,
        })
    }

    /// Checks that the objects an inlay refers to exist, and fit it.
    pub(super) fn check(&self, inlay: &InlayFields) -> Result<(), Conflict> {
        let missing = |noun, id| Err(Conflict::Missing { noun, id });
        let keys = inlay.keys.as_ref();
        if let Some(key) = keys.and_then(SealedKeys::master_key_id)
            && !self.master_keys.contains(&key)
        {
            return missing("master key", key.get());
        }
        if let Some(id) = inlay.url_template_id {
            let Some(template) = self.templates.get(&id) else {
                return missing("URL template", id.get());
            };
            let checked = inlay.validate_on(&template.fields);
            checked.map_err(Invalid::from)?;
        }
        Ok(())
    }
}

async fn existing_keys(
    db: &mut dyn Query,
    wanted: HashSet<MasterKeyId>,
) -> Result<HashSet<MasterKeyId>, StorageError> {
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let sql = "SELECT id FROM master_keys WHERE id IN ids(?1)";
    let found = db.query(sql, &values![Value::list(wanted)]).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

/// The data that decides whether some new inlays conflict with stored ones.
pub(in crate::shared) struct Taken {
    needed: Needed,
    /// Inlays that are not deleted.
    stored: HashMap<Uid, Inlay>,
    /// UIDs of the new inlays before this one.
    in_use: HashSet<Uid>,
    /// UIDs that an unfinished import has reserved.
    reserved: HashSet<Uid>,
}

impl Taken {
    /// Looks up the data for `inlays`.
    pub(in crate::shared) async fn look(
        db: &mut dyn Query,
        inlays: &[&NewInlay],
    ) -> Result<Self, StorageError> {
        let of_imports = "SELECT uid FROM import_rows WHERE uid";
        Ok(Self {
            needed: Needed::look(db, inlays.iter().map(|inlay| &inlay.fields)).await?,
            stored: stored(db, "i.deleted_at IS NULL AND ", inlays).await?,
            in_use: HashSet::new(),
            reserved: uids(db, of_imports, inlays).await?,
        })
    }

    /// Marks the UID of `inlay` as used, or returns the conflict.
    pub(in crate::shared) fn take(&mut self, inlay: &NewInlay) -> Result<(), Conflict> {
        self.needed.check(&inlay.fields)?;
        if self.stored.contains_key(&inlay.uid) || self.in_use.contains(&inlay.uid) {
            return Err(Conflict::UidTaken(inlay.uid.to_string()));
        }
        if self.reserved.contains(&inlay.uid) {
            return Err(Conflict::UidInImport(inlay.uid.to_string()));
        }
        self.in_use.insert(inlay.uid);
        Ok(())
    }

    /// Like [`Self::take`], unless the inlay is on `tag` already. Then it keeps the UID, and the
    /// answer says how `inlay` describes it.
    pub(in crate::shared) fn keep_or_take(
        &mut self,
        inlay: &NewInlay,
        tag: Option<TagId>,
    ) -> Result<Option<KeptInlay>, Conflict> {
        let stored = self.stored.get(&inlay.uid);
        match stored.filter(|stored| tag.is_some() && stored.fields.tag_id == tag) {
            Some(stored) => {
                self.needed.check(&inlay.fields)?;
                Ok(Some(KeptInlay::of(stored, inlay)))
            }
            None => self.take(inlay).map(|()| None),
        }
    }
}

/// The rows of `sql`, which ends in the column that is compared with the inlays' UIDs.
pub(in crate::shared) async fn rows_of(
    db: &mut dyn Query,
    sql: &str,
    inlays: &[&NewInlay],
) -> Result<Vec<Row>, StorageError> {
    let uids: Vec<Value<'_>> = inlays.iter().map(|inlay| inlay.uid.into()).collect();
    let mut rows = Vec::new();
    let mut rest = uids.as_slice();
    for many in shared::pieces(rest.len()) {
        let (some, others) = rest.split_at(many);
        rest = others;
        let places: Vec<_> = (1..=some.len()).map(|place| format!("?{place}")).collect();
        let sql = format!("{sql} IN ({})", places.join(", "));
        rows.extend(db.query(&sql, some).await?);
    }
    Ok(rows)
}

async fn uids(
    db: &mut dyn Query,
    sql: &str,
    inlays: &[&NewInlay],
) -> Result<HashSet<Uid>, StorageError> {
    let found = rows_of(db, sql, inlays).await?.into_iter();
    found.map(|mut row| row.take()).collect()
}

/// Stores new inlays that break no rule, no UID twice; returns their ids in the same order. The
/// counter of a chip that was unlisted continues, if its codes are made with the same key.
///
/// With `unheard_of`, all inlays and their tags are new, so no cache contains them, and caches stay
/// valid.
pub(in crate::shared) async fn put_all(
    tx: &mut dyn Transaction,
    inlays: &[&NewInlay],
    unheard_of: bool,
) -> Result<Vec<InlayId>, StorageError> {
    let former = stored(tx, "", inlays).await?;
    let unlisted = unlisted::take(tx, inlays).await?;
    put(tx, inlays, unheard_of, former, &unlisted).await
}

/// Like [`put_all`], for chips that were never inlays, nor unlisted chips, on new tags: nothing is
/// looked up.
pub(in crate::shared) async fn put_never_seen(
    tx: &mut dyn Transaction,
    inlays: &[&NewInlay],
) -> Result<Vec<InlayId>, StorageError> {
    put(tx, inlays, true, HashMap::new(), &HashMap::new()).await
}

/// Stores new inlays. `former` are those that existed before, and `unlisted` the file keys and
/// counters of those that were unlisted chips.
async fn put(
    tx: &mut dyn Transaction,
    inlays: &[&NewInlay],
    unheard_of: bool,
    mut former: HashMap<Uid, Inlay>,
    unlisted: &HashMap<Uid, (KeyFingerprint, u32)>,
) -> Result<Vec<InlayId>, StorageError> {
    let used = |inlay: &NewInlay| {
        let file = inlay.fields.keys.as_ref().map(SealedKeys::file);
        let before = unlisted.get(&inlay.uid);
        let before = before.filter(|(key, _)| Some(*key) == file);
        inlay.last_counter.max(before.map_or(0, |(_, last)| *last))
    };
    let mut ids = HashMap::with_capacity(inlays.len());
    let new: Vec<_> = inlays
        .iter()
        .filter(|inlay| !former.contains_key(&inlay.uid))
        .collect();
    let tags = new.iter().filter_map(|inlay| inlay.fields.tag_id);
    for tag in tags.filter(|_| !unheard_of) {
        tx.changes(Some(CachedPart::Tag(tag)));
    }
    let now = Value::from(tx.now());
    let rows = new.iter().map(|inlay| {
        let mut values = values_of(inlay, &now);
        values.push(now.clone());
        values
    });
    let columns: Vec<_> = STORED.split(", ").chain(["created_at"]).collect();
    let answered = "RETURNING uid, id";
    let stored = shared::insert_rows(tx, "inlays", &columns, rows.collect(), answered).await?;
    for mut row in stored {
        ids.insert(row.take::<Uid>()?, row.take::<InlayId>()?);
    }
    let id_of = |inlay: &NewInlay, ids: &HashMap<Uid, InlayId>| {
        let id = ids.get(&inlay.uid).copied();
        id.ok_or_else(|| unreadable("inlay"))
    };
    let mut started = Vec::with_capacity(new.len());
    for inlay in new {
        started.push((id_of(inlay, &ids)?, used(inlay)));
    }
    let new: Vec<_> = started.iter().map(|(id, _)| *id).collect();
    search::index(tx, &new).await?;
    counters::start(tx, &started).await?;
    for inlay in inlays {
        // A deleted inlay that is restored.
        if let Some(before) = former.remove(&inlay.uid) {
            store(tx, &UPDATE, inlay).await?;
            counters::follow(tx, before.id, &before.fields, &inlay.fields).await?;
            counters::spend(tx, before.id, used(inlay)).await?;
            ids.insert(inlay.uid, before.id);
        }
    }
    inlays.iter().map(|inlay| id_of(inlay, &ids)).collect()
}

/// Stored inlays with these UIDs, deleted ones included. `condition` narrows them: SQL that ends
/// in `AND`, or nothing.
async fn stored(
    db: &mut dyn Query,
    condition: &str,
    inlays: &[&NewInlay],
) -> Result<HashMap<Uid, Inlay>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE {condition}i.uid");
    let mut stored = HashMap::new();
    for mut row in rows_of(db, &sql, inlays).await? {
        let inlay = read(db, &mut row)?;
        stored.insert(inlay.uid, inlay);
    }
    Ok(stored)
}
