//! Pictures as answers: of pages to visitors, and of pages, groups and the logo to owners.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;
use domain::image_type::ImageType;

/// An answer with a picture. Browsers take it for nothing else, and run nothing in it.
pub(crate) fn answer(media_type: ImageType, bytes: Vec<u8>) -> Response {
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

/// The same for owners, whose programs know by the `ETag` whether they have the picture already.
/// `digest` is that of the bytes, in hexadecimal.
pub(crate) fn with_digest(
    media_type: ImageType,
    digest: &str,
    bytes: Vec<u8>,
) -> Result<Response, ApiError> {
    let etag = HeaderValue::try_from(format!("\"{digest}\"")).map_err(|_| ApiError::Internal)?;
    let mut response = answer(media_type, bytes);
    response.headers_mut().insert(header::ETAG, etag);
    Ok(response)
}
