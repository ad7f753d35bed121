//! `/admin/v1/groups`: products, batches and folders of tags.

mod create;
mod delete;
mod effective;
mod get;
mod image;
mod list;
mod update;

pub(super) use create::*;
pub(super) use delete::*;
pub(super) use effective::*;
pub(super) use get::*;
pub(super) use image::*;
pub(super) use list::*;
pub(super) use update::*;

use super::extract::edited::Edited;
use app::service::Service;
use domain::group::Group;
use domain::id::GroupId;
use storage::StorageError;

/// The current state of a group.
async fn current(service: &Service, id: GroupId) -> Result<Option<Edited<Group>>, StorageError> {
    Ok(service.storage.group(id).await?.map(Edited::from))
}
