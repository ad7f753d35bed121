//! Inlays, master keys, and the simulator's inlays.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{BoundInlay, Conflict, StorageError, TemplateInlay};
use domain::clock::Timestamp;
use domain::id::{InlayId, MasterKeyId, TagId, UrlTemplateId, VirtualInlayId};
use domain::interaction::{CounterRule, Verdict};
use domain::inventory::{
    Inlay, InlayFields, MasterKeyFields, NewInlay, SealedMasterKey, SimulatedInlay,
};
use domain::revision::Precondition;
use domain::tag::TagFields;
use domain::text::Name;
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

/// The operations on inlays.
///
/// A code that was accepted once is never accepted again, however the inlay's configuration
/// changes: the counter outlives the inlay's deletion, and belongs to its keys. New keys start a
/// new key version, whose counter begins at 0. If the inlay gets earlier keys back, their counter
/// continues.
#[async_trait]
pub trait Inlays: Send + Sync {
    /// Stores a new inlay. The UID of a deleted inlay may be used again.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for the tag, the master key or the URL template,
    /// [`Invalid::Inlay`](super::Invalid::Inlay) for a template that does not fit the inlay,
    /// [`Conflict::OtherWorld`], [`Conflict::UidTaken`] and [`Conflict::UidInImport`].
    async fn insert_inlay(&self, new: NewInlay) -> Result<Inlay, StorageError>;

    /// The inlay with this id.
    async fn inlay(&self, id: InlayId) -> Result<Option<Inlay>, StorageError>;

    /// The UIDs of these inlays, deleted ones included.
    async fn inlay_uids(&self, ids: Vec<InlayId>) -> Result<HashMap<InlayId, Uid>, StorageError>;

    /// At most `limit` inlays that match `filter`, after the one with the id `after`, ordered by
    /// id.
    async fn inlays(
        &self,
        filter: InlayFilter,
        after: Option<InlayId>,
        limit: usize,
    ) -> Result<Vec<Inlay>, StorageError>;

    /// How many inlays match `filter`.
    async fn count_inlays(&self, filter: InlayFilter) -> Result<u64, StorageError>;

    /// The tag URLs that chips contain, the most frequent first. Simulated inlays and inlays with a
    /// URL template do not count.
    async fn carried_tag_urls(&self) -> Result<Vec<CarriedTagUrl>, StorageError>;

    /// How many tags that are not deleted have a printed code.
    async fn count_printed_codes(&self) -> Result<u64, StorageError>;

    /// Applies `edit` to an inlay.
    ///
    /// # Errors
    ///
    /// The error of `edit`; [`Conflict::Missing`] for the tag, the master key or the URL template,
    /// [`Invalid::Inlay`](super::Invalid::Inlay), [`Conflict::OtherWorld`].
    async fn edit_inlay(
        &self,
        id: InlayId,
        edit: InlayEdit,
    ) -> Result<Option<Inlay>, StorageError> {
        self.edit_inlay_and_spend(id, edit, None).await
    }

    /// Like [`Self::edit_inlay`], and also marks every code up to the counter `spent` as used.
    ///
    /// # Errors
    ///
    /// Those of [`Self::edit_inlay`]; [`Invalid::Inlay`](super::Invalid::Inlay) for a counter below
    /// the last accepted one.
    async fn edit_inlay_and_spend(
        &self,
        id: InlayId,
        edit: InlayEdit,
        spent: Option<u32>,
    ) -> Result<Option<Inlay>, StorageError>;

    /// Deletes an inlay, and its virtual inlay in the simulator. Its counter is kept.
    async fn delete_inlay(&self, id: InlayId) -> Result<Option<()>, StorageError> {
        self.delete_inlay_if(id, Precondition::None).await
    }

    /// Like [`Self::delete_inlay`], but only if the inlay still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`].
    async fn delete_inlay_if(
        &self,
        id: InlayId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError>;

    /// The decision that [`record_tap`](super::Taps::record_tap) would make now about a code of
    /// `inlay` by its counter. No counter moves.
    async fn dry_run_counter(
        &self,
        inlay: InlayId,
        key_version: u32,
        counter: u32,
        rule: CounterRule,
    ) -> Result<Verdict, StorageError>;

    /// Notes that this application read `inlay`, with the counter of that read.
    async fn note_own_read(&self, inlay: InlayId, counter: u32) -> Result<(), StorageError>;

    /// Removes some reads by this application that no interaction since `keep_since` refers to.
    /// `true` if more may be left.
    async fn prune_own_reads(&self, keep_since: Timestamp) -> Result<bool, StorageError>;

    /// The inlay with this UID, if it writes its URLs with a template, in the form that a tap
    /// without a slug needs.
    async fn template_inlay(&self, uid: Uid) -> Result<Option<TemplateInlay>, StorageError>;

    /// Inlays that make codes and are not on the tag `except`.
    async fn other_inlays(
        &self,
        which: OtherInlays,
        except: Option<TagId>,
    ) -> Result<Vec<BoundInlay>, StorageError>;
}

/// The operations on master keys.
#[async_trait]
pub trait MasterKeys: Send + Sync {
    /// Stores a new master key, already wrapped.
    async fn insert_master_key(
        &self,
        key: MasterKeyFields,
    ) -> Result<SealedMasterKey, StorageError>;

    /// The master key with this id, still wrapped.
    async fn master_key(&self, id: MasterKeyId) -> Result<Option<SealedMasterKey>, StorageError>;

    /// At most `limit` master keys after the one with the id `after`, ordered by id.
    async fn master_keys(
        &self,
        after: Option<MasterKeyId>,
        limit: usize,
    ) -> Result<Vec<SealedMasterKey>, StorageError>;

    /// How many master keys there are.
    async fn count_master_keys(&self) -> Result<u64, StorageError>;

    /// Renames a master key.
    async fn rename_master_key(
        &self,
        id: MasterKeyId,
        name: Name,
    ) -> Result<Option<SealedMasterKey>, StorageError> {
        self.rename_master_key_if(id, name, Precondition::None)
            .await
    }

    /// Like [`Self::rename_master_key`], but only if the key still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`].
    async fn rename_master_key_if(
        &self,
        id: MasterKeyId,
        name: Name,
        expected: Precondition,
    ) -> Result<Option<SealedMasterKey>, StorageError>;

    /// Deletes a master key that no inlay uses.
    async fn delete_master_key(&self, id: MasterKeyId) -> Result<Option<()>, StorageError> {
        self.delete_master_key_if(id, Precondition::None).await
    }

    /// Like [`Self::delete_master_key`], but only if the key still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`]; [`InUse::ByInlays`](super::InUse::ByInlays) and
    /// [`InUse::ByImport`](super::InUse::ByImport).
    async fn delete_master_key_if(
        &self,
        id: MasterKeyId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError>;
}

/// The tag for a new virtual inlay.
#[derive(Clone, Debug)]
pub enum SimulatedTag {
    /// An existing simulated tag.
    Existing(TagId),
    /// A new simulated tag with these fields.
    New(Box<TagFields>),
}

/// The operations on the simulator's inlays.
#[async_trait]
pub trait Simulator: Send + Sync {
    /// Stores a virtual inlay, its inlay as the service sees it, and its tag.
    ///
    /// # Errors
    ///
    /// Those of [`Inlays::insert_inlay`] and [`Tags::insert_tags`](super::Tags::insert_tags).
    async fn insert_virtual_inlay(
        &self,
        tag: SimulatedTag,
        inlay: NewInlay,
    ) -> Result<SimulatedInlay, StorageError>;

    /// The virtual inlay with this id.
    async fn virtual_inlay(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError>;

    /// At most `limit` virtual inlays after the one with the id `after`, ordered by id.
    async fn virtual_inlays(
        &self,
        after: Option<VirtualInlayId>,
        limit: usize,
    ) -> Result<Vec<SimulatedInlay>, StorageError>;

    /// How many virtual inlays there are.
    async fn count_virtual_inlays(&self) -> Result<u64, StorageError>;

    /// One read of a virtual inlay, as a chip does it: the counter rises before the code is made.
    ///
    /// # Errors
    ///
    /// [`Conflict::UsedUp`].
    async fn raise_virtual_counter(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError>;
}
