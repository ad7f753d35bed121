//! `POST /admin/v1/test-taps`: taps by this application.

use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::extract::body::Body;
use crate::admin::Asked;
use crate::error::{ApiError, BadBody, Common};
use domain::field_error::FieldError;
use domain::interaction::TapOrigin;

/// Maximum length of a path with its query, in bytes: the same as for the URL of a tap.
const PATH_MAX: usize = 4096;

/// A tap that this application will make next.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestTap {
    /// Path and query of the tap's URL, as they will be sent.
    #[schema(min_length = 1, max_length = 4096, pattern = "^/")]
    path: String,
    /// The reader that makes the tap.
    origin: TestTapOrigin,
}

/// A reader of this application.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TestTapOrigin {
    /// The reader of the desktop.
    Reader,
    /// The reader of a kiosk.
    Kiosk,
}

/// Announce a test tap
///
/// Marks the next tap of this URL within 30 seconds as a test tap of this application. Its
/// interaction gets this `origin`, and counts list it separately from visitors' taps. The tap may
/// reach any node of the database.
#[utoipa::path(
    post, path = "/test-taps", tag = "interactions", request_body = TestTap,
    responses((status = NO_CONTENT, description = "The tap is expected"), BadBody, Common)
)]
pub(crate) async fn announce(
    Asked(service): Asked,
    Body(TestTap { path, origin }): Body<TestTap>,
) -> Result<StatusCode, ApiError> {
    if !path.starts_with('/') || path.len() > PATH_MAX {
        let why = format!("path begins with / and has at most {PATH_MAX} bytes.");
        return Err(ApiError::Invalid(FieldError::of("path", why)));
    }
    let origin = match origin {
        TestTapOrigin::Reader => TapOrigin::Reader,
        TestTapOrigin::Kiosk => TapOrigin::Kiosk,
    };
    service.storage.expect_test_tap(path, origin).await?;
    Ok(StatusCode::NO_CONTENT)
}
