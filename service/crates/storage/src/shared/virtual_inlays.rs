//! The simulator's virtual inlays.

use super::{Query, Transaction, inlays, tags};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, Conflict, SimulatedTag, StorageError};
use domain::audit::Note;
use domain::id::VirtualInlayId;
use domain::inventory::{NewInlay, SimulatedInlay};
use inlay::code::COUNTER_MAX;
use inlay::virtual_inlay::UsedUp;

/// The operations on the simulator's inlays.
impl Access {
    /// Stores a virtual inlay, its inlay as the service sees it, and its tag.
    ///
    /// # Errors
    ///
    /// Those of [`Self::insert_inlay`] and [`Self::insert_tags`].
    pub async fn insert_virtual_inlay(
        &self,
        tag: SimulatedTag,
        inlay: NewInlay,
    ) -> Result<SimulatedInlay, StorageError> {
        self.change("insert_virtual_inlay", (tag, inlay), |tx, (tag, inlay)| {
            Box::pin(async move {
                let id = insert(tx, tag, inlay).await?;
                let stored = virtual_inlay(tx, id).await?;
                stored.ok_or_else(|| unreadable("virtual inlay"))
            })
        })
        .await
    }

    /// The virtual inlay with this id.
    pub async fn virtual_inlay(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError> {
        self.read("virtual_inlay", id, |db, id| {
            Box::pin(virtual_inlay(db, *id))
        })
        .await
    }

    /// At most `limit` virtual inlays after the one with the id `after`, ordered by id.
    pub async fn virtual_inlays(
        &self,
        after: Option<VirtualInlayId>,
        limit: usize,
    ) -> Result<Vec<SimulatedInlay>, StorageError> {
        self.read("virtual_inlays", (after, limit), |db, (after, limit)| {
            Box::pin(list(db, *after, *limit))
        })
        .await
    }

    /// How many virtual inlays there are.
    pub async fn count_virtual_inlays(&self) -> Result<u64, StorageError> {
        self.read("count_virtual_inlays", (), |db, ()| {
            db.count("SELECT count(*) FROM virtual_inlays", &[])
        })
        .await
    }

    /// One read of a virtual inlay, as a chip does it: the counter rises before the code is made.
    ///
    /// # Errors
    ///
    /// [`Conflict::UsedUp`].
    pub async fn raise_virtual_counter(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError> {
        // The counter rises even if the answer to the read is lost, as on a real chip.
        let raise = "UPDATE virtual_inlays SET counter = counter + 1 WHERE id = ?1 AND counter < ?2
             RETURNING counter";
        let values = values![id, COUNTER_MAX].to_vec();
        let raised = self.change_at_once("raise_virtual_counter", raise, values);
        let raised = raised.await?.into_iter().next();
        match (raised, self.virtual_inlay(id).await?) {
            (_, None) => Ok(None),
            (None, Some(_)) => Err(Conflict::UsedUp(UsedUp).into()),
            (Some(mut raised), Some(inlay)) => Ok(Some(SimulatedInlay {
                counter: raised.take()?,
                ..inlay
            })),
        }
    }
}

fn select() -> String {
    let (columns, from) = (inlays::COLUMNS, inlays::FROM);
    format!(
        "SELECT {columns}, v.id, v.counter, t.slug
         FROM {from} JOIN virtual_inlays v ON v.inlay_id = i.id LEFT JOIN tags t ON t.id = i.tag_id
         WHERE i.deleted_at IS NULL"
    )
}

fn read(db: &dyn Query, mut row: Row) -> Result<SimulatedInlay, StorageError> {
    let inlay = inlays::read(db, &mut row)?;
    Ok(SimulatedInlay {
        id: row.take()?,
        counter: row.take()?,
        slug: row.take()?,
        inlay,
    })
}

async fn virtual_inlay(
    db: &mut dyn Query,
    id: VirtualInlayId,
) -> Result<Option<SimulatedInlay>, StorageError> {
    let sql = format!("{} AND v.id = ?1", select());
    let found = db.row(&sql, &values![id]).await?;
    found.map(|row| read(db, row)).transpose()
}

async fn list(
    db: &mut dyn Query,
    after: Option<VirtualInlayId>,
    limit: usize,
) -> Result<Vec<SimulatedInlay>, StorageError> {
    let sql = format!("{} AND v.id > ?1 ORDER BY v.id LIMIT ?2", select());
    let values = values![after.map_or(0, VirtualInlayId::get), Value::limit(limit)];
    let found = db.query(&sql, &values).await?.into_iter();
    found.map(|row| read(db, row)).collect()
}

async fn insert(
    tx: &mut dyn Transaction,
    tag: &SimulatedTag,
    inlay: &NewInlay,
) -> Result<VirtualInlayId, StorageError> {
    let tag = match tag {
        SimulatedTag::Existing(id) => *id,
        SimulatedTag::New(fields) => {
            let mut fields = (**fields).clone();
            let mut written = tags::Written::default();
            written.fill_new(tx, &mut fields).await?;
            tags::insert(tx, &mut written, &fields, true).await?
        }
    };
    let inlay = inlays::insert(tx, &inlay.clone().on(tag)).await?;
    let now = tx.now();
    let sql = "INSERT INTO virtual_inlays (inlay_id, counter, created_at) VALUES (?1, 0, ?2)
         RETURNING id";
    let id: VirtualInlayId = tx.write_one(sql, &values![inlay, now]).await?.take()?;
    let object = format!("simulator/inlays/{id}");
    tx.note(Note::created(object, &serde_json::json!({"tag_id": tag})));
    Ok(id)
}
