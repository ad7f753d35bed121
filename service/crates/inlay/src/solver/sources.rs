//! The possible keys of URLs: given, or derived from a master key.

use super::{KEYS_MAX, Puzzle, SomeKey};
use crate::Uid;
use crate::derivation::{Derivation, MasterSecret, SdmBackendVersion};
use crate::key::{AesKey, InlayKeys, Keys};
use crate::template::{Field, Filled, Template};

/// Boltcard's versions that are tried: a card is seldom written more often.
const BOLTCARD_VERSIONS: u32 = 5;
/// Inputs for AN10922 that are in use: the bare UID, and NXP's own example with the application.
const AN10922_INPUTS: [&str; 3] = ["{uid}", "{uid}3042F5", "{uid}D2760000850101"];
/// Inputs for a plain CMAC that are in use.
const CMAC_INPUTS: [&str; 2] = ["01{uid}", "{uid}"];
/// System identifiers of the `ntag424` crate that are tried: its own, and the empty one.
const SYSTEM_IDS: [&str; 2] = ["NTAG424DNA", ""];
/// Attempts that a slow scheme counts as: two times 5,000 rounds.
const SLOW_COST: u64 = 10_000;
/// The slots of an NTAG 424 DNA.
const SLOTS: u8 = 5;

/// The origin of a template's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// Keys that the caller gave.
    Given {
        /// The index of the meta key; `None` for templates without PICC data.
        meta: Option<usize>,
        /// The index of the file key.
        file: usize,
        /// Keys at these indices.
        keys: InlayKeys,
    },
    /// Derived from a master key.
    Derived {
        /// Index of the master key in [`Puzzle::master_keys`](super::Puzzle::master_keys).
        master: usize,
        /// Master key, so that callers need not look it up.
        secret: MasterSecret,
        /// The scheme of the derivation, with its slots.
        derivation: Derivation,
        /// The meta key, if it does not depend on the UID.
        shared: Option<AesKey>,
        /// The index of the given key that is the meta key in place of the derived one.
        meta: Option<usize>,
    },
}

/// All sources of keys, each once.
pub(super) fn all(puzzle: &Puzzle<'_>) -> Vec<KeySource> {
    let mut sources = Vec::new();
    let keys = &puzzle.keys[..puzzle.keys.len().min(KEYS_MAX)];
    let distinct = |index: usize| !keys[..index].contains(&keys[index]);
    for (file, key) in keys
        .iter()
        .enumerate()
        .filter(|(index, _)| distinct(*index))
    {
        match key {
            SomeKey::Rolling(key) => sources.push(KeySource::Given {
                meta: None,
                file,
                keys: InlayKeys::Rolling(key.clone()),
            }),
            SomeKey::Aes(key) => {
                for (meta, other) in keys
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| distinct(*index))
                {
                    if let SomeKey::Aes(other) = other {
                        sources.push(KeySource::given(meta, other, file, key));
                    }
                }
            }
        }
    }
    let masters = &puzzle.master_keys[..puzzle.master_keys.len().min(KEYS_MAX)];
    for (master, secret) in masters.iter().enumerate() {
        if masters[..master].contains(secret) {
            continue;
        }
        for derivation in derivations() {
            let Ok(shared) = derivation.shared_meta_key(secret) else {
                continue;
            };
            sources.push(KeySource::Derived {
                master,
                secret: secret.clone(),
                derivation,
                shared,
                meta: None,
            });
        }
    }
    sources.extend(mixed(keys, masters));
    sources
}

/// File keys that are derived, with a given meta key that all chips share, as in NXP's examples.
/// The slow scheme is left out: it derives the meta key, too.
fn mixed(keys: &[SomeKey], masters: &[MasterSecret]) -> Vec<KeySource> {
    let mut fast = derivations();
    fast.retain(|derivation| !derivation.is_slow());
    let mut usable = Vec::new();
    for (master, secret) in masters.iter().enumerate() {
        if masters[..master].contains(secret) {
            continue;
        }
        let checked = fast
            .iter()
            .filter(|derivation| derivation.check(secret).is_ok());
        usable.extend(checked.map(|derivation| (master, secret, derivation)));
    }
    let mut sources = Vec::new();
    for (index, key) in keys.iter().enumerate() {
        let SomeKey::Aes(key) = key else { continue };
        if keys[..index].contains(&keys[index]) {
            continue;
        }
        let derived = usable
            .iter()
            .map(|&(master, secret, derivation)| KeySource::Derived {
                master,
                secret: secret.clone(),
                derivation: derivation.clone(),
                shared: Some(key.clone()),
                meta: Some(index),
            });
        sources.extend(derived);
    }
    sources
}

/// The schemes that are tried, the slow one last.
fn derivations() -> Vec<Derivation> {
    let mut all = Vec::new();
    for input in AN10922_INPUTS {
        let input = input.parse().expect("the inputs are well-formed");
        all.push(Derivation::An10922 {
            input,
            diversify_meta: false,
        });
    }
    for input in CMAC_INPUTS {
        let input = input.parse().expect("the inputs are well-formed");
        all.push(Derivation::PlainCmac { input });
    }
    all.extend((0..BOLTCARD_VERSIONS).map(|version| Derivation::Boltcard { version }));
    for system_id in SYSTEM_IDS {
        for file_slot in 0..SLOTS {
            let system_id = system_id.parse().expect("the identifiers are short");
            all.push(Derivation::Ntag424Crate {
                system_id,
                file_slot,
            });
        }
    }
    let backend = |version, file_slot| Derivation::SdmBackend {
        version,
        meta_slot: 1,
        file_slot,
    };
    all.extend((0..SLOTS).map(|slot| backend(SdmBackendVersion::Standard, slot)));
    all.push(backend(SdmBackendVersion::Legacy, 2));
    all
}

impl KeySource {
    fn given(meta: usize, meta_key: &AesKey, file: usize, file_key: &AesKey) -> Self {
        Self::Given {
            meta: Some(meta),
            file,
            keys: InlayKeys::Aes(Keys {
                meta: Some(meta_key.clone()),
                file: file_key.clone(),
            }),
        }
    }

    /// The keys of a chip.
    pub(super) fn keys(&self, uid: Uid) -> Option<InlayKeys> {
        match self {
            Self::Given { keys, .. } => Some(keys.clone()),
            Self::Derived {
                secret,
                derivation,
                shared,
                ..
            } => {
                let derived = derivation.keys(secret, uid).ok()?;
                Some(InlayKeys::Aes(Keys {
                    meta: shared.clone().or(derived.meta),
                    file: derived.file,
                }))
            }
        }
    }

    /// The meta key, for opening PICC data before the UID is known.
    fn meta_key(&self) -> Option<AesKey> {
        match self {
            Self::Given {
                keys: InlayKeys::Aes(keys),
                ..
            } => Some(keys.for_picc_data().clone()),
            Self::Given { .. } => None,
            Self::Derived { shared, .. } => shared.clone(),
        }
    }

    /// The chip that a code names, with these keys. If it names none and the keys are not derived,
    /// a UID of zeros stands in.
    pub(super) fn named(&self, template: &Template, code: &Filled) -> Option<Uid> {
        let uid = if template.has(Field::Picc) {
            template.meta_key(&self.meta_key()?).open(code)?.uid
        } else {
            code.uid()
        };
        match self {
            Self::Given { .. } => Some(uid.unwrap_or(Uid::from_bytes([0; 7]))),
            Self::Derived { .. } => uid,
        }
    }

    /// Whether this source adds nothing to another one: without PICC data the meta key does not
    /// matter.
    pub(super) fn is_superfluous_for(&self, template: &Template) -> bool {
        match self {
            Self::Given {
                meta: Some(meta),
                file,
                ..
            } => !template.has(Field::Picc) && meta != file,
            Self::Derived { meta, .. } => meta.is_some() && !template.has(Field::Picc),
            Self::Given { .. } => false,
        }
    }

    /// The cost of deriving its keys, in attempts.
    pub(super) fn cost(&self) -> u64 {
        match self {
            Self::Derived { derivation, .. } if derivation.is_slow() => SLOW_COST,
            _ => 1,
        }
    }

    /// The same source without a meta key that the template does not need.
    pub(super) fn as_used_by(&self, template: &Template) -> Self {
        match self {
            Self::Given { file, keys, .. } if !template.has(Field::Picc) => Self::Given {
                meta: None,
                file: *file,
                keys: match keys {
                    InlayKeys::Aes(keys) => InlayKeys::Aes(Keys {
                        meta: None,
                        file: keys.file.clone(),
                    }),
                    other => other.clone(),
                },
            },
            other => other.clone(),
        }
    }
}
