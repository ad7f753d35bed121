//! `/admin/v1/groups/{id}/image`.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::admin::pictures;
use crate::error::{ApiError, BadBody, Common, NotFound, Written};
use crate::picture;
use crate::schema::Binary;
use domain::group::Group;
use domain::id::GroupId;

/// Get the image of a group
///
/// The bytes of its own image, or of that of the nearest group above that has one: the member
/// `image` of the group says which. The `ETag` is its digest.
#[utoipa::path(
    get, path = "/groups/{id}/image", tag = "groups", params(("id" = GroupId, Path)),
    responses(
        (
            status = OK,
            content((inline(Binary) = "image/png"), (inline(Binary) = "image/jpeg")),
            headers(("ETag" = String, description = "The digest of the bytes, in quotes"))
        ),
        NotFound, Common
    )
)]
pub(crate) async fn image(
    Asked(service): Asked,
    Id(id): Id<GroupId>,
) -> Result<Response, ApiError> {
    let found = service.storage.group_image(id).await?;
    let (image, bytes) = found.ok_or(ApiError::NotFound("image"))?;
    picture::with_digest(image.media_type, &image.digest, bytes)
}

/// Set the image of a product
///
/// The body is the image itself: PNG, JPEG, WebP or GIF, at most 16 MiB and 40 million pixels. Its
/// first bytes decide the format, not its `Content-Type`. Tapdesk stores it as PNG or JPEG,
/// upright, at most 1600 pixels on a side, and without metadata, in place of the image that the
/// product has. There is no precondition: the last image counts. The groups below the product have
/// it, too. Other groups have none of their own.
#[utoipa::path(
    put, path = "/groups/{id}/image", tag = "groups", params(("id" = GroupId, Path)),
    request_body(content = inline(Binary), content_type = "application/octet-stream"),
    responses((status = OK, body = Group), NotFound, BadBody, Written, Common)
)]
pub(crate) async fn set_image(
    Asked(service): Asked,
    Id(id): Id<GroupId>,
    request: Request,
) -> Result<Json<Group>, ApiError> {
    let (media_type, bytes) = pictures::uploaded(request).await?;
    let group = service
        .storage
        .set_group_image(id, media_type, bytes)
        .await?;
    group.map(Json).ok_or(ApiError::NotFound("group"))
}

/// Delete the image of a product
///
/// The product then has the image of the nearest group above, if there is one.
#[utoipa::path(
    delete, path = "/groups/{id}/image", tag = "groups", params(("id" = GroupId, Path)),
    responses((status = NO_CONTENT, description = "Deleted"), NotFound, Written, Common)
)]
pub(crate) async fn delete_image(
    Asked(service): Asked,
    Id(id): Id<GroupId>,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_group_image(id).await?;
    deleted
        .map(|()| StatusCode::NO_CONTENT)
        .ok_or(ApiError::NotFound("image"))
}
