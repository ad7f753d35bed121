//! Inlays, in SQL.

mod counter;

use async_trait::async_trait;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};

use super::row::{self, unreadable};
use super::writer::Write;
use super::{SqliteStorage, taps};
use crate::id::{InlayId, MasterKeyId, TagId};
use crate::inlay::key::KeyFingerprint;
use crate::inlay::{Mirror, Uid};
use crate::interaction::Verdict;
use crate::inventory::{Inlay, InlayFields, NewInlay, SealedKey, SealedKeys};
use crate::revision::Precondition;
use crate::storage::{
    BoundInlay, Conflict, InlayEdit, InlayFilter, Inlays, OtherInlays, StorageError,
};

#[async_trait]
impl Inlays for SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn insert_inlay(&self, inlay: NewInlay) -> Result<InlayId, StorageError> {
        self.write(move |write| insert(write, &inlay)).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn inlay(&self, id: InlayId) -> Result<Option<Inlay>, StorageError> {
        self.read(|connection| inlay(connection, id))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn inlays(
        &self,
        filter: InlayFilter,
        after: Option<InlayId>,
        limit: usize,
    ) -> Result<Vec<Inlay>, StorageError> {
        self.read_long(move |connection| {
            let (conditions, mut values) = conditions(filter);
            values.extend([after.map_or(0, |id| id.0).into(), row::limit(limit).into()]);
            let mut select = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM {FROM} WHERE {conditions} AND i.id > ? ORDER BY i.id LIMIT ?"
            ))?;
            let found = select.query_map(params_from_iter(values), |row| Ok(from_row(row)))?;
            found.map(|row| row?).collect()
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn count_inlays(&self, filter: InlayFilter) -> Result<u64, StorageError> {
        self.read_long(move |connection| {
            let (conditions, values) = conditions(filter);
            let count: i64 = connection
                .prepare_cached(&format!("SELECT count(*) FROM inlays i WHERE {conditions}"))?
                .query_row(params_from_iter(values), |row| row.get(0))?;
            Ok(count.unsigned_abs())
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn edit_inlay(
        &self,
        id: InlayId,
        edit: InlayEdit,
    ) -> Result<Option<Inlay>, StorageError> {
        self.write(move |write| {
            let Some(before) = inlay(write.connection, id)? else {
                return Ok(None);
            };
            let fields = edit(before.fields.clone())?;
            if fields.tag_id != before.fields.tag_id {
                check_tag(write.connection, fields.tag_id, before.simulated)?;
            }
            check_master_key(write.connection, fields.keys.as_ref())?;
            store(write, before.uid, &fields, before.simulated)?;
            counter::follow(write.connection, id, &before.fields, &fields)?;
            inlay(write.connection, id)
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn delete_inlay_if(
        &self,
        id: InlayId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.write(move |write| {
            let Some(present) = inlay(write.connection, id)? else {
                return Ok(None);
            };
            expected.check(Some(&present))?;
            let deleted = write
                .connection
                .prepare_cached(
                    "UPDATE inlays SET deleted_at = ?2 WHERE id = ?1 AND deleted_at IS NULL",
                )?
                .execute((id.0, write.now.millis()))?;
            write
                .connection
                .prepare_cached("DELETE FROM virtual_inlays WHERE inlay_id = ?1")?
                .execute([id.0])?;
            write.changes_configuration();
            Ok((deleted > 0).then_some(()))
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn foresee(
        &self,
        inlay: InlayId,
        key_version: u32,
        counter: u32,
    ) -> Result<Verdict, StorageError> {
        self.read(|connection| Ok(taps::judge(connection, inlay.0, key_version, counter)?.0))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn other_inlays(
        &self,
        which: OtherInlays,
        except: Option<TagId>,
    ) -> Result<Vec<BoundInlay>, StorageError> {
        let (condition, value, limit) = match which {
            OtherInlays::Uid(uid) => ("i.uid = ?1", Value::from(uid.bytes().to_vec()), 1),
            OtherInlays::Newest(limit) => ("?1", Value::from(1), row::limit(limit)),
        };
        self.read_long(move |connection| {
            let (columns, from) = (taps::BOUND_INLAY_COLUMNS, taps::BOUND_INLAY_FROM);
            let mut select = connection.prepare_cached(&format!(
                "SELECT {columns} FROM {from}
                 WHERE {condition} AND i.tag_id IS NOT ?2 AND i.mirror IS NOT NULL AND i.deleted_at IS NULL
                 ORDER BY i.id DESC LIMIT ?3"
            ))?;
            let found = select.query_map((value, except.map(|id| id.0), limit), |row| {
                Ok(taps::bound_inlay(row).transpose())
            })?;
            found.filter_map(Result::transpose).map(|row| row?).collect()
        })
        .await
    }
}

/// Columns of an inlay, for a query over [`FROM`].
pub(super) const COLUMNS: &str = "i.id, i.uid, i.technology, i.tag_id, i.mirror, i.mac_from, i.master_key_id, \
    i.meta_key, i.file_key, i.meta_key_print, i.file_key_print, i.factory_keys, i.simulated, c.last";

/// Inlays with their counters.
pub(super) const FROM: &str = "inlays i JOIN counters c ON c.inlay_id = i.id";

/// An inlay that is not deleted.
pub(super) fn inlay(connection: &Connection, id: InlayId) -> Result<Option<Inlay>, StorageError> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {FROM} WHERE i.id = ?1 AND i.deleted_at IS NULL"
        ))?
        .query_row([id.0], |row| Ok(from_row(row)))
        .optional()?
        .transpose()
}

/// An inlay from its [`COLUMNS`].
pub(super) fn from_row(row: &Row<'_>) -> Result<Inlay, StorageError> {
    let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let mirror = row
        .get_ref(4)?
        .as_str_or_null()
        .map_err(rusqlite::Error::from)?;
    Ok(Inlay {
        id: InlayId(row.get(0)?),
        uid: Uid::from_bytes(row.get(1)?),
        fields: InlayFields {
            technology: text(2)?.parse().map_err(|_| unreadable("technology"))?,
            tag_id: row.get::<_, Option<i64>>(3)?.map(TagId),
            mirror: mirror
                .map(|mirror| mirror.parse().map_err(|_| unreadable("mirror")))
                .transpose()?,
            mac_from: text(5)?.parse().map_err(|_| unreadable("mac_from"))?,
            keys: keys(row)?,
        },
        simulated: row.get(12)?,
        last_counter: row.get(13)?,
    })
}

fn keys(row: &Row<'_>) -> Result<Option<SealedKeys>, StorageError> {
    let print = |column| -> rusqlite::Result<Option<KeyFingerprint>> {
        let print = row.get::<_, Option<[u8; 16]>>(column)?;
        Ok(print.map(KeyFingerprint::from_bytes))
    };
    let sealed = |wrapped, fingerprint| SealedKey {
        wrapped,
        fingerprint,
    };
    let Some(file) = print(10)? else {
        return Ok(None);
    };
    let meta = print(9)?;
    Ok(Some(match row.get::<_, Option<i64>>(6)? {
        Some(master_key_id) => SealedKeys::Diversified {
            master_key_id: MasterKeyId(master_key_id),
            meta: meta.ok_or_else(|| unreadable("key"))?,
            file,
            factory: row.get(11)?,
        },
        None => SealedKeys::Own {
            meta: row
                .get::<_, Option<Vec<u8>>>(7)?
                .zip(meta)
                .map(|(wrapped, print)| sealed(wrapped, print)),
            file: sealed(row.get(8)?, file),
        },
    }))
}

fn conditions(filter: InlayFilter) -> (String, Vec<Value>) {
    let mut conditions = vec!["i.deleted_at IS NULL"];
    let mut values = Vec::new();
    let mut equal = |condition, value: Option<Value>| {
        if let Some(value) = value {
            conditions.push(condition);
            values.push(value);
        }
    };
    equal("i.tag_id = ?", filter.tag_id.map(|id| id.0.into()));
    equal(
        "i.uid = ?",
        filter.uid.map(|uid| uid.bytes().to_vec().into()),
    );
    equal(
        "i.master_key_id = ?",
        filter.master_key_id.map(|id| id.0.into()),
    );
    equal("(i.tag_id IS NULL) = ?", filter.unbound.map(Value::from));
    equal("i.simulated = ?", filter.simulated.map(Value::from));
    (conditions.join(" AND "), values)
}

/// Stores a new inlay, or one that comes back after it was deleted.
pub(super) fn insert(write: &mut Write<'_>, new: &NewInlay) -> Result<InlayId, StorageError> {
    check_tag(write.connection, new.fields.tag_id, new.simulated)?;
    check_new(write.connection, new)?;
    put_new(write, new)
}

/// Whether a new inlay's keys and its UID can be had.
pub(super) fn check_new(connection: &Connection, new: &NewInlay) -> Result<(), StorageError> {
    check_master_key(connection, new.fields.keys.as_ref())?;
    let found = |sql| -> Result<bool, StorageError> {
        Ok(connection.prepare_cached(sql)?.exists([new.uid.bytes()])?)
    };
    if found("SELECT 1 FROM inlays WHERE uid = ?1 AND deleted_at IS NULL")? {
        return Err(Conflict::UidTaken(new.uid.to_string()).into());
    }
    if found("SELECT 1 FROM import_rows WHERE uid = ?1")? {
        return Err(Conflict::UidInImport(new.uid.to_string()).into());
    }
    Ok(())
}

/// Stores a new inlay that breaks no rule.
pub(super) fn put_new(write: &mut Write<'_>, new: &NewInlay) -> Result<InlayId, StorageError> {
    let connection = write.connection;
    let former = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM {FROM} WHERE i.uid = ?1"))?
        .query_row([new.uid.bytes()], |row| Ok(from_row(row)))
        .optional()?;
    let id = store(write, new.uid, &new.fields, new.simulated)?;
    match former {
        Some(former) => counter::follow(connection, id, &former?.fields, &new.fields)?,
        None => counter::start(connection, id)?,
    }
    Ok(id)
}

/// Writes the row of the inlay `uid`, which is not deleted from now on.
fn store(
    write: &mut Write<'_>,
    uid: Uid,
    fields: &InlayFields,
    simulated: bool,
) -> Result<InlayId, StorageError> {
    let keys = fields.keys.as_ref();
    let (meta_key, file_key) = match keys {
        Some(SealedKeys::Own { meta, file }) => (meta.as_ref(), Some(file)),
        _ => (None, None),
    };
    let id = write
        .connection
        .prepare_cached(
            "INSERT INTO inlays (uid, technology, tag_id, mirror, mac_from, master_key_id, meta_key, file_key,
                 meta_key_print, file_key_print, factory_keys, simulated, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13)
             ON CONFLICT (uid) DO UPDATE SET
                 technology = excluded.technology, tag_id = excluded.tag_id, mirror = excluded.mirror,
                 mac_from = excluded.mac_from, master_key_id = excluded.master_key_id,
                 meta_key = excluded.meta_key, file_key = excluded.file_key,
                 meta_key_print = excluded.meta_key_print, file_key_print = excluded.file_key_print,
                 factory_keys = excluded.factory_keys, simulated = excluded.simulated,
                 updated_at = excluded.updated_at, deleted_at = NULL
             RETURNING id",
        )?
        .query_row(
            rusqlite::params![
                uid.bytes(),
                fields.technology.as_str(),
                fields.tag_id.map(|id| id.0),
                fields.mirror.map(Mirror::as_str),
                fields.mac_from.as_str(),
                keys.and_then(SealedKeys::master_key_id).map(|id| id.0),
                meta_key.map(|key| &key.wrapped),
                file_key.map(|key| &key.wrapped),
                keys.and_then(SealedKeys::meta).map(KeyFingerprint::bytes),
                keys.map(|keys| keys.file().bytes()),
                keys.is_some_and(SealedKeys::factory),
                simulated,
                write.now.millis(),
            ],
            |row| row.get(0),
        )?;
    write.changes_configuration();
    Ok(InlayId(id))
}

/// An inlay may be bound to a tag that exists, of its own world.
fn check_tag(
    connection: &Connection,
    tag: Option<TagId>,
    simulated: bool,
) -> Result<(), StorageError> {
    let Some(tag) = tag else {
        return Ok(());
    };
    let world = connection
        .prepare_cached("SELECT simulated FROM tags WHERE id = ?1 AND deleted_at IS NULL")?
        .query_row([tag.0], |row| row.get::<_, bool>(0))
        .optional()?;
    match world {
        None => Err(Conflict::Missing {
            noun: "tag",
            id: tag.0,
        }
        .into()),
        Some(world) if world != simulated => Err(Conflict::OtherWorld { tag, simulated }.into()),
        Some(_) => Ok(()),
    }
}

fn check_master_key(
    connection: &Connection,
    keys: Option<&SealedKeys>,
) -> Result<(), StorageError> {
    let Some(id) = keys.and_then(SealedKeys::master_key_id) else {
        return Ok(());
    };
    let exists = connection
        .prepare_cached("SELECT 1 FROM master_keys WHERE id = ?1")?
        .exists([id.0])?;
    if exists {
        Ok(())
    } else {
        Err(Conflict::Missing {
            noun: "master key",
            id: id.0,
        }
        .into())
    }
}
