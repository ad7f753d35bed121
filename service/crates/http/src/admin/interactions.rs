//! `/admin/v1/interactions`: the records of taps.

mod erase;
mod export;
mod get;
mod list;
mod visitor;

pub(super) use erase::*;
pub(super) use export::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use visitor::*;
