//! Inlays: checks a new one, and seals its keys. An unlisted chip becomes one.

mod enrol;
mod keys;
mod new;

pub use enrol::{ChipTag, enrol};
pub use keys::{KeyRequest, OtherKeysRequest, master_key, open_keys, open_shared};
pub use new::{InlayRequest, mode_of, template};

use domain::field_error::FieldError;
use domain::inventory::InvalidInlay;
use domain::keyring::KeyringError;
use storage::StorageError;

/// Why an inlay or its keys are refused.
#[derive(Debug, thiserror::Error)]
pub enum InlayError {
    /// The request is not valid.
    #[error(transparent)]
    Invalid(#[from] FieldError),
    /// A read or a write of the database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The keyring cannot open or wrap a key.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
}

impl InlayError {
    /// The error with its explanation for people. A failure of the database is logged.
    pub(crate) fn into_field_error(self) -> FieldError {
        match self {
            Self::Invalid(why) => why,
            Self::Storage(error) => {
                error.log();
                FieldError::whole(error.for_people())
            }
            Self::Keyring(error) => FieldError::whole(error.to_string()),
        }
    }
}

impl From<InvalidInlay> for InlayError {
    fn from(why: InvalidInlay) -> Self {
        Self::Invalid(why.into())
    }
}
