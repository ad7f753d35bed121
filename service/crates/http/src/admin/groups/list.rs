//! `GET /admin/v1/groups`.

use axum::Json;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;

use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::field_error::FieldError;
use domain::group::{Group, GroupKind};
use domain::id::GroupId;
use domain::text::{NAME_MAX, text_fits};
use storage::GroupFilter;

/// Filters of groups. All of them must match.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListGroups {
    /// Only groups directly in this one; `none` for those at the top.
    #[param(value_type = Option<String>, pattern = "^(none|[1-9][0-9]*)$")]
    parent_id: Option<Parent>,
    /// Only groups of this kind.
    #[param(inline)]
    kind: Option<GroupKind>,
    /// Only groups with this text in their name, code or GTIN, in either case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// Whether to count the groups of all pages.
    #[serde(default)]
    count: bool,
}

/// The place of the listed groups.
struct Parent(Option<GroupId>);

impl<'de> Deserialize<'de> for Parent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "none" {
            return Ok(Self(None));
        }
        let id = text.parse();
        let id = id.map_err(|_| D::Error::custom("it is the id of a group, or none"))?;
        Ok(Self(Some(id)))
    }
}

/// List groups
///
/// The oldest first, each with the number of tags in it and in all groups below it.
#[utoipa::path(
    get, path = "/groups", tag = "groups", params(ListGroups, PageParams),
    responses((status = OK, body = Page<Group>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<GroupId, ListGroups>,
) -> Result<Json<Page<Group>>, ApiError> {
    let ListGroups {
        parent_id, kind, q, ..
    } = &list.filter;
    if q.as_ref().is_some_and(|q| !text_fits(q, NAME_MAX)) {
        let why = format!("q has at most {NAME_MAX} characters, and no NUL character.");
        return Err(ApiError::Invalid(FieldError::of("q", why)));
    }
    let filter = GroupFilter {
        parent: parent_id.as_ref().map(|Parent(parent)| *parent),
        kind: *kind,
        q: q.clone(),
    };
    let storage = &service.storage;
    let found = storage.groups(filter.clone(), list.after, list.and_one_more());
    let found = found.await?;
    let count = counted(list.filter.count, storage.count_groups(filter)).await?;
    let page = list.page(found, |group| group.id);
    Ok(Json(page.with_count(count)))
}
