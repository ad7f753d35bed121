//! `/admin/v1/factory-orders`: chips that a bureau encodes, and the check of their delivery.

mod create;
mod delete;
mod export;
mod get;
mod import;
mod instructions;
mod keys;
mod list;

pub(super) use create::*;
pub(super) use delete::*;
pub(super) use export::*;
pub(super) use get::*;
pub(super) use import::*;
pub(super) use instructions::*;
pub(super) use keys::*;
pub(super) use list::*;
