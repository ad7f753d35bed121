//! `GET /admin/v1/url-templates/{id}`.

use super::view::UrlTemplateView;
use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::UrlTemplateId;

/// Get a URL template
#[utoipa::path(
    get, path = "/url-templates/{id}", tag = "url templates", params(("id" = UrlTemplateId, Path)),
    responses((status = OK, body = UrlTemplateView), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<UrlTemplateId>,
) -> Result<Edited<UrlTemplateView>, ApiError> {
    let template = super::current(&service, id).await?;
    template.ok_or(ApiError::NotFound("URL template"))
}
