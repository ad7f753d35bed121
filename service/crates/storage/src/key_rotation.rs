//! Rotation of the key that wraps secrets at rest. Every secret is wrapped again, some in each
//! commit. The state here lets a rotation continue after it was interrupted at any point.

use super::value::Value;
use domain::clock::Timestamp;

/// A rotation that began and is not finished. Until it is, some secrets are wrapped by the old key
/// and some by the new one, and no service starts.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyRotation {
    /// When the rotation began.
    pub began_at: Timestamp,
    /// A value wrapped by the new key, so that the new key is recognised later.
    pub probe: Vec<u8>,
}

impl std::fmt::Debug for KeyRotation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyRotation({})", self.began_at)
    }
}

/// The result of wrapping one secret again.
#[derive(Clone, PartialEq, Eq)]
pub enum Rewrapped {
    /// The secret keeps its stored form: it needs no new wrapping.
    Stays,
    /// The secret's new stored form.
    As(Vec<u8>),
    /// Neither key opens the secret. It stays as it is.
    Unknown,
}

/// Wraps a secret again, from its stored form.
pub type Rewrap = Box<dyn Fn(&[u8]) -> Rewrapped + Send + Sync>;

/// The progress of a walk over all secrets.
#[derive(Clone, Debug, Default)]
pub struct SecretsPlace {
    /// The index of the table.
    pub(super) table: usize,
    /// The key of the last row that was visited; `None` before the first row.
    pub(super) after: Option<Vec<Value<'static>>>,
}

/// The result of one step of a rotation.
#[derive(Clone, Debug)]
pub struct SecretsDone {
    /// The table of this step.
    pub table: &'static str,
    /// How many rows this step visited.
    pub rows: u64,
    /// How many secrets neither key opens.
    pub unknown: u64,
    /// Where the next step begins; `None` after the last row.
    pub next: Option<SecretsPlace>,
}
