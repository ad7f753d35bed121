//! `POST /admin/v1/groups`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use domain::group::{Group, GroupFields};

/// Create a group
///
/// Only the kind and the name are required. The tree has at most four levels, and a batch holds no
/// product.
#[utoipa::path(
    post, path = "/groups", tag = "groups", request_body = GroupFields,
    responses((status = CREATED, body = Group), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(group): Body<GroupFields>,
) -> Result<(StatusCode, Edited<Group>), ApiError> {
    group.validate().map_err(ApiError::invalid)?;
    let group = service.storage.insert_group(group).await?;
    Ok((StatusCode::CREATED, group.into()))
}
