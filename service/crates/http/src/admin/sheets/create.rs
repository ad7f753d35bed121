//! `POST /admin/v1/sheets`.

use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Written};
use domain::sheet::{Expected, Sheet, SheetFields};

/// A test sheet to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSheet {
    /// Name of the sheet.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The expected result for every inlay. It cannot change while rows are judged by it.
    #[serde(default, deserialize_with = "domain::strict_json::one")]
    expected: Expected,
    /// Number of planned inlays, if known.
    #[schema(minimum = 1, maximum = 10_000)]
    planned: Option<u32>,
}

/// Create a test sheet
#[utoipa::path(
    post, path = "/sheets", tag = "sheets", request_body = NewSheet,
    responses((status = CREATED, body = Sheet), BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(sheet): Body<NewSheet>,
) -> Result<(StatusCode, Edited<Sheet>), ApiError> {
    let fields = SheetFields::new(sheet.name, sheet.planned);
    fields.validate().map_err(ApiError::Invalid)?;
    let expected = sheet.expected.validated().map_err(ApiError::Invalid)?;
    let sheet = service.storage.insert_sheet(fields, expected).await?;
    Ok((StatusCode::CREATED, sheet.into()))
}
