//! `PATCH /admin/v1/tags/{id}`.

use axum::http::HeaderMap;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::assigning::{SavedTag, with_add_variables};
use super::warning;
use crate::admin::Asked;
use crate::admin::extract::body::{Partial, Patch};
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written};
use domain::field_error::FieldError;
use domain::id::TagId;
use domain::tag::{ADD_VARIABLES, AddVariables, Slug, TagFields};

/// A merge patch of a tag. The slug cannot be reset, because a tag always has one.
struct TagPatch;

impl PartialSchema for TagPatch {
    fn schema() -> RefOr<Schema> {
        let mut patch = with_add_variables(Partial::<TagFields>::schema());
        if let RefOr::T(Schema::Object(patch)) = &mut patch {
            let slug = RefOr::Ref(Ref::from_schema_name(Slug::name()));
            patch.properties.insert("slug".to_owned(), slug);
        }
        patch
    }
}

impl ToSchema for TagPatch {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        TagFields::schemas(schemas);
        schemas.push((AddVariables::name().into(), AddVariables::schema()));
    }
}

/// Change a tag
///
/// A merge patch (RFC 7396): members that are not sent stay unchanged, and `null` empties a member
/// that can be empty. The tag keeps a replaced slug in `former_slugs`, and the old URL leads to the
/// tag until the slug is released. If the tag moves to another experience, it gets the variables
/// that the forms and buttons of the new page write, with empty values, unless `add_variables` is
/// `false`.
#[utoipa::path(
    patch, path = "/tags/{id}", tag = "tags", params(("id" = TagId, Path)),
    request_body(content = TagPatch, content_type = "application/merge-patch+json"),
    responses(
        (status = OK, body = SavedTag, headers(("Tapdesk-Warning" = String, description = "Warnings about the saved tag, in words"))),
        NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common
    )
)]
pub(crate) async fn update(
    Asked(service): Asked,
    Id(id): Id<TagId>,
    IfMatch(expected): IfMatch,
    mut patch: Patch,
) -> Result<(HeaderMap, Edited<SavedTag>), ApiError> {
    let add_variables = patch.take::<AddVariables>(ADD_VARIABLES)?;
    let sets_slug = patch.names().any(|member| member == "slug");
    let assigns = patch
        .names()
        .any(|member| matches!(member, "experience_id" | "group_id"));
    let edit = move |before: TagFields| {
        expected.check(Some(&before))?;
        let after: TagFields = patch.apply(&before)?;
        after.validate().map_err(FieldError::from)?;
        Ok(after)
    };
    let edited = service
        .storage
        .edit_tag_with(id, Box::new(edit), add_variables.0)
        .await;
    let edited = unless_changed(edited, super::current(&service, id)).await?;
    let (tag, added) = edited.ok_or(ApiError::NotFound("tag"))?;
    let mut sentences = Vec::new();
    if sets_slug {
        sentences = warning::slug(&tag);
    }
    if assigns {
        sentences.extend(warning::experience(&service, &tag).await?);
    }
    let tag = SavedTag::edited(tag, added, &service.settings());
    Ok((warning::headers(sentences), tag))
}
