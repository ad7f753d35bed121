//! `POST /admin/v1/tags`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;

use super::warning;
use crate::http::admin::body::Body;
use crate::http::admin::edited::Edited;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::service::Service;
use crate::tag::{Tag, TagFields};

/// A tag to be created.
#[derive(Deserialize, ToSchema)]
#[serde(transparent)]
pub(crate) struct NewTag(TagFields);

/// Create a tag
///
/// Only its name is required. The answer is the tag as get shows it.
#[utoipa::path(
    post, path = "/tags", tag = "tags",
    request_body = TagFields,
    responses(
        (status = CREATED, body = Tag, headers(("Tapdesk-Warning" = String, description = "Warnings about the saved tag, in words"))),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Body(NewTag(mut tag)): Body<NewTag>,
) -> Result<(StatusCode, HeaderMap, Edited<Tag>), ApiError> {
    tag.slug = tag.slug.or_generate(&*service.entropy);
    tag.validate().map_err(ApiError::invalid)?;
    let results = service.storage.insert_tags(vec![tag], false).await?;
    let id = results.into_iter().next().ok_or(ApiError::Internal)??;
    let tag = service
        .storage
        .tag(id)
        .await?
        .ok_or(ApiError::NotFound("tag"))?;
    let mut sentences = warning::slug(&tag);
    sentences.extend(warning::experience(&service, &tag).await?);
    let warning = warning::headers(sentences);
    Ok((StatusCode::CREATED, warning, tag.into()))
}
