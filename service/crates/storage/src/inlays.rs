//! Inlays, master keys, and the simulator's inlays.

use super::Conflict;
use domain::id::{MasterKeyId, TagId, UrlTemplateId};
use domain::inventory::InlayFields;
use domain::tag::TagFields;
use inlay::{Technology, Uid};

/// An edit of an inlay, applied inside the operation that stores it. An `Err` stores nothing; its
/// message is a sentence for people.
pub type InlayEdit = Box<dyn Fn(InlayFields) -> Result<InlayFields, Conflict> + Send + Sync>;

/// Selects inlays for a list; an inlay must match every given member.
#[derive(Clone, Debug, Default)]
pub struct InlayFilter {
    /// Inlays on this tag.
    pub tag_id: Option<TagId>,
    /// The inlay with this UID.
    pub uid: Option<Uid>,
    /// Inlays whose UID contains these hexadecimal digits, in upper case.
    pub uid_part: Option<String>,
    /// Inlays with this master key.
    pub master_key_id: Option<MasterKeyId>,
    /// Inlays with this URL template.
    pub url_template_id: Option<UrlTemplateId>,
    /// `true` for inlays on no tag, `false` for inlays on a tag.
    pub unbound: Option<bool>,
    /// `true` for simulated inlays, `false` for real ones.
    pub simulated: Option<bool>,
    /// `true` for blocked inlays, `false` for the others.
    pub blocked: Option<bool>,
    /// Inlays with this kind of chip.
    pub technology: Option<Technology>,
    /// `true` for inlays with factory keys, `false` for the others.
    pub factory_keys: Option<bool>,
    /// `true` for inlays whose counter has reached its maximum, `false` for inlays with codes left.
    /// As current as a list sorted by taps: on SQLite, at most 30 seconds old.
    pub exhausted: Option<bool>,
    /// Inlays whose chip this service encoded with this tag URL.
    pub carried_tag_url: Option<String>,
}

/// A tag URL that this service encoded into chips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedTagUrl {
    /// The tag URL, as it was written.
    pub tag_url: String,
    /// How many inlays contain it.
    pub inlays: u64,
}

/// Selects inlays whose keys may explain a code that does not verify.
#[derive(Clone, Copy, Debug)]
pub enum OtherInlays {
    /// The inlay with this UID.
    Uid(Uid),
    /// The newest inlays, at most this many.
    Newest(usize),
}

/// The tag for a new virtual inlay.
#[derive(Clone, Debug)]
pub enum SimulatedTag {
    /// An existing simulated tag.
    Existing(TagId),
    /// A new simulated tag with these fields.
    New(Box<TagFields>),
}
