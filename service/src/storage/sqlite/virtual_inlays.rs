//! The simulator's inlays, in SQL.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::writer::Write;
use super::{SqliteStorage, inlays, row, tags};
use crate::id::VirtualInlayId;
use crate::inlay::code::COUNTER_MAX;
use crate::inlay::virtual_inlay::UsedUp;
use crate::inventory::{NewInlay, SimulatedInlay};
use crate::storage::{Conflict, SimulatedTag, Simulator, StorageError};

#[async_trait]
impl Simulator for SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn insert_virtual_inlay(
        &self,
        tag: SimulatedTag,
        inlay: NewInlay,
    ) -> Result<VirtualInlayId, StorageError> {
        self.write(move |write| insert(write, &tag, inlay.clone()))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn virtual_inlay(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError> {
        self.read(|connection| virtual_inlay(connection, id))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn virtual_inlays(
        &self,
        after: Option<VirtualInlayId>,
        limit: usize,
    ) -> Result<Vec<SimulatedInlay>, StorageError> {
        self.read_long(move |connection| {
            let mut select = connection.prepare_cached(&format!(
                "{} AND v.id > ?1 ORDER BY v.id LIMIT ?2",
                select()
            ))?;
            let found = select
                .query_map((after.map_or(0, |id| id.0), row::limit(limit)), |row| {
                    Ok(from_row(row))
                })?;
            found.map(|row| row?).collect()
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn count_virtual_inlays(&self) -> Result<u64, StorageError> {
        self.read_long(move |connection| {
            let count: i64 = connection
                .prepare_cached("SELECT count(*) FROM virtual_inlays")?
                .query_row([], |row| row.get(0))?;
            Ok(count.unsigned_abs())
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn raise_virtual_counter(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError> {
        self.write(move |write| {
            let raised = write
                .connection
                .prepare_cached(
                    "UPDATE virtual_inlays SET counter = counter + 1 WHERE id = ?1 AND counter < ?2",
                )?
                .execute((id.0, COUNTER_MAX))?;
            match virtual_inlay(write.connection, id)? {
                Some(_) if raised == 0 => Err(Conflict::UsedUp(UsedUp).into()),
                inlay => Ok(inlay),
            }
        })
        .await
    }
}

fn insert(
    write: &mut Write<'_>,
    tag: &SimulatedTag,
    mut inlay: NewInlay,
) -> Result<VirtualInlayId, StorageError> {
    let tag_id = match tag {
        SimulatedTag::Existing(id) => *id,
        SimulatedTag::New(fields) => tags::insert(write, fields, true)??,
    };
    inlay.fields.tag_id = Some(tag_id);
    let inlay_id = inlays::insert(write, &inlay)?;
    write
        .connection
        .prepare_cached(
            "INSERT INTO virtual_inlays (inlay_id, counter, created_at) VALUES (?1, 0, ?2)",
        )?
        .execute((inlay_id.0, write.now.millis()))?;
    Ok(VirtualInlayId(write.connection.last_insert_rowid()))
}

fn select() -> String {
    let (columns, from) = (inlays::COLUMNS, inlays::FROM);
    format!(
        "SELECT {columns}, v.id, v.counter, t.slug
         FROM {from} JOIN virtual_inlays v ON v.inlay_id = i.id LEFT JOIN tags t ON t.id = i.tag_id
         WHERE i.deleted_at IS NULL"
    )
}

fn virtual_inlay(
    connection: &Connection,
    id: VirtualInlayId,
) -> Result<Option<SimulatedInlay>, StorageError> {
    connection
        .prepare_cached(&format!("{} AND v.id = ?1", select()))?
        .query_row([id.0], |row| Ok(from_row(row)))
        .optional()?
        .transpose()
}

fn from_row(row: &Row<'_>) -> Result<SimulatedInlay, StorageError> {
    const AFTER_INLAY: usize = 14;
    Ok(SimulatedInlay {
        id: VirtualInlayId(row.get(AFTER_INLAY)?),
        counter: row.get(AFTER_INLAY + 1)?,
        slug: row.get(AFTER_INLAY + 2)?,
        inlay: inlays::from_row(row)?,
    })
}
