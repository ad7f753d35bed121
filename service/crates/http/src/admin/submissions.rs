//! `/admin/v1/submissions`: forms that visitors sent.

mod erase;
mod export;
mod get;
mod list;
mod save;

pub(super) use erase::*;
pub(super) use export::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use save::*;
