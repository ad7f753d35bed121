//! `/admin/v1/experiences/{id}/images`.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;

use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams};
use crate::admin::extract::path::{Id, ImagePath};
use crate::admin::pictures;
use crate::error::{ApiError, BadBody, Common, Conflicting, Invalid, NotFound, Written};
use crate::picture;
use crate::schema::Binary;
use domain::experience::Image;
use domain::id::{ExperienceId, ImageId};

/// List the images of an experience
///
/// The oldest first.
#[utoipa::path(
    get, path = "/experiences/{id}/images", tag = "experiences",
    params(("id" = ExperienceId, Path), PageParams),
    responses((status = OK, body = Page<Image>), NotFound, Invalid, Common)
)]
pub(crate) async fn images(
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
    list: List<ImageId>,
) -> Result<Json<Page<Image>>, ApiError> {
    let images = service
        .storage
        .images(id, list.after, list.and_one_more())
        .await?
        .ok_or(ApiError::NotFound("experience"))?;
    Ok(Json(list.page(images, |image| image.id)))
}

/// Add an image to an experience
///
/// The body is the image itself: PNG, JPEG, WebP or GIF, at most 16 MiB and 40 million pixels. Its
/// first bytes decide the format, not its `Content-Type`. Tapdesk stores it as PNG or JPEG,
/// upright, at most 1600 pixels on a side, and without metadata (EXIF often contains the place of a
/// picture). An animation is reduced to its first frame.
#[utoipa::path(
    post, path = "/experiences/{id}/images", tag = "experiences",
    params(("id" = ExperienceId, Path)),
    request_body(content = inline(Binary), content_type = "application/octet-stream"),
    responses((status = CREATED, body = Image), NotFound, BadBody, Written, Common)
)]
pub(crate) async fn add_image(
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
    request: Request,
) -> Result<(StatusCode, Json<Image>), ApiError> {
    let (media_type, bytes) = pictures::uploaded(request).await?;
    let image = service
        .storage
        .insert_image(id, media_type, bytes)
        .await?
        .ok_or(ApiError::NotFound("experience"))?;
    Ok((StatusCode::CREATED, Json(image)))
}

/// Get an image
///
/// Returns the bytes of the stored image.
#[utoipa::path(
    get, path = "/experiences/{id}/images/{image_id}", tag = "experiences",
    params(("id" = ExperienceId, Path), ("image_id" = ImageId, Path)),
    responses(
        (status = OK, content(
            (inline(Binary) = "image/png"), (inline(Binary) = "image/jpeg"), (inline(Binary) = "image/webp"), (inline(Binary) = "image/gif")
        )),
        NotFound, Common
    )
)]
pub(crate) async fn image(
    Asked(service): Asked,
    ImagePath(id, image): ImagePath,
) -> Result<Response, ApiError> {
    let image = service.storage.image(id, image).await?;
    let (media_type, bytes) = image.ok_or(ApiError::NotFound("image"))?;
    Ok(picture::answer(media_type, bytes))
}

/// Delete an image
///
/// Fails while the draft or the published version shows the image.
#[utoipa::path(
    delete, path = "/experiences/{id}/images/{image_id}", tag = "experiences",
    params(("id" = ExperienceId, Path), ("image_id" = ImageId, Path)),
    responses((status = NO_CONTENT, description = "Deleted"), NotFound, Conflicting, Written, Common)
)]
pub(crate) async fn delete_image(
    Asked(service): Asked,
    ImagePath(id, image): ImagePath,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_image(id, image).await?;
    deleted
        .map(|()| StatusCode::NO_CONTENT)
        .ok_or(ApiError::NotFound("image"))
}
