//! The path of a tap: configuration, record, rolling key, payload, update.

use std::sync::Arc;

use super::access::{each, each_awaited};
use super::shared::{experiences, tags};
use super::{Access, Storage, StorageError};
use domain::clock::{Millis, Timestamp};
use domain::experience::{LedBy, PublishedExperience};
use domain::id::{ExperienceId, InlayId, InteractionId, TagId, UrlTemplateId};
use domain::interaction::{
    Change, KeyedInteraction, NewInteraction, Recorded, TapOrigin, VersionRef,
};
use domain::keyring::WrappedKeys;
use domain::rolling_key::{IssuedKey, KeyHash};
use domain::submission::NewSubmission;
use domain::tag::{Properties, PropertyClass, PropertyKey, Slug, Tag};
use inlay::{MacFrom, Mirror, Technology, Uid};

/// The operations of a tap and of its rolling key.
impl Access {
    /// The configuration that a tap needs of a tag, read now. `None` if there is no such tag or it
    /// is deleted.
    pub async fn tag_tap(&self, tag: TagKey<'_>) -> Result<Option<TagTap>, StorageError> {
        each_awaited!(self, db => db.tag_tap(tag))
    }

    /// The tag that a text names which is no tag's present slug: the one that had it before, or
    /// else the only one with a slug that is the same but for ASCII case. It may be deleted: a
    /// deleted tag's slugs name no other tag.
    pub async fn named_tag(&self, slug: &str) -> Result<Option<NamedTag>, StorageError> {
        self.run_read("named_tag", slug.to_owned(), |db, slug| {
            Box::pin(tags::named(db, slug))
        })
        .await
    }

    /// The same for several tags at once: at most `limit` tags, in the order of their ids, from the
    /// one after `after`. Empty for a database where reading tags before their taps does not pay.
    pub async fn tag_taps(
        &self,
        after: Option<TagId>,
        limit: usize,
    ) -> Result<Vec<TagTap>, StorageError> {
        match &self.storage {
            Storage::Sqlite(database) => database.tag_taps(after, limit).await,
            // There are several nodes, and each would read all tags.
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => Ok(Vec::new()),
        }
    }

    /// The currently published version of an experience.
    pub async fn published_now(
        &self,
        experience: ExperienceId,
    ) -> Result<Option<PublishedExperience>, StorageError> {
        self.run_read("published_now", experience, |db, experience| {
            Box::pin(experiences::published_now(db, *experience))
        })
        .await
    }

    /// The tag's properties of one class, read now.
    pub async fn properties(
        &self,
        tag: TagId,
        class: PropertyClass,
    ) -> Result<Properties, StorageError> {
        each_awaited!(self, db => db.properties(tag, class))
    }

    /// A particular published version of an experience.
    pub async fn published(
        &self,
        version: VersionRef,
    ) -> Result<Option<PublishedExperience>, StorageError> {
        self.run_read("published", version, |db, version| {
            Box::pin(experiences::published(db, *version))
        })
        .await
    }

    /// Expects a test tap with this path and query, for 30 seconds, on all nodes of the database.
    pub async fn expect_test_tap(
        &self,
        path: String,
        origin: TapOrigin,
    ) -> Result<(), StorageError> {
        match &self.storage {
            Storage::Sqlite(database) => {
                database.expected_taps.expect(path, origin);
                Ok(())
            }
            #[cfg(feature = "postgres")]
            Storage::Postgres(database) => database.expect_test_tap(path, origin).await,
        }
    }

    /// Who makes a tap with this path and query. Each announcement counts for one tap on each node.
    pub fn take_expected(&self, path_and_query: &str) -> TapOrigin {
        each!(self, db => db.expected_taps.take(path_and_query))
    }

    /// Records a tap. The counter's compare-and-set, the interaction, the key's hash and the tag's
    /// tap count are one operation, done completely or not at all. The interaction's id is never
    /// used again; ids rise with time, roughly.
    pub async fn record_tap(&self, tap: NewInteraction) -> Result<Recorded, StorageError> {
        each_awaited!(self, db => db.record_tap(tap))
    }

    /// The key issued for the interaction `id`, and that interaction. The caller compares the hash.
    pub async fn issued_key(
        &self,
        id: InteractionId,
    ) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
        each_awaited!(self, db => db.issued_key(id))
    }

    /// Notes for the trace that a payload was read at `at`. A later commit stores the note: a crash
    /// may lose it, and no request waits for it.
    pub fn note_payload_read(&self, id: InteractionId, at: Timestamp) {
        each!(self, db => db.deferred.payload_reads.note(id, at));
        self.tell_noted(id);
    }

    /// Notes for the trace that an update with a good key was refused at `at`. It is stored like a
    /// payload read.
    pub fn note_refused_update(&self, id: InteractionId, at: Timestamp, refusal: &UpdateRefusal) {
        if each!(self, db => db.deferred.refused_updates.note(id, at, refusal)) {
            self.tell_noted(id);
        }
    }

    /// Notes for the trace which redirect rule a tap followed. It is stored like a payload read.
    pub fn note_rule(&self, id: InteractionId, rule: LedBy) {
        each!(self, db => db.deferred.rules.note(id, rule));
    }

    /// Stores for the trace the names of macros that the answer to a tap left out for lack of a
    /// value.
    pub async fn note_left_out(
        &self,
        id: InteractionId,
        macros: Vec<String>,
    ) -> Result<(), StorageError> {
        each_awaited!(self, db => db.note_left_out(id, macros))
    }

    /// Consumes a key and writes its variables, or does neither.
    pub async fn update_variables(&self, update: VariableUpdate) -> Result<Updated, StorageError> {
        each_awaited!(self, db => db.update_variables(update))
    }
}

/// The key by which a tap or update finds its tag.
#[derive(Clone, Copy, Debug)]
pub enum TagKey<'a> {
    /// By its present slug, the last part of its URL.
    Slug(&'a str),
    /// By its id, as stored with an interaction.
    Id(TagId),
}

/// A tag that another text than its present slug names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTag {
    /// Identifier of the tag.
    pub tag: TagId,
    /// Its slugs, present or former, that are the text but for case. The text itself comes first.
    pub slugs: Vec<Slug>,
}

/// The configuration that a tap needs of a tag. It excludes the properties, which are only read if
/// a macro needs them.
#[derive(Clone, Debug)]
pub struct TagTap {
    /// The tag, without its properties and counts.
    pub tag: Tag,
    /// The inlays on the tag.
    pub inlays: TagInlays,
    /// Whether no other slug, present or former, is the same as the tag's but for ASCII case.
    pub is_only_spelling: bool,
}

/// The inlays on a tag, in the form that a tap needs.
#[derive(Clone, Debug, Default)]
pub struct TagInlays {
    /// Inlays that make codes of the canonical form.
    pub rolling: Vec<BoundInlay>,
    /// Inlays that write their URLs with a template.
    pub of_templates: Vec<TemplateInlay>,
    /// Whether the tag has an inlay that makes no codes.
    pub has_static: bool,
}

/// An inlay that writes its URLs with a template, its keys still wrapped.
#[derive(Clone, Debug)]
pub struct TemplateInlay {
    /// The inlay's id, to which its counter belongs.
    pub id: InlayId,
    /// The UID of the inlay's chip.
    pub uid: Uid,
    /// The kind of the inlay's chip.
    pub technology: Technology,
    /// The template for its URLs.
    pub url_template_id: UrlTemplateId,
    /// The tag that the inlay is on, if any.
    pub tag_id: Option<TagId>,
    /// Whether it is simulated.
    pub simulated: bool,
    /// Whether its owner blocked it.
    pub blocked: bool,
    /// The key version, from 1. It rises when the keys are replaced, and when the inlay is blocked
    /// or unblocked.
    pub key_version: u32,
    /// Its wrapped keys; `None` if its chip has none.
    pub keys: Option<WrappedKeys>,
}

/// A rolling-code inlay of the canonical form, its keys still wrapped.
#[derive(Clone, Debug)]
pub struct BoundInlay {
    /// The inlay's id, to which its counter belongs.
    pub id: InlayId,
    /// The UID of the inlay's chip.
    pub uid: Uid,
    /// How its URL contains UID and counter.
    pub mirror: Mirror,
    /// The place in its URL where the MAC's input begins.
    pub mac_from: MacFrom,
    /// Whether its owner blocked it.
    pub blocked: bool,
    /// The key version, from 1. It rises when the keys are replaced, and when the inlay is blocked
    /// or unblocked.
    pub key_version: u32,
    /// The keys that verify its codes, wrapped.
    pub keys: WrappedKeys,
}

/// A well-formed request to update variables (specification 4.2).
#[derive(Clone, Debug)]
pub struct VariableUpdate {
    /// The interaction to which the key claims to belong.
    pub id: InteractionId,
    /// The hash of the presented key.
    pub hash: KeyHash,
    /// Digest of `Idempotency-Key` and body; `None` without such a header.
    pub request: Option<[u8; 32]>,
    /// New values of existing variables; no key twice.
    pub data: Vec<(PropertyKey, String)>,
    /// The form that the request sends, if any.
    pub submission: Option<NewSubmission>,
    /// Offset of simulated time; it only applies to simulated interactions.
    pub simulated_offset: Millis,
}

/// The result of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Updated {
    /// The variables are written and the key is consumed.
    Done(Arc<[Change]>),
    /// This very request was answered before; it gets the same answer again.
    Repeated,
    /// No variable was written.
    Refused(UpdateRefusal),
    /// No variable was written, but the form's data is kept, because the owner can remove the
    /// reason.
    Kept(UpdateRefusal),
}

/// Why an update was refused. Clients get the same status and body for every reason (specification
/// 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateRefusal {
    /// There is no such key, the key differs, or it has expired.
    InvalidKey,
    /// The key was consumed by another update.
    Consumed,
    /// The tag has no such variable.
    UnknownVariable(PropertyKey),
    /// The tag is deleted, or no longer leads to an experience.
    NotAssigned,
    /// The tag requires a verified tap.
    NotVerified,
    /// The form can be sent once per tag, and was sent already.
    SentBefore,
    /// The request has variables of several forms that can be sent once per tag, and matches none
    /// of them.
    SeveralForms,
}
