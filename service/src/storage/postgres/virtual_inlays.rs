//! The simulator's inlays, in SQL.

use async_trait::async_trait;
use tokio_postgres::Row;

use super::inlays::{self, AFTER_INLAY};
use super::row::{self, column};
use super::session::Session;
use super::transaction::Write;
use super::{PostgresStorage, tags};
use crate::id::VirtualInlayId;
use crate::inlay::code::COUNTER_MAX;
use crate::inlay::virtual_inlay::UsedUp;
use crate::inventory::{NewInlay, SimulatedInlay};
use crate::storage::{Conflict, SimulatedTag, Simulator, StorageError};

#[async_trait]
impl Simulator for PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn insert_virtual_inlay(
        &self,
        tag: SimulatedTag,
        inlay: NewInlay,
    ) -> Result<VirtualInlayId, StorageError> {
        let mut write = self.begin().await?;
        let inserted = insert(&mut write, &tag, inlay).await;
        self.end(write, inserted).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn virtual_inlay(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError> {
        virtual_inlay(&self.session().await?, id).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn virtual_inlays(
        &self,
        after: Option<VirtualInlayId>,
        limit: usize,
    ) -> Result<Vec<SimulatedInlay>, StorageError> {
        let session = self.session().await?;
        let sql = format!("{} AND v.id > $1 ORDER BY v.id LIMIT $2", select());
        let after = after.map_or(0, |id| id.0);
        let found = session.rows(&sql, &[&after, &row::limit(limit)]).await?;
        found.iter().map(from_row).collect()
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn count_virtual_inlays(&self) -> Result<u64, StorageError> {
        let session = self.session().await?;
        let count = session.one("SELECT count(*) FROM virtual_inlays", &[]);
        row::count(&count.await?)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn raise_virtual_counter(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError> {
        // A read whose answer is lost has raised the counter all the same, as a chip's does.
        let session = self.session().await?;
        let (columns, from) = (inlays::COLUMNS, inlays::FROM);
        let sql = format!(
            "UPDATE virtual_inlays v SET counter = v.counter + 1
             FROM {from} LEFT JOIN tags t ON t.id = i.tag_id
             WHERE v.id = $1 AND v.counter < $2 AND i.id = v.inlay_id AND i.deleted_at IS NULL
             RETURNING {columns}, v.id, v.counter, t.slug"
        );
        let raised = session
            .row(&sql, &[&id.0, &COUNTER_MAX.cast_signed()])
            .await?;
        match raised {
            Some(raised) => from_row(&raised).map(Some),
            None if virtual_inlay(&session, id).await?.is_some() => {
                Err(Conflict::UsedUp(UsedUp).into())
            }
            None => Ok(None),
        }
    }
}

async fn insert(
    write: &mut Write,
    tag: &SimulatedTag,
    mut inlay: NewInlay,
) -> Result<VirtualInlayId, StorageError> {
    let tag_id = match tag {
        SimulatedTag::Existing(id) => *id,
        SimulatedTag::New(fields) => tags::insert(write, fields, true).await??,
    };
    inlay.fields.tag_id = Some(tag_id);
    let inlay_id = inlays::insert(write, &inlay).await?;
    let inserted = write
        .one(
            "INSERT INTO virtual_inlays (inlay_id, counter, created_at) VALUES ($1, 0, $2)
             RETURNING id",
            &[&inlay_id.0, &write.now.millis()],
        )
        .await?;
    column(&inserted, 0).map(VirtualInlayId)
}

fn select() -> String {
    let (columns, from) = (inlays::COLUMNS, inlays::FROM);
    format!(
        "SELECT {columns}, v.id, v.counter, t.slug
         FROM {from} JOIN virtual_inlays v ON v.inlay_id = i.id LEFT JOIN tags t ON t.id = i.tag_id
         WHERE i.deleted_at IS NULL"
    )
}

async fn virtual_inlay(
    session: &Session,
    id: VirtualInlayId,
) -> Result<Option<SimulatedInlay>, StorageError> {
    let sql = format!("{} AND v.id = $1", select());
    let found = session.row(&sql, &[&id.0]).await?;
    found.as_ref().map(from_row).transpose()
}

fn from_row(found: &Row) -> Result<SimulatedInlay, StorageError> {
    Ok(SimulatedInlay {
        id: VirtualInlayId(column(found, AFTER_INLAY)?),
        counter: row::number(found, AFTER_INLAY + 1)?,
        slug: column(found, AFTER_INLAY + 2)?,
        inlay: inlays::from_row(found)?,
    })
}
