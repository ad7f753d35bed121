//! A test sheet: one inlay after another is placed on a reader, and each leaves a row with its
//! result. The program that reads the inlays decides the verdicts; the service stores them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::batch::{Batch, BatchKind};
use crate::clock::Timestamp;
use crate::field_error::FieldError;
use crate::id::{ExperienceId, SheetId, TagId};
use crate::interaction::StaffPhoto;
use crate::recorder::Recorder;
use crate::revision::{Revised, Revision};
use crate::settings::parse_tag_url;
use crate::text::{NAME_MAX, TEXT_MAX, text_fits};

/// Most rows of one sheet.
pub const ROWS_MAX: u64 = 10_000;
/// Longest verdict, in characters.
const VERDICT_MAX: usize = 32;

/// The expected result for every inlay of a sheet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The base of its URL, as encoded: scheme, host, port and path; `null` for the service's own
    /// tag URL at the time of the check.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub tag_url: Option<String>,
    /// The experience of its tag; `null` if any experience is accepted.
    #[serde(default)]
    pub experience_id: Option<ExperienceId>,
    /// The `tag_verified` of its tap; `null` if any value is accepted.
    #[serde(default)]
    pub tag_verified: Option<bool>,
    /// Whether it is locked against writing, for good or by a key; `null` if both are accepted.
    #[serde(default)]
    pub locked: Option<bool>,
}

/// The words of test sheets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SheetKind {}

impl BatchKind for SheetKind {
    const OWNER: &'static str = "A sheet";
    const NOUN: &'static str = "sheet";
    const CLOSED: &'static str = "A closed sheet accepts no rows until it is opened again.";
    const SCHEMA: &'static str = "SheetFields";
    const DESCRIPTION: &'static str = "Changes to a sheet.";
}

/// Members of a sheet that can be changed.
pub type SheetFields = Batch<SheetKind>;

impl Expected {
    /// Checks the base URL and removes a slash at its end.
    pub fn validated(mut self) -> Result<Self, FieldError> {
        if let Some(text) = &mut self.tag_url {
            let base = parse_tag_url(text).filter(|base| text_fits(base, TEXT_MAX));
            *text = base.ok_or_else(|| FieldError::of(
                "expected.tag_url",
                "The expected tag_url is the base of tags' URLs, as in https://tags.example.com/t, without a query.",
            ))?;
        }
        Ok(self)
    }
}

impl Revised for Sheet {
    fn revision(&self) -> Revision {
        self.fields.revision()
    }
}

/// A test sheet, without its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Sheet {
    /// Identifier, used in the API.
    pub id: SheetId,
    /// Members that the owner can change.
    #[serde(flatten)]
    pub fields: SheetFields,
    /// The expected result for every inlay.
    pub expected: Expected,
    /// How many rows it has.
    pub row_count: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// Who confirmed its rows; `null` before that. A sheet that is signed off never changes again.
    pub signed_off: Option<SignOff>,
}

/// The confirmation of a sheet's rows by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignOff {
    /// The name of the person who confirmed the rows, as it was typed.
    pub signer: String,
    /// The sender of the request; `null` if the service itself made it.
    pub by: Option<Recorder>,
    /// Time of the confirmation.
    pub at: Timestamp,
}

/// Checks the name of the person who signs a sheet off, and removes blanks around it.
///
/// # Errors
///
/// A sentence about `signer`.
pub fn signer(text: &str) -> Result<String, FieldError> {
    let name = text.trim();
    if name.is_empty() || !text_fits(name, NAME_MAX) {
        let why = format!("A signer has a name of 1 to {NAME_MAX} characters.");
        return Err(FieldError::of("signer", why));
    }
    Ok(name.to_owned())
}

/// The verdict of a row for people. A verdict of another version keeps its own name.
pub fn verdict_title(verdict: &str) -> &str {
    match verdict {
        "ok" => "Good",
        "copied_url" => "Copied URL",
        "unreadable" => "Unreadable",
        "locked" => "Locked",
        "not_locked" => "Not locked",
        "duplicate" => "Duplicate",
        "wrong_url" => "Wrong URL",
        "wrong_tag" => "Wrong tag",
        "wrong_chip" => "Wrong chip",
        "wrong_experience" => "Wrong experience",
        "not_verified" => "Not verified",
        "not_comparable" => "Not comparable",
        "counter_gap" => "Counter gap",
        "bad" => "Bad",
        other => other,
    }
}

/// The result of one inlay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RowFields {
    /// The UID in hexadecimal: from the code, or else from the chip; `null` if both are unknown.
    #[serde(default)]
    #[schema(pattern = "^([0-9A-Fa-f]{8}|[0-9A-Fa-f]{14}|[0-9A-Fa-f]{20})$")]
    pub uid: Option<String>,
    /// The tag that its URL names.
    #[serde(default)]
    pub tag_id: Option<TagId>,
    /// The counter of its one-time code.
    #[serde(default)]
    #[schema(maximum = 16_777_215)]
    pub counter: Option<u32>,
    /// The verdict by name, such as `ok`, `copied_url`, `wrong_url`, `duplicate`, `unreadable`,
    /// `not_verified`, `not_comparable`, `wrong_tag`, `counter_gap` or `locked`.
    #[schema(pattern = "^[a-z0-9_]{1,32}$")]
    pub verdict: String,
    /// The verdict in words.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub reason: String,
    /// The name of the reader or of the phone that read the inlay, if it is known.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub reader: Option<String>,
}

impl RowFields {
    /// Checks characters and lengths, and writes the UID in upper case.
    pub fn validated(mut self) -> Result<Self, FieldError> {
        if let Some(uid) = &mut self.uid {
            let hex = uid.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !hex || ![8, 14, 20].contains(&uid.len()) {
                let why = "A UID has 8, 14 or 20 hexadecimal digits.";
                return Err(FieldError::of("uid", why));
            }
            uid.make_ascii_uppercase();
        }
        if self.counter.is_some_and(|counter| counter > 0xFF_FFFF) {
            let why = "A counter has three bytes: 0 to 16777215.";
            return Err(FieldError::of("counter", why));
        }
        let named = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if !(1..=VERDICT_MAX).contains(&self.verdict.len()) || !self.verdict.bytes().all(named) {
            let why = format!("A verdict has 1 to {VERDICT_MAX} characters of a-z, 0-9 and _.");
            return Err(FieldError::of("verdict", why));
        }
        if !text_fits(&self.reason, TEXT_MAX) {
            let why = format!("A reason has at most {TEXT_MAX} characters, and no NUL character.");
            return Err(FieldError::of("reason", why));
        }
        if self
            .reader
            .as_ref()
            .is_some_and(|name| !text_fits(name, NAME_MAX))
        {
            let why =
                format!("A reader's name has at most {NAME_MAX} characters, and no NUL character.");
            return Err(FieldError::of("reader", why));
        }
        Ok(self)
    }
}

impl RowFields {
    /// Whether the row is about the inlay with this UID, or about this tag if either has no UID.
    pub fn is_about(&self, uid: Option<&str>, tag: Option<TagId>) -> bool {
        match (self.uid.as_deref(), uid) {
            (Some(own), Some(uid)) => own == uid,
            _ => tag.is_some() && self.tag_id == tag,
        }
    }
}

/// A row of a sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SheetRow {
    /// Its number in the sheet, from 1.
    pub position: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// The sender of the request that recorded it; `null` if the service itself recorded it.
    pub by: Option<Recorder>,
    /// The photo that staff added, without its bytes.
    pub photo: Option<StaffPhoto>,
    /// Result that was recorded for the inlay.
    #[serde(flatten)]
    pub fields: RowFields,
}
