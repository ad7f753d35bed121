//! Inlays.

mod rows;

use std::sync::LazyLock;

use async_trait::async_trait;

use super::{Database, Query, Transaction, counters, url_templates};
use crate::id::{InlayId, TagId};
use crate::inlay::{Mirror, Uid};
use crate::interaction::{CounterRule, Verdict};
use crate::inventory::{Inlay, InlayFields, InvalidInlay, NewInlay, SealedKeys};
use crate::revision::Precondition;
use crate::storage::value::{Value, values};
use crate::storage::{
    BoundInlay, Conflict, InlayEdit, InlayFilter, Inlays, Invalid, OtherInlays, StorageError,
    TagInlays, TemplateInlay,
};

pub(in crate::storage) use rows::{BOUND_COLUMNS, BOUND_FROM, CODE_INLAY, COLUMNS, FROM, read};
use rows::{Bound, bound};

#[async_trait]
impl<D: Database> Inlays for D {
    async fn insert_inlay(&self, inlay: NewInlay) -> Result<InlayId, StorageError> {
        self.change("insert_inlay", inlay, |tx, inlay| {
            Box::pin(insert(tx, inlay))
        })
        .await
    }

    async fn inlay(&self, id: InlayId) -> Result<Option<Inlay>, StorageError> {
        self.read("inlay", id, |db, id| Box::pin(inlay(db, *id)))
            .await
    }

    async fn inlays(
        &self,
        filter: InlayFilter,
        after: Option<InlayId>,
        limit: usize,
    ) -> Result<Vec<Inlay>, StorageError> {
        let arguments = (filter, after, limit);
        self.read("inlays", arguments, |db, (filter, after, limit)| {
            Box::pin(list(db, *filter, *after, *limit))
        })
        .await
    }

    async fn count_inlays(&self, filter: InlayFilter) -> Result<u64, StorageError> {
        self.read("count_inlays", filter, |db, filter| {
            Box::pin(count(db, *filter))
        })
        .await
    }

    async fn edit_inlay_and_spend(
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

    async fn delete_inlay_if(
        &self,
        id: InlayId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_inlay", (id, expected), |tx, (id, expected)| {
            Box::pin(delete(tx, *id, expected))
        })
        .await
    }

    async fn foresee(
        &self,
        inlay: InlayId,
        key_version: u32,
        counter: u32,
        rule: CounterRule,
    ) -> Result<Verdict, StorageError> {
        let day = counters::day(self.present().await?);
        let arguments = (inlay, key_version, counter, rule, day);
        self.read(
            "foresee",
            arguments,
            |db, (inlay, key_version, counter, rule, day)| {
                Box::pin(counters::foresee(
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

    async fn template_inlay(&self, uid: Uid) -> Result<Option<TemplateInlay>, StorageError> {
        self.read("template_inlay", uid, |db, uid| {
            Box::pin(of_template(db, *uid))
        })
        .await
    }

    async fn other_inlays(
        &self,
        which: OtherInlays,
        except: Option<TagId>,
    ) -> Result<Vec<BoundInlay>, StorageError> {
        self.read("other_inlays", (which, except), |db, (which, except)| {
            Box::pin(others(db, *which, *except))
        })
        .await
    }
}

/// An inlay that is not deleted.
async fn inlay(db: &mut dyn Query, id: InlayId) -> Result<Option<Inlay>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE i.id = ?1 AND i.deleted_at IS NULL");
    let found = db.row(&sql, &values![id]).await?;
    found.map(|mut row| read(db, &mut row)).transpose()
}

/// What a filter lets through, of an alias `i`, and its values.
fn conditions(filter: InlayFilter) -> (String, Vec<Value<'static>>) {
    let mut sql = "i.deleted_at IS NULL".to_owned();
    let mut values = Vec::new();
    let equal = [
        ("i.tag_id", filter.tag_id.into()),
        ("i.uid", filter.uid.into()),
        ("i.master_key_id", filter.master_key_id.into()),
        ("i.url_template_id", filter.url_template_id.into()),
        ("(i.tag_id IS NULL)", filter.unbound.into()),
        ("i.simulated", filter.simulated.into()),
    ];
    for (what, value) in equal {
        if value != Value::Null {
            values.push(value);
            sql = format!("{sql} AND {what} = ?{}", values.len());
        }
    }
    (sql, values)
}

async fn list(
    db: &mut dyn Query,
    filter: InlayFilter,
    after: Option<InlayId>,
    limit: usize,
) -> Result<Vec<Inlay>, StorageError> {
    let (conditions, mut values) = conditions(filter);
    values.extend([after.map_or(0, |id| id.0).into(), Value::limit(limit)]);
    let sql = format!(
        "SELECT {COLUMNS} FROM {FROM} WHERE {conditions} AND i.id > ?{} ORDER BY i.id LIMIT ?{}",
        values.len() - 1,
        values.len(),
    );
    let found = db.query(&sql, &values).await?;
    let found = found.into_iter();
    found.map(|mut row| read(db, &mut row)).collect()
}

async fn count(db: &mut dyn Query, filter: InlayFilter) -> Result<u64, StorageError> {
    let (conditions, values) = conditions(filter);
    let sql = format!("SELECT count(*) FROM inlays i WHERE {conditions}");
    db.count(&sql, &values).await
}

async fn others(
    db: &mut dyn Query,
    which: OtherInlays,
    except: Option<TagId>,
) -> Result<Vec<BoundInlay>, StorageError> {
    let (condition, value) = match which {
        OtherInlays::Uid(uid) => ("AND i.uid = ?2", uid.into()),
        OtherInlays::Newest(limit) => ("ORDER BY i.id DESC LIMIT ?2", Value::limit(limit)),
    };
    let sql = format!(
        "SELECT {BOUND_COLUMNS} FROM {BOUND_FROM}
         WHERE i.tag_id IS DISTINCT FROM ?1 AND i.mirror IS NOT NULL AND i.deleted_at IS NULL
             {condition}"
    );
    let found = db.query(&sql, &[except.into(), value]).await?;
    let mut others = TagInlays::default();
    for row in found {
        others.add(row)?;
    }
    Ok(others.rolling)
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

/// Stores a new inlay, or one that comes back after it was deleted.
pub(in crate::storage) async fn insert(
    tx: &mut dyn Transaction,
    new: &NewInlay,
) -> Result<InlayId, StorageError> {
    check_tag(tx, new.fields.tag_id, new.simulated).await?;
    check_new(tx, new).await?;
    put_new(tx, new).await
}

/// Whether a new inlay's keys and its UID can be had.
pub(in crate::storage) async fn check_new(
    db: &mut dyn Query,
    new: &NewInlay,
) -> Result<(), StorageError> {
    check_master_key(db, new.fields.keys.as_ref()).await?;
    check_template(db, &new.fields).await?;
    let mut taken = db
        .one(
            "SELECT EXISTS (SELECT 1 FROM inlays WHERE uid = ?1 AND deleted_at IS NULL),
                 EXISTS (SELECT 1 FROM import_rows WHERE uid = ?1)",
            &values![new.uid],
        )
        .await?;
    if taken.take()? {
        return Err(Conflict::UidTaken(new.uid.to_string()).into());
    }
    if taken.take()? {
        return Err(Conflict::UidInImport(new.uid.to_string()).into());
    }
    Ok(())
}

/// Stores a new inlay that breaks no rule.
pub(in crate::storage) async fn put_new(
    tx: &mut dyn Transaction,
    new: &NewInlay,
) -> Result<InlayId, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE i.uid = ?1");
    let Some(mut former) = tx.row(&sql, &values![new.uid]).await? else {
        let id = store(tx, &INSERT, new).await?;
        counters::start(tx, id, new.last_counter).await?;
        return Ok(id);
    };
    let former = read(tx, &mut former)?;
    store(tx, &UPDATE, new).await?;
    counters::follow(tx, former.id, &former.fields, &new.fields).await?;
    counters::spend(tx, former.id, new.last_counter).await?;
    Ok(former.id)
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
    if after.fields.tag_id != before.fields.tag_id {
        check_tag(tx, after.fields.tag_id, after.simulated).await?;
    }
    check_master_key(tx, after.fields.keys.as_ref()).await?;
    check_template(tx, &after.fields).await?;
    store(tx, &UPDATE, &after).await?;
    counters::follow(tx, id, &before.fields, &after.fields).await?;
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
    tx.changes_configuration();
    Ok(Some(()))
}

const STORED: &str = "uid, technology, mode, url_template_id, tag_id, mirror, mac_from, \
    master_key_id, meta_key, file_key, meta_key_print, file_key_print, factory_keys, simulated, updated_at";
const VALUES: &str = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15";

static INSERT: LazyLock<String> = LazyLock::new(|| {
    format!("INSERT INTO inlays ({STORED}, created_at) VALUES ({VALUES}, ?15) RETURNING id")
});
static UPDATE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "UPDATE inlays SET ({STORED}, deleted_at) = ({VALUES}, NULL) WHERE uid = ?1 RETURNING id"
    )
});

/// Writes an inlay's row by [`INSERT`] or [`UPDATE`]. It is not deleted from now on.
async fn store(
    tx: &mut dyn Transaction,
    sql: &str,
    inlay: &NewInlay,
) -> Result<InlayId, StorageError> {
    let fields = &inlay.fields;
    let keys = fields.keys.as_ref();
    let (meta_key, file_key) = match keys {
        Some(SealedKeys::Own { meta, file }) => {
            (meta.as_ref().map(|key| &key.wrapped), Some(&file.wrapped))
        }
        Some(SealedKeys::Diversified {
            kept: Some(kept), ..
        }) => (Some(&kept.meta), Some(&kept.file)),
        _ => (None, None),
    };
    let factory = keys.is_some_and(|keys| keys.factory(fields.technology, inlay.uid));
    let now = tx.now();
    let values = values![
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
        now,
    ];
    let mut stored = tx.one(sql, &values).await?;
    tx.changes_configuration();
    stored.take()
}

/// An inlay may be bound to a tag that exists, of its own world.
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
        let (noun, id) = ("tag", tag.0);
        return Err(Conflict::Missing { noun, id }.into());
    };
    if found.take::<bool>()? != simulated {
        return Err(Conflict::OtherWorld { tag, simulated }.into());
    }
    Ok(())
}

/// An inlay's URL template exists, and is one for it.
async fn check_template(db: &mut dyn Query, fields: &InlayFields) -> Result<(), StorageError> {
    let Some(id) = fields.url_template_id else {
        return Ok(());
    };
    let Some(template) = url_templates::find(db, id).await? else {
        let (noun, id) = ("URL template", id.0);
        return Err(Conflict::Missing { noun, id }.into());
    };
    fields
        .validate_on(&template.fields)
        .map_err(Invalid::from)?;
    Ok(())
}

async fn check_master_key(
    db: &mut dyn Query,
    keys: Option<&SealedKeys>,
) -> Result<(), StorageError> {
    let Some(key) = keys.and_then(SealedKeys::master_key_id) else {
        return Ok(());
    };
    let sql = "SELECT 1 FROM master_keys WHERE id = ?1";
    if db.exists(sql, &values![key]).await? {
        return Ok(());
    }
    let (noun, id) = ("master key", key.0);
    Err(Conflict::Missing { noun, id }.into())
}
