//! Replaces the present database: by a new one, or by that of a backup.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use tapdesk_service::caller::Actor;
use tapdesk_service::clock::{Clock as _, SystemClock, Timestamp};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::field_error::FieldError;
use tapdesk_service::keyring::Passphrase;
use tapdesk_service::storage::sqlite::{OpenKeyError, Restore, move_aside, temporary_folder};
use tapdesk_service::temporary_folder::TemporaryFolder;
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use super::Shell;
use crate::bucket::{BucketForm, Origin};
use crate::folders::Folders;
use crate::keychain::{Keychain, Secret};

impl Shell {
    /// Starts with a new, empty database. The present one is renamed; returns its new name.
    pub async fn start_afresh(&self) -> Result<String, String> {
        let now = SystemClock::start().now();
        let moved = self.start_after(move |folders, _| {
            move_aside(&folders.database, now).map_err(|error| error.to_string())
        });
        Ok(moved.await?.as_deref().map(file_name).unwrap_or_default())
    }

    /// Replaces the database and its key by those of a backup. The present ones are kept under
    /// other names. Returns the backup's name. If the backup cannot be restored, everything stays
    /// as it was.
    pub async fn restore(&self, backup: PathBuf, passphrase: Secret) -> Result<String, String> {
        let restored = self.try_restore(backup, passphrase).await;
        restored.map_err(|refused| refused.why)
    }

    async fn try_restore(&self, backup: PathBuf, passphrase: Secret) -> Result<String, Refused> {
        let name = file_name(&backup);
        let now = SystemClock::start().now();
        self.start_after(move |folders, keychain| {
            restore(folders, keychain, &backup, &passphrase, now)
        })
        .await?;
        Ok(name)
    }

    /// Downloads the backup of this name from a bucket, and restores it like a file. The download
    /// is next to the database, so that a full disk shows before the service stops. `heard` gets the
    /// number of bytes that have arrived. Returns the backup's name, or `None` if `stopped` fired
    /// during the download: then nothing has changed.
    ///
    /// If only the passphrase is wrong, the downloaded file is kept for the next call, until
    /// [`Self::forget_backup`]. A file that is kept when the process ends is removed at the next
    /// start.
    pub async fn restore_from_bucket(
        &self,
        bucket: &BucketForm,
        name: &str,
        passphrase: Secret,
        heard: &(dyn Fn(u64) + Send + Sync),
        stopped: oneshot::Receiver<()>,
    ) -> Result<Option<String>, FieldError> {
        // A download takes long: a passphrase that is none shows before it.
        parse(&passphrase).map_err(FieldError::whole)?;
        let origin = bucket.origin(name);
        let kept = self.take_downloaded();
        let downloaded = if let Some(kept) = kept.filter(|kept| kept.origin == origin) {
            heard(kept.file.metadata().map_or(0, |file| file.len()));
            kept
        } else {
            let folder = temporary_folder(&self.folders.database)
                .map_err(|error| FieldError::whole(error.to_string()))?;
            let file = tokio::select! {
                biased;
                _ = stopped => return Ok(None),
                fetched = bucket.fetch(name, folder.path(), heard) => fetched?,
            };
            Downloaded {
                origin,
                file,
                _folder: folder,
            }
        };
        let restored = self.try_restore(downloaded.file.clone(), passphrase).await;
        restored.map(Some).map_err(|refused| {
            if refused.is_of_passphrase {
                self.keep_downloaded(downloaded);
            }
            FieldError::whole(refused.why)
        })
    }

    /// Removes the downloaded backup that was kept, if there is one.
    pub fn forget_backup(&self) {
        drop(self.take_downloaded());
    }

    fn take_downloaded(&self) -> Option<Downloaded> {
        let mut kept = self
            .downloaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        kept.take()
    }

    fn keep_downloaded(&self, downloaded: Downloaded) {
        let mut kept = self
            .downloaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *kept = Some(downloaded);
    }
}

/// A backup that was downloaded from a bucket. Dropping it removes the file.
pub(super) struct Downloaded {
    origin: Origin,
    file: PathBuf,
    _folder: TemporaryFolder,
}

/// Why a backup was not restored, in a sentence for people.
struct Refused {
    why: String,
    /// Whether another passphrase may open the same file.
    is_of_passphrase: bool,
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self {
            why,
            is_of_passphrase: false,
        }
    }
}

fn restore(
    folders: &Folders,
    keychain: &Keychain,
    backup: &Path,
    passphrase: &Secret,
    now: Timestamp,
) -> Result<(), Refused> {
    let restore = Restore::prepare(backup, &folders.database).map_err(|error| error.to_string())?;
    let key = open(&restore, passphrase)?;
    restore
        .record(Actor::Desktop, now, &OsEntropy)
        .map_err(|error| error.to_string())?;
    restore.finish(now).map_err(|error| error.to_string())?;
    if let Some(key) = key {
        keychain.replace_wrapping_key(folders, &key, now)?;
    }
    Ok(())
}

/// The passphrase as a person typed it; `None` if the field is empty.
fn parse(passphrase: &Secret) -> Result<Option<Passphrase>, String> {
    if passphrase.is_empty() {
        return Ok(None);
    }
    let passphrase = Passphrase::parse(passphrase);
    passphrase.map(Some).map_err(|error| error.to_string())
}

fn open(restore: &Restore, passphrase: &Secret) -> Result<Option<Zeroizing<[u8; 32]>>, Refused> {
    let passphrase = parse(passphrase)?;
    restore
        .open_key(passphrase.as_ref())
        .map_err(|error| Refused {
            is_of_passphrase: !matches!(error, OpenKeyError::OtherSeal),
            why: match error {
                OpenKeyError::NoPassphrase => {
                    format!("{error} Enter it, and restore again.")
                }
                error => error.to_string(),
            },
        })
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
