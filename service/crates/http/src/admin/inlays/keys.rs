//! Write-only keys of inlays. Only the simulator's chips can read them.

use crate::error::ApiError;
use app::service::Service;
use domain::id::MasterKeyId;
use domain::inventory::{
    Inlay, InvalidInlay, KeyChange, MemberPatch, SealedKey, SealedKeys, SealedMasterKey,
};
use inlay::key::{AesKey, InlayKeys, KeyFingerprint, SomeKey};
use inlay::technology::Family;
use inlay::{Technology, Uid};
use storage::{Conflict, StorageError};

/// The members of a request about an inlay's keys.
#[derive(Default)]
pub(in crate::admin) struct KeyRequest {
    pub(in crate::admin) meta_key: MemberPatch<AesKey>,
    pub(in crate::admin) file_key: MemberPatch<SomeKey>,
    pub(in crate::admin) master_key_id: MemberPatch<MasterKeyId>,
    pub(in crate::admin) allow_factory_keys: bool,
}

impl KeyRequest {
    /// Seals the keys of the request for the chip `uid` of a technology.
    pub(in crate::admin) async fn seal(
        self,
        service: &Service,
        uid: Uid,
        technology: Technology,
    ) -> Result<KeyChange, ApiError> {
        self.check_shape(technology)?;
        let (keyring, entropy) = (&*service.keyring, &*service.entropy);
        let change = KeyChange {
            meta: self
                .meta_key
                .try_map(|key| SealedKey::seal(&key, keyring, entropy))?,
            file: self
                .file_key
                .try_map(|key| SealedKey::seal_some(&key, keyring, entropy))?,
            master: match self.master_key_id {
                MemberPatch::Keep => MemberPatch::Keep,
                MemberPatch::Remove => MemberPatch::Remove,
                MemberPatch::Set(id) => {
                    let master = master_key(service, id).await?;
                    MemberPatch::Set(SealedKeys::diversified(&master, uid, keyring, entropy)?)
                }
            },
        };
        if brings_factory_key(&change, technology, uid) && !self.allow_factory_keys {
            return Err(ApiError::invalid(InvalidInlay::FactoryKey));
        }
        Ok(change)
    }

    /// Checks that the technology uses keys of this kind.
    fn check_shape(&self, technology: Technology) -> Result<(), ApiError> {
        let rolling = technology.family() == Family::Sic43Nt;
        if let MemberPatch::Set(key) = &self.file_key
            && matches!(key, SomeKey::Rolling(_)) != rolling
        {
            return Err(ApiError::invalid(InvalidInlay::KeyLength(technology)));
        }
        let one_key = technology.rolls() && technology.family() != Family::Ntag424;
        let from_master = rolling && matches!(self.master_key_id, MemberPatch::Set(_));
        if from_master || (one_key && matches!(self.meta_key, MemberPatch::Set(_))) {
            return Err(ApiError::invalid(InvalidInlay::OneKey(technology)));
        }
        Ok(())
    }
}

/// Whether a change contains a publicly known key.
fn brings_factory_key(change: &KeyChange, technology: Technology, uid: Uid) -> bool {
    let own = [&change.meta, &change.file]
        .into_iter()
        .filter_map(MemberPatch::set);
    let known = |key: KeyFingerprint| technology.is_factory_key(uid, key);
    own.into_iter().any(|key| known(key.fingerprint))
        || change
            .master
            .set()
            .is_some_and(|keys| keys.factory(technology, uid))
}

/// Opens the keys of a simulated inlay, for its virtual chip.
pub(in crate::admin) async fn open_keys(
    service: &Service,
    inlay: &Inlay,
) -> Result<InlayKeys, ApiError> {
    let keys = inlay.fields.keys.as_ref();
    let wrapped = keys.and_then(SealedKeys::wrapped);
    let wrapped = match keys.and_then(SealedKeys::master_key_id) {
        Some(master) if wrapped.is_none() => {
            Some(master_key(service, master).await?.wrapped_keys())
        }
        _ => wrapped,
    };
    let technology = inlay.fields.technology;
    Ok(service
        .keyring
        .inlay_keys(wrapped.as_ref(), inlay.uid, technology)?)
}

pub(in crate::admin) async fn master_key(
    service: &Service,
    id: MasterKeyId,
) -> Result<SealedMasterKey, ApiError> {
    let found = service.storage.master_key(id).await?;
    found.ok_or_else(|| {
        let noun = "master key";
        StorageError::Conflict(Conflict::Missing { noun, id: id.get() }).into()
    })
}
