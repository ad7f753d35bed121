//! `GET /admin/v1/tags`.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use super::TagView;
use super::filter::Filter;
use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::id::ExperienceId;
use domain::tag::Status;
use domain::world::World;
use storage::{TagFilter, TagList, TagOrder, TagPlace};

/// The parameters of a list of tags. They repeat the members of [`Filter`], because a query string
/// cannot contain nested objects.
#[derive(Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
#[derive(Default)]
pub(crate) struct ListTags {
    /// A part of the name, the slug or the title, in either case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// Only tags that are assigned to this experience.
    experience_id: Option<ExperienceId>,
    /// `true`: only tags that are assigned to an experience. `false`: only the others.
    assigned: Option<bool>,
    /// Only tags with this status.
    #[param(inline)]
    status: Option<Status>,
    /// `true`: only tags whose taps are verified. `false`: only the others.
    verifier_enabled: Option<bool>,
    /// `true`: only tags with a printed QR code. `false`: only the others.
    has_qr_code: Option<bool>,
    /// `true`: only tags with an inlay that reported an open or broken tamper loop. `false`: only
    /// the others.
    opened: Option<bool>,
    /// `false` for real tags, `true` for simulated tags, `all` for both.
    #[param(inline)]
    simulated: World,
    /// Whether to list deleted tags instead of the others.
    deleted: bool,
    /// The order of the tags.
    #[param(inline)]
    sort: TagOrder,
    /// Whether to count all tags that match.
    count: bool,
    /// With `count`: whether to return an estimate if counting takes long. The answer comes within
    /// 100 ms and says whether its count is an estimate.
    estimate: bool,
}

impl ListTags {
    fn filter(&self) -> Result<TagFilter, ApiError> {
        let filter = Filter {
            q: self.q.clone(),
            experience_id: self.experience_id,
            assigned: self.assigned,
            status: self.status,
            verifier_enabled: self.verifier_enabled,
            has_qr_code: self.has_qr_code,
            opened: self.opened,
            simulated: self.simulated,
        };
        Ok(TagFilter {
            deleted: self.deleted,
            ..filter.check()?
        })
    }
}

/// List tags
///
/// A search text of three or more characters uses an index. A shorter text scans all tags.
#[utoipa::path(
    get, path = "/tags", tag = "tags", params(ListTags, PageParams),
    responses((status = OK, body = Page<TagView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<TagPlace, ListTags>,
) -> Result<Json<Page<TagView>>, ApiError> {
    let filter = list.filter.filter()?;
    let storage = &service.storage;
    let estimate = if list.filter.count && list.filter.estimate {
        Some(storage.estimate_tags(filter.clone()).await?)
    } else {
        None
    };
    let counts = list.filter.count && estimate.is_none();
    let count = counted(counts, storage.count_tags(filter.clone())).await?;
    let tags = storage.tags(TagList {
        filter,
        order: list.filter.sort,
        after: list.after.clone(),
        limit: list.and_one_more(),
    });
    let settings = service.settings();
    let page = list.page(tags.await?, |(_, place)| place.clone());
    let page = page
        .map(|(tag, _)| TagView::new(tag, &settings))
        .with_count(count);
    Ok(Json(match estimate {
        Some(estimate) => page.with_estimate(estimate),
        None => page,
    }))
}
