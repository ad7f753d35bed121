//! `PATCH /admin/v1/sheets/{id}`.

use crate::admin::Asked;
use crate::admin::extract::body::{Partial, Patch};
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written};
use domain::id::SheetId;
use domain::sheet::{Sheet, SheetFields};

/// A merge patch of the members of a sheet.
type SheetPatch = Partial<SheetFields>;

/// Change a test sheet
///
/// A merge patch (RFC 7396). `"closed": true` closes the sheet, `false` opens it again. A sheet
/// that is signed off does not change any more.
#[utoipa::path(
    patch, path = "/sheets/{id}", tag = "sheets", params(("id" = SheetId, Path)),
    request_body(content = SheetPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = Sheet), NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    Asked(service): Asked,
    Id(id): Id<SheetId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<Sheet>, ApiError> {
    let edit = move |before: SheetFields| {
        expected.check(Some(&before))?;
        let after: SheetFields = patch.apply(&before)?;
        after.validate()?;
        Ok(after)
    };
    let edited = service.storage.edit_sheet(id, Box::new(edit)).await;
    let sheet = unless_changed(edited, async {
        Ok(service.storage.sheet(id).await?.map(Edited::from))
    });
    sheet
        .await?
        .map(Edited::from)
        .ok_or(ApiError::NotFound("sheet"))
}
