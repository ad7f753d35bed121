//! `GET /admin/v1/interactions`.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams};
use crate::error::{ApiError, Common, Invalid};
use app::service::Service;
use domain::clock::Timestamp;
use domain::id::{ExperienceId, GroupId, InlayId, InteractionId, TagId};
use domain::interaction::{InteractionView, Reason, VerificationState};
use domain::world::World;
use inlay::Uid;
use inlay::assessment::Tamper;
use storage::{InlayFilter, InteractionFilter, Stretch};

/// Filters of interactions. All of them must match.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListInteractions {
    /// Only interactions of this tag.
    tag_id: Option<TagId>,
    /// `true`: only interactions of inlays that were not on a tag.
    no_tag: bool,
    /// Only interactions that led to this experience.
    experience_id: Option<ExperienceId>,
    /// Only interactions of tags that are now in this group, or in a group below it.
    group_id: Option<GroupId>,
    /// Only interactions with an authentic code of this inlay.
    inlay_id: Option<InlayId>,
    /// Only interactions with an authentic code of the inlay with this UID.
    uid: Option<Uid>,
    /// Only interactions with this verdict.
    #[param(inline)]
    verification: Option<VerificationState>,
    /// Only interactions with this reason.
    #[param(inline)]
    reason: Option<Reason>,
    /// `true`: only interactions after a counter gap, which means that earlier reads never reached
    /// the service. `false`: only the others.
    missed_reads: Option<bool>,
    /// Only interactions whose inlay reported this state of its tamper loop.
    #[param(inline)]
    tamper: Option<Tamper>,
    /// Only interactions at this time or later.
    since: Option<Timestamp>,
    /// Only interactions before this time.
    until: Option<Timestamp>,
    /// `false` for real interactions, `true` for simulated ones, `all` for both.
    #[param(inline)]
    simulated: World,
}

/// List interactions
///
/// The newest first. An index finds the interactions of one tag, and those without a tag. Other
/// filters scan from the newest interaction on. A page ends after 20,000 scanned interactions, even
/// if it contains few items: continue while there is a `next`.
#[utoipa::path(
    get, path = "/interactions", tag = "interactions", params(ListInteractions, PageParams),
    responses((status = OK, body = Page<InteractionView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<InteractionId, ListInteractions>,
) -> Result<Json<Page<InteractionView>>, ApiError> {
    let filter = list.filter.read(&service).await?;
    let Stretch { found, next } = service
        .storage
        .interactions(filter, list.after, list.limit.items())
        .await?;
    let items = found.into_iter();
    let items = items.map(|(interaction, tag)| InteractionView::new(interaction, tag));
    Ok(Json(Page::up_to(items.collect(), next)))
}

impl ListInteractions {
    /// The filter, with the inlay that has the UID.
    pub(super) async fn read(self, service: &Service) -> Result<InteractionFilter, ApiError> {
        let query = self;
        let mut filter = InteractionFilter {
            tag_id: query.tag_id,
            no_tag: query.no_tag,
            experience_id: query.experience_id,
            group_id: query.group_id,
            inlay_id: query.inlay_id,
            none: false,
            verification: query.verification,
            reason: query.reason,
            missed_reads: query.missed_reads,
            tamper: query.tamper,
            since: query.since,
            until: query.until,
            world: query.simulated,
        };
        if let Some(uid) = query.uid {
            let of_uid = InlayFilter {
                uid: Some(uid),
                ..InlayFilter::default()
            };
            let found = service.storage.inlays(of_uid, None, 1).await?;
            let found = found.first().map(|inlay| inlay.id);
            filter.none = found.is_none() || query.inlay_id.is_some_and(|id| Some(id) != found);
            filter.inlay_id = found;
        }
        Ok(filter)
    }
}
