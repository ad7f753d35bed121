//! `GET /staff/scan.js`: the script of staff pages.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use app::staff::SCAN_SCRIPT;

/// Get the script of staff pages
///
/// It scans one tag after the other in browsers with Web NFC. It contains no data: a staff page names
/// its integrity.
#[utoipa::path(
    get, path = "/staff/scan.js", tag = "public",
    responses((status = OK, body = String, content_type = "text/javascript"))
)]
pub(crate) async fn script() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // A page of another version has another integrity, so the script is asked for again.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, SCAN_SCRIPT).into_response()
}
