//! `GET /media/{name}`: an image of a page.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderValue, header};
use axum::response::Response;

use crate::error::{nothing_here, refused_tap};
use crate::picture;
use crate::public::AsService;
use crate::schema::Binary;
use app::service::Service;
use app::tap::TapError;
use domain::image_type::ImageType;
use storage::StorageError;

/// Get an image of a page
///
/// Only the page contains this URL, and that of an experience's image cannot be guessed. An image
/// never changes.
#[utoipa::path(
    get, path = "/media/{name}", tag = "public",
    params(("name" = String, Path, description = "The name in the page")),
    responses(
        (status = OK, content((inline(Binary) = "image/png"), (inline(Binary) = "image/jpeg"), (inline(Binary) = "image/webp"), (inline(Binary) = "image/gif"))),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "There is no such image"),
        (status = SERVICE_UNAVAILABLE, body = String, content_type = "text/html", description = "The database is not available")
    )
)]
pub(crate) async fn media(
    AsService(service): AsService,
    name: Result<Path<String>, PathRejection>,
) -> Response {
    // A name that cannot be decoded is not the name of an image.
    let name = name.map_or_else(|_| String::new(), |Path(name)| name);
    let found = match service.media.read(&name) {
        Some((experience, image)) => service.storage.image(experience, image).await,
        None if name.starts_with("logo-") => logo(&service, &name).await,
        None => Ok(None),
    };
    match found {
        Ok(Some((media_type, bytes))) => {
            let mut response = picture::answer(media_type, bytes);
            let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
            response
                .headers_mut()
                .insert(header::CACHE_CONTROL, forever);
            response
        }
        Ok(None) => nothing_here(),
        Err(error) => refused_tap(TapError::from(error)),
    }
}

/// The logo of plain pages, if this is the name of the present one.
async fn logo(service: &Service, name: &str) -> Result<Option<(ImageType, Vec<u8>)>, StorageError> {
    let found = service.storage.page_logo_bytes().await?;
    let named = found.filter(|(logo, _)| logo.file_name() == name);
    Ok(named.map(|(logo, bytes)| (logo.media_type, bytes)))
}
