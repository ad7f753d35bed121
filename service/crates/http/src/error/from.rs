//! Converts errors of the admin API's operations to [`ApiError`].

use super::{ApiError, Code};
use crate::body::BodyError;
use app::demo::DemoError;
use app::encoder::EncodeError;
use app::inlays::InlayError;
use app::labels::LabelError;
use app::tag_table::export::ExportError;
use app::tag_table::import::ImportError;
use app::tap::TapError;
use domain::field_error::FieldError;
use domain::keyring::KeyringError;
use domain::scope::Scope;
use storage::{Conflict, StorageError};

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        error.log();
        match error {
            StorageError::Conflict(conflict) => conflict.into(),
            StorageError::Unsupported(why) => Self::conflict(Code::Unsupported, why),
            StorageError::Full => Self::Full,
            StorageError::Unavailable(_) => Self::Unavailable,
            StorageError::Panicked | StorageError::Failed(_) => Self::Internal,
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

impl From<InlayError> for ApiError {
    fn from(error: InlayError) -> Self {
        match error {
            InlayError::Invalid(why) => Self::Invalid(why),
            InlayError::Storage(error) => error.into(),
            InlayError::Keyring(error) => error.into(),
        }
    }
}

impl From<ImportError> for ApiError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Invalid(why) => Self::Invalid(why),
            ImportError::Storage(error) => error.into(),
        }
    }
}

impl From<ExportError> for ApiError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::TooManyKeys(_) => Self::conflict(Code::TooManyKeys, error.to_string()),
            ExportError::Storage(error) => error.into(),
        }
    }
}

impl From<LabelError> for ApiError {
    fn from(error: LabelError) -> Self {
        match error {
            LabelError::Invalid(why) => Self::Invalid(why),
            LabelError::AddressNotProved(why) => Self::conflict(Code::AddressNotProved, why),
            LabelError::Storage(error) => error.into(),
            LabelError::Failed(why) => {
                tracing::error!("labels could not be printed: {why}");
                Self::Internal
            }
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
            TapError::Busy => Self::Busy,
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
