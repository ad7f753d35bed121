//! Why labels are not printed, for every format.

use domain::field_error::FieldError;

/// Why labels are not printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrintError {
    /// The request asks for labels that cannot be.
    #[error(transparent)]
    Refused(#[from] FieldError),
    /// An internal failure.
    #[error("{0}")]
    Failed(String),
}
