//! `/admin/v1/master-keys`. The keys go in and never come out.

mod create;
mod delete;
mod get;
mod list;
mod update;
mod view;

pub(super) use create::*;
pub(super) use delete::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use update::*;
