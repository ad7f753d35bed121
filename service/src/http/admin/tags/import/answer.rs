//! What an import answers.

use serde::Serialize;
use utoipa::ToSchema;

use crate::id::{InlayId, TagId};

/// The result of an import.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = TagImportResult)]
pub(crate) struct ImportResult {
    /// How many rows the file has, the header and empty rows not counted.
    pub(super) rows: usize,
    /// Whether nothing was written: the results say what would be done.
    pub(super) dry_run: bool,
    /// The result of each row.
    pub(super) results: Vec<RowResult>,
    /// How many tags are new.
    pub(super) created: usize,
    /// How many tags are changed.
    pub(super) updated: usize,
    /// How many rows were refused.
    pub(super) refused: usize,
    /// How many properties and other values of tags are deleted.
    pub(super) deleted: usize,
    /// How many good rows were left out because of others.
    pub(super) left_out: usize,
    /// If the import stopped early: why, in words.
    pub(super) stopped: Option<String>,
}

/// The result of a row.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = TagImportRow)]
pub(crate) struct RowResult {
    /// Its number as a spreadsheet shows it; the header is row 1.
    pub(super) row: u32,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
}

/// The result of a row.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[schema(as = TagImportOutcome)]
pub(crate) enum Outcome {
    /// There is a new tag.
    Created(Saved),
    /// A tag is changed.
    Updated(Saved),
    /// Nothing is done.
    Refused {
        /// Why, in words.
        reason: String,
    },
    /// Not written, because other rows were refused.
    LeftOut,
}

/// The tag of a row. In a dry run it has no id and no generated slug.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = ImportedTag)]
pub(crate) struct Saved {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(super) id: Option<TagId>,
    /// Its slug.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(super) slug: Option<String>,
    /// The id of its new inlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(super) inlay_id: Option<InlayId>,
    /// The columns whose values are deleted from an existing tag.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(super) deleted: Vec<String>,
    /// Warnings about it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(super) warning: Option<String>,
}

impl ImportResult {
    /// Counts the results of some rows.
    pub(super) fn count(&mut self, results: &[RowResult]) {
        for result in results {
            if let Outcome::Updated(Saved { deleted, .. }) = &result.outcome {
                self.deleted += deleted.len();
            }
            *match result.outcome {
                Outcome::Created(_) => &mut self.created,
                Outcome::Updated(_) => &mut self.updated,
                Outcome::Refused { .. } => &mut self.refused,
                Outcome::LeftOut => &mut self.left_out,
            } += 1;
        }
    }

    /// The JSON before the results, which are sent apart, and after them.
    pub(super) fn around_results(&self) -> (String, String) {
        let json = serde_json::to_string(self).unwrap_or_default();
        let (before, after) = json.split_once("[]").unwrap_or_default();
        (format!("{before}["), format!("\n]{after}\n"))
    }
}
