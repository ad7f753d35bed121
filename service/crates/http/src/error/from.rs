//! Converts errors of the admin API's operations to [`ApiError`].

use super::{ApiError, Code};
use crate::body::BodyError;
use app::demo::DemoError;
use app::encoder::EncodeError;
use app::tap::TapError;
use domain::field_error::FieldError;
use domain::keyring::KeyringError;
use domain::scope::Scope;
use storage::{Conflict, StorageError};

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Conflict(conflict) => conflict.into(),
            StorageError::Unsupported(why) => Self::conflict(Code::Unsupported, why),
            StorageError::Full => Self::Full,
            StorageError::Unavailable(why) => {
                tracing::warn!("the database is not available: {why}");
                Self::Unavailable
            }
            StorageError::Panicked => {
                tracing::error!("an operation of the database panicked");
                Self::Internal
            }
            StorageError::Failed(why) => {
                tracing::error!("the database failed: {why}");
                Self::Internal
            }
        }
    }
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::TooLarge,
            BodyError::Incomplete => Self::invalid(FieldError::whole("The body ended early.")),
            BodyError::TimedOut => Self::TimedOut,
        }
    }
}

impl From<KeyringError> for ApiError {
    fn from(error: KeyringError) -> Self {
        Self::conflict(Code::InlayKeyLocked, error.to_string())
    }
}

impl From<DemoError> for ApiError {
    fn from(error: DemoError) -> Self {
        match error {
            DemoError::Storage(error) => error.into(),
            DemoError::Keyring(error) => error.into(),
        }
    }
}

impl From<EncodeError> for ApiError {
    fn from(error: EncodeError) -> Self {
        match error {
            EncodeError::Storage(error) => error.into(),
            EncodeError::Keyring(error) => error.into(),
            EncodeError::NotFound(noun) => Self::NotFound(noun),
            EncodeError::Invalid(why) => Self::Invalid(why),
            EncodeError::OtherTarget => Self::conflict(Code::EncodingOpen, error.to_string()),
            EncodeError::NeedsKeys => Self::Scope(Scope::Keys),
            EncodeError::Blocked => Self::conflict(Code::InlayBlocked, error.to_string()),
            EncodeError::AddressNotProved(why) => Self::conflict(Code::AddressNotProved, why),
            EncodeError::Stale => Self::conflict(Code::TurnStale, error.to_string()),
            EncodeError::Raced => Self::Unavailable,
        }
    }
}

impl From<TapError> for ApiError {
    fn from(error: TapError) -> Self {
        match error {
            TapError::Storage(error) => error.into(),
            TapError::Keyring(error) => error.into(),
            TapError::Page(error) => {
                tracing::error!("a page could not be written: {error}");
                Self::Internal
            }
        }
    }
}

/// The rule of the data that a request breaks, and the field that causes it.
impl From<Conflict> for ApiError {
    fn from(conflict: Conflict) -> Self {
        let code = Code::from(&conflict);
        match conflict {
            Conflict::Invalid(why) => Self::Invalid(why.into()),
            Conflict::Changed(_) => Self::Changed(None),
            conflict => Self::Conflict(code, conflict.into()),
        }
    }
}
