//! `/admin/v1/tags`: the tags of the owner.

mod assigning;
mod attribute_filter;
mod bulk;
mod create;
mod delete;
mod encoding_sheet;
mod export;
mod filter;
mod former_slugs;
mod get;
mod import;
mod import_presets;
mod import_table;
mod keys;
mod list;
mod properties;
mod sort;
mod update;
mod values;
mod view;
mod warning;

pub(super) use bulk::*;
pub(super) use create::*;
pub(super) use delete::*;
pub(super) use encoding_sheet::*;
pub(super) use export::*;
pub(super) use filter::Filter;
pub(super) use former_slugs::*;
pub(super) use get::*;
pub(super) use import::*;
pub(super) use import_presets::*;
pub(super) use import_table::*;
pub(super) use keys::*;
pub(super) use list::*;
pub(super) use properties::{attributes, data, variables};
pub(super) use update::*;
pub(super) use values::*;
pub(crate) use view::TagView;

use super::extract::edited::Edited;
use app::service::Service;
use domain::id::TagId;
use storage::StorageError;

/// The current state of a tag.
async fn current(service: &Service, id: TagId) -> Result<Option<Edited<TagView>>, StorageError> {
    let tag = service.storage.tag(id).await?;
    Ok(tag.map(|tag| TagView::edited(tag, &service.settings())))
}
