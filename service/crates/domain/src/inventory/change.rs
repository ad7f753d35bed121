//! The changes that a patch makes to an inlay and to its keys.

use serde::{Deserialize, Deserializer};

use crate::inventory::{InvalidInlay, SealedKey, SealedKeys};

/// The change that a merge patch (RFC 7396) makes to one member. The default is
/// [`MemberPatch::Keep`], by `#[serde(default)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemberPatch<T> {
    /// The member was not sent: its value stays.
    #[default]
    Keep,
    /// The member was null: its value is removed.
    Remove,
    /// The member gets a new value.
    Set(T),
}

impl<T> MemberPatch<T> {
    /// The value after the change; `present` is the value before.
    pub fn apply(self, present: Option<T>) -> Option<T> {
        match self {
            Self::Keep => present,
            Self::Remove => None,
            Self::Set(value) => Some(value),
        }
    }

    /// The change with its value changed by `f`.
    pub fn try_map<U, E>(self, f: impl FnOnce(T) -> Result<U, E>) -> Result<MemberPatch<U>, E> {
        Ok(match self {
            Self::Keep => MemberPatch::Keep,
            Self::Remove => MemberPatch::Remove,
            Self::Set(value) => MemberPatch::Set(f(value)?),
        })
    }

    /// The new value, if there is one.
    pub const fn set(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Remove => None,
        }
    }
}

impl<T> From<Option<T>> for MemberPatch<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Remove, Self::Set)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for MemberPatch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::from)
    }
}

/// New keys for an inlay, sealed.
#[derive(Clone, Debug, Default)]
pub struct KeyChange {
    /// The meta read key.
    pub meta: MemberPatch<SealedKey>,
    /// The file read key.
    pub file: MemberPatch<SealedKey>,
    /// Its keys from a master key. If the meta read key is sent, too, only the file read key is
    /// derived.
    pub master: MemberPatch<SealedKeys>,
    /// The meta read key that all chips of the URL template share. An inlay with a file read key of
    /// its own gets it if it has no other, and if none is removed.
    pub shared_meta: Option<SealedKey>,
}

impl KeyChange {
    /// The keys after the change; `present` are the keys before.
    pub fn apply(self, present: Option<SealedKeys>) -> Result<Option<SealedKeys>, InvalidInlay> {
        let (meta, file) = match (self.master, present) {
            (MemberPatch::Set(_), _) if self.file.set().is_some() => {
                return Err(InvalidInlay::TwoSources);
            }
            (MemberPatch::Set(keys), _) => return Ok(Some(with_meta(keys, self.meta))),
            (MemberPatch::Keep, Some(keys @ SealedKeys::Diversified { .. }))
                if self.file.set().is_none() =>
            {
                let keeps_meta =
                    matches!(&keys, SealedKeys::Diversified { kept, .. } if kept.meta.is_some());
                if self.meta == MemberPatch::Remove && keeps_meta {
                    return Err(InvalidInlay::MetaOfMaster);
                }
                return Ok(Some(with_meta(keys, self.meta)));
            }
            (_, Some(SealedKeys::Own { meta, file })) => (meta, Some(file)),
            (_, present) => (present.and_then(SealedKeys::own_meta), None),
        };
        let shared = self
            .shared_meta
            .filter(|_| matches!(self.meta, MemberPatch::Keep));
        match (self.meta.apply(meta), self.file.apply(file)) {
            (meta, Some(file)) => Ok(Some(SealedKeys::Own {
                meta: meta.or(shared),
                file,
            })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(InvalidInlay::NoFileKey),
        }
    }
}

fn with_meta(keys: SealedKeys, meta: MemberPatch<SealedKey>) -> SealedKeys {
    match meta {
        MemberPatch::Set(meta) => keys.with_meta(meta),
        MemberPatch::Keep | MemberPatch::Remove => keys,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inlay::key::KeyFingerprint;

    fn key(print: u8) -> SealedKey {
        SealedKey {
            wrapped: vec![print],
            fingerprint: KeyFingerprint::from_bytes([print; 16]),
        }
    }

    /// The meta read key after a change that sets the file read key.
    fn meta_after(meta: MemberPatch<SealedKey>, present: Option<SealedKey>) -> Option<SealedKey> {
        let change = KeyChange {
            meta,
            file: MemberPatch::Set(key(9)),
            shared_meta: Some(key(1)),
            ..KeyChange::default()
        };
        let present = present.map(|meta| SealedKeys::Own {
            meta: Some(meta),
            file: key(8),
        });
        change.apply(present).unwrap().unwrap().own_meta()
    }

    #[test]
    fn the_shared_meta_key_counts_only_if_there_is_no_other() {
        assert_eq!(meta_after(MemberPatch::Keep, None), Some(key(1)));
        assert_eq!(meta_after(MemberPatch::Keep, Some(key(2))), Some(key(2)));
        let sent = MemberPatch::Set(key(3));
        assert_eq!(meta_after(sent, Some(key(2))), Some(key(3)));
        assert_eq!(meta_after(MemberPatch::Remove, Some(key(2))), None);
    }
}
