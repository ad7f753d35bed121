//! `POST /admin/v1/tags/bulk`.

mod undo;

use std::borrow::Cow;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::openapi::{ArrayBuilder, OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::filter::Filter;
use super::warning;
use crate::caller;
use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::id::{ExperienceId, TagId};
use crate::object;
use crate::service::Service;
use crate::storage::{TagChange, TagFilter, TagSelect};
use crate::tag::Status;

/// Tags changed by one command of the database. A tap that comes meanwhile waits
/// for one command at most: a few milliseconds.
const AT_ONCE: usize = 200;
/// Bounds of `limit`: below, `rest` would be larger than the work it describes;
/// above, one call would take longer than people wait for a sign of progress.
const LIMIT: std::ops::RangeInclusive<u32> = 100..=100_000;

/// A change of many tags, and how it is made.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = TagBulkRequest)]
pub(crate) struct BulkRequest {
    #[serde(flatten)]
    change: BulkChange,
    /// How many tags the caller expects to select. If it is another number, nothing is changed.
    #[serde(default)]
    expected_count: Option<u64>,
    /// How many of the selected tags are changed by this call. `rest` has the requests for the others.
    #[serde(default)]
    #[schema(minimum = 100, maximum = 100_000)]
    limit: Option<u32>,
}

object::tagged_by_name!(BulkChange, "action");

/// One change of many tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(
    tag = "action",
    rename_all = "lowercase",
    deny_unknown_fields,
    remote = "Self"
)]
#[schema(as = TagBulkChange)]
pub(crate) enum BulkChange {
    /// Assign to an experience, or with `null` to none.
    Assign {
        /// Which tags.
        select: Selection,
        /// The experience, or `null` for none. Required.
        #[serde(deserialize_with = "Option::deserialize")]
        #[schema(required)]
        experience_id: Option<ExperienceId>,
    },
    /// Set the status.
    Status {
        /// Which tags.
        select: Selection,
        /// The status.
        status: Status,
    },
    /// Delete. The slugs stay reserved for the tags.
    Delete {
        /// Which tags.
        select: Selection,
    },
    /// Restore deleted tags.
    Restore {
        /// Which tags. A filter selects among the deleted ones.
        select: Selection,
    },
}

/// Which tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = TagSelection)]
pub(crate) enum Selection {
    /// Ids, and ranges of ids. Those that do not exist or are deleted (for `restore`: are not
    /// deleted) are skipped.
    Ids(Vec<Ids>),
    /// All tags that match when the call begins.
    #[serde(deserialize_with = "object::one")]
    Filter(Filter),
}

/// One id, or `[first, last]` for all from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "ids are numbers, or ranges as [first, last]")]
pub(crate) enum Ids {
    /// One id.
    One(TagId),
    /// From the first to the last, both included.
    Range([TagId; 2]),
}

impl PartialSchema for Ids {
    fn schema() -> RefOr<Schema> {
        let range = ArrayBuilder::new()
            .items(Ref::from_schema_name(TagId::name()))
            .min_items(Some(2))
            .max_items(Some(2))
            .description(Some("From the first to the last, both included."));
        OneOfBuilder::new()
            .item(Ref::from_schema_name(TagId::name()))
            .item(range)
            .description(Some(
                "One id, or `[first, last]` for all from the first to the last.",
            ))
            .into()
    }
}

impl ToSchema for Ids {
    fn name() -> Cow<'static, str> {
        "TagIds".into()
    }
}

/// What a bulk change did.
#[derive(Serialize, ToSchema)]
#[schema(as = TagBulkResult)]
pub(crate) struct BulkResult {
    /// How many tags were selected.
    selected: usize,
    /// How many of them this call has worked through.
    done: usize,
    /// How many of these were changed. The others had the value already.
    changed: usize,
    /// Requests to this same operation that together revert the change.
    undo: Vec<BulkChange>,
    /// Requests to this same operation for the selected tags that are not done yet, each for at
    /// most `limit` tags. They name the tags that this call selected, by their ids.
    rest: Vec<BulkChange>,
    /// If it stopped early: why, in words.
    stopped: Option<String>,
}

impl BulkChange {
    fn change(&self) -> TagChange {
        match self {
            Self::Assign { experience_id, .. } => TagChange::Assign(*experience_id),
            Self::Status { status, .. } => TagChange::Status(*status),
            Self::Delete { .. } => TagChange::Delete,
            Self::Restore { .. } => TagChange::Restore,
        }
    }

    fn of(change: TagChange, select: Selection) -> Self {
        match change {
            TagChange::Assign(experience_id) => Self::Assign {
                select,
                experience_id,
            },
            TagChange::Status(status) => Self::Status { select, status },
            TagChange::Delete => Self::Delete { select },
            TagChange::Restore => Self::Restore { select },
        }
    }

    fn into_select(self) -> Result<TagSelect, ApiError> {
        let deleted = matches!(self, Self::Restore { .. });
        let (Self::Assign { select, .. }
        | Self::Status { select, .. }
        | Self::Delete { select }
        | Self::Restore { select }) = self;
        Ok(match select {
            Selection::Ids(ids) => TagSelect::Ranges {
                ranges: ids.into_iter().map(Ids::bounds).collect(),
                deleted,
            },
            Selection::Filter(filter) => TagSelect::Filter(TagFilter {
                deleted,
                ..filter.check()?
            }),
        })
    }
}

impl Ids {
    const fn bounds(self) -> (TagId, TagId) {
        match self {
            Self::One(id) => (id, id),
            Self::Range([first, last]) => (first, last),
        }
    }
}

/// Change many tags
///
/// Tags are changed in short batches, so that taps continue: each batch is changed as a whole or
/// not at all. If the call stops early, `stopped` says why, `undo` reverts what was done, and
/// `rest` does what was not.
///
/// With `expected_count` nothing is changed if another number of tags is selected: 409, `code:
/// "count_changed"`. With `limit` the call ends after that many tags: the caller sends the requests
/// in `rest` one after the other, can show `done` as progress, and can stop at any time. The `undo`
/// of all answers together reverts everything.
#[utoipa::path(
    post, path = "/tags/bulk", tag = "tags", request_body = BulkRequest,
    responses(
        (status = OK, body = BulkResult, headers(("Tapdesk-Warning" = String, description = "Warnings about the assigned tags, in words"))),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn bulk(
    State(service): State<Arc<Service>>,
    Body(request): Body<BulkRequest>,
) -> Result<(HeaderMap, Json<BulkResult>), ApiError> {
    let limit = limit(request.limit)?;
    let change = request.change.change();
    let asked = serde_json::to_value(&request.change).unwrap_or_default();
    let ids = service
        .storage
        .tag_ids(request.change.into_select()?)
        .await?;
    if let Some(expected) = request.expected_count
        && expected != ids.len() as u64
    {
        let found = ids.len() as u64;
        return Err(ApiError::CountChanged { expected, found });
    }
    caller::asks(json!({"change": asked, "selected": ids.len()}));
    // From here on the ids are fixed: what matches later is not touched.
    let mut changed = Vec::new();
    let mut stopped = None;
    let mut done = 0;
    for batch in ids[..ids.len().min(limit)].chunks(AT_ONCE) {
        match service.storage.change_tags(batch.to_vec(), change).await {
            Ok(some) => changed.extend(some),
            Err(error) if changed.is_empty() => return Err(error.into()),
            Err(error) => {
                stopped = Some(ApiError::from(error).detail());
                break;
            }
        }
        done += batch.len();
    }
    let warning = match change {
        TagChange::Assign(Some(experience)) => {
            warning::experience_of_many(&service, experience).await?
        }
        _ => None,
    };
    let result = BulkResult {
        selected: ids.len(),
        done,
        changed: changed.len(),
        undo: undo::of(changed),
        rest: undo::rest(change, &ids[done..], limit),
        stopped,
    };
    Ok((warning::headers(warning), Json(result)))
}

fn limit(limit: Option<u32>) -> Result<usize, ApiError> {
    match limit {
        None => Ok(usize::MAX),
        Some(limit) if LIMIT.contains(&limit) => Ok(limit as usize),
        Some(_) => {
            let (least, most) = (LIMIT.start(), LIMIT.end());
            let why = format!("limit is a number from {least} to {most}.");
            Err(ApiError::Invalid(FieldError::of("limit", why)))
        }
    }
}
