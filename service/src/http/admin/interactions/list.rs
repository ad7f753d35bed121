//! `GET /admin/v1/interactions`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::clock::Timestamp;
use crate::http::admin::page::{List, Page, PageParams};
use crate::http::error::{ApiError, Common, Invalid};
use crate::id::{ExperienceId, InlayId, InteractionId, TagId};
use crate::inlay::assessment::Tamper;
use crate::interaction::{InteractionView, Reason, VerificationState};
use crate::service::Service;
use crate::storage::{InteractionFilter, Stretch};
use crate::world::World;

/// Which interactions, and which page of them.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListInteractions {
    /// Only those of this tag.
    tag_id: Option<TagId>,
    /// `true`: only those of inlays that were on no tag.
    no_tag: bool,
    /// Only those that led to this experience.
    experience_id: Option<ExperienceId>,
    /// Only those with an authentic code of this inlay.
    inlay_id: Option<InlayId>,
    /// Only those with this verdict.
    #[param(inline)]
    verification: Option<VerificationState>,
    /// Only those with this reason.
    #[param(inline)]
    reason: Option<Reason>,
    /// `true`: only those with a counter gap before them, whose reads never reached the service.
    /// `false`: only the others.
    missed_reads: Option<bool>,
    /// Only those whose inlay reported this state of its tamper loop.
    #[param(inline)]
    tamper: Option<Tamper>,
    /// Only those at this time or later.
    since: Option<Timestamp>,
    /// Only those before this time.
    until: Option<Timestamp>,
    /// `false` for real ones, `true` for simulated ones, `all` for both.
    #[param(inline)]
    simulated: World,
}

/// List interactions
///
/// The newest first. The interactions of one tag, and those of no tag, are found by an index. Other filters scan from the
/// newest interaction on, and a page ends after 20,000 scanned interactions, however few it has:
/// continue while there is a `next`.
#[utoipa::path(
    get, path = "/interactions", tag = "interactions", params(ListInteractions, PageParams),
    responses((status = OK, body = Page<InteractionView>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    list: List<InteractionId, ListInteractions>,
) -> Result<Json<Page<InteractionView>>, ApiError> {
    let filter = list.filter.into();
    let Stretch { found, next } = service
        .storage
        .interactions(filter, list.after, list.limit.items())
        .await?;
    let items = found.into_iter();
    let items = items.map(|(interaction, tag)| InteractionView::new(interaction, tag));
    Ok(Json(Page::up_to(items.collect(), next)))
}

impl From<ListInteractions> for InteractionFilter {
    fn from(query: ListInteractions) -> Self {
        Self {
            tag_id: query.tag_id,
            no_tag: query.no_tag,
            experience_id: query.experience_id,
            inlay_id: query.inlay_id,
            verification: query.verification,
            reason: query.reason,
            missed_reads: query.missed_reads,
            tamper: query.tamper,
            since: query.since,
            until: query.until,
            world: query.simulated,
        }
    }
}
