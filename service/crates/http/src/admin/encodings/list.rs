//! `GET /admin/v1/encodings`.

use axum::Json;
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;

use super::start::read_uid;
use super::view::EncodingView;
use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::id::{EncodingId, EncodingRunId};
use inlay::Uid;
use storage::EncodingFilter;

/// Filters of encodings. All of them must match.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EncodingQuery {
    /// Only encodings of this chip: 7 bytes, or 4 bytes of a chip with random UIDs.
    #[serde(default, deserialize_with = "read_any_uid")]
    #[param(value_type = Option<String>, pattern = "^([0-9A-Fa-f]{14}|08[0-9A-Fa-f]{6})$")]
    uid: Option<Uid>,
    /// Only encodings of this run.
    run_id: Option<EncodingRunId>,
    /// Whether to count the items of all pages.
    #[serde(default)]
    #[param(required = false)]
    count: bool,
}

fn read_any_uid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Uid>, D::Error> {
    read_uid(deserializer).map(Some)
}

/// List encodings
///
/// The newest first.
#[utoipa::path(
    get, path = "/encodings", tag = "encodings", params(EncodingQuery, PageParams),
    responses((status = OK, body = Page<EncodingView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<EncodingId, EncodingQuery>,
) -> Result<Json<Page<EncodingView>>, ApiError> {
    let filter = EncodingFilter {
        uid: list.filter.uid,
        run_id: list.filter.run_id,
    };
    let storage = &service.storage;
    let found = storage.encodings(filter, list.after, list.and_one_more());
    let items = found
        .await?
        .into_iter()
        .filter_map(|stored| EncodingView::of(&stored));
    let items = items.collect();
    let count = counted(list.filter.count, storage.count_encodings(filter)).await?;
    Ok(Json(list.page(items, EncodingView::id).with_count(count)))
}
