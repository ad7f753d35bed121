//! `GET /admin/v1/sheets/{id}/rows/{position}/photo`.

use axum::response::Response;

use crate::admin::Asked;
use crate::admin::extract::path::RowPath;
use crate::error::{ApiError, Common, NotFound};
use crate::picture;
use crate::schema::Binary;
use domain::id::SheetId;

/// Get the photo of a row of a test sheet
///
/// The bytes as Tapdesk stores them: PNG or JPEG, upright, at most 1600 pixels on a side, without
/// metadata such as the place. The `ETag` is their digest.
#[utoipa::path(
    get, path = "/sheets/{id}/rows/{position}/photo", tag = "sheets",
    params(("id" = SheetId, Path), ("position" = u32, Path, description = "The row")),
    responses(
        (
            status = OK,
            content((inline(Binary) = "image/png"), (inline(Binary) = "image/jpeg")),
            headers(("ETag" = String, description = "The digest of the bytes, in quotes"))
        ),
        NotFound, Common
    )
)]
pub(crate) async fn row_photo(
    Asked(service): Asked,
    RowPath(id, position): RowPath,
) -> Result<Response, ApiError> {
    let found = service.storage.sheet_photo(id, position).await?;
    let (photo, bytes) = found.ok_or(ApiError::NotFound("photo"))?;
    picture::with_digest(photo.media_type, &photo.digest, bytes)
}
