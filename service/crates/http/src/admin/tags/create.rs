//! `POST /admin/v1/tags`.

use axum::http::{HeaderMap, StatusCode};

use super::assigning::{NewTag, SavedTag};
use super::warning;
use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use domain::tag::Slug;
use storage::Invalid;

/// Create a tag
///
/// Only the name is required. The answer is the tag as its GET operation returns it. A token that
/// is limited to experiences cannot choose the slug. The tag gets the variables that the forms and
/// buttons of its experience's page write, with empty values, unless `add_variables` is `false`.
#[utoipa::path(
    post, path = "/tags", tag = "tags",
    request_body = NewTag,
    responses(
        (status = CREATED, body = SavedTag, headers(("Tapdesk-Warning" = String, description = "Warnings about the saved tag, in words"))),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn create(
    Asked(service): Asked,
    requester: Requester,
    Body(new): Body<NewTag>,
) -> Result<(StatusCode, HeaderMap, Edited<SavedTag>), ApiError> {
    let mut tag = new.tag;
    let limited = requester.rights().reach().limit().is_some();
    if limited && tag.slug != Slug::default() {
        return Err(ApiError::invalid(Invalid::ChosenSlug));
    }
    tag.slug = tag.slug.or_generate(&*service.entropy);
    tag.validate().map_err(ApiError::invalid)?;
    let inserted = service.storage.insert_tag(tag, new.add_variables.0);
    let (tag, added) = inserted.await?;
    let mut sentences = warning::slug(&tag);
    sentences.extend(warning::experience(&service, &tag).await?);
    let warning = warning::headers(sentences);
    let tag = SavedTag::edited(tag, added, &service.settings());
    Ok((StatusCode::CREATED, warning, tag))
}
