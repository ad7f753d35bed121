//! `GET /admin/v1/inlays`.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::InlayView;
use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::field_error::FieldError;
use domain::id::{InlayId, MasterKeyId, TagId, UrlTemplateId};
use inlay::{Technology, Uid};
use storage::InlayFilter;

/// Filters of inlays. All of them must match.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct InlayQuery {
    /// Only inlays of this tag.
    tag_id: Option<TagId>,
    /// Only the inlay with this UID.
    uid: Option<Uid>,
    /// Only inlays with these hex digits in their UID, in either case.
    #[param(min_length = 1, max_length = 14, pattern = "^[0-9A-Fa-f]{1,14}$")]
    uid_part: Option<String>,
    /// Only inlays with keys from this master key.
    master_key_id: Option<MasterKeyId>,
    /// Only inlays with this URL template.
    url_template_id: Option<UrlTemplateId>,
    /// `true`: only inlays without a tag. `false`: only inlays on a tag.
    unbound: Option<bool>,
    /// `true`: only simulated inlays. `false`: only real inlays.
    simulated: Option<bool>,
    /// `true`: only blocked inlays. `false`: only inlays that are not blocked.
    blocked: Option<bool>,
    /// Only inlays with this type of chip.
    technology: Option<Technology>,
    /// `true`: only inlays with factory keys. `false`: only inlays without factory keys.
    factory_keys: Option<bool>,
    /// `true`: only inlays whose counter has reached its maximum, so that their taps no longer
    /// verify. `false`: only the others. On SQLite, a counter can be 30 seconds old here.
    exhausted: Option<bool>,
    /// Only inlays whose chip was encoded here with this tag URL, as listed by
    /// `GET /tag-url/carried`.
    carried_tag_url: Option<String>,
    /// Whether to count the items of all pages.
    #[serde(default)]
    #[param(required = false)]
    count: bool,
}

/// A part of a UID, in upper case.
fn uid_part(text: &str) -> Result<String, ApiError> {
    let is_part = (1..=14).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    if is_part {
        return Ok(text.to_ascii_uppercase());
    }
    let why = "uid_part is 1 to 14 hex digits.".to_owned();
    Err(ApiError::Invalid(FieldError::of("uid_part", why)))
}

/// List inlays
///
/// In the order of their creation.
#[utoipa::path(
    get, path = "/inlays", tag = "inlays", params(InlayQuery, PageParams),
    responses((status = OK, body = Page<InlayView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<InlayId, InlayQuery>,
) -> Result<Json<Page<InlayView>>, ApiError> {
    let query = &list.filter;
    let filter = InlayFilter {
        tag_id: query.tag_id,
        uid: query.uid,
        uid_part: query.uid_part.as_deref().map(uid_part).transpose()?,
        master_key_id: query.master_key_id,
        url_template_id: query.url_template_id,
        unbound: query.unbound,
        simulated: query.simulated,
        blocked: query.blocked,
        technology: query.technology,
        factory_keys: query.factory_keys,
        exhausted: query.exhausted,
        carried_tag_url: query.carried_tag_url.clone(),
    };
    let storage = &service.storage;
    let found = storage.inlays(filter.clone(), list.after, list.and_one_more());
    let items = found.await?.into_iter().map(InlayView::from).collect();
    let count = counted(query.count, storage.count_inlays(filter)).await?;
    let page = list.page(items, InlayView::id);
    Ok(Json(page.with_count(count)))
}
