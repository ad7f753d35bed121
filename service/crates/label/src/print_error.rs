//! Why labels are not printed, for every format.

use domain::field_error::FieldError;

/// Why labels are not printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrintError {
    /// The request asks for labels that cannot be.
    #[error(transparent)]
    Refused(#[from] FieldError),
    /// The file could not be made, although the request is valid.
    #[error("{0}")]
    Failed(String),
}
