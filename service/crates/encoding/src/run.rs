//! An encoding run: each inlay that is placed on the reader becomes the inlay of the next tag.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Reason, StateWord};
use domain::batch::{BATCH_MAX, Batch, BatchKind};
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::id::{EncodingId, EncodingRunId, ExperienceId, TagId, UrlTemplateId};
use domain::revision::{Revised, Revision};
use domain::tag::AddVariables;
use domain::text::{NAME_MAX, text_fits};
use inlay::technology::Mode;
use inlay::{MacFrom, Mirror, Technology, Uid};

/// The words of encoding runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunKind {}

impl BatchKind for RunKind {
    const OWNER: &'static str = "A run";
    const NOUN: &'static str = "run";
    const CLOSED: &'static str = "A closed run encodes nothing until it is opened again.";
    const SCHEMA: &'static str = "EncodingRunFields";
    const DESCRIPTION: &'static str = "The fields of a run that can be changed.";
}

/// The fields of a run that can be changed.
pub type RunFields = Batch<RunKind>;

/// The content that a run writes, and where its tags come from once all chosen tags have inlays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = EncodingRunPlan)]
pub struct RunPlan {
    /// Name of the tags that the run creates: `{n}` is the position, `{n:04}` the same with leading
    /// zeros. Null: the run creates no tags and uses only chosen ones.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub pattern: Option<String>,
    /// The experience of tags that are created.
    #[serde(default)]
    pub experience_id: Option<ExperienceId>,
    /// The URL template of the chips; null for the canonical form of a tag URL.
    #[serde(default)]
    pub url_template_id: Option<UrlTemplateId>,
    /// How they show UID and counter in the canonical form; by default encrypted.
    #[serde(default)]
    pub mirror: Option<Mirror>,
    /// Where the MAC's input begins in the canonical form; by default it is empty.
    #[serde(default)]
    pub mac_from: Option<MacFrom>,
    /// The chips of the canonical form: `ntag213`, `ntag215` and `ntag216` get a static URL. The
    /// default is `ntag424dna`, or the technology of the URL template.
    #[serde(default)]
    pub technology: Option<Technology>,
    /// If true, NTAG 213, 215 and 216 are locked against writing once they are verified. This
    /// cannot be undone.
    #[serde(default)]
    pub lock: bool,
    /// If true, NTAG 213, 215 and 216 get a write password, derived from the encoding root. Then
    /// only this service writes them again. It cannot be combined with `lock`. If false, a password
    /// of this service is removed; null: it stays.
    #[serde(default)]
    pub write_password: Option<bool>,
    /// If true, NTAG 424 DNA are switched to LRP mode, which cannot be undone. A URL template of
    /// LRP mode requires it.
    #[serde(default)]
    pub lrp: bool,
    /// If true, keys are random instead of derived from the encoding root.
    #[serde(default)]
    pub own_keys: bool,
    /// Whether created tags get the variables that the page of their experience writes.
    #[serde(default)]
    #[schema(required = false)]
    pub add_variables: AddVariables,
}

/// An encoding run, with counts of its results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EncodingRun)]
pub struct Run {
    /// Identifier, used in the API.
    pub id: EncodingRunId,
    /// The fields that can be changed.
    #[serde(flatten)]
    pub fields: RunFields,
    /// The content that the run writes.
    pub plan: RunPlan,
    /// Number of its tags so far, chosen or created.
    pub tag_count: u64,
    /// Number of its verified inlays.
    pub verified_count: u64,
    /// How many variables its tags got because the page of their experience writes them.
    pub variables_added: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was closed; null while it is open.
    pub closed_at: Option<Timestamp>,
}

/// The tag that the next chip of a run gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EncodingRunNext)]
pub struct RunNext {
    /// The position in the run, from 1.
    pub position: u32,
    /// The tag; null if it is created when the chip is placed on the reader.
    pub tag_id: Option<TagId>,
    /// Slug of the tag; null if the tag is not created yet.
    pub slug: Option<String>,
    /// Present name of the tag, or the name that it will get.
    pub name: String,
    /// Whether it was skipped before.
    pub skipped: bool,
}

/// A chip of a run, with its last result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EncodingRunRow)]
pub struct RunRow {
    /// The position of its tag, from 1; null once the tag went to another chip.
    pub position: Option<u32>,
    /// Tag of the chip; null if it was deleted.
    pub tag_id: Option<TagId>,
    /// Slug of the tag, if there is one.
    pub slug: Option<String>,
    /// Name of the tag, if there is one.
    pub name: Option<String>,
    /// Encoding of this chip.
    pub encoding_id: EncodingId,
    /// UID of the chip: 7 bytes, or 4 if it is random.
    #[serde(serialize_with = "as_shown")]
    #[schema(value_type = String, pattern = "^([0-9A-F]{14}|08[0-9A-F]{6})$")]
    pub uid: Uid,
    /// The chip as it identifies itself; null unless it was encoded.
    pub technology: Option<Technology>,
    /// The mode of an NTAG 424 DNA that was encoded.
    pub mode: Option<Mode>,
    /// Progress of the encoding; `reset` if the chip was wiped later.
    pub state: StateWord,
    /// Why the chip is not encoded.
    pub reason: Option<Reason>,
    /// Version of the chip's keys.
    pub generation: Option<u8>,
    /// The counter of the read that proved it.
    pub counter: Option<u32>,
    /// Time of the last turn.
    pub at: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn as_shown<S: serde::Serializer>(uid: &Uid, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&super::shown_uid(*uid))
}

impl Revised for Run {
    fn revision(&self) -> Revision {
        self.fields.revision()
    }
}

/// Whether a changed run can get more tags than before.
pub fn grows(before: &RunFields, after: &RunFields) -> bool {
    let most = |run: &RunFields| run.planned.unwrap_or(BATCH_MAX);
    most(after) > most(before) || (before.closed && !after.closed)
}

impl RunPlan {
    /// Checks the pattern for names of created tags.
    pub fn validate(&self) -> Result<(), FieldError> {
        let Some(pattern) = &self.pattern else {
            return Ok(());
        };
        let longest = self.tag_name(BATCH_MAX);
        let fits = longest.is_some_and(|name| text_fits(&name, NAME_MAX));
        if pattern.trim().is_empty() || !fits {
            let why = "A pattern is a name with {n} or {n:04} in it, as in Bottle {n:04}.";
            return Err(FieldError::of("pattern", why));
        }
        Ok(())
    }

    /// The name of the tag at a position; `None` if there is no pattern, or if it has no
    /// placeholder.
    pub fn tag_name(&self, position: u32) -> Option<String> {
        let pattern = self.pattern.as_deref()?;
        let (before, rest) = pattern.split_once("{n")?;
        let (format, after) = rest.split_once('}')?;
        let width = match format.strip_prefix(":0") {
            Some(width) => width.parse().ok().filter(|width| *width <= 9)?,
            None if format.is_empty() => 0,
            None => return None,
        };
        Some(format!("{before}{position:0width$}{after}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(pattern: &str) -> Option<String> {
        let plan = RunPlan {
            pattern: Some(pattern.to_owned()),
            ..RunPlan::default()
        };
        plan.tag_name(41)
    }

    #[test]
    fn a_pattern_numbers_the_tags() {
        assert_eq!(named("Bottle {n}").as_deref(), Some("Bottle 41"));
        assert_eq!(
            named("Bottle {n:04}, red").as_deref(),
            Some("Bottle 0041, red")
        );
        for pattern in [
            "Bottle",
            "Bottle {n",
            "Bottle {n:x}",
            "Bottle {n:099}",
            "{m}",
        ] {
            assert_eq!(named(pattern), None, "{pattern}");
        }
    }
}
