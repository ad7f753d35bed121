//! Uploaded pictures, and pictures as answers: the same for experiences and groups.

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

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

/// An answer with a picture. Browsers take it for nothing else, and run nothing in it.
pub(super) fn shown(media_type: ImageType, bytes: Vec<u8>) -> Response {
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, media_type.as_str()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; sandbox",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
