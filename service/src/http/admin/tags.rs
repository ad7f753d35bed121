//! `/admin/v1/tags`.

mod bulk;
mod create;
mod csv;
mod delete;
mod export;
mod filter;
mod former_slugs;
mod get;
mod import;
mod list;
mod preset;
mod properties;
mod update;
mod warning;

pub(super) use bulk::*;
pub(super) use create::*;
pub(super) use csv::separator;
pub(super) use delete::*;
pub(super) use export::*;
pub(super) use former_slugs::*;
pub(super) use get::*;
pub(super) use import::*;
pub(super) use list::*;
pub(super) use preset::*;
pub(super) use properties::{attributes, data, variables};
pub(super) use update::*;

use super::edited::Edited;
use crate::id::TagId;
use crate::service::Service;
use crate::storage::StorageError;
use crate::tag::Tag;

/// A tag as it is now.
async fn current(service: &Service, id: TagId) -> Result<Option<Edited<Tag>>, StorageError> {
    Ok(service.storage.tag(id).await?.map(Edited::from))
}
