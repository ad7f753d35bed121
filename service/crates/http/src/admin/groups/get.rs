//! `GET /admin/v1/groups/{id}`.

use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::group::Group;
use domain::id::GroupId;

/// Get a group
#[utoipa::path(
    get, path = "/groups/{id}", tag = "groups", params(("id" = GroupId, Path)),
    responses((status = OK, body = Group), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<GroupId>,
) -> Result<Edited<Group>, ApiError> {
    let group = super::current(&service, id).await?;
    group.ok_or(ApiError::NotFound("group"))
}
