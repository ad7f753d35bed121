//! `/admin/v1/interactions`.

mod erase;
mod get;
mod list;
mod view;

pub(super) use erase::*;
pub(super) use get::*;
pub(super) use list::*;
