//! `PATCH /admin/v1/sheets/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use crate::http::admin::body::{Partial, Patch};
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, Common, NotFound, Written};
use crate::id::SheetId;
use crate::service::Service;
use crate::sheet::{Sheet, SheetFields};

/// The members that change.
type SheetPatch = Partial<SheetFields>;

/// Change a test sheet
///
/// A merge patch (RFC 7396). `"closed": true` closes it, `false` opens it again.
#[utoipa::path(
    patch, path = "/sheets/{id}", tag = "sheets", params(("id" = SheetId, Path)),
    request_body(content = SheetPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = Sheet), NotFound, BadBody, Written, Common)
)]
pub(crate) async fn update(
    State(service): State<Arc<Service>>,
    Id(id): Id<SheetId>,
    patch: Patch,
) -> Result<Json<Sheet>, ApiError> {
    let edit = move |before: SheetFields| {
        let after: SheetFields = patch.apply(&before)?;
        after.validate()?;
        Ok(after)
    };
    let sheet = service.storage.edit_sheet(id, Box::new(edit)).await?;
    sheet.map(Json).ok_or(ApiError::NotFound("sheet"))
}
