//! Factory orders: their SQL, and the acceptance of returned chips.

use super::free_tags::free_tags;
use super::{Query, Transaction, encodings, inlays, insert_rows};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, CameBack, Conflict, InUse, NewOrder, StorageError, Taken, WrappedSet};
use domain::audit::Note;
use domain::id::{FactoryOrderId, TagId};
use encoding::order::{BUREAU_VERSION, Order, OrderPosition, PositionState};
use encoding::{SlotState, word};
use inlay::Uid;

/// The operations on factory orders.
impl Access {
    /// Stores an order with its keys.
    ///
    /// # Errors
    ///
    /// [`Conflict::MissingInList`] for a tag that does not exist.
    pub async fn insert_factory_order(&self, order: NewOrder) -> Result<Order, StorageError> {
        self.change("insert_factory_order", order, |tx, order| {
            Box::pin(insert(tx, order))
        })
        .await
    }

    /// The order with this id.
    pub async fn factory_order(&self, id: FactoryOrderId) -> Result<Option<Order>, StorageError> {
        self.read("factory_order", id, |db, id| Box::pin(order(db, *id)))
            .await
    }

    /// At most `limit` orders, the newest first, after the order `after`: all of them, or those for
    /// which the chip with `uid` came back.
    pub async fn factory_orders(
        &self,
        uid: Option<Uid>,
        after: Option<FactoryOrderId>,
        limit: usize,
    ) -> Result<Vec<Order>, StorageError> {
        self.read(
            "factory_orders",
            (uid, after, limit),
            |db, (uid, after, limit)| Box::pin(list(db, *uid, *after, *limit)),
        )
        .await
    }

    /// How many orders there are, or for how many of them the chip with `uid` came back.
    pub async fn count_factory_orders(&self, uid: Option<Uid>) -> Result<u64, StorageError> {
        self.read("count_factory_orders", uid, |db, uid| {
            Box::pin(count(db, *uid))
        })
        .await
    }

    /// The order's positions, in their order.
    pub async fn factory_order_positions(
        &self,
        id: FactoryOrderId,
    ) -> Result<Option<Vec<OrderPosition>>, StorageError> {
        self.read_snapshot("factory_order_positions", id, |db, id| {
            Box::pin(positions(db, *id))
        })
        .await
    }

    /// The wrapped keys of the order's positions, in their order.
    pub async fn factory_order_keys(
        &self,
        id: FactoryOrderId,
    ) -> Result<Vec<WrappedSet>, StorageError> {
        self.read("factory_order_keys", id, |db, id| Box::pin(keys(db, *id)))
            .await
    }

    /// Notes that the order's keys are exported.
    pub async fn note_order_exported(&self, id: FactoryOrderId) -> Result<(), StorageError> {
        self.change("note_order_exported", id, |tx, id| {
            Box::pin(exported(tx, *id))
        })
        .await
    }

    /// Deletes an order and its keys, if none of its chips came back.
    ///
    /// # Errors
    ///
    /// [`InUse::ByReceivedChips`](crate::InUse::ByReceivedChips).
    pub async fn delete_factory_order(
        &self,
        id: FactoryOrderId,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_factory_order", id, |tx, id| {
            Box::pin(delete(tx, *id))
        })
        .await
    }

    /// Accepts chips that came back: each becomes the inlay of its position's tag, and the
    /// position's keys become the keys that the chip is known to have. With `dry_run`, nothing is
    /// stored. Returns the result of each chip, in their order.
    pub async fn receive_chips(
        &self,
        id: FactoryOrderId,
        chips: Vec<CameBack>,
        dry_run: bool,
    ) -> Result<Vec<Result<Taken, Conflict>>, StorageError> {
        if dry_run {
            return self
                .read_snapshot("check_chips", (id, chips), |db, (id, chips)| {
                    Box::pin(check(db, *id, chips))
                })
                .await;
        }
        self.change("receive_chips", (id, chips), |tx, (id, chips)| {
            Box::pin(receive(tx, *id, chips))
        })
        .await
    }

    /// The order, and the tag at the position for which this chip came back.
    pub async fn order_of_chip(
        &self,
        id: FactoryOrderId,
        uid: Uid,
    ) -> Result<Option<(Order, Option<TagId>)>, StorageError> {
        self.read_snapshot("order_of_chip", (id, uid), |db, (id, uid)| {
            Box::pin(of_chip(db, *id, *uid))
        })
        .await
    }
}

/// Whether the chip of a position `p` has keys of a bureau.
const OF_BUREAU: &str =
    "EXISTS (SELECT 1 FROM chips c WHERE c.uid = p.uid AND c.bureau IS NOT NULL)";

fn select() -> String {
    format!(
        "SELECT o.id, o.name, o.settings, o.created_at, o.exported_at, \
            (SELECT count(*) FROM factory_order_positions p WHERE p.order_id = o.id), \
            (SELECT count(*) FROM factory_order_positions p WHERE p.order_id = o.id AND p.uid IS NOT NULL), \
            (SELECT count(*) FROM factory_order_positions p \
                WHERE p.order_id = o.id AND p.uid IS NOT NULL AND NOT {OF_BUREAU}) \
        FROM factory_orders o"
    )
}

fn read(mut row: Row) -> Result<Order, StorageError> {
    Ok(Order {
        id: row.take()?,
        name: row.take()?,
        plan: row.json("factory order")?,
        created_at: row.take()?,
        exported_at: row.take()?,
        position_count: row.take()?,
        received_count: row.take()?,
        rekeyed_count: row.take()?,
    })
}

async fn order(db: &mut dyn Query, id: FactoryOrderId) -> Result<Option<Order>, StorageError> {
    let sql = format!("{} WHERE o.id = ?1", select());
    db.row(&sql, &values![id]).await?.map(read).transpose()
}

/// The orders for which a chip came back.
const OF_CHIP: &str = "SELECT order_id FROM factory_order_positions WHERE uid";

async fn list(
    db: &mut dyn Query,
    uid: Option<Uid>,
    after: Option<FactoryOrderId>,
    limit: usize,
) -> Result<Vec<Order>, StorageError> {
    let mut values = values![
        after.map_or(i64::MAX, FactoryOrderId::get),
        Value::limit(limit)
    ]
    .to_vec();
    let of_chip = match uid {
        None => String::new(),
        Some(uid) => {
            values.push(uid.into());
            format!("AND o.id IN ({OF_CHIP} = ?3)")
        }
    };
    let sql = format!(
        "{} WHERE o.id < ?1 {of_chip} ORDER BY o.id DESC LIMIT ?2",
        select()
    );
    let found = db.query(&sql, &values).await?;
    found.into_iter().map(read).collect()
}

async fn count(db: &mut dyn Query, uid: Option<Uid>) -> Result<u64, StorageError> {
    let all = "SELECT count(*) FROM factory_orders";
    match uid {
        None => db.count(all, &[]).await,
        Some(uid) => {
            let sql = format!("{all} WHERE id IN ({OF_CHIP} = ?1)");
            db.count(&sql, &values![uid]).await
        }
    }
}

async fn insert(tx: &mut dyn Transaction, new: &NewOrder) -> Result<Order, StorageError> {
    let settings = serde_json::to_string(&new.plan).map_err(|_| unreadable("factory order"))?;
    let now = tx.now();
    let mut inserted = tx
        .write_one(
            "INSERT INTO factory_orders (name, settings, created_at) VALUES (?1, ?2, ?3) RETURNING id",
            &values![&new.name, settings, now],
        )
        .await?;
    let id: FactoryOrderId = inserted.take()?;
    let (mut positions, mut keys) = (Vec::new(), Vec::new());
    for (place, position) in free_tags(tx, &new.tags).await?.into_iter().zip(1_u32..) {
        positions.push(values![id, position, new.tags[place]].to_vec());
        keys.extend(
            (0_u32..)
                .zip(&new.keys[place])
                .map(|(slot, key)| values![id, position, slot, key].to_vec()),
        );
    }
    let columns = ["order_id", "position", "tag_id"];
    insert_rows(tx, "factory_order_positions", &columns, positions, "").await?;
    let columns = ["order_id", "position", "slot", "key"];
    insert_rows(tx, "factory_order_keys", &columns, keys, "").await?;
    let stored = order(tx, id).await?;
    let stored = stored.ok_or_else(|| unreadable("factory order"))?;
    let shown = serde_json::json!({"name": stored.name, "positions": stored.position_count});
    tx.note(Note::created(format!("factory-orders/{id}"), &shown));
    Ok(stored)
}

async fn positions(
    db: &mut dyn Query,
    id: FactoryOrderId,
) -> Result<Option<Vec<OrderPosition>>, StorageError> {
    if order(db, id).await?.is_none() {
        return Ok(None);
    }
    let sql = format!(
        "SELECT p.position, p.tag_id, t.slug, t.name, p.uid, p.received_at, {OF_BUREAU} \
        FROM factory_order_positions p JOIN tags t ON t.id = p.tag_id \
        WHERE p.order_id = ?1 ORDER BY p.position"
    );
    let found = db.query(&sql, &values![id]).await?;
    let positions = found.into_iter().map(|mut row| {
        let (position, tag_id) = (row.take()?, row.take()?);
        let (slug, name) = (row.take()?, row.take()?);
        let uid: Option<Uid> = row.take()?;
        let received_at = row.take()?;
        let of_bureau: bool = row.take()?;
        Ok(OrderPosition {
            position,
            tag_id,
            slug,
            name,
            uid,
            state: match (uid, of_bureau) {
                (None, _) => PositionState::Ordered,
                (Some(_), true) => PositionState::BureauKeys,
                (Some(_), false) => PositionState::Rekeyed,
            },
            received_at,
        })
    });
    positions.collect::<Result<_, StorageError>>().map(Some)
}

async fn keys(db: &mut dyn Query, id: FactoryOrderId) -> Result<Vec<WrappedSet>, StorageError> {
    let sql = "SELECT key FROM factory_order_keys WHERE order_id = ?1 ORDER BY position, slot";
    let found = db.query(sql, &values![id]).await?;
    let keys = found.into_iter().map(|mut row| row.take());
    let keys = keys.collect::<Result<Vec<Vec<u8>>, _>>()?;
    let (sets, rest) = keys.as_chunks();
    if rest.is_empty() {
        Ok(sets.to_vec())
    } else {
        Err(unreadable("factory order"))
    }
}

async fn exported(tx: &mut dyn Transaction, id: FactoryOrderId) -> Result<(), StorageError> {
    let sql = "UPDATE factory_orders SET exported_at = coalesce(exported_at, ?2) WHERE id = ?1";
    tx.execute(sql, &values![id, tx.now()]).await?;
    tx.note(Note::default());
    Ok(())
}

async fn delete(tx: &mut dyn Transaction, id: FactoryOrderId) -> Result<Option<()>, StorageError> {
    let Some(order) = order(tx, id).await? else {
        return Ok(None);
    };
    if order.received_count > 0 {
        return Err(InUse::ByReceivedChips(order.received_count).into());
    }
    for table in ["factory_order_keys", "factory_order_positions"] {
        let sql = format!("DELETE FROM {table} WHERE order_id = ?1");
        tx.execute(&sql, &values![id]).await?;
    }
    let sql = "DELETE FROM factory_orders WHERE id = ?1";
    tx.execute(sql, &values![id]).await?;
    let shown = serde_json::json!({"name": order.name, "positions": order.position_count});
    tx.note(Note::deleted(&shown));
    Ok(Some(()))
}

/// Checks a chip that came back: the result, or the conflict that stops it.
async fn look(
    db: &mut dyn Query,
    id: FactoryOrderId,
    CameBack { position, inlay }: &CameBack,
) -> Result<Result<Taken, Conflict>, StorageError> {
    let sql = "SELECT uid FROM factory_order_positions WHERE order_id = ?1 AND position = ?2";
    let Some(mut row) = db.row(sql, &values![id, *position]).await? else {
        return Ok(Err(format!("The order has no position {position}.").into()));
    };
    let before: Option<Uid> = row.take()?;
    Ok(match before {
        Some(before) if before == inlay.uid => Ok(Taken::Unchanged),
        Some(before) => Err(format!("Position {position} has the chip {before} already.").into()),
        None => {
            let used = "SELECT 1 FROM inlays WHERE uid = ?1 AND deleted_at IS NULL";
            if db.exists(used, &values![inlay.uid]).await? {
                Err(Conflict::UidTaken(inlay.uid.to_string()))
            } else if has_keys_of_ours(db, inlay.uid).await? {
                let why = "Tapdesk has encoded this chip before, so no bureau can have: it is another chip that says to be it.";
                Err(why.to_owned().into())
            } else {
                Ok(Taken::Bound)
            }
        }
    })
}

/// Whether Tapdesk has written a key to a chip, or may have. A chip that was only placed on the
/// reader has a journal, too, with the attempted authentications.
async fn has_keys_of_ours(db: &mut dyn Query, uid: Uid) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM chips c WHERE c.uid = ?1 AND (c.confirmed IS NOT NULL OR c.bureau IS NOT NULL
         OR EXISTS (SELECT 1 FROM chip_keys k WHERE k.uid = c.uid AND k.state <> ?2))";
    db.exists(sql, &values![uid, word(SlotState::Planned)])
        .await
}

async fn check(
    db: &mut dyn Query,
    id: FactoryOrderId,
    chips: &[CameBack],
) -> Result<Vec<Result<Taken, Conflict>>, StorageError> {
    let mut taken = Vec::with_capacity(chips.len());
    for chip in chips {
        taken.push(look(db, id, chip).await?);
    }
    Ok(taken)
}

async fn receive(
    tx: &mut dyn Transaction,
    id: FactoryOrderId,
    chips: &[CameBack],
) -> Result<Vec<Result<Taken, Conflict>>, StorageError> {
    let mut taken = Vec::with_capacity(chips.len());
    for chip in chips {
        let mut seen = look(tx, id, chip).await?;
        if seen == Ok(Taken::Bound) {
            // `insert` checks before it writes, so a conflict leaves no rows.
            match inlays::insert(tx, &chip.inlay).await {
                Ok(_) => hand_over(tx, id, chip).await?,
                Err(StorageError::Conflict(conflict)) => seen = Err(conflict),
                Err(error) => return Err(error),
            }
        }
        taken.push(seen);
    }
    let bound = taken.iter().filter(|one| **one == Ok(Taken::Bound)).count();
    tx.note(Note::done(&serde_json::json!({ "bound": bound })));
    Ok(taken)
}

/// The keys of a position become the keys that its chip is known to have. Earlier authentications
/// did not use a bureau's keys, so the count of refused ones restarts. Keys that were only planned
/// are dropped, together with the encoding that planned them.
async fn hand_over(
    tx: &mut dyn Transaction,
    id: FactoryOrderId,
    CameBack { position, inlay }: &CameBack,
) -> Result<(), StorageError> {
    let (uid, version) = (inlay.uid, u32::from(BUREAU_VERSION));
    encodings::give_up(tx, uid).await?;
    tx.execute(
        "INSERT INTO chips (uid, confirmed, refusals, torn, refused, bureau) VALUES (?1, NULL, 0, 0, '[]', ?2)
         ON CONFLICT (uid) DO UPDATE SET refusals = 0, refused = '[]', bureau = excluded.bureau",
        &values![uid, version],
    )
    .await?;
    let planned = "DELETE FROM chip_keys WHERE uid = ?1 AND generation = ?2";
    tx.execute(planned, &values![uid, version]).await?;
    let sql = "SELECT slot, key FROM factory_order_keys WHERE order_id = ?1 AND position = ?2 ORDER BY slot";
    let mut rows = Vec::new();
    for mut row in tx.query(sql, &values![id, *position]).await? {
        let (slot, key): (u32, Vec<u8>) = (row.take()?, row.take()?);
        rows.push(values![uid, version, slot, word(SlotState::Sent), key].to_vec());
    }
    let columns = ["uid", "generation", "slot", "state", "key"];
    insert_rows(tx, "chip_keys", &columns, rows, "").await?;
    let sql = "UPDATE factory_order_positions SET uid = ?3, received_at = ?4 \
        WHERE order_id = ?1 AND position = ?2";
    let now = tx.now();
    tx.execute(sql, &values![id, *position, uid, now]).await?;
    Ok(())
}

async fn of_chip(
    db: &mut dyn Query,
    id: FactoryOrderId,
    uid: Uid,
) -> Result<Option<(Order, Option<TagId>)>, StorageError> {
    let Some(order) = order(db, id).await? else {
        return Ok(None);
    };
    let sql = "SELECT tag_id FROM factory_order_positions WHERE order_id = ?1 AND uid = ?2";
    let tag = db.row(sql, &values![id, uid]).await?;
    let tag = tag.map(|mut row| row.take()).transpose()?;
    Ok(Some((order, tag)))
}
