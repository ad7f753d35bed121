//! Inlays: their SQL, and the checks before a write.

mod carried;
mod list;
mod new;
mod own_reads;
mod rows;
mod search;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::audit::shown;
use super::{Query, Transaction, counters};
use crate::value::{Value, unreadable, values};
use crate::{
    Access, BoundInlay, CachedPart, CarriedTagUrl, Conflict, InlayEdit, InlayFilter, Invalid,
    OtherInlays, StorageError, TemplateInlay,
};
use domain::audit::Note;
use domain::clock::Timestamp;
use domain::id::{InlayId, TagId};
use domain::interaction::{CounterRule, Verdict};
use domain::inventory::{Inlay, InvalidInlay, NewInlay, SealedKeys};
use domain::revision::Precondition;
use inlay::{Mirror, Uid};

use new::Needed;
pub(super) use new::{Taken, put_all, put_never_seen, rows_of};
pub(crate) use rows::{
    BOUND, BOUND_COLUMNS, BOUND_FROM, CODE_INLAY, COLUMNS, EXHAUSTED, FROM, NAMED_INLAY, read,
};
use rows::{Bound, bound};
pub(crate) use search::INDEX_INLAYS;
pub(super) use search::UidPart;

/// The operations on inlays.
///
/// A code that was accepted once is never accepted again, however the inlay's configuration
/// changes: the counter outlives the inlay's deletion, and belongs to its keys. New keys start a
/// new key version, whose counter begins at 0. If the inlay gets earlier keys back, their counter
/// continues.
impl Access {
    /// Stores a new inlay. The UID of a deleted inlay may be used again.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for the tag, the master key or the URL template,
    /// [`Invalid::Inlay`](crate::Invalid::Inlay) for a template that does not fit the inlay,
    /// [`Conflict::OtherWorld`], [`Conflict::UidTaken`] and [`Conflict::UidInImport`].
    pub async fn insert_inlay(&self, new: NewInlay) -> Result<Inlay, StorageError> {
        self.change("insert_inlay", new, |tx, new| {
            Box::pin(async move {
                let id = insert(tx, new).await?;
                let stored = inlay(tx, id).await?;
                stored.ok_or_else(|| unreadable("inlay"))
            })
        })
        .await
    }

    /// The inlay with this id.
    pub async fn inlay(&self, id: InlayId) -> Result<Option<Inlay>, StorageError> {
        self.read("inlay", id, |db, id| Box::pin(inlay(db, *id)))
            .await
    }

    /// The UIDs of these inlays, deleted ones included.
    pub async fn inlay_uids(
        &self,
        ids: Vec<InlayId>,
    ) -> Result<HashMap<InlayId, Uid>, StorageError> {
        self.read("inlay_uids", ids, |db, ids| Box::pin(uids(db, ids)))
            .await
    }

    /// At most `limit` inlays that match `filter`, after the one with the id `after`, ordered by
    /// id.
    pub async fn inlays(
        &self,
        filter: InlayFilter,
        after: Option<InlayId>,
        limit: usize,
    ) -> Result<Vec<Inlay>, StorageError> {
        // Only the first page needs the newest counters: later pages continue with the same ones.
        if filter.exhausted.is_some() && after.is_none() {
            self.settle_few().await;
        }
        let arguments = (filter, after, limit);
        self.read("inlays", arguments, |db, (filter, after, limit)| {
            Box::pin(list::page(db, filter, *after, *limit))
        })
        .await
    }

    /// How many inlays match `filter`.
    pub async fn count_inlays(&self, filter: InlayFilter) -> Result<u64, StorageError> {
        self.read("count_inlays", filter, |db, filter| {
            Box::pin(list::count(db, filter))
        })
        .await
    }

    /// The tag URLs that chips contain, the most frequent first. Simulated inlays and inlays with a
    /// URL template do not count.
    pub async fn carried_tag_urls(&self) -> Result<Vec<CarriedTagUrl>, StorageError> {
        self.read("carried_tag_urls", (), |db, ()| {
            Box::pin(carried::tag_urls(db))
        })
        .await
    }

    /// How many tags that are not deleted have a printed code.
    pub async fn count_printed_codes(&self) -> Result<u64, StorageError> {
        self.read("count_printed_codes", (), |db, ()| {
            Box::pin(carried::printed_codes(db))
        })
        .await
    }

    /// Applies `edit` to an inlay.
    ///
    /// # Errors
    ///
    /// The error of `edit`; [`Conflict::Missing`] for the tag, the master key or the URL template,
    /// [`Invalid::Inlay`](crate::Invalid::Inlay), [`Conflict::OtherWorld`].
    pub async fn edit_inlay(
        &self,
        id: InlayId,
        edit: InlayEdit,
    ) -> Result<Option<Inlay>, StorageError> {
        self.edit_inlay_and_spend(id, edit, None).await
    }

    /// Like [`Self::edit_inlay`], and also marks every code up to the counter `spent` as used.
    ///
    /// # Errors
    ///
    /// Those of [`Self::edit_inlay`]; [`Invalid::Inlay`](crate::Invalid::Inlay) for a counter below
    /// the last accepted one.
    pub async fn edit_inlay_and_spend(
        &self,
        id: InlayId,
        edit: InlayEdit,
        spent: Option<u32>,
    ) -> Result<Option<Inlay>, StorageError> {
        let arguments = (id, edit, spent);
        self.change("edit_inlay", arguments, |tx, (id, edit, spent)| {
            Box::pin(self::edit(tx, *id, edit, *spent))
        })
        .await
    }

    /// Deletes an inlay, and its virtual inlay in the simulator. Its counter is kept.
    pub async fn delete_inlay(&self, id: InlayId) -> Result<Option<()>, StorageError> {
        self.delete_inlay_if(id, Precondition::None).await
    }

    /// Like [`Self::delete_inlay`], but only if the inlay still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`].
    pub async fn delete_inlay_if(
        &self,
        id: InlayId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_inlay", (id, expected), |tx, (id, expected)| {
            Box::pin(delete(tx, *id, expected))
        })
        .await
    }

    /// The decision that [`record_tap`](crate::Access::record_tap) would make now about a code of
    /// `inlay` by its counter. No counter moves.
    pub async fn dry_run_counter(
        &self,
        inlay: InlayId,
        key_version: u32,
        counter: u32,
        rule: CounterRule,
    ) -> Result<Verdict, StorageError> {
        let day = counters::day(self.now().await?);
        let arguments = (inlay, key_version, counter, rule, day);
        self.read(
            "dry_run_counter",
            arguments,
            |db, (inlay, key_version, counter, rule, day)| {
                Box::pin(counters::dry_run_counter(
                    db,
                    *inlay,
                    *key_version,
                    *counter,
                    *rule,
                    *day,
                ))
            },
        )
        .await
    }

    /// Notes that this application read `inlay`, with the counter of that read.
    pub async fn note_own_read(&self, inlay: InlayId, counter: u32) -> Result<(), StorageError> {
        let now = self.now().await?;
        own_reads::note(self, inlay, counter, now).await
    }

    /// Removes some reads by this application that no interaction since `keep_since` refers to.
    /// `true` if more may be left.
    pub async fn prune_own_reads(&self, keep_since: Timestamp) -> Result<bool, StorageError> {
        own_reads::prune(self, keep_since).await
    }

    /// The inlay with this UID, if it writes its URLs with a template, in the form that a tap
    /// without a slug needs.
    pub async fn template_inlay(&self, uid: Uid) -> Result<Option<TemplateInlay>, StorageError> {
        self.read("template_inlay", uid, |db, uid| {
            Box::pin(of_template(db, *uid))
        })
        .await
    }

    /// Inlays that make codes and are not on the tag `except`.
    pub async fn other_inlays(
        &self,
        which: OtherInlays,
        except: Option<TagId>,
    ) -> Result<Vec<BoundInlay>, StorageError> {
        self.read("other_inlays", (which, except), |db, (which, except)| {
            Box::pin(list::others(db, *which, *except))
        })
        .await
    }
}

/// The inlay with this id, if it is not deleted.
async fn inlay(db: &mut dyn Query, id: InlayId) -> Result<Option<Inlay>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE i.id = ?1 AND i.deleted_at IS NULL");
    let found = db.row(&sql, &values![id]).await?;
    found.map(|mut row| read(db, &mut row)).transpose()
}

async fn uids(db: &mut dyn Query, ids: &[InlayId]) -> Result<HashMap<InlayId, Uid>, StorageError> {
    let sql = "SELECT id, uid FROM inlays WHERE id IN ids(?1)";
    let found = db.query(sql, &values![Value::list(ids)]).await?;
    let found = found
        .into_iter()
        .map(|mut row| Ok((row.take()?, row.take()?)));
    found.collect()
}

async fn of_template(db: &mut dyn Query, uid: Uid) -> Result<Option<TemplateInlay>, StorageError> {
    let found = db.row(&OF_TEMPLATE, &values![uid]).await?;
    Ok(match found.map(bound).transpose()? {
        Some(Bound::OfTemplate(inlay)) => Some(inlay),
        _ => None,
    })
}

static OF_TEMPLATE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {BOUND_COLUMNS} FROM {BOUND_FROM}
         WHERE i.uid = ?1 AND i.url_template_id IS NOT NULL AND i.deleted_at IS NULL"
    )
});

/// Stores a new inlay, or restores a deleted one with the same UID.
pub(crate) async fn insert(
    tx: &mut dyn Transaction,
    new: &NewInlay,
) -> Result<InlayId, StorageError> {
    check_tag(tx, new.fields.tag_id, new.simulated).await?;
    Taken::look(tx, &[new]).await?.take(new)?;
    let ids = put_all(tx, &[new], false).await?;
    let id = ids.into_iter().next().ok_or_else(|| unreadable("inlay"))?;
    let shown = shown::inlay(new.uid, &new.fields);
    tx.note(Note::created(format!("inlays/{id}"), &shown));
    Ok(id)
}

/// The inlay with this UID, if it is not deleted.
pub(super) async fn with_uid(db: &mut dyn Query, uid: Uid) -> Result<Option<Inlay>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE i.uid = ?1 AND i.deleted_at IS NULL");
    let found = db.row(&sql, &values![uid]).await?;
    found.map(|mut row| read(db, &mut row)).transpose()
}

/// Stores the inlay of a chip whose encoding was verified, whether it existed before or not. Every
/// code up to the verified one counts as used.
pub(super) async fn bind_encoded(
    tx: &mut dyn Transaction,
    encoded: &NewInlay,
) -> Result<InlayId, StorageError> {
    let Some(before) = with_uid(tx, encoded.uid).await? else {
        return insert(tx, encoded).await;
    };
    check_tag(tx, encoded.fields.tag_id, before.simulated).await?;
    let needed = Needed::look(tx, std::iter::once(&encoded.fields)).await?;
    needed.check(&encoded.fields)?;
    let mut encoded = encoded.clone();
    // The inlay may have been blocked while it was encoded.
    encoded.fields.blocked_at = before.fields.blocked_at;
    store(tx, &UPDATE, &encoded).await?;
    if let Some(tag) = before.fields.tag_id {
        tx.changes(Some(CachedPart::Tag(tag)));
    }
    counters::follow(tx, before.id, &before.fields, &encoded.fields).await?;
    counters::spend(tx, before.id, encoded.last_counter).await?;
    Ok(before.id)
}

/// Deletes the inlay of a chip that is in its factory state again, if there is one.
pub(super) async fn forget(tx: &mut dyn Transaction, uid: Uid) -> Result<(), StorageError> {
    if let Some(inlay) = with_uid(tx, uid).await? {
        delete(tx, inlay.id, &Precondition::None).await?;
    }
    Ok(())
}

async fn edit(
    tx: &mut dyn Transaction,
    id: InlayId,
    edit: &InlayEdit,
    spent: Option<u32>,
) -> Result<Option<Inlay>, StorageError> {
    let Some(before) = inlay(tx, id).await? else {
        return Ok(None);
    };
    let after = NewInlay {
        uid: before.uid,
        fields: edit(before.fields.clone())?,
        simulated: before.simulated,
        last_counter: 0,
    };
    if after.fields.is_same_as(&before.fields)
        && spent.is_none_or(|spent| spent == before.last_counter)
    {
        // The same keys were wrapped again: the earlier wrapping key may be lost.
        if after.fields != before.fields {
            tx.is_no_change();
            store(tx, &UPDATE, &after).await?;
            if let Some(tag) = before.fields.tag_id {
                tx.changes(Some(CachedPart::Tag(tag)));
            }
        }
        return Ok(Some(before));
    }
    if after.fields.tag_id != before.fields.tag_id {
        check_tag(tx, after.fields.tag_id, after.simulated).await?;
    }
    let needed = Needed::look(tx, std::iter::once(&after.fields)).await?;
    needed.check(&after.fields)?;
    store(tx, &UPDATE, &after).await?;
    if let Some(tag) = before.fields.tag_id {
        tx.changes(Some(CachedPart::Tag(tag)));
    }
    counters::follow(tx, id, &before.fields, &after.fields).await?;
    tx.note(Note::changed(
        &shown::inlay(before.uid, &before.fields),
        &shown::inlay(after.uid, &after.fields),
    ));
    let Some(edited) = inlay(tx, id).await? else {
        return Ok(None);
    };
    let Some(spent) = spent else {
        return Ok(Some(edited));
    };
    if spent < edited.last_counter {
        let why = InvalidInlay::CounterFalls(edited.last_counter);
        return Err(Invalid::from(why).into());
    }
    counters::spend(tx, id, spent).await?;
    tx.note(Note::changed(
        &serde_json::json!({"last_counter": edited.last_counter}),
        &serde_json::json!({"last_counter": spent}),
    ));
    inlay(tx, id).await
}

async fn delete(
    tx: &mut dyn Transaction,
    id: InlayId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = inlay(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    let now = tx.now();
    tx.execute(
        "UPDATE inlays SET deleted_at = ?2 WHERE id = ?1",
        &values![id, now],
    )
    .await?;
    tx.execute(
        "DELETE FROM virtual_inlays WHERE inlay_id = ?1",
        &values![id],
    )
    .await?;
    let made = "DELETE FROM tap_made_inlays WHERE inlay_id = ?1";
    tx.execute(made, &values![id]).await?;
    tx.changes(present.fields.tag_id.map(CachedPart::Tag));
    tx.note(Note::deleted(&shown::inlay(present.uid, &present.fields)));
    Ok(Some(()))
}

const STORED: &str = "uid, technology, mode, url_template_id, tag_id, mirror, mac_from, \
    master_key_id, meta_key, file_key, meta_key_print, file_key_print, factory_keys, simulated, updated_at, \
    blocked_at, other_keys, other_keys_print";
const VALUES: &str = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
    ?17, ?18";

static UPDATE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "UPDATE inlays SET ({STORED}, deleted_at) = ({VALUES}, NULL) WHERE uid = ?1 RETURNING id"
    )
});

/// Writes an inlay's row with [`UPDATE`]. This also restores a deleted inlay.
async fn store(
    tx: &mut dyn Transaction,
    sql: &str,
    inlay: &NewInlay,
) -> Result<InlayId, StorageError> {
    let mut stored = tx
        .write_one(sql, &values_of(inlay, &tx.now().into()))
        .await?;
    let id = stored.take()?;
    tx.changes(inlay.fields.tag_id.map(CachedPart::Tag));
    Ok(id)
}

/// The values for the columns in [`STORED`], in their order.
fn values_of<'a>(inlay: &'a NewInlay, now: &Value<'a>) -> Vec<Value<'a>> {
    let fields = &inlay.fields;
    let keys = fields.keys.as_ref();
    let (meta_key, file_key) = match keys {
        Some(SealedKeys::Own { meta, file }) => {
            (meta.as_ref().map(|key| &key.wrapped), Some(&file.wrapped))
        }
        Some(SealedKeys::Diversified { kept, .. }) => (kept.meta.as_ref(), kept.file.as_ref()),
        None => (None, None),
    };
    let factory = keys.is_some_and(|keys| keys.factory(fields.technology, inlay.uid));
    values![
        inlay.uid,
        fields.technology.as_str(),
        fields.mode.as_str(),
        fields.url_template_id,
        fields.tag_id,
        fields.mirror.map(Mirror::as_str),
        fields.mac_from.as_str(),
        keys.and_then(SealedKeys::master_key_id),
        meta_key,
        file_key,
        keys.and_then(SealedKeys::meta),
        keys.map(SealedKeys::file),
        factory,
        inlay.simulated,
        now.clone(),
        fields.blocked_at,
        fields.other_keys.as_ref().map(|keys| &keys.wrapped),
        fields.other_keys.as_ref().map(|keys| keys.fingerprint),
    ]
    .into()
}

/// Checks that an inlay may be bound to a tag: the tag must exist, and both must be simulated or
/// both real.
async fn check_tag(
    db: &mut dyn Query,
    tag: Option<TagId>,
    simulated: bool,
) -> Result<(), StorageError> {
    let Some(tag) = tag else {
        return Ok(());
    };
    let sql = "SELECT simulated FROM tags WHERE id = ?1 AND deleted_at IS NULL";
    let Some(mut found) = db.row(sql, &values![tag]).await? else {
        let (noun, id) = ("tag", tag.get());
        return Err(Conflict::Missing { noun, id }.into());
    };
    if found.take::<bool>()? != simulated {
        return Err(Conflict::OtherWorld { tag, simulated }.into());
    }
    Ok(())
}
