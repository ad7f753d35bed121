//! `GET /admin/v1/experiences/{id}/difference`.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Code, Common, Conflicting, Invalid, NotFound};
use app::service::Service;
use domain::experience::{Content, DifferenceLine, difference};
use domain::field_error::FieldError;
use domain::id::ExperienceId;
use domain::interaction::VersionRef;
use storage::Conflict;

/// The versions to compare.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DifferenceQuery {
    /// The old version; by default the published one.
    #[param(minimum = 1)]
    from: Option<u32>,
    /// The new version; by default the draft.
    #[param(minimum = 1)]
    to: Option<u32>,
}

/// The difference between two versions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Difference {
    /// The old version; `null` if none was published.
    from: Option<u32>,
    /// The new version; `null` for the draft.
    to: Option<u32>,
    /// Whether the two versions differ.
    differs: bool,
    /// The lines of both versions, in order.
    lines: Vec<DifferenceLine>,
}

/// Compare two versions of an experience
///
/// The difference has one line for each block, rule or theme setting. Without parameters, it shows
/// the changes that publishing the draft would make.
#[utoipa::path(
    get, path = "/experiences/{id}/difference", tag = "experiences",
    params(("id" = ExperienceId, Path), DifferenceQuery),
    responses((status = OK, body = Difference), NotFound, Conflicting, Invalid, Common)
)]
pub(crate) async fn compare(
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
    Query(DifferenceQuery { from, to }): Query<DifferenceQuery>,
) -> Result<Json<Difference>, ApiError> {
    let experience = service.storage.experience(id).await?;
    let experience = experience.ok_or(ApiError::NotFound("experience"))?;
    let from = from.or(experience.published_version);
    let before = match from {
        Some(from) => Some(version(&service, id, "from", from).await?),
        None => None,
    };
    let after = match to {
        Some(to) => version(&service, id, "to", to).await?,
        None => experience.content,
    };
    let differs = before.as_ref() != Some(&after);
    let lines = difference(before.as_ref(), &after);
    Ok(Json(Difference {
        from,
        to,
        differs,
        lines,
    }))
}

async fn version(
    service: &Service,
    experience_id: ExperienceId,
    parameter: &'static str,
    version: u32,
) -> Result<Content, ApiError> {
    let reference = VersionRef {
        experience_id,
        version,
    };
    let published = service.storage.published(reference).await?;
    published.map_or_else(
        || {
            let (noun, id) = ("version", version.into());
            let why = Conflict::Missing { noun, id }.to_string();
            let why = FieldError::of(parameter, why);
            Err(ApiError::Conflict(Code::Missing, why))
        },
        |published| Ok((*published.content).clone()),
    )
}
