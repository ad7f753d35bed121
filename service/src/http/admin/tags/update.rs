//! `PATCH /admin/v1/tags/{id}`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::warning;
use crate::field_error::FieldError;
use crate::http::admin::body::{Partial, Patch};
use crate::http::admin::edited::{Edited, IfMatch, unless_changed};
use crate::http::admin::path::Id;
use crate::http::error::{
    ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written,
};
use crate::id::TagId;
use crate::service::Service;
use crate::tag::{Slug, Tag, TagFields};

/// The members that change. A tag always has a slug: it cannot be reset.
struct TagPatch;

impl PartialSchema for TagPatch {
    fn schema() -> RefOr<Schema> {
        let mut patch = Partial::<TagFields>::schema();
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
    }
}

/// Change a tag
///
/// A merge patch (RFC 7396): members that are not sent stay as they are; `null` empties a member,
/// if it can be empty. A replaced slug stays the tag's own, listed in `former_slugs`, and still
/// leads to the tag until it is released.
#[utoipa::path(
    patch, path = "/tags/{id}", tag = "tags", params(("id" = TagId, Path)),
    request_body(content = TagPatch, content_type = "application/merge-patch+json"),
    responses(
        (status = OK, body = Tag, headers(("Tapdesk-Warning" = String, description = "Warnings about the saved tag, in words"))),
        NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common
    )
)]
pub(crate) async fn update(
    State(service): State<Arc<Service>>,
    Id(id): Id<TagId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<(HeaderMap, Edited<Tag>), ApiError> {
    let sets_slug = patch.names().any(|member| member == "slug");
    let assigns = patch.names().any(|member| member == "experience_id");
    let edit = move |before: TagFields| {
        expected.check(Some(&before))?;
        let after: TagFields = patch.apply(&before)?;
        after.validate().map_err(FieldError::from)?;
        Ok(after)
    };
    let edited = service.storage.edit_tag(id, Box::new(edit)).await;
    let tag = unless_changed(edited, super::current(&service, id)).await?;
    let tag = tag.ok_or(ApiError::NotFound("tag"))?;
    let mut sentences = Vec::new();
    if sets_slug {
        sentences = warning::slug(&tag);
    }
    if assigns {
        sentences.extend(warning::experience(&service, &tag).await?);
    }
    Ok((warning::headers(sentences), tag.into()))
}
