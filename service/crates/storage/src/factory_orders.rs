//! Factory orders: the tags, the keys that an encoding bureau writes, and the returned chips.

use domain::id::TagId;
use domain::inventory::NewInlay;
use domain::text::Name;
use encoding::order::OrderPlan;
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
