//! `GET /admin/v1/notifications`.

use axum::Json;

use super::{NotificationView, view};
use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams};
use crate::error::{ApiError, Common, Invalid};
use domain::id::NotificationId;

/// List notifications
///
/// The oldest first.
#[utoipa::path(
    get, path = "/notifications", tag = "notifications", params(PageParams),
    responses((status = OK, body = Page<NotificationView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<NotificationId>,
) -> Result<Json<Page<NotificationView>>, ApiError> {
    let found = service
        .storage
        .notifications(list.after, list.and_one_more())
        .await?;
    let views = found.iter().map(|found| view(&service, found));
    let views = views.collect::<Result<Vec<_>, _>>()?;
    Ok(Json(list.page(views, |view| view.id)))
}
