//! `GET /admin/v1/url-templates/{id}`.

use std::sync::Arc;

use axum::extract::State;

use super::view::UrlTemplateView;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use app::service::Service;
use domain::id::UrlTemplateId;

/// Get a URL template
#[utoipa::path(
    get, path = "/url-templates/{id}", tag = "url templates", params(("id" = UrlTemplateId, Path)),
    responses((status = OK, body = UrlTemplateView), NotFound, Common)
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Id(id): Id<UrlTemplateId>,
) -> Result<Edited<UrlTemplateView>, ApiError> {
    let template = super::current(&service, id).await?;
    template.ok_or(ApiError::NotFound("URL template"))
}
