//! An interaction as the admin API shows it.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Interaction, Reason, TagName, TapOrigin, Tech};
use crate::clock::Timestamp;
use crate::id::{ExperienceId, GroupId, InlayId, InteractionId, TagId};
use crate::visitor::OperatingSystem;
use inlay::Uid;
use inlay::assessment::Tamper;

/// A tap and its result.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a member of the answer"
)]
#[derive(Serialize, ToSchema)]
#[schema(as = Interaction)]
pub struct InteractionView {
    /// Identifier, used in the API.
    id: InteractionId,
    /// Time of the tap.
    at: Timestamp,
    /// The tag; null if the inlay that made the code was on no tag.
    tag_id: Option<TagId>,
    /// The last part of the tag's URL; null if the tag is not within the token's reach any more.
    slug: Option<String>,
    /// The tag's name; null under the same condition as `slug`.
    tag_name: Option<String>,
    /// Whether the code proved a tap; `null` if it was not checked.
    tag_verified: Option<bool>,
    /// Reason for the verdict.
    reason: Reason,
    /// The code's read counter.
    #[schema(value_type = Option<u64>)]
    counter: Option<u32>,
    /// The counter before this tap: the highest accepted one, plus the reads of the inlay that this
    /// application made since. 0 if there was none.
    #[schema(value_type = Option<u64>)]
    last_counter: Option<u32>,
    /// How many reads of the inlay before this one never reached the service.
    #[schema(value_type = u64)]
    missed_reads: u32,
    /// The inlay that made an authentic code.
    inlay_id: Option<InlayId>,
    /// The UID that a code of no inlay of this tag names.
    uid: Option<Uid>,
    /// The way of scanning: `n` NFC, `q` QR code, `u` bare URL.
    tech: Tech,
    /// The experience that the visitor got.
    experience_id: Option<ExperienceId>,
    /// The version of that experience.
    experience_version: Option<u32>,
    /// The recalled group that decided the visitor's page; null if the tag was not recalled.
    recall_group_id: Option<GroupId>,
    /// Two-letter country of the visitor; empty if it is not known or was erased.
    country: String,
    /// The operating system of the visitor's device, according to its browser; null if it is not
    /// known or was erased.
    system: Option<OperatingSystem>,
    /// The first part of the visitor's language, such as `de`; null if it is not known or was
    /// erased.
    language: Option<String>,
    /// Which of a hundred groups, from 0, the visitor is in for this experience; null if the
    /// experience has no groups of visitors.
    visitor_group: Option<u8>,
    /// Whether this visitor tapped the tag in the 30 days before.
    returning_month: bool,
    /// Whether this visitor tapped the tag in the 24 hours before.
    returning_day: bool,
    /// Whether the answer contained a rolling key.
    key_issued: bool,
    /// The state of the inlay's tamper loop: null if it has no loop, `unknown` if the state is not
    /// authenticated.
    tamper: Option<Tamper>,
    /// The decrypted file data of its code; null if it has no file data.
    file_data: Option<FileDataView>,
    /// Whether the tap is simulated.
    simulated: bool,
    /// The origin of the tap: `visitor`, or a part of this application. Statistics count its test
    /// taps separately.
    origin: TapOrigin,
    /// Whether a staff phone made the tap. Such a tap is in no statistic.
    staff: bool,
}

/// File data that the chip encrypted.
#[derive(Serialize, ToSchema)]
#[schema(as = FileData)]
struct FileDataView {
    /// All file data, in hex digits.
    #[schema(pattern = "^([0-9A-F]{2})*$")]
    hex: String,
    /// The same data as text, up to the first zero byte; null if they are not text.
    text: Option<String>,
}

impl FileDataView {
    fn of(data: &[u8]) -> Self {
        let text = data.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = std::str::from_utf8(text).ok();
        let text = text.filter(|text| !text.chars().any(char::is_control));
        Self {
            hex: format!("{:X}", base16ct::HexDisplay(data)),
            text: text.map(str::to_owned),
        }
    }
}

impl InteractionView {
    /// The view of `interaction` at `tag`, which is `None` if the tag was deleted.
    pub fn new(interaction: Interaction, tag: Option<TagName>) -> Self {
        let (slug, tag_name) = tag.map(|tag| (tag.slug, tag.tag_name)).unzip();
        let verdict = interaction.verdict;
        let (counter, last_counter) = verdict.counters();
        Self {
            id: interaction.id,
            at: interaction.at,
            tag_id: interaction.tag_id,
            slug,
            tag_name,
            tag_verified: verdict.tag_verified(),
            reason: verdict.reason(),
            counter,
            last_counter,
            missed_reads: verdict.missed_reads(),
            inlay_id: interaction.inlay_id,
            uid: verdict.other_uid(),
            tech: interaction.tech,
            experience_id: interaction.experience.map(|version| version.experience_id),
            experience_version: interaction.experience.map(|version| version.version),
            recall_group_id: interaction.recalled_by,
            country: interaction.country,
            system: interaction.traits.system,
            language: interaction.traits.language,
            visitor_group: interaction.traits.group,
            returning_month: interaction.returning.month,
            returning_day: interaction.returning.day,
            key_issued: interaction.key_issued,
            tamper: interaction.tamper,
            file_data: interaction.file_data.as_deref().map(FileDataView::of),
            simulated: interaction.simulated,
            origin: interaction.origin,
            staff: interaction.origin == TapOrigin::Staff,
        }
    }
}
