//! `PATCH /admin/v1/groups/{id}`.

use crate::admin::Asked;
use crate::admin::extract::body::{Partial, Patch};
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written};
use domain::field_error::FieldError;
use domain::group::{Group, GroupFields};
use domain::id::GroupId;

/// A merge patch of the members of a group.
type GroupPatch = Partial<GroupFields>;

/// Change a group
///
/// A merge patch (RFC 7396): members that are not sent stay unchanged, so that two people can
/// recall and rename a group at the same time. The next taps of all tags below get the new values.
/// A new `parent_id` moves the group with everything below it.
#[utoipa::path(
    patch, path = "/groups/{id}", tag = "groups", params(("id" = GroupId, Path)),
    request_body(content = GroupPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = Group), NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    Asked(service): Asked,
    Id(id): Id<GroupId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<Group>, ApiError> {
    let edit = move |before: GroupFields| {
        expected.check(Some(&before))?;
        let after: GroupFields = patch.apply(&before)?;
        after.validate().map_err(FieldError::from)?;
        Ok(after)
    };
    let edited = service.storage.edit_group(id, Box::new(edit)).await;
    let edited = unless_changed(edited, super::current(&service, id)).await?;
    edited.map(Edited::from).ok_or(ApiError::NotFound("group"))
}
