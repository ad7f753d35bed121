//! The answer of an import.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::super::headings::FileColumn;
use domain::id::{GroupId, InlayId, TagId};
use domain::revision::Revision;
use domain::table::{Encoding, Format};

/// Placeholder of the results, which are sent separately. Quotes in a heading are escaped, so no
/// other text contains it.
const NO_RESULTS: &str = "\"results\":[]";

/// The result of an import.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = TagImportResult)]
pub struct ImportResult {
    /// Number of imported rows, without the header and empty rows.
    pub(super) rows: usize,
    /// Whether this was a dry run. If so, nothing was written, and the results are a preview.
    pub(super) dry_run: bool,
    /// The kind of the file, which its bytes decide.
    pub(super) format: Format,
    /// The character encoding of a CSV file. Null for a workbook.
    pub(super) encoding: Option<Encoding>,
    /// The character between cells of a CSV file. Null for a workbook.
    #[schema(example = ";")]
    pub(super) separator: Option<String>,
    /// Headings of columns that were ignored.
    pub(super) ignored_columns: Vec<String>,
    /// Further information for people: the encoding if it was a guess, the sheet that was read,
    /// hexadecimal counters, ids that became other slugs.
    pub(super) notes: Vec<String>,
    /// The result of each row.
    pub(super) results: Vec<RowResult>,
    /// Number of created tags.
    pub(super) created: usize,
    /// Number of changed tags.
    pub(super) updated: usize,
    /// Number of refused rows.
    pub(super) refused: usize,
    /// Number of deleted properties and other values.
    pub(super) deleted: usize,
    /// Number of variables that tags got because the page of their experience writes them.
    pub(super) variables_added: usize,
    /// Number of tags that got variables.
    pub(super) tags_with_added_variables: usize,
    /// Number of groups that the import created; in a dry run, that it would create.
    pub(super) groups_created: usize,
    /// The groups that the import created, each after its parent. None in a dry run.
    pub(super) created_groups: Vec<CreatedGroup>,
    /// Number of valid rows that were left out because other rows were refused.
    pub(super) left_out: usize,
    /// If the import stopped early: the reason, for people.
    pub(super) stopped: Option<String>,
}

/// A group that an import created. To undo that, delete the groups in the reverse order with
/// `If-Match`: a group that was filled or changed meanwhile then stays.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ImportedGroup)]
pub(crate) struct CreatedGroup {
    /// Id of the group.
    id: GroupId,
    /// Entity tag for `If-Match`, to change or delete the group only if it is still as it was
    /// created.
    etag: String,
}

impl CreatedGroup {
    pub(super) fn new(id: GroupId, revision: Revision) -> Self {
        Self {
            id,
            etag: format!("\"{revision}\""),
        }
    }
}

/// The result of a row.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = TagImportRow)]
pub(crate) struct RowResult {
    /// Row number in a spreadsheet; the header is row 1.
    pub(super) row: u32,
    #[serde(flatten)]
    pub(super) outcome: RowOutcome,
    /// The columns of the file that `reason` or `warning` concerns, with their headings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(super) columns: Vec<FileColumn>,
}

/// The outcome of a row.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[schema(as = TagImportOutcome)]
pub(crate) enum RowOutcome {
    /// The row created a tag.
    Created(Saved),
    /// The row changed a tag.
    Updated(Saved),
    /// The row was not imported.
    Refused {
        /// The reason, for people.
        reason: String,
    },
    /// The row is valid, but was not written because other rows were refused.
    LeftOut,
}

/// The tag of a row. In a dry run it has no id, and no slug if that is generated.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = ImportedTag)]
pub(crate) struct Saved {
    /// Id of the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(super) id: Option<TagId>,
    /// Slug of the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(super) slug: Option<String>,
    /// Id of the new inlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(super) inlay_id: Option<InlayId>,
    /// The columns whose values were deleted from an existing tag.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(super) deleted: Vec<String>,
    /// The old cells of the columns in which the row changed an existing tag. To restore the
    /// values, import these cells with the mode `upsert`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    pub(super) before: BTreeMap<String, String>,
    /// Number of variables that the tag got because the page of its experience writes them.
    #[serde(skip_serializing_if = "is_none")]
    #[schema(required = false)]
    pub(super) variables_added: usize,
    /// Warnings about the tag, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(super) warning: Option<String>,
}

impl RowResult {
    /// Whether the row was stored as a tag. Also true in a dry run if it would be.
    pub(super) const fn is_written(&self) -> bool {
        matches!(
            self.outcome,
            RowOutcome::Created(_) | RowOutcome::Updated(_)
        )
    }
}

impl ImportResult {
    /// Adds the results of some rows to the counts.
    pub(super) fn count(&mut self, results: &[RowResult]) {
        for result in results {
            if let RowOutcome::Updated(Saved { deleted, .. }) = &result.outcome {
                self.deleted += deleted.len();
            }
            if let RowOutcome::Created(saved) | RowOutcome::Updated(saved) = &result.outcome {
                self.variables_added += saved.variables_added;
                self.tags_with_added_variables += usize::from(saved.variables_added > 0);
            }
            *match result.outcome {
                RowOutcome::Created(_) => &mut self.created,
                RowOutcome::Updated(_) => &mut self.updated,
                RowOutcome::Refused { .. } => &mut self.refused,
                RowOutcome::LeftOut => &mut self.left_out,
            } += 1;
        }
    }

    /// The JSON before and after the results, which are sent separately.
    pub(super) fn around_results(&self) -> (String, String) {
        let json = serde_json::to_string(self).unwrap_or_default();
        let (before, after) = json.split_once(NO_RESULTS).unwrap_or_default();
        (format!("{before}\"results\":["), format!("\n]{after}\n"))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_none(added: &usize) -> bool {
    *added == 0
}
