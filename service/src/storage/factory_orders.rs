//! Factory orders: tags, the keys that a bureau writes, and the chips that come back.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use crate::encoding::order::{Order, OrderPlan, OrderPosition};
use crate::id::{FactoryOrderId, TagId};
use crate::inlay::Uid;
use crate::inlay::ev2::KEYS;
use crate::inventory::NewInlay;

/// Five keys, wrapped.
pub type WrappedSet = [Vec<u8>; KEYS as usize];

/// An order to be stored.
#[derive(Clone)]
pub struct NewOrder {
    /// Its name.
    pub name: String,
    /// What is written.
    pub plan: OrderPlan,
    /// Its tags, in their order. Those that have an inlay are left out.
    pub tags: Vec<TagId>,
    /// A set of keys for each of them.
    pub keys: Vec<WrappedSet>,
}

/// A chip that came back.
#[derive(Clone, Debug)]
pub struct CameBack {
    /// Its position.
    pub position: u32,
    /// Its inlay, with the keys of the position.
    pub inlay: NewInlay,
}

/// What became of a chip that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is the inlay of its tag.
    Bound,
    /// It was before.
    Unchanged,
}

/// The operations on factory orders.
#[async_trait]
pub trait FactoryOrders: Send + Sync {
    /// Stores an order with its keys.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for a tag that does not exist.
    async fn insert_factory_order(&self, order: NewOrder) -> Result<Order, StorageError>;

    /// An order.
    async fn factory_order(&self, id: FactoryOrderId) -> Result<Option<Order>, StorageError>;

    /// At most `limit` orders, the newest first, beginning behind `after`.
    async fn factory_orders(
        &self,
        after: Option<FactoryOrderId>,
        limit: usize,
    ) -> Result<Vec<Order>, StorageError>;

    /// How many there are.
    async fn count_factory_orders(&self) -> Result<u64, StorageError>;

    /// Its positions, in their order.
    async fn factory_order_positions(
        &self,
        id: FactoryOrderId,
    ) -> Result<Option<Vec<OrderPosition>>, StorageError>;

    /// The keys of its positions, in their order.
    async fn factory_order_keys(&self, id: FactoryOrderId)
    -> Result<Vec<WrappedSet>, StorageError>;

    /// Notes that its keys leave.
    async fn note_order_exported(&self, id: FactoryOrderId) -> Result<(), StorageError>;

    /// Deletes an order of which no chip came back, with its keys.
    ///
    /// # Errors
    ///
    /// [`InUse::ByReceivedChips`](super::InUse::ByReceivedChips).
    async fn delete_factory_order(&self, id: FactoryOrderId) -> Result<Option<()>, StorageError>;

    /// Takes chips that came back: each becomes the inlay of its position's tag, and the position's
    /// keys those that the chip is known to have. With `dry_run` nothing is stored. Answers what
    /// becomes of each, in their order.
    async fn receive_chips(
        &self,
        id: FactoryOrderId,
        chips: Vec<CameBack>,
        dry_run: bool,
    ) -> Result<Vec<Result<Taken, Conflict>>, StorageError>;

    /// The order, and the tag of the position that this chip came back for.
    async fn order_of_chip(
        &self,
        id: FactoryOrderId,
        uid: Uid,
    ) -> Result<Option<(Order, Option<TagId>)>, StorageError>;
}
