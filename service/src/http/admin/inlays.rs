//! `/admin/v1/inlays`. Keys go in and never come out.

mod create;
mod delete;
mod get;
mod keys;
mod list;
mod update;
mod view;

pub(super) use create::*;
pub(super) use delete::*;
pub(super) use get::*;
pub(super) use keys::{KeyRequest, invalid, open_keys};
pub(super) use list::*;
pub(super) use update::*;
