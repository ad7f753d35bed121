//! `POST /admin/v1/tags/bulk`.

mod undo;

use std::borrow::Cow;

use axum::Json;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::openapi::{ArrayBuilder, OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::filter::Filter;
use super::warning;
use crate::admin::Asked;
use crate::admin::experiences::written_variables;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use domain::field_error::FieldError;
use domain::id::{ExperienceId, TagId};
use domain::strict_json;
use domain::tag::{AddVariables, PropertyKey, Status};
use storage::{FormVariables, TagChange, TagFilter, TagSelect};

/// Number of tags per database command. A tap that arrives meanwhile waits for at most one command:
/// a few milliseconds.
const AT_ONCE: usize = 200;
/// Range of `limit`. A lower limit would make `rest` larger than the work that it describes. With a
/// higher limit, one call would take longer than people wait for a sign of progress.
const LIMIT: std::ops::RangeInclusive<u32> = 100..=100_000;

/// A change of many tags, with its limits.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = TagBulkRequest)]
pub(crate) struct BulkRequest {
    #[serde(flatten)]
    change: BulkChange,
    /// Number of tags that the caller expects to select. If the number is different, nothing is
    /// changed.
    #[serde(default)]
    expected_count: Option<u64>,
    /// Maximum number of tags that this call changes. `rest` contains the requests for the others.
    #[serde(default)]
    #[schema(minimum = 100, maximum = 100_000)]
    limit: Option<u32>,
}

strict_json::tagged_by_name!(BulkChange, "action");

/// The same change for many tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(
    tag = "action",
    rename_all = "lowercase",
    deny_unknown_fields,
    remote = "Self"
)]
#[schema(as = TagBulkChange)]
pub(crate) enum BulkChange {
    /// Assigns the tags to an experience, or with `null` to none.
    Assign {
        /// The tags to change.
        select: Selection,
        /// The experience, or `null` for none. Required.
        #[serde(deserialize_with = "Option::deserialize")]
        #[schema(required)]
        experience_id: Option<ExperienceId>,
        /// Whether the tags get the variables that the page of the experience writes.
        #[serde(default, skip_serializing_if = "AddVariables::is_default")]
        #[schema(required = false)]
        add_variables: AddVariables,
        /// Variables to remove where they are empty; no variables are added. `undo` lists here the
        /// variables that the assignment added.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        remove_variables: Vec<PropertyKey>,
    },
    /// Sets the status of the tags.
    Status {
        /// The tags to change.
        select: Selection,
        /// The new status of the tags.
        status: Status,
    },
    /// Deletes the tags. Their slugs stay reserved for them.
    Delete {
        /// The tags to delete.
        select: Selection,
    },
    /// Restores deleted tags.
    Restore {
        /// The tags to restore. A filter selects only deleted tags.
        select: Selection,
    },
}

/// A selection of tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = TagSelection)]
pub(crate) enum Selection {
    /// Ids, and ranges of ids. Ids that do not exist or are deleted (for `restore`: are not
    /// deleted) are skipped.
    Ids(Vec<Ids>),
    /// All tags that match at the start of the call.
    #[serde(deserialize_with = "strict_json::one")]
    Filter(Filter),
}

/// One id, or `[first, last]` for a range of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "ids are numbers, or ranges as [first, last]")]
pub(crate) enum Ids {
    /// A single id.
    One(TagId),
    /// A range from the first to the last id, including both.
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

/// The result of a bulk change.
#[derive(Serialize, ToSchema)]
#[schema(as = TagBulkResult)]
pub(crate) struct BulkResult {
    /// Number of selected tags.
    selected: usize,
    /// Number of selected tags that this call has processed.
    done: usize,
    /// Number of processed tags that changed. The others had the value already.
    changed: usize,
    /// Number of variables that these tags got because the page of the experience writes them.
    variables_added: usize,
    /// Number of tags that got variables.
    tags_with_added_variables: usize,
    /// Requests to this operation that together revert the change.
    undo: Vec<BulkChange>,
    /// Requests to this operation for the selected tags that are not processed yet, each for at
    /// most `limit` tags. They contain the ids of the tags that this call selected.
    rest: Vec<BulkChange>,
    /// If the change stopped early: the reason, for people.
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

    /// The effect of an assignment on the variables of forms.
    fn variables(&self) -> FormVariables {
        match self {
            Self::Assign {
                remove_variables, ..
            } if !remove_variables.is_empty() => FormVariables::Remove(remove_variables.clone()),
            Self::Assign {
                add_variables: AddVariables(true),
                ..
            } => FormVariables::Add,
            _ => FormVariables::Leave,
        }
    }

    fn of(change: TagChange, variables: &FormVariables, select: Selection) -> Self {
        match change {
            TagChange::Assign(experience_id) => Self::Assign {
                select,
                experience_id,
                add_variables: AddVariables(*variables == FormVariables::Add),
                remove_variables: match variables {
                    FormVariables::Remove(keys) => keys.clone(),
                    FormVariables::Add | FormVariables::Leave => Vec::new(),
                },
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
/// Tags that are assigned to an experience get the variables that the forms and buttons of its page
/// write, with empty values, unless `add_variables` is `false`. `variables_added` counts them.
/// `undo` removes the variables that are still empty.
///
/// Tags are changed in short batches, so that taps continue. Each batch is changed completely or
/// not at all. If the call stops early, `stopped` explains why, `undo` reverts the finished part,
/// and `rest` contains the remaining part.
///
/// With `expected_count`, nothing changes if the number of selected tags is different: the answer
/// is 409 with `code: "count_changed"`. With `limit`, the call ends after that many tags. Then send
/// the requests in `rest` one after the other: `done` shows the progress, and you can stop at any
/// time. The `undo` requests of all answers together revert everything.
#[utoipa::path(
    post, path = "/tags/bulk", tag = "tags", request_body = BulkRequest,
    responses(
        (status = OK, body = BulkResult, headers(("Tapdesk-Warning" = String, description = "Warnings about the assigned tags, in words"))),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn bulk(
    Asked(service): Asked,
    Body(request): Body<BulkRequest>,
) -> Result<(HeaderMap, Json<BulkResult>), ApiError> {
    let limit = limit(request.limit)?;
    let change = request.change.change();
    let variables = request.change.variables();
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
    let mut asked = json!({"change": asked, "selected": ids.len()});
    if let (TagChange::Assign(Some(id)), FormVariables::Add) = (change, &variables)
        && let Some(experience) = service.storage.experience(id).await?
    {
        let added = written_variables(&service, &experience).await?;
        if !added.is_empty() {
            asked["adds_variables"] = json!(added);
        }
    }
    service.storage.asks(asked);
    // The ids are fixed from here on: tags that match later are not changed.
    let mut changed = Vec::new();
    let mut stopped = None;
    let mut done = 0;
    for batch in ids[..ids.len().min(limit)].chunks(AT_ONCE) {
        let storage = &service.storage;
        let batch_changed = storage.change_tags_with(batch.to_vec(), change, variables.clone());
        match batch_changed.await {
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
        variables_added: changed.iter().map(|tag| tag.added.len()).sum(),
        tags_with_added_variables: changed.iter().filter(|tag| !tag.added.is_empty()).count(),
        undo: undo::of(changed),
        rest: undo::rest(change, &variables, &ids[done..], limit),
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
