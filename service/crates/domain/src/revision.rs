//! The revision of a resource that an editor saw, so that an editor does not overwrite changes that
//! another one saved meanwhile. In HTTP it is an `ETag`, used with `If-Match` (RFC 9110).

use std::fmt;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// A resource that can be edited.
pub trait Revised {
    /// The revision of its configuration. Counts, and data that others write, are not part of it.
    fn revision(&self) -> Revision;
}

/// A revision of a resource: a digest of its configuration. The same on every
/// node, and after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision([u8; 16]);

impl Revision {
    /// The revision of a resource with these members, from their JSON bytes. The JSON of equal
    /// members is always equal.
    pub fn of(members: &impl Serialize) -> Self {
        // Members of resources come from JSON, so they can be written as JSON.
        let json = serde_json::to_vec(members).unwrap_or_default();
        let digest = Sha256::digest(json);
        Self(std::array::from_fn(|index| digest[index]))
    }

    /// The revision with this text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 16];
        let decoded = base16ct::lower::decode(text, &mut bytes).ok()?;
        (decoded.len() == bytes.len()).then_some(Self(bytes))
    }
}

/// Writes 32 hex digits, the form in an `ETag`.
impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", base16ct::HexDisplay(&self.0))
    }
}

/// The resource is in another revision than expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "It was changed meanwhile, by another window, a visitor or a program. Nothing was saved. \
     Look at it as it is now, and save again what you still want to change."
)]
pub struct Changed;

/// The revision that a resource must have to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Precondition {
    /// Any revision, or none.
    #[default]
    None,
    /// Any revision, but the resource must exist.
    Exists,
    /// One of these revisions.
    OneOf(Vec<Revision>),
}

impl Precondition {
    /// Checks a resource against the precondition. `None`: the resource does not exist.
    pub fn check<R: Revised>(&self, resource: Option<&R>) -> Result<(), Changed> {
        let met = match self {
            Self::None => true,
            Self::Exists => resource.is_some(),
            Self::OneOf(revisions) => {
                resource.is_some_and(|resource| revisions.contains(&resource.revision()))
            }
        };
        if met { Ok(()) } else { Err(Changed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(&'static str);

    impl Revised for Named {
        fn revision(&self) -> Revision {
            Revision::of(&self.0)
        }
    }

    #[test]
    fn a_precondition_is_met_by_the_revisions_it_names() {
        let seen = vec![Revision::of(&"b"), Revision::of(&"a")];
        for (precondition, a, c, nothing) in [
            (Precondition::None, true, true, true),
            (Precondition::Exists, true, true, false),
            (Precondition::OneOf(seen), true, false, false),
            (Precondition::OneOf(Vec::new()), false, false, false),
        ] {
            let met = |resource: Option<&Named>| precondition.check(resource).is_ok();
            let found = (met(Some(&Named("a"))), met(Some(&Named("c"))), met(None));
            assert_eq!(found, (a, c, nothing), "{precondition:?}");
        }
    }

    #[test]
    fn a_revision_is_known_by_its_text() {
        let revision = Revision::of(&"a");
        assert_eq!(Revision::parse(&revision.to_string()), Some(revision));
        for other in ["", "a1", &"g".repeat(32), &"a".repeat(33), &"a".repeat(34)] {
            assert_eq!(Revision::parse(other), None, "{other}");
        }
    }
}
