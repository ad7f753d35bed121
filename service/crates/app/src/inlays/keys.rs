//! Write-only keys of inlays. Only the simulator's chips can read them.

use serde::Deserialize;
use utoipa::ToSchema;

use super::InlayError;
use crate::service::Service;
use domain::id::MasterKeyId;
use domain::inventory::{
    Inlay, InvalidInlay, KeyChange, MemberPatch, SealedKey, SealedKeys, SealedMasterKey, SharedKey,
    SharedKeySource, UrlTemplateFields,
};
use domain::keyring::KeyringError;
use inlay::key::{AesKey, InlayKeys, KeyFingerprint, SomeKey};
use inlay::{Technology, Uid};
use storage::{Conflict, StorageError};

/// The keys of an NTAG 424 DNA that make no codes. Only with them can a chip that another program
/// encoded be encoded again, or wiped.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OtherKeys)]
#[expect(
    clippy::struct_field_names,
    reason = "the chip numbers its keys, and so does the request"
)]
pub struct OtherKeysRequest {
    /// Key 0, the application's master key.
    key_0: AesKey,
    /// Key 3; all zeros if the chip has its factory key.
    key_3: AesKey,
    /// Key 4; all zeros if the chip has its factory key.
    key_4: AesKey,
}

impl OtherKeysRequest {
    /// Seals these keys, ready to be stored.
    pub fn seal(self, service: &Service) -> Result<SealedKey, KeyringError> {
        let keys = [self.key_0, self.key_3, self.key_4];
        SealedKey::seal_others(&keys, &service.keyring, &*service.entropy)
    }
}

/// The members of a request about an inlay's keys.
#[derive(Default)]
pub struct KeyRequest {
    /// The chip's `SDMMetaReadKey`, which encrypts its PICC data.
    pub meta_key: MemberPatch<AesKey>,
    /// The chip's `SDMFileReadKey`, or its only key.
    pub file_key: MemberPatch<SomeKey>,
    /// The master key from which the keys are derived, instead of keys of its own.
    pub master_key_id: MemberPatch<MasterKeyId>,
    /// Whether to accept publicly known keys.
    pub allow_factory_keys: bool,
}

impl KeyRequest {
    /// Seals the keys of the request for the chip `uid` of a technology, which writes its URLs with
    /// `template`. With a master key or a file key and no meta key in the request, the meta key may
    /// be the one that all chips of the template share.
    pub async fn seal(
        self,
        service: &Service,
        uid: Uid,
        technology: Technology,
        template: Option<&UrlTemplateFields>,
    ) -> Result<KeyChange, InlayError> {
        self.check_shape(technology)?;
        let (keyring, entropy) = (&*service.keyring, &*service.entropy);
        let keeps_meta = matches!(self.meta_key, MemberPatch::Keep);
        let beside_own = template.filter(|_| keeps_meta && self.file_key.set().is_some());
        let shared_meta = match beside_own.and_then(UrlTemplateFields::meta_key_beside_own) {
            Some(key) => open_shared(service, key).await?,
            None => None,
        };
        let mut shared = None;
        let mut change = KeyChange {
            shared_meta: shared_meta
                .map(|key| SealedKey::seal(&key, keyring, entropy))
                .transpose()?,
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
                    let keys = SealedKeys::diversified(&master, uid, keyring, entropy)?;
                    let beside = template.filter(|of| keeps_meta && of.opening_key().is_some());
                    if let Some(of) = beside {
                        let is_shared = SharedKey::open_master(&master, keyring)?.is_some();
                        shared = of.meta_key_beside(&keys, is_shared);
                    }
                    MemberPatch::Set(keys)
                }
            },
        };
        if let Some(shared) = shared
            && let Some(key) = open_shared(service, shared).await?
        {
            change.meta = MemberPatch::Set(SealedKey::seal(&key, keyring, entropy)?);
        }
        if brings_factory_key(&change, technology, uid) && !self.allow_factory_keys {
            return Err(InvalidInlay::FactoryKey.into());
        }
        Ok(change)
    }

    /// Checks that the technology uses keys of this kind.
    fn check_shape(&self, technology: Technology) -> Result<(), InlayError> {
        if let MemberPatch::Set(key) = &self.file_key
            && technology.rolls()
            && matches!(key, SomeKey::Aes(_)) != technology.has_aes_keys()
        {
            return Err(InvalidInlay::KeyLength(technology).into());
        }
        let one_key = technology.rolls() && !technology.has_meta_key();
        let is_derived = !technology.rolls() || technology.has_aes_keys();
        let from_master = !is_derived && matches!(self.master_key_id, MemberPatch::Set(_));
        if from_master || (one_key && matches!(self.meta_key, MemberPatch::Set(_))) {
            return Err(InvalidInlay::OneKey(technology).into());
        }
        Ok(())
    }
}

/// Whether a change contains a publicly known key.
fn brings_factory_key(change: &KeyChange, technology: Technology, uid: Uid) -> bool {
    let own = [&change.meta, &change.file]
        .into_iter()
        .filter_map(MemberPatch::set)
        .chain(&change.shared_meta);
    let known = |key: KeyFingerprint| technology.is_factory_key(uid, key);
    own.into_iter().any(|key| known(key.fingerprint))
        || change
            .master
            .set()
            .is_some_and(|keys| keys.factory(technology, uid))
}

/// Opens the keys of a simulated inlay, for its virtual chip.
pub async fn open_keys(service: &Service, inlay: &Inlay) -> Result<InlayKeys, InlayError> {
    let keys = inlay.fields.keys.as_ref();
    let master = match keys.and_then(SealedKeys::master_key_id) {
        Some(master) => Some(master_key(service, master).await?),
        None => None,
    };
    let wrapped = keys.and_then(|keys| keys.wrapped(master.as_ref()));
    let technology = inlay.fields.technology;
    Ok(service
        .keyring
        .inlay_keys(wrapped.as_ref(), inlay.uid, technology)?)
}

/// Opens a meta key that the inlays of a URL template share.
pub async fn open_shared(
    service: &Service,
    shared: &SharedKey,
) -> Result<Option<AesKey>, InlayError> {
    Ok(match &shared.source {
        SharedKeySource::Own(wrapped) => Some(service.keyring.unwrap(wrapped)?),
        SharedKeySource::Master(id) => {
            let master = master_key(service, *id).await?;
            SharedKey::open_master(&master, &service.keyring)?
        }
    })
}

/// The master key with this id.
///
/// # Errors
///
/// [`Conflict::Missing`] if there is none.
pub async fn master_key(
    service: &Service,
    id: MasterKeyId,
) -> Result<SealedMasterKey, StorageError> {
    let found = service.storage.master_key(id).await?;
    found.ok_or_else(|| {
        let noun = "master key";
        StorageError::Conflict(Conflict::Missing { noun, id: id.get() })
    })
}
