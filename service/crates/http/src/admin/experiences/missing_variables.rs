//! `/admin/v1/experiences/{id}/missing-variables`: variables that a page's forms write but its tags
//! lack. Updates never create variables, so such a form fails for every visitor, and only the owner
//! can fix it.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Common, Conflicting, Invalid, NotFound, Written};
use app::service::Service;
use domain::experience::{Content, Experience, ExperienceKind};
use domain::id::{ExperienceId, TagId};
use domain::interaction::VersionRef;
use domain::tag::PropertyKey;
use storage::ExperienceFilter;

/// Number of tags per commit. A tap that arrives meanwhile waits for at most one commit.
const AT_ONCE: usize = 200;
/// Number of tags per call. After it, the client can show the progress.
const IN_ONE_CALL: u64 = 5_000;
/// Number of experiences per database read.
const EXPERIENCES: usize = 100;

/// Variables that a page writes and its tags lack.
#[derive(Serialize, ToSchema)]
pub(crate) struct MissingVariables {
    experience_id: ExperienceId,
    /// Name of the experience.
    experience_name: String,
    /// Keys of the missing variables.
    variables: Vec<PropertyKey>,
    /// Number of tags in use that lead to the experience and lack at least one variable.
    tags: u64,
}

/// All experiences whose tags lack variables.
#[derive(Serialize, ToSchema)]
pub(crate) struct AllMissingVariables {
    /// One entry per experience, in the order of the experiences.
    items: Vec<MissingVariables>,
}

/// The result of adding missing variables.
#[derive(Serialize, ToSchema)]
pub(crate) struct AddedVariables {
    /// Number of tags that got variables in this call.
    tags: u64,
    /// Whether other tags still lack variables. If true, call again.
    more: bool,
}

/// The tag to check.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MissingQuery {
    /// Only variables that this tag would lack if it led to the experience.
    tag_id: Option<TagId>,
}

/// List experiences whose tags lack variables
///
/// Forms and variable buttons only change existing variables, so they fail for a tag that lacks the
/// variable. Lists every experience with such tags in use.
#[utoipa::path(
    get, path = "/experiences/missing-variables", tag = "experiences",
    responses((status = OK, body = AllMissingVariables), Common)
)]
pub(crate) async fn list_missing_variables(
    Asked(service): Asked,
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
/// Returns the variables that the published page writes, or the draft if nothing was published.
#[utoipa::path(
    get, path = "/experiences/{id}/missing-variables", tag = "experiences",
    params(("id" = ExperienceId, Path), MissingQuery),
    responses((status = OK, body = MissingVariables), NotFound, Invalid, Common)
)]
pub(crate) async fn missing_variables(
    Asked(service): Asked,
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
/// Each tag in use that leads to the experience gets the variables that it lacks, with an empty
/// value. Existing variables stay unchanged. A call changes up to 5,000 tags, in short batches: if
/// `more` is true, call again.
#[utoipa::path(
    post, path = "/experiences/{id}/missing-variables", tag = "experiences",
    params(("id" = ExperienceId, Path)),
    responses((status = OK, body = AddedVariables), NotFound, Conflicting, Written, Common)
)]
pub(crate) async fn add_missing_variables(
    Asked(service): Asked,
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

/// The variables that visitors can write on the page: the published one, otherwise the draft.
pub(in crate::admin) async fn written_variables(
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

/// The variables that tags in use lack for an experience, and the number of these tags.
pub(in crate::admin) async fn missing_in_tags(
    service: &Service,
    experience: &Experience,
) -> Result<storage::MissingVariables, ApiError> {
    let keys = written_variables(service, experience).await?;
    if keys.is_empty() {
        return Ok(storage::MissingVariables::default());
    }
    let missing = service.storage.missing_variables(experience.id, keys);
    Ok(missing.await?)
}

async fn of_tags(service: &Service, experience: &Experience) -> Result<MissingVariables, ApiError> {
    let missing = missing_in_tags(service, experience).await?;
    Ok(MissingVariables {
        experience_id: experience.id,
        experience_name: experience.name.to_string(),
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
        experience_name: experience.name.to_string(),
        tags: u64::from(!missing.is_empty()),
        variables: missing,
    })
}
