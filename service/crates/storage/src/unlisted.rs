//! Chips that are no inlays, whose codes a URL template's keys made.

use domain::id::{InlayId, TagId, UrlTemplateId};
use domain::interaction::{NewInteraction, Recorded};
use domain::inventory::{KeyPrints, NewInlay};
use domain::tag::TagFields;
use inlay::{Technology, Uid};

/// An authentic code of a chip that was no inlay when the code was checked.
#[derive(Clone, Copy, Debug)]
pub struct UnlistedTap {
    /// The UID of the chip.
    pub uid: Uid,
    /// The kind of the chip.
    pub technology: Technology,
    /// The URL template whose keys made the code.
    pub url_template_id: UrlTemplateId,
    /// The fingerprints of the keys that made the code.
    pub keys: KeyPrints,
    /// The counter of the code.
    pub counter: u32,
}

/// The tag and the inlay that a tap of an unlisted chip creates.
pub struct CreatedByTap {
    /// The tag. It gets the variables of its experience's page.
    pub tag: TagFields,
    /// The inlay, which is bound to the tag.
    pub inlay: NewInlay,
    /// The tap with this counter, as a tap of them.
    pub tap: Box<dyn Fn(NewIds, u32) -> NewInteraction + Send + Sync>,
}

/// The ids of a tag and an inlay that a tap creates.
#[derive(Clone, Copy, Debug)]
pub struct NewIds {
    /// Identifier of the new tag.
    pub tag: TagId,
    /// Identifier of the new inlay, or of a restored one.
    pub inlay: InlayId,
    /// The version of the inlay's keys.
    pub key_version: u32,
}

/// The result of a tap of an unlisted chip.
#[derive(Clone, Copy, Debug)]
pub enum UnlistedOutcome {
    /// The chip is in the list of unlisted chips, with its counter.
    Kept,
    /// The same, although the tap would have created a tag: the limit of the day is reached.
    Limited,
    /// The tap created this tag, and was recorded as a tap of it.
    Created(TagId, Recorded),
    /// The chip is an inlay by now. `here`: of the same URL template.
    Listed {
        /// Whether it has the URL template of the code.
        here: bool,
    },
    /// The UID was that of a simulated inlay. The world of real taps does not know it.
    Simulated,
}

/// The tag for a chip that is enrolled.
#[derive(Clone, Debug)]
pub enum EnrolOn {
    /// A tag that already exists.
    Existing(TagId),
    /// A new tag. It gets the variables of its experience's page.
    New(Box<TagFields>),
}

/// Selects unlisted chips for a list; a chip must match every given member.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnlistedFilter {
    /// Chips of this URL template.
    pub url_template_id: Option<UrlTemplateId>,
    /// The chip with this UID.
    pub uid: Option<Uid>,
}

/// How many inlays and tags that taps created were deleted, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MadeByTaps {
    /// Number of inlays that are still on the tag that the tap created.
    pub inlays: u64,
    /// Number of tags. A tag that has another inlay by now stays.
    pub tags: u64,
}
