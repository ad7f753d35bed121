//! `GET /admin/v1/tags`.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use super::TagView;
use super::attribute_filter::{AttributeParams, Attributes, Values};
use super::filter::Filter;
use super::sort::Sort;
use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::clock::Timestamp;
use domain::id::{ExperienceId, GroupId};
use domain::tag::Status;
use domain::world::World;
use storage::{TagFilter, TagList, TagPlace, TagsByAttribute};

/// The parameters of a list of tags. They repeat the members of [`Filter`], because a query string
/// cannot contain nested objects.
#[derive(Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
#[derive(Default)]
pub(crate) struct ListTags {
    /// Words, each of which must be found in the name, the slug, a former slug, the title or a value of
    /// an attribute, in the name, the code or the GTIN of a group above the tag, or in the UID of an
    /// inlay. Case and accents make no difference. Any part of a text is found, of a long value in its
    /// first 200 characters. A code such as `SN-2026-0815` is also found without its separators. Of a
    /// UID any four or more digits in a row are found, with or without colons, dashes or spaces, eight
    /// or more in either order of bytes. Four or five digits from 0 to 9 are only found at its end.
    #[param(max_length = 200)]
    q: Option<String>,
    /// Only tags that lead to this experience, by themselves or by their group.
    experience_id: Option<ExperienceId>,
    /// Only tags in this group, or in a group below it.
    group_id: Option<GroupId>,
    /// `true`: only tags that lead to an experience. `false`: only the others.
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
    /// `true`: only tags with an inlay. `false`: only the others.
    has_inlay: Option<bool>,
    /// Only tags whose last tap was at this time or later. Taps of the last 30 seconds may be
    /// missing.
    tapped_since: Option<Timestamp>,
    /// Only tags whose last tap was before this time.
    tapped_until: Option<Timestamp>,
    /// `false` for real tags, `true` for simulated tags, `all` for both.
    #[param(inline)]
    simulated: World,
    /// Whether to list deleted tags instead of the others.
    deleted: bool,
    /// The order of the tags; descending with a `-` before it. `created`: by creation, the oldest
    /// first. `name`: by name; `A` to `Z` compare like `a` to `z`, other letters by their character
    /// code. `scans`: by number of taps. `last_scan`: by last tap; tags that were never tapped come
    /// first, or last if it descends. `attribute.KEY`: by the value of an attribute, own or of the
    /// nearest group; case and accents make no difference, of a long value the first 200 characters
    /// count, and tags without a value come last in both directions; each page of a million tags
    /// takes a second or two. Tags that compare equal are ordered by id, in the same direction.
    #[param(
        required = false, value_type = String,
        pattern = "^-?(created|name|scans|last_scan|attribute\\.[A-Za-z0-9_.-]{1,64})$"
    )]
    sort: Sort,
    /// Whether to count all tags that match.
    count: bool,
    /// With `count`: whether to return an estimate if counting takes long. The answer comes within
    /// 100 ms and says whether its count is an estimate.
    estimate: bool,
}

impl ListTags {
    fn filter(&self, attributes: Values) -> Result<TagFilter, ApiError> {
        let filter = Filter {
            q: self.q.clone(),
            experience_id: self.experience_id,
            group_id: self.group_id,
            assigned: self.assigned,
            status: self.status,
            verifier_enabled: self.verifier_enabled,
            has_qr_code: self.has_qr_code,
            opened: self.opened,
            has_inlay: self.has_inlay,
            tapped_since: self.tapped_since,
            tapped_until: self.tapped_until,
            attributes,
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
/// A search with a word of three or more characters uses an index. Shorter words scan all tags.
#[utoipa::path(
    get, path = "/tags", tag = "tags", params(ListTags, AttributeParams, PageParams),
    responses((status = OK, body = Page<TagView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<TagPlace, ListTags>,
    Attributes(attributes): Attributes,
) -> Result<Json<Page<TagView>>, ApiError> {
    let filter = list.filter.filter(attributes)?;
    let storage = &service.storage;
    let estimate = if list.filter.count && list.filter.estimate {
        Some(storage.estimate_tags(filter.clone()).await?)
    } else {
        None
    };
    let counts = list.filter.count && estimate.is_none();
    let count = counted(counts, storage.count_tags(filter.clone())).await?;
    let (after, limit) = (list.after.clone(), list.and_one_more());
    let tags = match list.filter.sort.clone() {
        Sort::Of(order) => {
            let piece = TagList {
                filter,
                order,
                after,
                limit,
            };
            storage.tags(piece).await?
        }
        Sort::Attribute(order) => {
            let piece = TagsByAttribute {
                filter,
                order,
                after,
                limit,
            };
            storage.tags_by_attribute(piece).await?
        }
    };
    let settings = service.settings();
    let page = list.page(tags, |(_, place)| place.clone());
    let page = page
        .map(|(tag, _)| TagView::new(tag, &settings))
        .with_count(count);
    Ok(Json(match estimate {
        Some(estimate) => page.with_estimate(estimate),
        None => page,
    }))
}
