//! The journal of a chip, with its keys and without.

use zeroize::Zeroizing;

use super::EncodeError;
use crate::service::Service;
use domain::entropy;
use domain::id::EncodingRootId;
use domain::inventory::{Inlay, SealedKey};
use domain::keyring::OTHER_KEYS;
use encoding::{Candidate, Generation, Imported, Journal, Root, Roots, Source};
use inlay::ev2::KEYS;
use inlay::key::{AesKey, InlayKeys};
use inlay::technology::Family;
use inlay::technology::ntag424::file_settings::{FILE_SLOT, META_SLOT};
use storage::{StorageError, StoredGeneration, StoredJournal};

/// The slots of the keys that are not of an inlay's codes.
const OTHER_SLOTS: [u8; OTHER_KEYS] = [0, 3, 4];

/// All roots, opened, and those of them that others may know.
pub(super) async fn roots(service: &Service) -> Result<(Roots, Vec<EncodingRootId>), EncodeError> {
    let stored = service.storage.encoding_roots().await?;
    let compromised = stored.iter().filter(|root| root.compromised_at.is_some());
    let compromised = compromised.map(|root| root.id).collect();
    let roots = stored.into_iter().map(|root| {
        Ok(Root {
            id: root.id,
            key: service.keyring.unwrap(&root.key.wrapped)?,
            retired: root.retired_at.is_some(),
        })
    });
    let roots = roots.collect::<Result<_, EncodeError>>().map(Roots)?;
    Ok((roots, compromised))
}

/// Makes a root, unless an active one exists.
pub(super) async fn make_root(service: &Service) -> Result<(), EncodeError> {
    let sealed = new_root(service)?;
    Ok(service.storage.insert_encoding_root(sealed).await?)
}

/// A new random root, sealed.
pub(super) fn new_root(service: &Service) -> Result<SealedKey, EncodeError> {
    let bytes = Zeroizing::new(entropy::bytes::<16>(&*service.entropy));
    let key = AesKey::from_bytes(*bytes);
    let sealed = SealedKey::seal(&key, &service.keyring, &*service.entropy)?;
    Ok(sealed)
}

/// A journal with its keys opened.
pub(super) fn open(service: &Service, stored: &StoredJournal) -> Result<Journal, EncodeError> {
    let unreadable = || StorageError::Failed("a stored journal is not readable".to_owned());
    let generations = stored.generations.iter().map(|generation| {
        let source = if let Some(root) = generation.root {
            Source::Root(root)
        } else {
            let keys = generation.own.iter();
            let keys: Result<Vec<AesKey>, _> =
                keys.map(|key| service.keyring.unwrap(key)).collect();
            let keys = <[AesKey; KEYS as usize]>::try_from(keys?).map_err(|_| unreadable())?;
            Source::Own(Box::new(keys))
        };
        Ok(Generation {
            number: generation.number,
            source,
            slots: generation.slots,
        })
    });
    Ok(Journal {
        uid: stored.uid,
        confirmed: stored.confirmed,
        bureau: stored.bureau,
        refusals: stored.refusals,
        torn: stored.torn,
        refused: serde_json::from_str(&stored.refused).map_err(|_| unreadable())?,
        generations: generations.collect::<Result<_, EncodeError>>()?,
        imported: Imported::default(),
    })
}

/// The keys of a chip's inlay that no generation of its journal has: they were imported with the
/// inlay.
pub(super) async fn imported(
    service: &Service,
    inlay: &Inlay,
    journal: &Journal,
    roots: &Roots,
) -> Result<Imported, EncodeError> {
    if inlay.fields.technology.family() != Family::Ntag424 {
        return Ok(Imported::default());
    }
    let mut slots = 0..KEYS;
    let keys = chip_keys(service, inlay).await?.map(|key| {
        let slot = slots.next()?;
        let mut numbers = journal.generations.iter().map(|one| one.number);
        let known = numbers.any(|number| {
            let recorded = journal.key(slot, Candidate::Recorded(number), roots);
            recorded.is_some() && recorded == key
        });
        key.filter(|key| !known && !key.is_factory())
    });
    Ok(Imported(keys))
}

/// The keys of a chip that are stored with its inlay or follow from its master key, by slot.
async fn chip_keys(
    service: &Service,
    inlay: &Inlay,
) -> Result<[Option<AesKey>; KEYS as usize], EncodeError> {
    let keyring = &service.keyring;
    let mut all: [Option<AesKey>; KEYS as usize] = Default::default();
    if let Some(sealed) = &inlay.fields.keys {
        let master = match sealed.master_key_id() {
            Some(master) => service.storage.master_key(master).await?,
            None => None,
        };
        if let Some(master) = &master {
            let fields = &master.fields;
            let derived =
                keyring.derived_chip_keys(&fields.key.wrapped, &fields.derivation, inlay.uid)?;
            all = derived.map(|keys| keys.map(Some)).unwrap_or_default();
        }
        let wrapped = sealed.wrapped(master.as_ref());
        let keys = keyring.inlay_keys(wrapped.as_ref(), inlay.uid, inlay.fields.technology)?;
        if let InlayKeys::Aes(keys) = keys {
            all[usize::from(META_SLOT)] = keys.meta;
            all[usize::from(FILE_SLOT)] = Some(keys.file);
        }
    }
    if let Some(others) = &inlay.fields.other_keys {
        let others = keyring.unwrap_others(&others.wrapped)?;
        for (slot, key) in OTHER_SLOTS.into_iter().zip(others) {
            all[usize::from(slot)] = Some(key);
        }
    }
    Ok(all)
}

/// A journal in its stored form. Keys of generations in `known` are already stored and stay as they
/// are.
pub(super) fn seal(
    service: &Service,
    journal: &Journal,
    known: &[StoredGeneration],
) -> Result<StoredJournal, EncodeError> {
    let generations = journal.generations.iter().map(|generation| {
        let is_known = known.iter().any(|one| one.number == generation.number);
        let (root, own) = match &generation.source {
            Source::Root(root) => (Some(*root), Vec::new()),
            Source::Own(_) if is_known => (None, Vec::new()),
            Source::Own(keys) => {
                let wrap = |key: &AesKey| service.keyring.wrap(key.expose(), &*service.entropy);
                let own: Result<_, _> = keys.iter().map(wrap).collect();
                (None, own?)
            }
        };
        Ok(StoredGeneration {
            number: generation.number,
            root,
            own,
            slots: generation.slots,
        })
    });
    let generations = generations.collect::<Result<_, EncodeError>>()?;
    Ok(StoredJournal {
        uid: journal.uid,
        confirmed: journal.confirmed,
        bureau: journal.bureau,
        refusals: journal.refusals,
        torn: journal.torn,
        // It holds names of keys only, which JSON can represent.
        refused: serde_json::to_string(&journal.refused).unwrap_or_else(|_| "[]".to_owned()),
        generations,
    })
}
