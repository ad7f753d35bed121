//! Rotation of the key that wraps secrets at rest: every secret is wrapped again, some in each
//! commit. What is told of it here is what lets it go on after it was ended anywhere.

use async_trait::async_trait;

use super::StorageError;
use super::value::Value;
use crate::clock::Timestamp;

/// A rotation that was begun and is not done. Until it is, secrets are wrapped by either key, and
/// no service starts.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyRotation {
    /// When it was begun.
    pub began_at: Timestamp,
    /// Something that the new key wrapped: by it the new key is known again.
    pub probe: Vec<u8>,
}

impl std::fmt::Debug for KeyRotation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyRotation({})", self.began_at)
    }
}

/// What becomes of a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Rewrapped {
    /// It stays as it is.
    Stays,
    /// It is stored like this from now on.
    As(Vec<u8>),
    /// Neither key opens it. It stays as it is.
    Unknown,
}

/// Decides what becomes of a secret, from its stored form.
pub type Rewrap = Box<dyn Fn(&[u8]) -> Rewrapped + Send + Sync>;

/// How far all secrets were gone through.
#[derive(Clone, Debug, Default)]
pub struct SecretsPlace {
    /// The table, by its number.
    pub(super) table: usize,
    /// The key of the last row.
    pub(super) after: Option<Vec<Value<'static>>>,
}

/// What was done with some secrets.
#[derive(Clone, Debug)]
pub struct SecretsDone {
    /// The table that they are in.
    pub table: &'static str,
    /// How many rows were looked at.
    pub rows: u64,
    /// How many secrets neither key opens.
    pub unknown: u64,
    /// Where the next ones are; `None` after the last.
    pub next: Option<SecretsPlace>,
}

/// The operations of a rotation. Nobody else uses the database meanwhile.
#[async_trait]
pub trait KeyRotations: Send + Sync {
    /// The rotation that is not done.
    async fn key_rotation(&self) -> Result<Option<KeyRotation>, StorageError>;

    /// Notes that a rotation begins, unless one was begun before. Answers the one that is not done.
    async fn begin_key_rotation(&self, probe: Vec<u8>) -> Result<KeyRotation, StorageError>;

    /// How many rows have secrets.
    async fn count_wrapped(&self) -> Result<u64, StorageError>;

    /// Decides about the secrets of at most `limit` rows behind `from`, in one commit.
    async fn rewrap(
        &self,
        from: SecretsPlace,
        limit: usize,
        with: Rewrap,
    ) -> Result<SecretsDone, StorageError>;

    /// Notes that the rotation is done.
    async fn end_key_rotation(&self) -> Result<(), StorageError>;
}
