//! Imports whose rows are stored all or none, without holding taps up. Short commits first set the
//! rows aside; then one commit decides; then short commits turn the rows into tags. An import that
//! breaks off before the decision leaves no data. After the decision, whoever finds it finishes it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::{Access, ImportRow, Put, StorageError};
use domain::clock::Millis;
use domain::id::{ExperienceId, GroupId, ImportId, MasterKeyId, TagId, UrlTemplateId};
use domain::inventory::{Inlay, InlayFields, KeptKeys, NewInlay, SealedKey, SealedKeys};
use domain::tag::{Slug, TagColumn, TagFields, TagRow, deleted};
use inlay::Uid;
use inlay::key::KeyFingerprint;
use inlay::technology::Mode;

/// Rows that are written before others may have their turn: taps wait for at most so many, which
/// takes some milliseconds.
pub const ROWS_AT_ONCE: usize = 100;

/// Most rows of a commit, if nobody else waits. Its pages are written in some milliseconds; with ten
/// times as many rows, a commit writes a third of the pages for each.
pub const ROWS_IN_COMMIT: usize = 1_000;

/// How long an import stays untouched until it counts as abandoned: each piece of
/// an import takes far less than a second.
pub const LEFT_AFTER: Millis = Millis::minutes(1);

/// The result of a row that was checked or set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The slug that the tag has afterwards.
    pub slug: Slug,
    /// Whether the row creates a tag or changes one.
    pub put: Put,
    /// The columns that become empty in the tag.
    pub deleted: Vec<TagColumn>,
    /// Set if the tag has the row's inlay already.
    pub kept: Option<KeptInlay>,
}

/// How a row describes an inlay that is on the row's tag already. The row does not change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptInlay {
    /// As it is stored, or with less.
    Same,
    /// With other keys, in another form, or with a higher counter.
    Different,
}

impl KeptInlay {
    /// Compares `described` with the stored inlay. A row cannot say whether an inlay is blocked, and
    /// may leave out the chip's other keys.
    pub(super) fn of(stored: &Inlay, described: &NewInlay) -> Self {
        let other_keys = described.fields.other_keys.as_ref();
        let other_keys = other_keys.or(stored.fields.other_keys.as_ref());
        let fields = InlayFields {
            tag_id: stored.fields.tag_id,
            blocked_at: stored.fields.blocked_at,
            other_keys: other_keys.cloned(),
            ..described.fields.clone()
        };
        let is_used = described.last_counter <= stored.last_counter;
        if is_used && fields.is_same_as(&stored.fields) {
            Self::Same
        } else {
            Self::Different
        }
    }
}

/// The effect of a row: the tag before and after it.
pub(super) struct Seen {
    /// The tag after the row.
    pub(super) fields: TagFields,
    /// The existing tag that the row changes; `None` if the row creates a tag.
    pub(super) changes: Option<(TagId, TagFields)>,
    /// Set if that tag has the row's inlay already.
    pub(super) kept: Option<KeptInlay>,
}

impl Seen {
    /// The new inlay of `row`; `None` if it has none, or if its tag has the inlay already.
    pub(super) fn new_inlay<'a>(&self, row: &'a ImportRow) -> Option<&'a NewInlay> {
        row.inlay.as_ref().filter(|_| self.kept.is_none())
    }

    /// The result of the row for the caller.
    pub(super) fn staged(&self) -> Staged {
        Staged {
            slug: self.fields.slug.clone(),
            put: if self.changes.is_some() {
                Put::Set
            } else {
                Put::New
            },
            deleted: match &self.changes {
                Some((_, before)) => deleted(before, &self.fields),
                None => Vec::new(),
            },
            kept: self.kept,
        }
    }
}

/// Finishes an abandoned import: applies it if it is decided, otherwise discards it.
pub async fn finish(storage: &Access, import: ImportId, decided: bool) -> Result<(), StorageError> {
    if decided {
        while !storage.apply_import(import).await?.is_empty() {}
    } else {
        while storage.discard_import(import).await? {}
    }
    Ok(())
}

/// A row in the form in which it is set aside.
pub(super) struct Aside {
    /// The slug of the new tag; `None` if the row changes a tag.
    pub(super) slug: Option<String>,
    /// The UID of its new inlay.
    pub(super) uid: Option<Vec<u8>>,
    /// The tag that it changes; `None` if the row creates a tag.
    pub(super) tag_id: Option<i64>,
    /// The experience of the tag. Kept as a column, so that it is not deleted meanwhile.
    pub(super) experience_id: Option<i64>,
    pub(super) group_id: Option<i64>,
    /// The master key of the inlay. Kept as a column, so that it is not deleted meanwhile.
    pub(super) master_key_id: Option<i64>,
    /// The URL template of the inlay. Kept as a column, so that it is not deleted meanwhile.
    pub(super) url_template_id: Option<i64>,
    /// The row's cells, as JSON.
    pub(super) row: String,
    /// The new inlay, as JSON.
    pub(super) inlay: Option<String>,
}

impl Aside {
    /// Builds the form of `row`, which has the effect `seen`.
    pub(super) fn of(row: &ImportRow, seen: &Seen) -> Result<Self, StorageError> {
        let fields = &seen.fields;
        let changes = seen.changes.as_ref().map(|(id, _)| *id);
        let unwritable = |error: serde_json::Error| StorageError::Failed(error.to_string());
        let inlay = seen.new_inlay(row);
        let keys = inlay.and_then(|inlay| inlay.fields.keys.as_ref());
        let stored = inlay.map(|inlay| serde_json::to_string(&StoredInlay::of(inlay)));
        Ok(Self {
            slug: changes.is_none().then(|| fields.slug.to_string()),
            uid: inlay.map(|inlay| inlay.uid.bytes().to_vec()),
            tag_id: changes.map(TagId::get),
            experience_id: fields.experience_id.map(ExperienceId::get),
            group_id: fields.group_id.map(GroupId::get),
            master_key_id: keys
                .and_then(SealedKeys::master_key_id)
                .map(MasterKeyId::get),
            url_template_id: inlay
                .and_then(|inlay| inlay.fields.url_template_id)
                .map(UrlTemplateId::get),
            row: serde_json::to_string(&StoredRow::of(row)).map_err(unwritable)?,
            inlay: stored.transpose().map_err(unwritable)?,
        })
    }

    /// Parses the row's cells.
    pub(super) fn row(&self) -> Result<StoredRow, StorageError> {
        serde_json::from_str(&self.row).map_err(|_| unreadable())
    }

    /// The new tag that the row creates.
    pub(super) fn new_tag(&self) -> Result<TagFields, StorageError> {
        let slug = self.slug.as_deref().and_then(|slug| Slug::parse(slug).ok());
        let slug = slug.ok_or_else(unreadable)?;
        let row = self.row()?;
        let tag = row.cells.create(slug, &row.new_name);
        tag.map_err(|why| StorageError::Failed(why.message))
    }

    /// The row's new inlay, not yet bound to a tag.
    pub(super) fn inlay(&self) -> Result<Option<NewInlay>, StorageError> {
        let Some(json) = &self.inlay else {
            return Ok(None);
        };
        let stored: StoredInlay = serde_json::from_str(json).map_err(|_| unreadable())?;
        stored.read().map(Some).ok_or_else(unreadable)
    }
}

fn unreadable() -> StorageError {
    StorageError::Failed("a row of an import cannot be read".to_owned())
}

/// A row's cells and options, as JSON.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredRow {
    /// The cells of the row.
    pub(super) cells: TagRow,
    /// The name of a new tag, as in [`ImportRow::new_name`].
    pub(super) new_name: String,
    /// Whether the tag gets its page's variables, as in [`ImportRow::add_variables`].
    pub(super) add_variables: bool,
}

impl StoredRow {
    fn of(row: &ImportRow) -> Self {
        Self {
            cells: row.row.clone(),
            new_name: row.new_name.clone(),
            add_variables: row.add_variables,
        }
    }
}

/// A new inlay, as JSON; its keys are wrapped.
#[derive(Serialize, Deserialize)]
struct StoredInlay {
    uid: String,
    technology: String,
    mode: Mode,
    url_template_id: Option<UrlTemplateId>,
    mirror: Option<String>,
    mac_from: String,
    last_counter: u32,
    keys: Option<StoredKeys>,
    other_keys: Option<StoredKey>,
}

#[derive(Serialize, Deserialize)]
enum StoredKeys {
    Own {
        meta: Option<StoredKey>,
        file: StoredKey,
    },
    Diversified {
        master_key_id: MasterKeyId,
        meta: String,
        file: String,
        factory: bool,
        /// The kept meta key and file key, in Base64.
        kept: (Option<String>, Option<String>),
    },
}

/// A wrapped key and its fingerprint, both in Base64.
#[derive(Serialize, Deserialize)]
struct StoredKey {
    wrapped: String,
    fingerprint: String,
}

impl StoredInlay {
    fn of(inlay: &NewInlay) -> Self {
        let fields = &inlay.fields;
        Self {
            uid: inlay.uid.to_string(),
            technology: fields.technology.as_str().to_owned(),
            mode: fields.mode,
            url_template_id: fields.url_template_id,
            last_counter: inlay.last_counter,
            mirror: fields.mirror.map(|mirror| mirror.as_str().to_owned()),
            mac_from: fields.mac_from.as_str().to_owned(),
            keys: fields.keys.as_ref().map(StoredKeys::of),
            other_keys: fields.other_keys.as_ref().map(StoredKey::of),
        }
    }

    fn read(self) -> Option<NewInlay> {
        let mirror = self.mirror.map(|mirror| mirror.parse());
        Some(NewInlay {
            uid: self.uid.parse::<Uid>().ok()?,
            fields: InlayFields {
                technology: self.technology.parse().ok()?,
                mode: self.mode,
                url_template_id: self.url_template_id,
                tag_id: None,
                mirror: mirror.transpose().ok()?,
                mac_from: self.mac_from.parse().ok()?,
                keys: match self.keys {
                    Some(keys) => Some(keys.read()?),
                    None => None,
                },
                other_keys: match self.other_keys {
                    Some(keys) => Some(keys.read()?),
                    None => None,
                },
                blocked_at: None,
            },
            simulated: false,
            last_counter: self.last_counter,
        })
    }
}

impl StoredKeys {
    fn of(keys: &SealedKeys) -> Self {
        match keys {
            SealedKeys::Own { meta, file } => Self::Own {
                meta: meta.as_ref().map(StoredKey::of),
                file: StoredKey::of(file),
            },
            SealedKeys::Diversified {
                master_key_id,
                meta,
                file,
                factory,
                kept,
            } => Self::Diversified {
                master_key_id: *master_key_id,
                meta: STANDARD.encode(meta.bytes()),
                file: STANDARD.encode(file.bytes()),
                factory: *factory,
                kept: (
                    kept.meta.as_ref().map(|meta| STANDARD.encode(meta)),
                    kept.file.as_ref().map(|file| STANDARD.encode(file)),
                ),
            },
        }
    }

    fn read(self) -> Option<SealedKeys> {
        Some(match self {
            Self::Own { meta, file } => SealedKeys::Own {
                meta: match meta {
                    Some(meta) => Some(meta.read()?),
                    None => None,
                },
                file: file.read()?,
            },
            Self::Diversified {
                master_key_id,
                meta,
                file,
                factory,
                kept: (kept_meta, kept_file),
            } => SealedKeys::Diversified {
                master_key_id,
                meta: fingerprint(&meta)?,
                file: fingerprint(&file)?,
                factory,
                kept: KeptKeys {
                    meta: kept_meta
                        .map(|meta| STANDARD.decode(meta))
                        .transpose()
                        .ok()?,
                    file: kept_file
                        .map(|file| STANDARD.decode(file))
                        .transpose()
                        .ok()?,
                },
            },
        })
    }
}

impl StoredKey {
    fn of(key: &SealedKey) -> Self {
        Self {
            wrapped: STANDARD.encode(&key.wrapped),
            fingerprint: STANDARD.encode(key.fingerprint.bytes()),
        }
    }

    fn read(self) -> Option<SealedKey> {
        Some(SealedKey {
            wrapped: STANDARD.decode(self.wrapped).ok()?,
            fingerprint: fingerprint(&self.fingerprint)?,
        })
    }
}

fn fingerprint(text: &str) -> Option<KeyFingerprint> {
    let bytes = STANDARD.decode(text).ok()?;
    bytes.try_into().ok().map(KeyFingerprint::from_bytes)
}
