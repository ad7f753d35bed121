//! `GET /admin/v1/encoding-runs`.

use axum::Json;

use crate::admin::Asked;
use crate::admin::extract::page::{Counted, List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::id::EncodingRunId;
use encoding::run::Run;

/// List encoding runs
///
/// The newest first, without their chips.
#[utoipa::path(
    get, path = "/encoding-runs", tag = "encodings", params(PageParams, Counted),
    responses((status = OK, body = Page<Run>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<EncodingRunId, Counted>,
) -> Result<Json<Page<Run>>, ApiError> {
    let storage = &service.storage;
    let found = storage.encoding_runs(list.after, list.and_one_more());
    let found = found.await?;
    let count = counted(list.filter.count, storage.count_encoding_runs()).await?;
    Ok(Json(list.page(found, |run: &Run| run.id).with_count(count)))
}
