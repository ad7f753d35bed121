//! `POST /admin/v1/sheets/{id}/sign-off`.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use domain::id::SheetId;
use domain::sheet::{Sheet, signer};

/// The confirmation of a sheet's rows.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSignOff {
    /// The name of the person who confirms the rows.
    #[schema(min_length = 1, max_length = 200)]
    signer: String,
    /// Number of rows that this person saw, at least one. If the sheet has another number, nothing is
    /// changed (409).
    row_count: u64,
}

/// Sign off a test sheet
///
/// A person confirms the rows. It closes the sheet for good: afterwards neither the sheet nor its
/// rows change. A second one fails with 409.
#[utoipa::path(
    post, path = "/sheets/{id}/sign-off", tag = "sheets", params(("id" = SheetId, Path)),
    request_body = NewSignOff,
    responses((status = OK, body = Sheet), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn sign_off(
    Asked(service): Asked,
    Id(id): Id<SheetId>,
    Body(wanted): Body<NewSignOff>,
) -> Result<Edited<Sheet>, ApiError> {
    let signer = signer(&wanted.signer).map_err(ApiError::Invalid)?;
    let storage = &service.storage;
    let sheet = storage.sign_off_sheet(id, signer, wanted.row_count).await?;
    sheet.map(Edited::from).ok_or(ApiError::NotFound("sheet"))
}
