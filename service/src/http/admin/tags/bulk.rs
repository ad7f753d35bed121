//! `POST /admin/v1/tags/bulk`.

mod undo;

use std::borrow::Cow;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::openapi::{ArrayBuilder, OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::filter::Filter;
use crate::http::admin::body::Body;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::id::{ExperienceId, TagId};
use crate::object;
use crate::service::Service;
use crate::storage::{TagChange, TagFilter, TagSelect};
use crate::tag::Status;

/// Tags changed by one command of the database: taps that come meanwhile wait
/// for one such piece at the most.
const AT_ONCE: usize = 1_000;

/// One change of many tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "action", rename_all = "lowercase", deny_unknown_fields)]
#[schema(as = TagBulkChange)]
pub(crate) enum BulkChange {
    /// Assign to an experience, or with `null` to none.
    Assign {
        /// Which tags.
        select: Selection,
        /// The experience. It must be given, be it as `null`.
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
    /// Delete. The slugs stay the tags' own.
    Delete {
        /// Which tags.
        select: Selection,
    },
    /// Bring deleted tags back as they were.
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
    /// Ids, and ranges of them; those that do not exist are passed over.
    Ids(Vec<Ids>),
    /// All that match at the moment at which the call begins.
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
    /// How many of them are changed. The others were so already.
    changed: usize,
    /// Requests to this same operation that together take the change back.
    undo: Vec<BulkChange>,
    /// Where it ended before all tags were changed: why, in words.
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
            Selection::Ids(ids) => TagSelect::Ranges(ids.into_iter().map(Ids::bounds).collect()),
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
/// Tags are changed a thousand at a time, so that taps go on meanwhile: each
/// thousand is changed as a whole or not at all, and a caller that goes away
/// ends the work between two of them. Where it cannot go on, `stopped` says why
/// and `undo` covers what is done.
#[utoipa::path(
    post, path = "/tags/bulk", tag = "tags", request_body = BulkChange,
    responses((status = OK, body = BulkResult), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn bulk(
    State(service): State<Arc<Service>>,
    Body(request): Body<BulkChange>,
) -> Result<Json<BulkResult>, ApiError> {
    let change = request.change();
    let ids = service.storage.tag_ids(request.into_select()?).await?;
    let mut changed = Vec::new();
    let mut stopped = None;
    for ids in ids.chunks(AT_ONCE) {
        match service.storage.change_tags(ids.to_vec(), change).await {
            Ok(some) => changed.extend(some),
            Err(error) if changed.is_empty() => return Err(error.into()),
            Err(error) => {
                stopped = Some(ApiError::from(error).detail());
                break;
            }
        }
    }
    Ok(Json(BulkResult {
        selected: ids.len(),
        changed: changed.len(),
        undo: undo::of(changed),
        stopped,
    }))
}
