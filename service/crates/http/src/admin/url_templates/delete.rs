//! `DELETE /admin/v1/url-templates/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::edited::{IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, ChangedMeanwhile, Common, Conflicting, Invalid, NotFound, Written};
use domain::id::UrlTemplateId;

/// Delete a URL template
///
/// Fails while the template is in use by inlays, an unfinished encoding, an open run, or a factory
/// order that is not fully delivered.
#[utoipa::path(
    delete, path = "/url-templates/{id}", tag = "url templates", params(("id" = UrlTemplateId, Path)),
    responses((status = NO_CONTENT), NotFound, Conflicting, ChangedMeanwhile, Invalid, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<UrlTemplateId>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_url_template_if(id, expected).await;
    let deleted = unless_changed(deleted, super::current(&service, id)).await?;
    deleted.ok_or(ApiError::NotFound("URL template"))?;
    Ok(StatusCode::NO_CONTENT)
}
