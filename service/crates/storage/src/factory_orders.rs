//! Factory orders: the tags, the keys that an encoding bureau writes, and the returned chips.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use domain::id::{FactoryOrderId, TagId};
use domain::inventory::NewInlay;
use domain::text::Name;
use encoding::order::{Order, OrderPlan, OrderPosition};
use inlay::Uid;
use inlay::ev2::KEYS;

/// The five keys of one chip, wrapped.
pub type WrappedSet = [Vec<u8>; KEYS as usize];

/// A factory order to store.
#[derive(Clone)]
pub struct NewOrder {
    /// The order's name, for people.
    pub name: Name,
    /// The plan for the bureau: the data that each chip gets.
    pub plan: OrderPlan,
    /// The order's tags, in their order. Tags that have an inlay are left out.
    pub tags: Vec<TagId>,
    /// One set of keys for each tag, in the same order.
    pub keys: Vec<WrappedSet>,
}

/// A chip that came back from the bureau.
#[derive(Clone, Debug)]
pub struct CameBack {
    /// The chip's position in the order.
    pub position: u32,
    /// The chip's inlay, with the keys of the position.
    pub inlay: NewInlay,
}

/// The result for a chip that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The chip is now the inlay of its tag.
    Bound,
    /// The chip was already the inlay of its tag.
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

    /// The order with this id.
    async fn factory_order(&self, id: FactoryOrderId) -> Result<Option<Order>, StorageError>;

    /// At most `limit` orders, the newest first, after the order `after`.
    async fn factory_orders(
        &self,
        after: Option<FactoryOrderId>,
        limit: usize,
    ) -> Result<Vec<Order>, StorageError>;

    /// How many orders there are.
    async fn count_factory_orders(&self) -> Result<u64, StorageError>;

    /// The order's positions, in their order.
    async fn factory_order_positions(
        &self,
        id: FactoryOrderId,
    ) -> Result<Option<Vec<OrderPosition>>, StorageError>;

    /// The wrapped keys of the order's positions, in their order.
    async fn factory_order_keys(&self, id: FactoryOrderId)
    -> Result<Vec<WrappedSet>, StorageError>;

    /// Notes that the order's keys are exported.
    async fn note_order_exported(&self, id: FactoryOrderId) -> Result<(), StorageError>;

    /// Deletes an order and its keys, if none of its chips came back.
    ///
    /// # Errors
    ///
    /// [`InUse::ByReceivedChips`](super::InUse::ByReceivedChips).
    async fn delete_factory_order(&self, id: FactoryOrderId) -> Result<Option<()>, StorageError>;

    /// Accepts chips that came back: each becomes the inlay of its position's tag, and the
    /// position's keys become the keys that the chip is known to have. With `dry_run`, nothing is
    /// stored. Returns the result of each chip, in their order.
    async fn receive_chips(
        &self,
        id: FactoryOrderId,
        chips: Vec<CameBack>,
        dry_run: bool,
    ) -> Result<Vec<Result<Taken, Conflict>>, StorageError>;

    /// The order, and the tag at the position for which this chip came back.
    async fn order_of_chip(
        &self,
        id: FactoryOrderId,
        uid: Uid,
    ) -> Result<Option<(Order, Option<TagId>)>, StorageError>;
}
