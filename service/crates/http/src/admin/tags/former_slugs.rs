//! `/admin/v1/tags/{id}/former-slugs/{slug}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::path::TagSlug;
use crate::error::{ApiError, Common, NotFound, Written};
use domain::id::TagId;
use domain::tag::Slug;

/// Release a former slug of a tag
///
/// Inlays and prints with this slug no longer lead anywhere, and any tag can use it.
#[utoipa::path(
    delete, path = "/tags/{id}/former-slugs/{slug}", tag = "tags",
    params(("id" = TagId, Path), ("slug" = Slug, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn release_slug(
    Asked(service): Asked,
    TagSlug(tag, slug): TagSlug,
) -> Result<StatusCode, ApiError> {
    let released = service.storage.release_slug(tag, slug).await?;
    released.ok_or(ApiError::NotFound("former slug of this tag"))?;
    Ok(StatusCode::NO_CONTENT)
}
