//! `/admin/v1/encoding-runs`: encoding of many chips, one after the other.

mod create;
mod export;
mod get;
mod list;
mod skip;
mod update;

pub(super) use create::*;
pub(super) use export::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use skip::*;
pub(super) use update::*;
