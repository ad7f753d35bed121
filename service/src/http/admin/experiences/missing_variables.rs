//! `/admin/v1/experiences/{id}/missing-variables`: what a page's forms write and
//! its tags lack. An update makes no variable, so such a form fails for every
//! visitor, and nobody but its owner can help.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::experience::{Content, Experience, ExperienceKind};
use crate::http::admin::path::Id;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Conflicting, Invalid, NotFound, Written};
use crate::id::{ExperienceId, TagId};
use crate::interaction::VersionRef;
use crate::service::Service;
use crate::storage::ExperienceFilter;
use crate::tag::PropertyKey;

/// Tags changed by one commit: a tap that comes meanwhile waits for one at most.
const AT_ONCE: usize = 200;
/// Tags changed by one call, after which a caller can show how far it is.
const IN_ONE_CALL: u64 = 5_000;
/// Experiences read at once.
const EXPERIENCES: usize = 100;

/// Variables that a page writes and its tags lack.
#[derive(Serialize, ToSchema)]
pub(crate) struct MissingVariables {
    experience_id: ExperienceId,
    /// The experience's name.
    experience_name: String,
    /// The variables that are missing.
    variables: Vec<PropertyKey>,
    /// How many tags in use that lead there lack one or more of them.
    tags: u64,
}

/// All experiences with tags that lack something.
#[derive(Serialize, ToSchema)]
pub(crate) struct AllMissingVariables {
    /// In the order of the experiences.
    items: Vec<MissingVariables>,
}

/// The result of adding missing variables.
#[derive(Serialize, ToSchema)]
pub(crate) struct AddedVariables {
    /// How many tags got variables in this call.
    tags: u64,
    /// Whether other tags still lack some: call again.
    more: bool,
}

/// Which tags.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MissingQuery {
    /// Only what this tag would lack if it led there.
    tag_id: Option<TagId>,
}

/// List experiences whose tags lack variables
///
/// Forms and variable buttons change existing variables only: they fail for a tag that lacks the
/// variable. Lists every experience with such tags in use.
#[utoipa::path(
    get, path = "/experiences/missing-variables", tag = "experiences",
    responses((status = OK, body = AllMissingVariables), Common)
)]
pub(crate) async fn list_missing_variables(
    State(service): State<Arc<Service>>,
) -> Result<Json<AllMissingVariables>, ApiError> {
    let filter = ExperienceFilter {
        kind: Some(ExperienceKind::Studio),
        ..ExperienceFilter::default()
    };
    let mut items = Vec::new();
    let mut after = None;
    loop {
        let experiences = service
            .storage
            .experiences(filter.clone(), after, EXPERIENCES)
            .await?;
        let Some(last) = experiences.last() else {
            return Ok(Json(AllMissingVariables { items }));
        };
        after = Some(last.id);
        for experience in &experiences {
            let missing = of_tags(&service, experience).await?;
            if missing.tags > 0 {
                items.push(missing);
            }
        }
    }
}

/// Get the variables that an experience's tags lack
///
/// The variables that its published page writes (or its draft, if it was never published).
#[utoipa::path(
    get, path = "/experiences/{id}/missing-variables", tag = "experiences",
    params(("id" = ExperienceId, Path), MissingQuery),
    responses((status = OK, body = MissingVariables), NotFound, Invalid, Common)
)]
pub(crate) async fn missing_variables(
    State(service): State<Arc<Service>>,
    Id(id): Id<ExperienceId>,
    Query(MissingQuery { tag_id }): Query<MissingQuery>,
) -> Result<Json<MissingVariables>, ApiError> {
    let experience = found(&service, id).await?;
    let missing = match tag_id {
        None => of_tags(&service, &experience).await?,
        Some(tag) => of_tag(&service, &experience, tag).await?,
    };
    Ok(Json(missing))
}

/// Add the variables that an experience's tags lack
///
/// Tags in use that lead there get each variable that the page writes and they lack, with an empty
/// value. Existing variables stay. A call changes up to 5,000 tags, in short batches: `more` says
/// whether to call again.
#[utoipa::path(
    post, path = "/experiences/{id}/missing-variables", tag = "experiences",
    params(("id" = ExperienceId, Path)),
    responses((status = OK, body = AddedVariables), NotFound, Conflicting, Written, Common)
)]
pub(crate) async fn add_missing_variables(
    State(service): State<Arc<Service>>,
    Id(id): Id<ExperienceId>,
) -> Result<Json<AddedVariables>, ApiError> {
    let experience = found(&service, id).await?;
    let keys = written_variables(&service, &experience).await?;
    let mut tags = 0;
    while tags < IN_ONE_CALL {
        let added = service
            .storage
            .add_missing_variables(id, keys.clone(), AT_ONCE)
            .await?;
        tags += added;
        if added < AT_ONCE as u64 {
            return Ok(Json(AddedVariables { tags, more: false }));
        }
    }
    Ok(Json(AddedVariables { tags, more: true }))
}

async fn found(service: &Service, id: ExperienceId) -> Result<Experience, ApiError> {
    let experience = service.storage.experience(id).await?;
    experience.ok_or(ApiError::NotFound("experience"))
}

/// The variables that visitors write on the page: on the published one, or else on the draft.
pub(in crate::http::admin) async fn written_variables(
    service: &Service,
    experience: &Experience,
) -> Result<Vec<PropertyKey>, ApiError> {
    let published = match experience.published_version {
        None => None,
        Some(version) => {
            let version = VersionRef {
                experience_id: experience.id,
                version,
            };
            service.storage.published(version).await?
        }
    };
    let content: &Content = match &published {
        Some(published) => &published.content,
        None => &experience.content,
    };
    Ok(content.written_variables().into_iter().collect())
}

/// The variables that the tags in use that lead to an experience lack, and how many do.
pub(in crate::http::admin) async fn missing_in_tags(
    service: &Service,
    experience: &Experience,
) -> Result<crate::storage::MissingVariables, ApiError> {
    let keys = written_variables(service, experience).await?;
    if keys.is_empty() {
        return Ok(crate::storage::MissingVariables::default());
    }
    let missing = service.storage.missing_variables(experience.id, keys);
    Ok(missing.await?)
}

async fn of_tags(service: &Service, experience: &Experience) -> Result<MissingVariables, ApiError> {
    let missing = missing_in_tags(service, experience).await?;
    Ok(MissingVariables {
        experience_id: experience.id,
        experience_name: experience.name.clone(),
        variables: missing.keys,
        tags: missing.tags,
    })
}

async fn of_tag(
    service: &Service,
    experience: &Experience,
    tag: TagId,
) -> Result<MissingVariables, ApiError> {
    let found = service.storage.tag(tag).await?;
    let variables = found.ok_or(ApiError::NotFound("tag"))?.fields.variables;
    let mut missing = written_variables(service, experience).await?;
    missing.retain(|key| !variables.0.contains_key(key));
    Ok(MissingVariables {
        experience_id: experience.id,
        experience_name: experience.name.clone(),
        tags: u64::from(!missing.is_empty()),
        variables: missing,
    })
}
