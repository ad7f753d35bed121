//! Keys on their way in, and out to the simulator's chips alone.

use crate::http::error::ApiError;
use crate::id::MasterKeyId;
use crate::inlay::key::{AesKey, Keys};
use crate::inlay::{Mirror, Uid};
use crate::inventory::{
    Inlay, InvalidInlay, KeyChange, MemberPatch, SealedKey, SealedKeys, SealedMasterKey,
};
use crate::keyring::WrappedKeys;
use crate::service::Service;
use crate::storage::{Conflict, StorageError};

/// What a request says of an inlay's keys.
#[derive(Default)]
pub(in crate::http::admin) struct KeyRequest {
    pub(in crate::http::admin) meta_key: MemberPatch<AesKey>,
    pub(in crate::http::admin) file_key: MemberPatch<AesKey>,
    pub(in crate::http::admin) master_key_id: MemberPatch<MasterKeyId>,
    pub(in crate::http::admin) allow_factory_keys: bool,
}

impl KeyRequest {
    /// The request with its keys sealed for the chip `uid`.
    pub(in crate::http::admin) async fn seal(
        self,
        service: &Service,
        uid: Uid,
    ) -> Result<KeyChange, ApiError> {
        let seal = |key: AesKey| SealedKey::seal(&key, &service.keyring, &*service.entropy);
        let change = KeyChange {
            meta: self.meta_key.try_map(seal)?,
            file: self.file_key.try_map(seal)?,
            master: match self.master_key_id {
                MemberPatch::Keep => MemberPatch::Keep,
                MemberPatch::Remove => MemberPatch::Remove,
                MemberPatch::Set(id) => {
                    let master = master_key(service, id).await?;
                    MemberPatch::Set(SealedKeys::diversified(&master, uid, &service.keyring)?)
                }
            },
        };
        if change.brings_factory_key() && !self.allow_factory_keys {
            return Err(ApiError::invalid(InvalidInlay::FactoryKey));
        }
        Ok(change)
    }
}

/// The keys of a simulated inlay, for its chip. `None` where it makes no codes.
pub(in crate::http::admin) async fn open_keys(
    service: &Service,
    inlay: &Inlay,
) -> Result<Option<(Mirror, Keys)>, ApiError> {
    let (Some(mirror), Some(keys)) = (inlay.fields.mirror, &inlay.fields.keys) else {
        return Ok(None);
    };
    let wrapped = match keys {
        SealedKeys::Own { meta, file } => WrappedKeys::Own {
            meta: meta.as_ref().map(|key| key.wrapped.clone()),
            file: file.wrapped.clone(),
        },
        SealedKeys::Diversified { master_key_id, .. } => {
            master_key(service, *master_key_id).await?.wrapped_keys()
        }
    };
    let keys = service.keyring.inlay_keys(&wrapped, inlay.uid, mirror)?;
    Ok(Some((mirror, keys)))
}

async fn master_key(service: &Service, id: MasterKeyId) -> Result<SealedMasterKey, ApiError> {
    let found = service.storage.master_key(id).await?;
    found.ok_or_else(|| {
        let noun = "master key";
        StorageError::Conflict(Conflict::Missing { noun, id: id.0 }).into()
    })
}
