//! `/admin/v1/submissions`.

mod erase;
mod export;
mod get;
mod list;

pub(super) use erase::*;
pub(super) use export::*;
pub(super) use get::*;
pub(super) use list::*;
