//! `GET /admin/v1/unlisted-chips`.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::clock::Timestamp;
use domain::id::UrlTemplateId;
use domain::inventory::UnlistedChip;
use inlay::{Technology, Uid};
use storage::UnlistedFilter;

/// Filters of unlisted chips. All of them must match.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UnlistedQuery {
    /// Only chips whose latest code was made with the keys of this URL template.
    url_template_id: Option<UrlTemplateId>,
    /// Only the chip with this UID.
    uid: Option<Uid>,
    /// Whether to count the items of all pages.
    #[serde(default)]
    #[param(required = false)]
    count: bool,
}

/// A chip that is no inlay, although the keys of a URL template make its codes.
#[derive(Serialize, ToSchema)]
#[schema(as = UnlistedChip)]
pub(crate) struct UnlistedChipView {
    /// UID of the chip.
    uid: Uid,
    /// The URL template of its latest code.
    url_template_id: UrlTemplateId,
    /// Type of the chip.
    technology: Technology,
    /// The highest counter of its codes. No code up to it is accepted once the chip is an inlay.
    #[schema(value_type = u64)]
    last_counter: u32,
    /// Time of its first tap.
    first_seen_at: Timestamp,
    /// Time of its latest tap.
    last_seen_at: Timestamp,
    /// Number of its taps.
    taps: u64,
}

impl From<UnlistedChip> for UnlistedChipView {
    fn from(chip: UnlistedChip) -> Self {
        Self {
            uid: chip.uid,
            url_template_id: chip.url_template_id,
            technology: chip.technology,
            last_counter: chip.last_counter,
            first_seen_at: chip.first_seen_at,
            last_seen_at: chip.last_seen_at,
            taps: chip.taps,
        }
    }
}

/// List unlisted chips
///
/// Chips that are no inlays, and whose codes were made with the keys of a URL template: its master
/// keys, or its shared file key. The chip that was first seen last comes first. Of each template,
/// the newest million are kept.
#[utoipa::path(
    get, path = "/unlisted-chips", tag = "inlays", params(UnlistedQuery, PageParams),
    responses((status = OK, body = Page<UnlistedChipView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<i64, UnlistedQuery>,
) -> Result<Json<Page<UnlistedChipView>>, ApiError> {
    let query = &list.filter;
    let filter = UnlistedFilter {
        url_template_id: query.url_template_id,
        uid: query.uid,
    };
    let storage = &service.storage;
    let found = storage.unlisted_chips(filter, list.after, list.and_one_more());
    let found = found.await?;
    let count = counted(query.count, storage.count_unlisted_chips(filter)).await?;
    let page = list.page(found, |chip| chip.number);
    Ok(Json(page.map(UnlistedChipView::from).with_count(count)))
}
