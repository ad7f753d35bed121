//! Uploaded pictures: the same for experiences, groups and plain pages.

use axum::body::Bytes;
use axum::extract::Request;

use super::extract::body;
use crate::error::ApiError;
use app::studio::pictures;
use domain::experience::picture::PictureError;
use domain::field_error::FieldError;
use domain::image_type::ImageType;

/// Maximum size of an uploaded picture, in bytes.
const PICTURE_MAX: usize = 16 * 1024 * 1024;

/// Reads a picture from a body, and converts it for visitors.
pub(super) async fn uploaded(request: Request) -> Result<(ImageType, Vec<u8>), ApiError> {
    let bytes = body::read(request.into_body(), PICTURE_MAX).await?;
    fit(bytes).await
}

/// Converts a picture for visitors.
pub(super) async fn fit(bytes: Bytes) -> Result<(ImageType, Vec<u8>), ApiError> {
    match pictures::fit(bytes).await {
        Ok(fitted) => Ok(fitted),
        Err(PictureError::UnknownType) => Err(ApiError::UnsupportedMediaType(
            "image/png, image/jpeg, image/webp or image/gif",
        )),
        Err(error) => Err(ApiError::Invalid(FieldError::whole(error.to_string()))),
    }
}
