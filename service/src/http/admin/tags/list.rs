//! `GET /admin/v1/tags`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::filter::Filter;
use crate::http::admin::page::{List, Page, PageParams, counted};
use crate::http::error::{ApiError, Common, Invalid};
use crate::id::ExperienceId;
use crate::service::Service;
use crate::storage::{TagFilter, TagList, TagOrder, TagPlace};
use crate::tag::{Status, Tag};
use crate::world::World;

/// The members of [`Filter`] stand here again: a query string has no nesting.
#[derive(Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
#[derive(Default)]
pub(crate) struct ListTags {
    /// Part of the name, the slug or the title, in either case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// Only those assigned to this experience.
    experience_id: Option<ExperienceId>,
    /// `true`: only those assigned to an experience. `false`: only the others.
    assigned: Option<bool>,
    /// Only those with this status.
    #[param(inline)]
    status: Option<Status>,
    /// `true`: only those whose taps are verified. `false`: only the others.
    verifier_enabled: Option<bool>,
    /// `true`: only those of which an inlay reported an open or broken tamper loop. `false`: only
    /// the others.
    opened: Option<bool>,
    /// `false` for real ones, `true` for simulated ones, `all` for both.
    #[param(inline)]
    simulated: World,
    /// Only the deleted ones, instead of the others.
    deleted: bool,
    /// The order.
    #[param(inline)]
    sort: TagOrder,
    /// Whether to count all that match.
    count: bool,
    /// With `count`: whether an estimate will do if counting takes long. The answer says whether
    /// it is one, and comes within 100 ms.
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
/// A search for three characters or more uses an index; a shorter one scans all tags.
#[utoipa::path(
    get, path = "/tags", tag = "tags", params(ListTags, PageParams),
    responses((status = OK, body = Page<Tag>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    list: List<TagPlace, ListTags>,
) -> Result<Json<Page<Tag>>, ApiError> {
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
    let page = list.page(tags.await?, |(_, place)| place.clone());
    let page = page.map(|(tag, _)| tag).with_count(count);
    Ok(Json(match estimate {
        Some(estimate) => page.with_estimate(estimate),
        None => page,
    }))
}
