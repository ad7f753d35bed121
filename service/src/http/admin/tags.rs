//! `/admin/v1/tags`.

mod create;
mod delete;
mod filter;
mod get;
mod list;
mod properties;
mod update;
mod warning;

pub(super) use create::*;
pub(super) use delete::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use properties::{attributes, data, variables};
pub(super) use update::*;
