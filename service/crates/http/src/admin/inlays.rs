//! `/admin/v1/inlays`. Keys are write-only.

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
pub(super) use view::InlayView;

use super::extract::edited::Edited;
use app::service::Service;
use domain::id::InlayId;
use storage::StorageError;

/// The current state of an inlay.
async fn current(
    service: &Service,
    id: InlayId,
) -> Result<Option<Edited<view::InlayView>>, StorageError> {
    let found = service.storage.inlay(id).await?;
    Ok(found.map(|found| Edited::shown_as(found, view::InlayView::from)))
}
