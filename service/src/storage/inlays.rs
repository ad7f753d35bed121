//! Inlays, master keys, and the simulator's inlays.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{BoundInlay, Conflict, StorageError, TemplateInlay};
use crate::id::{InlayId, MasterKeyId, TagId, UrlTemplateId, VirtualInlayId};
use crate::inlay::Uid;
use crate::interaction::{CounterRule, Verdict};
use crate::inventory::{
    Inlay, InlayFields, MasterKeyFields, NewInlay, SealedMasterKey, SimulatedInlay,
};
use crate::revision::Precondition;
use crate::tag::TagFields;

/// An edit of an inlay, applied inside the operation that stores it. An `Err`
/// is a sentence for people, and nothing is stored.
pub type InlayEdit = Box<dyn Fn(InlayFields) -> Result<InlayFields, Conflict> + Send + Sync>;

/// Which inlays a list is of: those that fit all that is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct InlayFilter {
    /// Those of this tag.
    pub tag_id: Option<TagId>,
    /// The one with this UID.
    pub uid: Option<Uid>,
    /// Those with this master key.
    pub master_key_id: Option<MasterKeyId>,
    /// Those with this URL template.
    pub url_template_id: Option<UrlTemplateId>,
    /// Those of no tag, or those of one.
    pub unbound: Option<bool>,
    /// Those of the simulated world, or those of the real one.
    pub simulated: Option<bool>,
    /// Those that are blocked, or those that are not.
    pub blocked: Option<bool>,
}

/// Inlays whose keys may explain a code that does not verify.
#[derive(Clone, Copy, Debug)]
pub enum OtherInlays {
    /// The one with this UID.
    Uid(Uid),
    /// As many of those last created.
    Newest(usize),
}

/// The operations on inlays.
///
/// A code that was accepted once is never accepted again, whatever becomes of
/// the inlay's configuration: its counter outlives its deletion, and belongs to
/// its keys. Other keys start a key version of their own, from 0; keys that
/// the inlay had before come back with their counter.
#[async_trait]
pub trait Inlays: Send + Sync {
    /// Stores a new inlay. The UID of one that was deleted may be used again.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for the tag, the master key or the URL template,
    /// [`Invalid::Inlay`](super::Invalid::Inlay) for a template that is none for the inlay,
    /// [`Conflict::OtherWorld`], [`Conflict::UidTaken`] and [`Conflict::UidInImport`].
    async fn insert_inlay(&self, inlay: NewInlay) -> Result<InlayId, StorageError>;

    /// An inlay.
    async fn inlay(&self, id: InlayId) -> Result<Option<Inlay>, StorageError>;

    /// The UIDs of inlays, deleted ones included.
    async fn inlay_uids(&self, ids: Vec<InlayId>) -> Result<HashMap<InlayId, Uid>, StorageError>;

    /// At most `limit` inlays that `filter` lets through, after the one with
    /// the id `after`, in the order of their ids.
    async fn inlays(
        &self,
        filter: InlayFilter,
        after: Option<InlayId>,
        limit: usize,
    ) -> Result<Vec<Inlay>, StorageError>;

    /// How many inlays `filter` lets through.
    async fn count_inlays(&self, filter: InlayFilter) -> Result<u64, StorageError>;

    /// Applies `edit` to an inlay.
    ///
    /// # Errors
    ///
    /// What `edit` refuses; [`Conflict::Missing`] for the tag, the master key or the URL template,
    /// [`Invalid::Inlay`](super::Invalid::Inlay), [`Conflict::OtherWorld`].
    async fn edit_inlay(
        &self,
        id: InlayId,
        edit: InlayEdit,
    ) -> Result<Option<Inlay>, StorageError> {
        self.edit_inlay_and_spend(id, edit, None).await
    }

    /// The same, and counts every code up to the counter `spent` as spent.
    ///
    /// # Errors
    ///
    /// The same; [`Invalid::Inlay`](super::Invalid::Inlay) for a counter below the last one that
    /// was accepted.
    async fn edit_inlay_and_spend(
        &self,
        id: InlayId,
        edit: InlayEdit,
        spent: Option<u32>,
    ) -> Result<Option<Inlay>, StorageError>;

    /// Deletes an inlay, a virtual one in the simulator with it. Its counter is kept.
    async fn delete_inlay(&self, id: InlayId) -> Result<Option<()>, StorageError> {
        self.delete_inlay_if(id, Precondition::None).await
    }

    /// The same, if it is as `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`].
    async fn delete_inlay_if(
        &self,
        id: InlayId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError>;

    /// What [`record_tap`](super::Taps::record_tap) would decide of a code of `inlay` by its
    /// counter at this moment. Nothing moves.
    async fn dry_run_counter(
        &self,
        inlay: InlayId,
        key_version: u32,
        counter: u32,
        rule: CounterRule,
    ) -> Result<Verdict, StorageError>;

    /// The inlay with this UID, if it writes its URLs by a template: what a tap without a slug
    /// needs to know of it.
    async fn template_inlay(&self, uid: Uid) -> Result<Option<TemplateInlay>, StorageError>;

    /// Inlays that make codes and are not of the tag `except`.
    async fn other_inlays(
        &self,
        which: OtherInlays,
        except: Option<TagId>,
    ) -> Result<Vec<BoundInlay>, StorageError>;
}

/// The operations on master keys.
#[async_trait]
pub trait MasterKeys: Send + Sync {
    /// Stores a new master key.
    async fn insert_master_key(&self, key: MasterKeyFields) -> Result<MasterKeyId, StorageError>;

    /// A master key.
    async fn master_key(&self, id: MasterKeyId) -> Result<Option<SealedMasterKey>, StorageError>;

    /// At most `limit` master keys after the one with the id `after`, in the order of their ids.
    async fn master_keys(
        &self,
        after: Option<MasterKeyId>,
        limit: usize,
    ) -> Result<Vec<SealedMasterKey>, StorageError>;

    /// How many master keys there are.
    async fn count_master_keys(&self) -> Result<u64, StorageError>;

    /// Gives a master key another name.
    async fn rename_master_key(
        &self,
        id: MasterKeyId,
        name: String,
    ) -> Result<Option<SealedMasterKey>, StorageError> {
        self.rename_master_key_if(id, name, Precondition::None)
            .await
    }

    /// The same, if it is as `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`].
    async fn rename_master_key_if(
        &self,
        id: MasterKeyId,
        name: String,
        expected: Precondition,
    ) -> Result<Option<SealedMasterKey>, StorageError>;

    /// Deletes a master key that no inlay uses.
    async fn delete_master_key(&self, id: MasterKeyId) -> Result<Option<()>, StorageError> {
        self.delete_master_key_if(id, Precondition::None).await
    }

    /// The same, if it is as `expected`.
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

/// Which tag a virtual inlay is put on.
#[derive(Clone, Debug)]
pub enum SimulatedTag {
    /// A simulated one that exists.
    Existing(TagId),
    /// A new one.
    New(Box<TagFields>),
}

/// The operations on the simulator's inlays.
#[async_trait]
pub trait Simulator: Send + Sync {
    /// Stores a virtual inlay, the inlay it is for the service, and its tag.
    ///
    /// # Errors
    ///
    /// Those of [`Inlays::insert_inlay`] and [`Tags::insert_tags`](super::Tags::insert_tags).
    async fn insert_virtual_inlay(
        &self,
        tag: SimulatedTag,
        inlay: NewInlay,
    ) -> Result<VirtualInlayId, StorageError>;

    /// A virtual inlay.
    async fn virtual_inlay(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError>;

    /// At most `limit` virtual inlays after the one with the id `after`, in the order of their ids.
    async fn virtual_inlays(
        &self,
        after: Option<VirtualInlayId>,
        limit: usize,
    ) -> Result<Vec<SimulatedInlay>, StorageError>;

    /// How many virtual inlays there are.
    async fn count_virtual_inlays(&self) -> Result<u64, StorageError>;

    /// One read of a virtual inlay, as the chip does it: the counter rises
    /// before the code is made.
    ///
    /// # Errors
    ///
    /// [`Conflict::UsedUp`].
    async fn raise_virtual_counter(
        &self,
        id: VirtualInlayId,
    ) -> Result<Option<SimulatedInlay>, StorageError>;
}
