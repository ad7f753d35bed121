//! Inlays, in SQL.

mod counter;

use std::sync::LazyLock;

use async_trait::async_trait;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStorage;
use super::row::{self, column, unreadable};
use super::session::Session;
use super::transaction::Write;
use crate::id::{InlayId, MasterKeyId, TagId};
use crate::inlay::counter::{Acceptance, CounterState};
use crate::inlay::key::KeyFingerprint;
use crate::inlay::{Mirror, Uid};
use crate::interaction::{Refusal, Verdict};
use crate::inventory::{Inlay, InlayFields, NewInlay, SealedKey, SealedKeys};
use crate::revision::Precondition;
use crate::storage::{
    BoundInlay, Conflict, InlayEdit, InlayFilter, Inlays, OtherInlays, StorageError,
};

#[async_trait]
impl Inlays for PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn insert_inlay(&self, inlay: NewInlay) -> Result<InlayId, StorageError> {
        let mut write = self.begin().await?;
        let inserted = insert(&mut write, &inlay).await;
        self.end(write, inserted).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn inlay(&self, id: InlayId) -> Result<Option<Inlay>, StorageError> {
        inlay(&self.session().await?, id).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn inlays(
        &self,
        filter: InlayFilter,
        after: Option<InlayId>,
        limit: usize,
    ) -> Result<Vec<Inlay>, StorageError> {
        let session = self.session().await?;
        let after = after.map_or(0, |id| id.0);
        let limit = row::limit(limit);
        let conditions = Conditions::of(filter);
        let mut parameters = conditions.parameters();
        parameters.extend([&after as &(dyn ToSql + Sync), &limit]);
        let sql = format!(
            "SELECT {COLUMNS} FROM {FROM} WHERE {} AND i.id > ${} ORDER BY i.id LIMIT ${}",
            conditions.sql,
            parameters.len() - 1,
            parameters.len(),
        );
        let found = session.rows(&sql, &parameters).await?;
        found.iter().map(from_row).collect()
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn count_inlays(&self, filter: InlayFilter) -> Result<u64, StorageError> {
        let session = self.session().await?;
        let conditions = Conditions::of(filter);
        let sql = format!("SELECT count(*) FROM inlays i WHERE {}", conditions.sql);
        row::count(&session.one(&sql, &conditions.parameters()).await?)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn edit_inlay(
        &self,
        id: InlayId,
        edit: InlayEdit,
    ) -> Result<Option<Inlay>, StorageError> {
        let mut write = self.begin().await?;
        let edited = self.contained(edit_inlay(&mut write, id, &edit)).await;
        self.end(write, edited).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn delete_inlay_if(
        &self,
        id: InlayId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        let mut write = self.begin().await?;
        let deleted = delete(&mut write, id, &expected).await;
        self.end(write, deleted).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn foresee(
        &self,
        inlay: InlayId,
        key_version: u32,
        counter: u32,
    ) -> Result<Verdict, StorageError> {
        let session = self.session().await?;
        let found = session
            .row(
                "SELECT last, seen FROM counters WHERE inlay_id = $1 AND key_version = $2",
                &[&inlay.0, &key_version.cast_signed()],
            )
            .await?;
        let Some(found) = found else {
            return Ok(Verdict::NotVerified(Refusal::KeysReplaced { counter }));
        };
        let state = CounterState {
            last: row::number(&found, 0)?,
            seen: column::<i64>(&found, 1)?.cast_unsigned(),
        };
        Ok(match state.accept(counter) {
            Acceptance::Accepted { previous, .. } => Verdict::Verified { counter, previous },
            Acceptance::Replayed { last } => {
                Verdict::NotVerified(Refusal::Replayed { counter, last })
            }
            Acceptance::OutOfOrder { last } => {
                Verdict::NotVerified(Refusal::OutOfOrder { counter, last })
            }
        })
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn other_inlays(
        &self,
        which: OtherInlays,
        except: Option<TagId>,
    ) -> Result<Vec<BoundInlay>, StorageError> {
        let session = self.session().await?;
        let select = |condition| {
            let (columns, from) = (row::BOUND_INLAY_COLUMNS, row::BOUND_INLAY_FROM);
            format!(
                "SELECT {columns} FROM {from}
                 WHERE i.tag_id IS DISTINCT FROM $1 AND i.mirror IS NOT NULL AND i.deleted_at IS NULL
                     {condition}"
            )
        };
        let except = except.map(|id| id.0);
        let found = match which {
            OtherInlays::Uid(uid) => {
                let sql = select("AND i.uid = $2");
                session
                    .rows(&sql, &[&except, &uid.bytes().as_slice()])
                    .await?
            }
            OtherInlays::Newest(limit) => {
                let sql = select("ORDER BY i.id DESC LIMIT $2");
                session.rows(&sql, &[&except, &row::limit(limit)]).await?
            }
        };
        let found = found.iter().map(row::bound_inlay);
        found.filter_map(Result::transpose).collect()
    }
}

/// Columns of an inlay, for a query over [`FROM`].
pub(super) const COLUMNS: &str = "i.id, i.uid, i.technology, i.tag_id, i.mirror, i.mac_from, i.master_key_id, \
    i.meta_key, i.file_key, i.meta_key_print, i.file_key_print, i.factory_keys, i.simulated, c.last";

/// The column that follows [`COLUMNS`].
pub(super) const AFTER_INLAY: usize = 14;

/// Inlays with their counters.
pub(super) const FROM: &str = "inlays i JOIN counters c ON c.inlay_id = i.id";

/// An inlay that is not deleted.
async fn inlay(session: &Session, id: InlayId) -> Result<Option<Inlay>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE i.id = $1 AND i.deleted_at IS NULL");
    let found = session.row(&sql, &[&id.0]).await?;
    found.as_ref().map(from_row).transpose()
}

/// An inlay from its [`COLUMNS`].
pub(super) fn from_row(found: &Row) -> Result<Inlay, StorageError> {
    let technology: &str = column(found, 2)?;
    let mirror: Option<&str> = column(found, 4)?;
    let mac_from: &str = column(found, 5)?;
    Ok(Inlay {
        id: InlayId(column(found, 0)?),
        uid: Uid::from_bytes(row::bytes(found, 1)?),
        fields: InlayFields {
            technology: technology.parse().map_err(|_| unreadable("technology"))?,
            tag_id: column::<Option<i64>>(found, 3)?.map(TagId),
            mirror: mirror
                .map(|mirror| mirror.parse().map_err(|_| unreadable("mirror")))
                .transpose()?,
            mac_from: mac_from.parse().map_err(|_| unreadable("mac_from"))?,
            keys: keys(found)?,
        },
        simulated: column(found, 12)?,
        last_counter: row::number(found, 13)?,
    })
}

fn keys(found: &Row) -> Result<Option<SealedKeys>, StorageError> {
    let print = |index| -> Result<Option<KeyFingerprint>, StorageError> {
        Ok(row::optional_bytes(found, index)?.map(KeyFingerprint::from_bytes))
    };
    let sealed = |wrapped, fingerprint| SealedKey {
        wrapped,
        fingerprint,
    };
    let Some(file) = print(10)? else {
        return Ok(None);
    };
    let meta = print(9)?;
    Ok(Some(match column::<Option<i64>>(found, 6)? {
        Some(master_key_id) => SealedKeys::Diversified {
            master_key_id: MasterKeyId(master_key_id),
            meta: meta.ok_or_else(|| unreadable("key"))?,
            file,
            factory: column(found, 11)?,
        },
        None => SealedKeys::Own {
            meta: column::<Option<Vec<u8>>>(found, 7)?
                .zip(meta)
                .map(|(wrapped, print)| sealed(wrapped, print)),
            file: sealed(column(found, 8)?, file),
        },
    }))
}

/// What a filter lets through, of an alias `i`.
struct Conditions {
    sql: String,
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Conditions {
    fn of(filter: InlayFilter) -> Self {
        let mut conditions = Self {
            sql: "i.deleted_at IS NULL".to_owned(),
            values: Vec::new(),
        };
        conditions.equal("i.tag_id", filter.tag_id.map(|id| id.0));
        conditions.equal("i.uid", filter.uid.map(|uid| uid.bytes().to_vec()));
        conditions.equal("i.master_key_id", filter.master_key_id.map(|id| id.0));
        conditions.equal("(i.tag_id IS NULL)", filter.unbound);
        conditions.equal("i.simulated", filter.simulated);
        conditions
    }

    fn equal<T: ToSql + Sync + Send + 'static>(&mut self, what: &str, value: Option<T>) {
        if let Some(value) = value {
            self.values.push(Box::new(value));
            self.sql = format!("{} AND {what} = ${}", self.sql, self.values.len());
        }
    }

    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        let values = self.values.iter();
        values
            .map(|value| &**value as &(dyn ToSql + Sync))
            .collect()
    }
}

/// Stores a new inlay, or one that comes back after it was deleted.
pub(super) async fn insert(write: &mut Write, new: &NewInlay) -> Result<InlayId, StorageError> {
    check_tag(write, new.fields.tag_id, new.simulated).await?;
    check_new(write, new).await?;
    put_new(write, new).await
}

/// Whether a new inlay's keys and its UID can be had.
pub(super) async fn check_new(session: &Session, new: &NewInlay) -> Result<(), StorageError> {
    check_master_key(session, new.fields.keys.as_ref()).await?;
    let taken = session
        .one(
            "SELECT EXISTS (SELECT FROM inlays WHERE uid = $1 AND deleted_at IS NULL),
                 EXISTS (SELECT FROM import_rows WHERE uid = $1)",
            &[&new.uid.bytes().as_slice()],
        )
        .await?;
    if column(&taken, 0)? {
        return Err(Conflict::UidTaken(new.uid.to_string()).into());
    }
    if column(&taken, 1)? {
        return Err(Conflict::UidInImport(new.uid.to_string()).into());
    }
    Ok(())
}

/// Stores a new inlay that breaks no rule.
pub(super) async fn put_new(write: &mut Write, new: &NewInlay) -> Result<InlayId, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE i.uid = $1");
    let former = write.row(&sql, &[&new.uid.bytes().as_slice()]).await?;
    let Some(former) = former else {
        let id = store(write, &INSERT, new).await?;
        counter::start(write, id).await?;
        return Ok(id);
    };
    let former = from_row(&former)?;
    store(write, &UPDATE, new).await?;
    counter::follow(write, former.id, &former.fields, &new.fields).await?;
    Ok(former.id)
}

async fn edit_inlay(
    write: &mut Write,
    id: InlayId,
    edit: &InlayEdit,
) -> Result<Option<Inlay>, StorageError> {
    let Some(before) = inlay(write, id).await? else {
        return Ok(None);
    };
    let after = NewInlay {
        uid: before.uid,
        fields: edit(before.fields.clone())?,
        simulated: before.simulated,
    };
    if after.fields.tag_id != before.fields.tag_id {
        check_tag(write, after.fields.tag_id, after.simulated).await?;
    }
    check_master_key(write, after.fields.keys.as_ref()).await?;
    store(write, &UPDATE, &after).await?;
    counter::follow(write, id, &before.fields, &after.fields).await?;
    inlay(write, id).await
}

async fn delete(
    write: &mut Write,
    id: InlayId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = inlay(write, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    let deleted = write
        .run(
            "UPDATE inlays SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL",
            &[&id.0, &write.now.millis()],
        )
        .await?;
    if deleted == 0 {
        return Ok(None);
    }
    write
        .run("DELETE FROM virtual_inlays WHERE inlay_id = $1", &[&id.0])
        .await?;
    write.changes_configuration();
    Ok(Some(()))
}

const STORED: &str = "uid, technology, tag_id, mirror, mac_from, master_key_id, meta_key, file_key, \
    meta_key_print, file_key_print, factory_keys, simulated, updated_at";
const VALUES: &str = "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13";

static INSERT: LazyLock<String> = LazyLock::new(|| {
    format!("INSERT INTO inlays ({STORED}, created_at) VALUES ({VALUES}, $13) RETURNING id")
});
static UPDATE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "UPDATE inlays SET ({STORED}, deleted_at) = ROW ({VALUES}, NULL) WHERE uid = $1 RETURNING id"
    )
});

/// Writes an inlay's row by [`INSERT`] or [`UPDATE`]. It is not deleted from now on.
async fn store(write: &mut Write, sql: &str, inlay: &NewInlay) -> Result<InlayId, StorageError> {
    let fields = &inlay.fields;
    let keys = fields.keys.as_ref();
    let (meta_key, file_key) = match keys {
        Some(SealedKeys::Own { meta, file }) => (meta.as_ref(), Some(file)),
        _ => (None, None),
    };
    let print = |print: KeyFingerprint| print.bytes().to_vec();
    let stored = write
        .one(
            sql,
            &[
                &inlay.uid.bytes().as_slice(),
                &fields.technology.as_str(),
                &fields.tag_id.map(|id| id.0),
                &fields.mirror.map(Mirror::as_str),
                &fields.mac_from.as_str(),
                &keys.and_then(SealedKeys::master_key_id).map(|id| id.0),
                &meta_key.map(|key| &key.wrapped),
                &file_key.map(|key| &key.wrapped),
                &keys.and_then(SealedKeys::meta).map(print),
                &keys.map(SealedKeys::file).map(print),
                &keys.is_some_and(SealedKeys::factory),
                &inlay.simulated,
                &write.now.millis(),
            ],
        )
        .await?;
    write.changes_configuration();
    column(&stored, 0).map(InlayId)
}

/// An inlay may be bound to a tag that exists, of its own world.
async fn check_tag(
    session: &Session,
    tag: Option<TagId>,
    simulated: bool,
) -> Result<(), StorageError> {
    let Some(tag) = tag else {
        return Ok(());
    };
    let found = session
        .row(
            "SELECT simulated FROM tags WHERE id = $1 AND deleted_at IS NULL",
            &[&tag.0],
        )
        .await?;
    match found {
        None => Err(Conflict::Missing {
            noun: "tag",
            id: tag.0,
        }
        .into()),
        Some(found) if column::<bool>(&found, 0)? != simulated => {
            Err(Conflict::OtherWorld { tag, simulated }.into())
        }
        Some(_) => Ok(()),
    }
}

async fn check_master_key(
    session: &Session,
    keys: Option<&SealedKeys>,
) -> Result<(), StorageError> {
    let Some(id) = keys.and_then(SealedKeys::master_key_id) else {
        return Ok(());
    };
    let found = session
        .row("SELECT FROM master_keys WHERE id = $1", &[&id.0])
        .await?;
    match found {
        Some(_) => Ok(()),
        None => Err(Conflict::Missing {
            noun: "master key",
            id: id.0,
        }
        .into()),
    }
}
