//! `/admin/v1/master-keys`. Keys are write-only.

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

use super::extract::edited::Edited;
use app::service::Service;
use domain::id::MasterKeyId;
use storage::StorageError;

/// The current state of a master key.
async fn current(
    service: &Service,
    id: MasterKeyId,
) -> Result<Option<Edited<view::MasterKeyView>>, StorageError> {
    let found = service.storage.master_key(id).await?;
    Ok(found.map(|found| Edited::shown_as(found, view::MasterKeyView::from)))
}
