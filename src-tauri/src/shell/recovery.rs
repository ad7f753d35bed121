//! Another database in the place of the present one: a new one, or that of a backup.

use std::path::{Path, PathBuf};

use tapdesk_service::caller::Actor;
use tapdesk_service::clock::{Clock as _, SystemClock, Timestamp};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::keyring::{Passphrase, SealedWrappingKey};
use tapdesk_service::storage::sqlite::{Restore, move_aside};
use zeroize::Zeroizing;

use super::Shell;
use crate::folders::Folders;
use crate::keychain::{Keychain, Secret};

impl Shell {
    /// Starts with a new, empty database. The present one is moved aside;
    /// answers its new name.
    pub async fn start_afresh(&self) -> Result<String, String> {
        let now = SystemClock::start().now();
        let moved = self.start_after(move |folders, _| {
            move_aside(&folders.database, now).map_err(|error| error.to_string())
        });
        Ok(moved.await?.as_deref().map(file_name).unwrap_or_default())
    }

    /// Puts a backup in the place of the present database, which is moved aside,
    /// and its key in the place of the present one. Answers the
    /// backup's name. If it cannot be restored, everything stays as it was.
    pub async fn restore(&self, backup: PathBuf, passphrase: Secret) -> Result<String, String> {
        let name = file_name(&backup);
        let now = SystemClock::start().now();
        self.start_after(move |folders, keychain| {
            restore(folders, keychain, &backup, &passphrase, now)
        })
        .await?;
        Ok(name)
    }
}

fn restore(
    folders: &Folders,
    keychain: &Keychain,
    backup: &Path,
    passphrase: &Secret,
    now: Timestamp,
) -> Result<(), String> {
    let restore = Restore::prepare(backup, &folders.database).map_err(|error| error.to_string())?;
    let note = restore.note.as_ref();
    let sealed = note.and_then(|note| note.inlay_key.as_ref());
    let key = sealed.map(|sealed| open(sealed, passphrase)).transpose()?;
    restore
        .record(Actor::Desktop, now, &OsEntropy)
        .map_err(|error| error.to_string())?;
    restore.finish(now).map_err(|error| error.to_string())?;
    key.map_or(Ok(()), |key| {
        keychain.replace_wrapping_key(folders, &key, now)
    })
}

fn open(sealed: &SealedWrappingKey, passphrase: &Secret) -> Result<Zeroizing<[u8; 32]>, String> {
    if passphrase.is_empty() {
        return Err(
            "The backup contains the key of your inlays' keys under a passphrase. Enter it, and \
             choose the file again."
                .to_owned(),
        );
    }
    let passphrase = Passphrase::parse(passphrase).map_err(|error| error.to_string())?;
    let key = sealed.open(&passphrase);
    key.ok_or_else(|| "Wrong passphrase for this backup. Nothing was changed.".to_owned())
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
