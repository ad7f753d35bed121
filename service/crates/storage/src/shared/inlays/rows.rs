//! Rows of inlays, in two forms: as configured, and as a tap needs them.

use std::sync::LazyLock;

use super::Query;

use crate::value::{Row, unreadable};
use crate::{BoundInlay, StorageError, TagInlays, TemplateInlay};
use domain::clock::Timestamp;
use domain::id::{MasterKeyId, UrlTemplateId};
use domain::inventory::{Inlay, InlayFields, KeptKeys, SealedKey, SealedKeys};
use domain::keyring::WrappedKeys;
use inlay::Technology;
use inlay::key::KeyFingerprint;

/// Columns of an inlay, for a query over [`FROM`].
pub(crate) const COLUMNS: &str = "i.id, i.uid, i.technology, i.mode, i.url_template_id, i.tag_id, i.mirror, \
    i.mac_from, i.master_key_id, i.meta_key, i.file_key, i.meta_key_print, i.file_key_print, i.factory_keys, \
    i.other_keys, i.other_keys_print, i.blocked_at, i.simulated, c.last, EXISTS (SELECT 1 FROM chips h WHERE h.uid = i.uid AND h.bureau IS NOT NULL)";

/// Inlays with their counters.
pub(crate) const FROM: &str = "inlays i JOIN counters c ON c.inlay_id = i.id";

/// Whether the counter of a row of [`FROM`] has reached its maximum. `Technology::counter_max`
/// decides the same in Rust.
pub(crate) static EXHAUSTED: LazyLock<String> = LazyLock::new(|| {
    let case = |chip: &Technology| format!("WHEN '{}' THEN {}", chip.as_str(), chip.counter_max());
    let cases: Vec<_> = Technology::ALL.iter().map(case).collect();
    format!("(c.last >= CASE i.technology {} END)", cases.join(" "))
});

/// Reads an inlay from its [`COLUMNS`], with the newest counter.
pub(crate) fn read(db: &dyn Query, row: &mut Row) -> Result<Inlay, StorageError> {
    let mut inlay = stored(row)?;
    if let Some((_, state, _)) = db.counter(inlay.id) {
        inlay.last_counter = state.last;
    }
    Ok(inlay)
}

fn stored(row: &mut Row) -> Result<Inlay, StorageError> {
    Ok(Inlay {
        id: row.take()?,
        uid: row.take()?,
        fields: InlayFields {
            technology: row.text("technology", |name| name.parse().ok())?,
            mode: row.text("mode", |name| name.parse().ok())?,
            url_template_id: row.take()?,
            tag_id: row.take()?,
            mirror: row.optional_text("mirror", |name| name.parse().ok())?,
            mac_from: row.text("mac_from", |name| name.parse().ok())?,
            keys: keys(row)?,
            other_keys: row.sealed_key()?,
            blocked_at: row.take()?,
        },
        simulated: row.take()?,
        last_counter: row.take()?,
        bureau_keys: row.take()?,
    })
}

fn keys(row: &mut Row) -> Result<Option<SealedKeys>, StorageError> {
    let master_key_id: Option<MasterKeyId> = row.take()?;
    let (meta_key, file_key): (Option<Vec<u8>>, Option<Vec<u8>>) = (row.take()?, row.take()?);
    let (meta, file): (Option<KeyFingerprint>, _) = (row.take()?, row.take()?);
    let factory = row.take()?;
    let Some(file) = file else {
        return Ok(None);
    };
    let sealed = |(wrapped, fingerprint)| SealedKey {
        wrapped,
        fingerprint,
    };
    Ok(Some(match master_key_id {
        Some(master_key_id) => SealedKeys::Diversified {
            master_key_id,
            meta: meta.ok_or_else(|| unreadable("key"))?,
            file,
            factory,
            kept: KeptKeys {
                meta: meta_key,
                file: file_key,
            },
        },
        None => SealedKeys::Own {
            meta: meta_key.zip(meta).map(sealed),
            file: sealed((file_key.ok_or_else(|| unreadable("key"))?, file)),
        },
    }))
}

/// The UID of an inlay, and the start of its MAC input in the canonical form, for traces.
pub(crate) const CODE_INLAY: &str =
    "SELECT uid, CASE WHEN url_template_id IS NULL THEN mac_from END FROM inlays WHERE id = ?1";
/// The tag of the inlay with the UID `?1`, if it is on one.
pub(crate) const NAMED_INLAY: &str =
    "SELECT tag_id FROM inlays WHERE uid = ?1 AND deleted_at IS NULL";

/// Columns of [`bound`], for a query over [`BOUND_FROM`].
pub(crate) const BOUND_COLUMNS: &str = "i.id, i.uid, i.technology, \
    i.url_template_id, i.tag_id, i.simulated, i.mirror, i.mac_from, i.blocked_at, c.key_version, i.meta_key, \
    i.file_key, m.id, m.key, m.derivation";

/// The number of columns in [`BOUND_COLUMNS`].
pub(crate) const BOUND: usize = 15;

/// Inlays with their counters and master keys.
pub(crate) const BOUND_FROM: &str = "inlays i JOIN counters c ON c.inlay_id = i.id \
    LEFT JOIN master_keys m ON m.id = i.master_key_id";

impl TagInlays {
    /// Adds an inlay from its [`BOUND_COLUMNS`].
    pub(crate) fn add(&mut self, row: Row) -> Result<(), StorageError> {
        match bound(row)? {
            Bound::Canonical(inlay) => self.rolling.push(inlay),
            Bound::OfTemplate(inlay) => self.of_templates.push(inlay),
            Bound::Static => self.has_static = true,
        }
        Ok(())
    }
}

/// An inlay with its keys, by the kind of its codes.
pub(super) enum Bound {
    /// It makes codes of the canonical form.
    Canonical(BoundInlay),
    /// It writes its URL with a template.
    OfTemplate(TemplateInlay),
    /// It makes no codes.
    Static,
}

/// Reads an inlay with its keys from its [`BOUND_COLUMNS`].
pub(super) fn bound(mut row: Row) -> Result<Bound, StorageError> {
    let (id, uid) = (row.take()?, row.take()?);
    let technology = row.text("technology", |name| name.parse().ok())?;
    let url_template_id: Option<UrlTemplateId> = row.take()?;
    let (tag_id, simulated) = (row.take()?, row.take()?);
    let mirror = row.optional_text("mirror", |name| name.parse().ok())?;
    let mac_from = row.text("mac_from", |name| name.parse().ok())?;
    let blocked = row.take::<Option<Timestamp>>()?.is_some();
    let key_version = row.take()?;
    let keys = wrapped(&mut row)?;
    Ok(match (url_template_id, mirror, keys) {
        (Some(url_template_id), _, keys) => Bound::OfTemplate(TemplateInlay {
            id,
            uid,
            technology,
            url_template_id,
            tag_id,
            simulated,
            blocked,
            key_version,
            keys,
        }),
        (None, Some(mirror), keys) => Bound::Canonical(BoundInlay {
            id,
            uid,
            mirror,
            mac_from,
            blocked,
            key_version,
            keys: keys.ok_or_else(|| unreadable("key"))?,
        }),
        (None, None, _) => Bound::Static,
    })
}

/// Reads an inlay's keys, the last of its [`BOUND_COLUMNS`]. Stored keys take precedence over those
/// of the master key: they differ from these, or deriving them takes long.
fn wrapped(row: &mut Row) -> Result<Option<WrappedKeys>, StorageError> {
    let (meta, file): (Option<Vec<u8>>, Option<Vec<u8>>) = (row.take()?, row.take()?);
    let master: Option<MasterKeyId> = row.take()?;
    Ok(match (file, master) {
        (Some(file), _) => Some(WrappedKeys::Own { meta, file }),
        (None, Some(id)) => Some(WrappedKeys::Master {
            meta,
            id,
            key: row.take()?,
            derivation: row.json("master key")?,
        }),
        (None, None) => None,
    })
}
