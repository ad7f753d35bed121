//! `POST /admin/v1/tags/bulk`.

mod step;
mod undo;

use std::borrow::Cow;
use std::collections::BTreeMap;

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
use crate::admin::extract::body::{Body, sent};
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use domain::field_error::FieldError;
use domain::id::{ExperienceId, GroupId, TagId};
use domain::strict_json;
use domain::tag::{AddVariables, PropertyKey, Status, check_value};
use step::Step;
use storage::{FormVariables, TagChange, TagFilter, TagSelect, TagSet};
use undo::Undo;

/// Most properties that one change sets. A tag has at most 256 of each class.
const PROPERTIES: usize = 512;
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
        /// Changes only tags of this experience, or with `null` only those of none. `undo` names
        /// here the new experience, so that it leaves tags that were assigned again meanwhile.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "sent"
        )]
        #[schema(value_type = Option<ExperienceId>, required = false)]
        #[expect(clippy::option_option, reason = "null is not the same as not sent")]
        from_experience_id: Option<Option<ExperienceId>>,
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
    /// Moves the tags into a group, or with `null` out of all groups.
    Group {
        /// The tags to change.
        select: Selection,
        /// The group, or `null` for none. Required.
        #[serde(deserialize_with = "Option::deserialize")]
        #[schema(required)]
        group_id: Option<GroupId>,
        /// Changes only tags of this group, or with `null` only those of none. `undo` names here
        /// the new group.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "sent"
        )]
        #[schema(value_type = Option<GroupId>, required = false)]
        #[expect(clippy::option_option, reason = "null is not the same as not sent")]
        from_group_id: Option<Option<GroupId>>,
        /// Whether tags without an experience of their own get the variables that the page of the
        /// group's experience writes.
        #[serde(default, skip_serializing_if = "AddVariables::is_default")]
        #[schema(required = false)]
        add_variables: AddVariables,
        /// Variables to remove where they are empty; no variables are added. `undo` lists here the
        /// variables that the move added.
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
        /// Changes only tags of this status. `undo` names here the new status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(required = false)]
        from_status: Option<Status>,
    },
    /// Sets or removes properties of the tags.
    Set {
        /// The tags to change.
        select: Selection,
        /// New values of attributes by their keys; `null` removes one.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[schema(required = false)]
        attributes: BTreeMap<PropertyKey, Option<String>>,
        /// New values of data by their keys; `null` removes one.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[schema(required = false)]
        data: BTreeMap<PropertyKey, Option<String>>,
        /// Whether a QR code of the tags is printed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(required = false)]
        has_qr_code: Option<bool>,
        /// Changes only tags with these values of attributes; `null` asks that there is none. The
        /// `from_` members of `undo` have the new values.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[schema(required = false)]
        from_attributes: BTreeMap<PropertyKey, Option<String>>,
        /// Changes only tags with these values of data; `null` asks that there is none.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[schema(required = false)]
        from_data: BTreeMap<PropertyKey, Option<String>>,
        /// Changes only tags of which a QR code is printed, or is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(required = false)]
        from_has_qr_code: Option<bool>,
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
    /// Number of processed tags that changed. The others had the value already, or lack a value of
    /// the `from_` members.
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

/// The effect of an assignment or a move on the variables of forms.
fn form_variables(add: AddVariables, remove: &[PropertyKey]) -> FormVariables {
    if !remove.is_empty() {
        FormVariables::Remove(remove.to_vec())
    } else if add.0 {
        FormVariables::Add
    } else {
        FormVariables::Leave
    }
}

impl BulkChange {
    /// The change without the tags.
    fn step(&self) -> Result<Step, ApiError> {
        let change = |to, variables, from| Step::Change {
            to,
            variables,
            from,
        };
        let leave = FormVariables::Leave;
        Ok(match self {
            Self::Assign {
                experience_id,
                from_experience_id,
                add_variables,
                remove_variables,
                ..
            } => change(
                TagChange::Assign(*experience_id),
                form_variables(*add_variables, remove_variables),
                from_experience_id.map(TagChange::Assign),
            ),
            Self::Group {
                group_id,
                from_group_id,
                add_variables,
                remove_variables,
                ..
            } => change(
                TagChange::Group(*group_id),
                form_variables(*add_variables, remove_variables),
                from_group_id.map(TagChange::Group),
            ),
            Self::Status {
                status,
                from_status,
                ..
            } => change(
                TagChange::Status(*status),
                leave,
                from_status.map(TagChange::Status),
            ),
            Self::Set {
                attributes,
                data,
                has_qr_code,
                from_attributes,
                from_data,
                from_has_qr_code,
                ..
            } => {
                let to = TagSet {
                    attributes: attributes.clone(),
                    data: data.clone(),
                    has_qr_code: *has_qr_code,
                };
                check_set(&to)?;
                let from = TagSet {
                    attributes: from_attributes.clone(),
                    data: from_data.clone(),
                    has_qr_code: *from_has_qr_code,
                };
                Step::Set { to, from }
            }
            Self::Delete { .. } => change(TagChange::Delete, leave, None),
            Self::Restore { .. } => change(TagChange::Restore, leave, None),
        })
    }

    fn into_select(self) -> Result<TagSelect, ApiError> {
        let deleted = matches!(self, Self::Restore { .. });
        let (Self::Assign { select, .. }
        | Self::Group { select, .. }
        | Self::Status { select, .. }
        | Self::Set { select, .. }
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

fn check_set(set: &TagSet) -> Result<(), ApiError> {
    let refused =
        |field: &'static str, why: String| Err(ApiError::Invalid(FieldError::of(field, why)));
    if set.is_empty() {
        return refused("attributes", "There is nothing to set.".to_owned());
    }
    if set.properties() > PROPERTIES {
        let why = format!("One change sets at most {PROPERTIES} properties.");
        return refused("attributes", why);
    }
    for (field, properties) in [("attributes", &set.attributes), ("data", &set.data)] {
        for (key, value) in properties {
            if let Some(Err(why)) = value.as_deref().map(check_value) {
                return refused(field, format!("{key}: {why}"));
            }
        }
    }
    Ok(())
}

impl Ids {
    pub(in crate::admin) const fn bounds(self) -> (TagId, TagId) {
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
/// `undo` removes the variables that are still empty, and changes no tag that got another value
/// meanwhile.
///
/// Tags are changed in short batches, so that taps continue. Each batch is changed completely or
/// not at all. If the call stops early, `stopped` explains why, `undo` reverts the finished part,
/// and `rest` contains the remaining part.
///
/// With `expected_count`, nothing changes if the number of selected tags is different: the answer
/// is 409 with `code: "count_changed"`. With `limit`, the call ends after that many tags. Then send
/// the requests in `rest` one after the other: `done` shows the progress, and you can stop at any
/// time. The `undo` requests of all answers together revert everything. A call that sets properties
/// also ends when the values in `undo` have 8 MiB.
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
    let step = request.change.step()?;
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
    if let Step::Change {
        to: TagChange::Assign(Some(id)),
        variables: FormVariables::Add,
        ..
    } = step
        && let Some(experience) = service.storage.experience(id).await?
    {
        let added = written_variables(&service, &experience).await?;
        if !added.is_empty() {
            asked["adds_variables"] = json!(added);
        }
    }
    service.storage.asks(asked);
    // The ids are fixed from here on: tags that match later are not changed.
    let (mut undo, mut stopped) = (Undo::default(), None);
    let (mut done, mut changed) = (0, 0);
    let (mut variables_added, mut tags_with_added_variables) = (0, 0);
    for batch in ids[..ids.len().min(limit)].chunks(step.at_once()) {
        match step.make(&service.storage, batch).await {
            Ok(some) => {
                for tag in some {
                    changed += 1;
                    variables_added += tag.added.len();
                    tags_with_added_variables += usize::from(!tag.added.is_empty());
                    undo.add(tag.id, tag.back);
                }
            }
            Err(error) if changed == 0 => return Err(error.into()),
            Err(error) => {
                stopped = Some(ApiError::from(error).detail());
                break;
            }
        }
        done += batch.len();
        if undo.is_large() {
            break;
        }
    }
    let warning = match step {
        Step::Change {
            to: TagChange::Assign(Some(experience)),
            ..
        } => warning::experience_of_many(&service, experience).await?,
        _ => None,
    };
    let result = BulkResult {
        selected: ids.len(),
        done,
        changed,
        variables_added,
        tags_with_added_variables,
        undo: undo.requests(),
        rest: undo::rest(&step, &ids[done..], limit),
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
