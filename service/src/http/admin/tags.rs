//! `/admin/v1/tags`.

mod create;
mod get;
mod update;

pub(super) use create::*;
pub(super) use get::*;
pub(super) use update::*;
