//! `DELETE /admin/v1/interactions/{id}/visitor`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{find, proved};
use crate::http::admin::path::Id;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Conflicting, Invalid, NotFound, Written};
use crate::id::InteractionId;
use crate::service::Service;
use crate::visitor_data;

/// What goes with the data of a visitor.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EraseVisitor {
    /// Whether variables of the tag that still have a value of the visitor become empty.
    empty_variables: bool,
}

/// What was erased.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErasedVisitor {
    /// Of how many taps.
    interactions: u64,
}

/// Erase what is kept of a tap's visitor
///
/// Of each tap of the tag that the visitor made: the client, the country, system, language and group,
/// whether they had come before, its rolling key, the values that an update wrote, what a form sent,
/// what webhooks keep of it, and the values that the audit log has of these variables. Taps, verdicts
/// and counts stay, and so do the tag's variables, unless `empty_variables` is `true`. The audit log
/// says that it was done.
///
/// Only a verified tap whose rolling key lives proves that a person holds the tag: 409 with `code:
/// "not_proved"` otherwise. It goes step by step, so that taps continue; the tap itself goes last. If
/// the request is interrupted, send it again.
#[utoipa::path(
    delete, path = "/interactions/{id}/visitor", tag = "interactions",
    params(("id" = InteractionId, Path), EraseVisitor),
    responses(
        (status = OK, body = ErasedVisitor), NotFound, Conflicting, Invalid, Written, Common
    )
)]
pub(crate) async fn erase_visitor(
    State(service): State<Arc<Service>>,
    Id(id): Id<InteractionId>,
    Query(options): Query<EraseVisitor>,
) -> Result<Json<ErasedVisitor>, ApiError> {
    let storage = &*service.storage;
    let tap = find(storage, id).await?.interaction;
    let tag = proved(storage, &tap).await?;
    let interactions = visitor_data::erase(storage, id, tag, options.empty_variables).await?;
    Ok(Json(ErasedVisitor { interactions }))
}
