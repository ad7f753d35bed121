//! The path of a tap: configuration, record, key, payload, update.

use std::sync::Arc;

use async_trait::async_trait;

use super::StorageError;
use crate::clock::Timestamp;
use crate::experience::PublishedExperience;
use crate::id::{ExperienceId, InlayId, InteractionId, TagId, UrlTemplateId};
use crate::inlay::{MacFrom, Mirror, Technology, Uid};
use crate::interaction::{Change, KeyedInteraction, NewInteraction, Recorded, VersionRef};
use crate::keyring::WrappedKeys;
use crate::rolling_key::{IssuedKey, KeyHash};
use crate::submission::NewSubmission;
use crate::tag::{Properties, PropertyClass, PropertyKey, Tag};

/// The operations of a tap and of its rolling key.
#[async_trait]
pub trait Taps: Send + Sync {
    /// What a tap needs to know of a tag, read now. `None` for no tag, or a deleted one.
    async fn tag_tap(&self, tag: TagKey<'_>) -> Result<Option<TagTap>, StorageError>;

    /// The same of several tags at once: the next ones after `after`, in the order of ids, at
    /// most `limit`. None where reading many ahead of their taps is not worth while.
    async fn tag_taps(&self, after: TagId, limit: usize) -> Result<Vec<TagTap>, StorageError>;

    /// The version of an experience that is published now.
    async fn published_now(
        &self,
        experience: ExperienceId,
    ) -> Result<Option<PublishedExperience>, StorageError>;

    /// The tag's properties of one class, read now.
    async fn properties(
        &self,
        tag: TagId,
        class: PropertyClass,
    ) -> Result<Properties, StorageError>;

    /// An experience as it was published once.
    async fn published(
        &self,
        version: VersionRef,
    ) -> Result<Option<PublishedExperience>, StorageError>;

    /// Records a tap: the counter's compare-and-set, the interaction, the
    /// key's hash and the tag's scan count are one operation, done or not at all. The
    /// interaction's id is one that no other has or will have; ids rise with time, roughly.
    async fn record_tap(&self, tap: NewInteraction) -> Result<Recorded, StorageError>;

    /// The key issued with `id`, and its interaction. The caller compares the hash.
    async fn issued_key(
        &self,
        id: InteractionId,
    ) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError>;

    /// Notes that a payload was read at `at`, for the trace. It is written with later
    /// commits: a crash may lose it, and nobody waits for it.
    fn note_payload_read(&self, id: InteractionId, at: Timestamp);

    /// Notes that an update with a good key was refused at `at`, for the trace; as
    /// a payload's read is.
    fn note_refused_update(&self, id: InteractionId, at: Timestamp, refusal: &UpdateRefusal);

    /// Keeps the names of macros without whose values a tap was answered, for the trace.
    async fn note_left_out(
        &self,
        id: InteractionId,
        macros: Vec<String>,
    ) -> Result<(), StorageError>;

    /// Consumes a key and writes its variables, or does neither.
    async fn update_variables(&self, update: VariableUpdate) -> Result<Updated, StorageError>;
}

/// Which tag.
#[derive(Clone, Copy, Debug)]
pub enum TagKey<'a> {
    /// By the last part of its URL.
    Slug(&'a str),
    /// By its id.
    Id(TagId),
    /// By the UID of its inlay, if the inlay writes its URLs by a template.
    Inlay(Uid),
}

/// What a tap needs to know of a tag. Its properties are not part of it: they
/// are read when a macro asks for them.
#[derive(Clone, Debug)]
pub struct TagTap {
    /// The tag, without its properties and counts.
    pub tag: Tag,
    /// Its inlays.
    pub inlays: TagInlays,
}

/// The inlays of a tag, as a tap needs them.
#[derive(Clone, Debug, Default)]
pub struct TagInlays {
    /// Those that make codes of the canonical form.
    pub rolling: Vec<BoundInlay>,
    /// Those that write their URLs by a template.
    pub of_templates: Vec<TemplateInlay>,
    /// Whether there is one that makes no codes.
    pub has_static: bool,
}

/// An inlay that writes its URLs by a template, its keys still wrapped.
#[derive(Clone, Debug)]
pub struct TemplateInlay {
    /// The inlay.
    pub id: InlayId,
    /// Its UID.
    pub uid: Uid,
    /// Its chip.
    pub technology: Technology,
    /// The template.
    pub url_template_id: UrlTemplateId,
    /// The tag it is fixed to.
    pub tag_id: Option<TagId>,
    /// Whether it lives in the simulated world.
    pub simulated: bool,
    /// Whether its owner blocked it.
    pub blocked: bool,
    /// Rises if its keys are replaced, or if it is blocked or unblocked; from 1.
    pub key_version: u32,
    /// Its keys; `None` if its chip has none.
    pub keys: Option<WrappedKeys>,
}

/// A rolling-code inlay of the canonical form, its keys still wrapped.
#[derive(Clone, Debug)]
pub struct BoundInlay {
    /// The inlay.
    pub id: InlayId,
    /// Its UID.
    pub uid: Uid,
    /// How it mirrors UID and counter.
    pub mirror: Mirror,
    /// Where the MAC's input begins.
    pub mac_from: MacFrom,
    /// Whether its owner blocked it.
    pub blocked: bool,
    /// Rises if its keys are replaced, or if it is blocked or unblocked; from 1.
    pub key_version: u32,
    /// Its keys.
    pub keys: WrappedKeys,
}

/// A request to update variables (specification 4.2), well formed.
#[derive(Clone, Debug)]
pub struct VariableUpdate {
    /// The interaction the key says it belongs to.
    pub id: InteractionId,
    /// The presented key's hash.
    pub hash: KeyHash,
    /// Digest of `Idempotency-Key` and body, if there is such a header.
    pub request: Option<[u8; 32]>,
    /// New values of existing variables; no key twice.
    pub data: Vec<(PropertyKey, String)>,
    /// The form that sends it.
    pub submission: Option<NewSubmission>,
    /// Offset of simulated time, applied to simulated interactions alone.
    pub simulated_offset: i64,
}

/// What became of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Updated {
    /// The variables are written and the key is consumed.
    Done(Arc<[Change]>),
    /// This very request was answered before; its answer is due again.
    Repeated,
    /// Nothing was written.
    Refused(UpdateRefusal),
}

/// Why an update was refused. Clients see one answer for all (specification 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateRefusal {
    /// No such key, another key, or an expired one.
    InvalidKey,
    /// The key was consumed.
    Consumed,
    /// The tag has no such variable.
    UnknownVariable(PropertyKey),
    /// The tag is deleted or leads to no experience any more.
    NotAssigned,
    /// The tag asks for a verified tap.
    NotVerified,
    /// The form can be sent once per tag, and was.
    SentBefore,
}
