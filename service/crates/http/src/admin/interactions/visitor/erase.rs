//! `DELETE /admin/v1/interactions/{id}/visitor`.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::{find, proved};
use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Common, Conflicting, Invalid, NotFound, Written};
use app::visitor_data;
use domain::id::InteractionId;

/// Options of the erasure.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EraseVisitor {
    /// Whether to empty variables of the tag that still have a value of the visitor.
    empty_variables: bool,
}

/// The result of the erasure.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErasedVisitor {
    /// Number of taps whose data was erased.
    interactions: u64,
}

/// Erase the stored data of a tap's visitor
///
/// Erases for each of the visitor's taps: the client, country, system, language and group, the mark
/// whether they had come before, the rolling key, the values of an update, the fields of a form,
/// the copies for webhooks, and the values of these variables in the audit log. Later updates and
/// events of the tag also lose these values. Taps, verdicts and counts stay. The tag's variables
/// stay, too, unless `empty_variables` is `true`; no event contains the values that stay. The audit
/// log records the erasure.
///
/// Only a verified tap with a valid rolling key proves that a person holds the tag; otherwise the
/// answer is 409 with `code: "not_proved"`. The data is erased step by step, so that taps continue,
/// and this tap last. If the request is interrupted, send it again.
#[utoipa::path(
    delete, path = "/interactions/{id}/visitor", tag = "interactions",
    params(("id" = InteractionId, Path), EraseVisitor),
    responses(
        (status = OK, body = ErasedVisitor), NotFound, Conflicting, Invalid, Written, Common
    )
)]
pub(crate) async fn erase_visitor(
    Asked(service): Asked,
    Id(id): Id<InteractionId>,
    Query(options): Query<EraseVisitor>,
) -> Result<Json<ErasedVisitor>, ApiError> {
    let storage = &service.storage;
    let tap = find(storage, id).await?.interaction;
    let tag = proved(storage, &tap).await?;
    service
        .storage
        .asks(json!({ "empty_variables": options.empty_variables }));
    let empty = options.empty_variables;
    let interactions = visitor_data::erase_visitor(storage, id, tag, empty).await?;
    Ok(Json(ErasedVisitor { interactions }))
}
