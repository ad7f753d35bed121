//! Keys on their way in.

use crate::http::error::ApiError;
use crate::id::MasterKeyId;
use crate::inlay::Uid;
use crate::inlay::key::AesKey;
use crate::inventory::{Change, InvalidInlay, KeyChange, SealedKey, SealedKeys, SealedMasterKey};
use crate::service::Service;
use crate::storage::{Conflict, StorageError};

/// What a request says of an inlay's keys.
#[derive(Default)]
pub(in crate::http::admin) struct KeyRequest {
    pub(in crate::http::admin) meta_key: Change<AesKey>,
    pub(in crate::http::admin) file_key: Change<AesKey>,
    pub(in crate::http::admin) master_key_id: Change<MasterKeyId>,
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
                Change::Keep => Change::Keep,
                Change::Remove => Change::Remove,
                Change::Set(id) => {
                    let master = master_key(service, id).await?;
                    Change::Set(SealedKeys::diversified(&master, uid, &service.keyring)?)
                }
            },
        };
        if change.brings_factory_key() && !self.allow_factory_keys {
            return Err(invalid(InvalidInlay::FactoryKey));
        }
        Ok(change)
    }
}

/// A mistake in an inlay, as the admin API tells it.
pub(in crate::http::admin) fn invalid(why: InvalidInlay) -> ApiError {
    ApiError::Invalid(why.to_string())
}

async fn master_key(service: &Service, id: MasterKeyId) -> Result<SealedMasterKey, ApiError> {
    let found = service.storage.master_key(id).await?;
    found.ok_or_else(|| {
        let noun = "master key";
        StorageError::Conflict(Conflict::Missing { noun, id: id.0 }).into()
    })
}
