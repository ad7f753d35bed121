//! `/admin/v1/settings/logo`: the logo of plain pages.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;

use crate::admin::Asked;
use crate::admin::pictures;
use crate::error::{ApiError, BadBody, Common, NotFound, Written};
use crate::picture;
use crate::schema::Binary;
use domain::settings::PageLogo;

/// Get the logo of plain pages
///
/// The `ETag` is its digest.
#[utoipa::path(
    get, path = "/settings/logo", tag = "settings",
    responses(
        (
            status = OK,
            content((inline(Binary) = "image/png"), (inline(Binary) = "image/jpeg")),
            headers(("ETag" = String, description = "The digest of the bytes, in quotes"))
        ),
        NotFound, Common
    )
)]
pub(crate) async fn logo(Asked(service): Asked) -> Result<Response, ApiError> {
    let found = service.storage.page_logo_bytes().await?;
    let (logo, bytes) = found.ok_or(ApiError::NotFound("logo"))?;
    picture::with_digest(logo.media_type, &logo.digest, bytes)
}

/// Set the logo of plain pages
///
/// The body is the image itself: PNG, JPEG, WebP or GIF, at most 16 MiB and 40 million pixels. Its
/// first bytes decide the format, not its `Content-Type`. Tapdesk stores it as PNG or JPEG,
/// upright, at most 1600 pixels on a side, and without metadata, in place of the logo that there
/// is. There is no precondition: the last logo counts. Everybody can get it.
#[utoipa::path(
    put, path = "/settings/logo", tag = "settings",
    request_body(content = inline(Binary), content_type = "application/octet-stream"),
    responses((status = OK, body = PageLogo), BadBody, Written, Common)
)]
pub(crate) async fn set_logo(
    Asked(service): Asked,
    request: Request,
) -> Result<Json<PageLogo>, ApiError> {
    let (media_type, bytes) = pictures::uploaded(request).await?;
    Ok(Json(service.set_page_logo(media_type, bytes).await?))
}

/// Delete the logo of plain pages
///
/// The pages then have the service's own mark.
#[utoipa::path(
    delete, path = "/settings/logo", tag = "settings",
    responses((status = NO_CONTENT, description = "Deleted"), NotFound, Written, Common)
)]
pub(crate) async fn delete_logo(Asked(service): Asked) -> Result<StatusCode, ApiError> {
    let deleted = service.delete_page_logo().await?;
    deleted
        .map(|()| StatusCode::NO_CONTENT)
        .ok_or(ApiError::NotFound("logo"))
}
