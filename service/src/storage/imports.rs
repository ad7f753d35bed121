//! Imports whose rows are stored all or none, without holding taps up: rows are
//! set aside in short commits, one commit decides, and short commits make them
//! tags. Until the decision an import that breaks off leaves nothing; from then
//! on it is finished, by whoever finds it.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::{Conflict, ImportRow, Imported, Put, Storage, StorageError};
use crate::id::{ExperienceId, ImportId, MasterKeyId, TagId, UrlTemplateId};
use crate::inlay::Uid;
use crate::inlay::key::KeyFingerprint;
use crate::inlay::technology::Mode;
use crate::inventory::{InlayFields, KeptKeys, NewInlay, SealedKey, SealedKeys};
use crate::tag::{Slug, TagColumn, TagFields, TagRow, deleted};

/// Rows written by one command of the database: taps that come meanwhile wait
/// for one such piece at the most, some milliseconds.
pub const ROWS_AT_ONCE: usize = 100;

/// An import that nobody touched for this long is nobody's, in milliseconds: a
/// piece of it takes far less than a second.
pub const LEFT_AFTER_MILLIS: i64 = 60_000;

/// The operations on imports whose rows are stored all or none.
#[async_trait]
pub trait Imports: Send + Sync {
    /// What rows would come to, no slug twice; nothing is written. The results
    /// stand in the order of `rows`. With `upsert`, a row whose slug a tag has is
    /// to change that tag; else it is refused.
    ///
    /// # Errors
    ///
    /// Of a row: those of [`Tags::import_tags`](super::Tags::import_tags).
    async fn check_rows(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Staged, Conflict>>, StorageError>;

    /// Begins an import. Nothing is set aside yet.
    async fn begin_import(&self) -> Result<ImportId, StorageError>;

    /// The same as [`Self::check_rows`], and sets the good ones aside: what they
    /// take (slugs, UIDs) and what they need is not to be had by others from then on.
    ///
    /// # Errors
    ///
    /// [`Conflict::ImportGivenUp`]; of a row as [`Self::check_rows`].
    async fn stage_rows(
        &self,
        import: ImportId,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Staged, Conflict>>, StorageError>;

    /// Decides that all rows that are set aside become tags, whatever happens.
    ///
    /// # Errors
    ///
    /// [`Conflict::ImportGivenUp`].
    async fn decide_import(&self, import: ImportId) -> Result<(), StorageError>;

    /// Makes the next rows of an import that is decided tags, at most
    /// [`ROWS_AT_ONCE`], in their order; answers each with its place among all,
    /// from 0. Nothing if no row is left: then the import is over.
    async fn apply_import(&self, import: ImportId) -> Result<Vec<(u64, Imported)>, StorageError>;

    /// Gives up an import that is not decided, and removes some of what it set
    /// aside; `true` if more is left to remove.
    async fn discard_import(&self, import: ImportId) -> Result<bool, StorageError>;

    /// Imports that nobody has been at work on for [`LEFT_AFTER_MILLIS`], and
    /// whether each is decided.
    async fn abandoned_imports(&self) -> Result<Vec<(ImportId, bool)>, StorageError>;
}

/// What a row that is set aside comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The tag's slug.
    pub slug: Slug,
    /// Whether the tag is new.
    pub put: Put,
    /// The columns in which the tag will have nothing any more.
    pub deleted: Vec<TagColumn>,
}

/// What a row comes to.
pub(super) struct Seen {
    /// The tag as it will be.
    pub(super) fields: TagFields,
    /// The tag that it changes, as it is.
    pub(super) changes: Option<(TagId, TagFields)>,
}

impl Seen {
    /// The same, as it is told.
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
        }
    }
}

/// Takes an import that nobody is at work on to its end.
pub async fn finish(
    storage: &dyn Storage,
    import: ImportId,
    decided: bool,
) -> Result<(), StorageError> {
    if decided {
        while !storage.apply_import(import).await?.is_empty() {}
    } else {
        while storage.discard_import(import).await? {}
    }
    Ok(())
}

/// A row as it is set aside.
pub(super) struct Aside {
    /// The slug of a tag to be; `None` if the row changes a tag.
    pub(super) slug: Option<String>,
    /// The chip of its inlay.
    pub(super) uid: Option<Vec<u8>>,
    /// The tag that it changes.
    pub(super) tag_id: Option<i64>,
    /// What the tag is to lead to.
    pub(super) experience_id: Option<i64>,
    /// What the inlay's keys come from.
    pub(super) master_key_id: Option<i64>,
    /// How it writes its URL.
    pub(super) url_template_id: Option<i64>,
    /// The row, as JSON.
    pub(super) row: String,
    /// The inlay, as JSON.
    pub(super) inlay: Option<String>,
}

impl Aside {
    /// `row`, which makes `fields` of the tag `changes`, or of a new one.
    pub(super) fn of(
        row: &ImportRow,
        fields: &TagFields,
        changes: Option<TagId>,
    ) -> Result<Self, StorageError> {
        let unwritable = |error: serde_json::Error| StorageError::Failed(error.to_string());
        let inlay = row.inlay.as_ref();
        let keys = inlay.and_then(|inlay| inlay.fields.keys.as_ref());
        let stored = inlay.map(|inlay| serde_json::to_string(&StoredInlay::of(inlay)));
        Ok(Self {
            slug: changes.is_none().then(|| fields.slug.to_string()),
            uid: inlay.map(|inlay| inlay.uid.bytes().to_vec()),
            tag_id: changes.map(|id| id.0),
            experience_id: fields.experience_id.map(|id: ExperienceId| id.0),
            master_key_id: keys.and_then(SealedKeys::master_key_id).map(|id| id.0),
            url_template_id: inlay
                .and_then(|inlay| inlay.fields.url_template_id)
                .map(|id| id.0),
            row: serde_json::to_string(&row.row).map_err(unwritable)?,
            inlay: stored.transpose().map_err(unwritable)?,
        })
    }

    /// The row again.
    pub(super) fn row(&self) -> Result<TagRow, StorageError> {
        serde_json::from_str(&self.row).map_err(|_| unreadable())
    }

    /// The new tag that it makes.
    pub(super) fn new_tag(&self) -> Result<TagFields, StorageError> {
        let slug = self.slug.as_deref().and_then(|slug| Slug::parse(slug).ok());
        let slug = slug.ok_or_else(unreadable)?;
        self.row()?.create(slug).map_err(StorageError::Failed)
    }

    /// Its new inlay, on no tag yet.
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

/// A new inlay as JSON; its keys are wrapped.
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
        /// Meta and file key, in Base64.
        kept: Option<(String, String)>,
    },
}

/// Both in Base64.
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
                kept: kept
                    .as_ref()
                    .map(|kept| (STANDARD.encode(&kept.meta), STANDARD.encode(&kept.file))),
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
                kept,
            } => SealedKeys::Diversified {
                master_key_id,
                meta: fingerprint(&meta)?,
                file: fingerprint(&file)?,
                factory,
                kept: match kept {
                    Some((meta, file)) => Some(KeptKeys {
                        meta: STANDARD.decode(meta).ok()?,
                        file: STANDARD.decode(file).ok()?,
                    }),
                    None => None,
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
