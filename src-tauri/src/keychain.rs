//! Secrets of this installation: in the system's keychain, or, if there is none, in files that only
//! their owner may read. Calls to the keychain have a time limit, so that it never keeps the window
//! from opening.

mod key_store;
pub(crate) mod rotation;
mod system;

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{fs, io, thread};

use tapdesk_service::clock::Timestamp;
use tapdesk_service::entropy::{self, Entropy};
use tapdesk_service::keyring::{KeyFileError, Keyring, file as key_file};
use tapdesk_service::private_file;
use zeroize::Zeroizing;

use crate::folders::Folders;

pub use key_store::{KeyStore, KeyStoreKind};

/// A secret as text.
pub type Secret = Zeroizing<String>;

/// The name of the key that wraps inlay keys.
const INLAY_KEY: &str = "inlay-key";
/// Time limit for a keychain: long enough to type the password that it asks for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A place in which the system keeps secrets by name. An `Err` is a clause for people that says why
/// it cannot be used.
pub trait SecretStore: Send + Sync + 'static {
    /// The secret of this name, if there is one.
    fn get(&self, name: &str) -> Result<Option<Secret>, String>;
    /// Stores a secret under this name, in place of an earlier one.
    fn set(&self, name: &str, secret: &str) -> Result<(), String>;
    /// Deletes the secret of this name, if there is one.
    fn remove(&self, name: &str) -> Result<(), String>;
}

/// The system's keychain, called with a time limit.
#[derive(Clone)]
pub struct Keychain {
    store: Arc<dyn SecretStore>,
    patience: Duration,
}

impl Keychain {
    /// The keychain of the user's session, with the secrets of one installation.
    pub fn of_system(folders: &Folders) -> Self {
        Self::new(system::SystemKeychain(folders.keychain.clone()), PATIENCE)
    }

    /// A keychain over `store`, with `patience` as the time limit of each call.
    pub fn new(store: impl SecretStore, patience: Duration) -> Self {
        Self {
            store: Arc::new(store),
            patience,
        }
    }

    /// Asks on a separate thread. If no answer comes, the thread remains, because it cannot be
    /// cancelled.
    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn SecretStore) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let (answer, answered) = mpsc::channel();
        let store = Arc::clone(&self.store);
        thread::Builder::new()
            .name("keychain".to_owned())
            // If the caller has given up, the answer is dropped.
            .spawn(move || drop(answer.send(question(&*store))))
            .map_err(|error| error.to_string())?;
        answered
            .recv_timeout(self.patience)
            .unwrap_or_else(|_| Err("it does not answer".to_owned()))
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, String> {
        let name = name.to_owned();
        self.ask(move |store| store.get(&name))
    }

    fn set(&self, name: &str, secret: Secret) -> Result<(), String> {
        let name = name.to_owned();
        self.ask(move |store| store.set(&name, &secret))
    }

    /// The key that wraps inlay keys, and its place. A key is created only if `may_create` says
    /// that no inlay's key needs an earlier one. A key file has priority: the headless service
    /// created it, or an earlier start without a keychain.
    pub fn wrapping_key(
        &self,
        folders: &Folders,
        may_create: bool,
        entropy: &dyn Entropy,
    ) -> Result<(Keyring, KeyStore), KeyFileError> {
        let file = folders.key_file();
        if file.exists() {
            let keyring = Keyring::from_file(&file, false, entropy)?;
            return Ok((keyring, in_file(&file)));
        }
        let kept = match self.get(INLAY_KEY) {
            Ok(None) if may_create => {
                let key = Zeroizing::new(entropy::bytes::<32>(entropy));
                let text = Zeroizing::new(base16ct::lower::encode_string(&*key));
                self.set(INLAY_KEY, text).map(|()| Some(key))
            }
            found => found.map(|text| text.as_deref().and_then(|text| parse(text))),
        };
        match kept {
            Ok(Some(key)) => Ok((Keyring::open(&key), in_keychain())),
            Ok(None) => Ok(locked(
                "the system's keychain has no key for this database.",
            )),
            Err(why) if may_create => {
                tracing::warn!("the system's keychain cannot be used: {why}");
                let keyring = Keyring::from_file(&file, true, entropy)?;
                Ok((keyring, in_file(&file)))
            }
            Err(why) => Ok(locked(&format!(
                "the system's keychain cannot be used: {why}."
            ))),
        }
    }

    /// Replaces the present key by the key of a backup, and keeps the present one under another
    /// name. An `Err` is a sentence for people.
    pub fn replace_wrapping_key(
        &self,
        folders: &Folders,
        key: &[u8; 32],
        now: Timestamp,
    ) -> Result<(), String> {
        let suffix = format!(".replaced-at-{}", now.unix_seconds());
        let file = folders.key_file();
        let present = key_file::read(&file).map_err(|error| error.to_string())?;
        if present.as_deref() == Some(key) {
            return Ok(());
        }
        let text = Zeroizing::new(base16ct::lower::encode_string(key));
        if present.is_none() {
            let kept = self.get(INLAY_KEY).and_then(|before| match before {
                Some(before) if before == text => Ok(()),
                before => {
                    if let Some(before) = before {
                        self.set(&self.unused(&format!("{INLAY_KEY}{suffix}"))?, before)?;
                    }
                    self.set(INLAY_KEY, text)
                }
            });
            if kept.is_ok() {
                return Ok(());
            }
        } else {
            let name = file.with_file_name(INLAY_KEY);
            let aside = private_file::unused_name(&name, &suffix, private_file::is_there);
            private_file::rename_new(&file, &aside)
                .map_err(|error| format!("{} cannot be moved aside: {error}.", file.display()))?;
        }
        key_file::create(&file, key).map_err(|error| error.to_string())
    }

    /// The first unused name: `name` itself, or with a number after it.
    fn unused(&self, name: &str) -> Result<String, String> {
        let mut candidate = name.to_owned();
        let mut number = 1;
        while self.get(&candidate)?.is_some() {
            number += 1;
            candidate = format!("{name}-{number}");
        }
        Ok(candidate)
    }

    /// Stores a secret in the keychain, or in a file if there is no keychain.
    pub fn keep(&self, folders: &Folders, name: &str, secret: &Secret) -> io::Result<()> {
        let Err(why) = self.set(name, secret.clone()) else {
            return Ok(());
        };
        tracing::warn!("the system's keychain cannot be used: {why}; a secret is kept in a file");
        private_file::make_folder_of(&folders.database)?;
        private_file::create(&folders.secret_file(name), secret.as_bytes())
    }

    /// The secret that was stored under this name. An `Err` is a sentence for people.
    pub fn recall(&self, folders: &Folders, name: &str) -> Result<Secret, String> {
        if let Ok(text) = fs::read_to_string(folders.secret_file(name)) {
            let text = Zeroizing::new(text);
            return Ok(Zeroizing::new(text.trim().to_owned()));
        }
        match self.get(name) {
            Ok(Some(secret)) => Ok(secret),
            Ok(None) => Err("The system's keychain no longer has its token.".to_owned()),
            Err(why) => Err(format!("The system's keychain cannot be used: {why}.")),
        }
    }

    /// Deletes the secret that was stored under this name.
    pub fn forget(&self, folders: &Folders, name: &str) {
        let _ = fs::remove_file(folders.secret_file(name));
        let name = name.to_owned();
        if let Err(why) = self.ask(move |store| store.remove(&name)) {
            tracing::warn!("the system's keychain cannot be used: {why}");
        }
    }
}

fn parse(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0; 32]);
    base16ct::mixed::decode(text.trim(), &mut *key).ok()?;
    (text.trim().len() == 64).then_some(key)
}

fn in_keychain() -> KeyStore {
    KeyStore {
        kind: KeyStoreKind::Keychain,
        text: "The key that wraps your inlays' keys is in the system's keychain.".to_owned(),
    }
}

fn in_file(file: &Path) -> KeyStore {
    KeyStore {
        kind: KeyStoreKind::File,
        text: format!(
            "The key that wraps your inlays' keys is in the file {}, which only you may read. \
             It is there because the system had no keychain when the key was made, or because \
             the service without a window made it.",
            file.display()
        ),
    }
}

fn locked(why: &str) -> (Keyring, KeyStore) {
    (Keyring::locked(why), locked_store(why))
}

/// Describes a missing key: `why` is a sentence.
pub fn locked_store(why: &str) -> KeyStore {
    KeyStore {
        kind: KeyStoreKind::Locked,
        text: format!(
            "Your inlays' keys are locked: {why} Their codes cannot be checked until the \
             keychain is unlocked and Tapdesk started again, or a backup with the key is restored."
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use tapdesk_service::entropy::OsEntropy;

    use super::*;

    #[derive(Default)]
    struct Working(Mutex<HashMap<String, String>>);

    impl SecretStore for Working {
        fn get(&self, name: &str) -> Result<Option<Secret>, String> {
            Ok(self
                .0
                .lock()
                .unwrap()
                .get(name)
                .cloned()
                .map(Zeroizing::new))
        }
        fn set(&self, name: &str, secret: &str) -> Result<(), String> {
            let mut secrets = self.0.lock().unwrap();
            secrets.insert(name.to_owned(), secret.to_owned());
            Ok(())
        }
        fn remove(&self, name: &str) -> Result<(), String> {
            self.0.lock().unwrap().remove(name);
            Ok(())
        }
    }

    /// A keychain that takes a request and never answers it.
    struct Silent;

    impl SecretStore for Silent {
        fn get(&self, _: &str) -> Result<Option<Secret>, String> {
            loop {
                thread::park();
            }
        }
        fn set(&self, _: &str, _: &str) -> Result<(), String> {
            self.get("").map(drop)
        }
        fn remove(&self, _: &str) -> Result<(), String> {
            self.get("").map(drop)
        }
    }

    fn folders(folder: &Path) -> Folders {
        Folders::around(&folder.join("tapdesk.db")).unwrap()
    }

    fn working() -> Keychain {
        Keychain::new(Working::default(), PATIENCE)
    }

    fn silent() -> Keychain {
        Keychain::new(Silent, Duration::from_millis(20))
    }

    #[test]
    fn the_wrapping_key_is_made_once_in_the_keychain_and_found_there() {
        let folder = tempfile::tempdir().unwrap();
        let folders = folders(folder.path());
        let keychain = working();
        let (first, store) = keychain.wrapping_key(&folders, true, &OsEntropy).unwrap();
        assert_eq!(store.kind, KeyStoreKind::Keychain);
        assert!(!folders.key_file().exists());
        let wrapped = first.wrap(&[7; 16], &OsEntropy).unwrap();
        let (second, _) = keychain.wrapping_key(&folders, false, &OsEntropy).unwrap();
        assert!(second.unwrap(&wrapped).is_ok());
    }

    #[test]
    fn without_a_keychain_the_key_is_in_a_file_for_its_owner_alone_and_that_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let folders = folders(folder.path());
        let (keyring, store) = silent().wrapping_key(&folders, true, &OsEntropy).unwrap();
        assert_eq!(keyring.why_locked(), None);
        assert_eq!(store.kind, KeyStoreKind::File);
        assert!(store.text.contains("no keychain"), "{}", store.text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(folders.key_file())
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let (again, store) = working().wrapping_key(&folders, false, &OsEntropy).unwrap();
        assert_eq!(again.why_locked(), None);
        assert_eq!(store.kind, KeyStoreKind::File, "the file decides");
    }

    #[test]
    fn a_key_that_inlays_need_is_never_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let folders = folders(folder.path());
        for keychain in [working(), silent()] {
            let (keyring, store) = keychain.wrapping_key(&folders, false, &OsEntropy).unwrap();
            assert!(keyring.why_locked().is_some());
            assert_eq!(store.kind, KeyStoreKind::Locked);
        }
        assert!(!folders.key_file().exists());
    }

    #[test]
    fn a_backups_key_takes_the_place_of_the_present_one_which_is_kept() {
        let now = Timestamp::from_millis(1_000);
        for keychain in [working(), silent()] {
            let folder = tempfile::tempdir().unwrap();
            let folders = folders(folder.path());
            let (before, _) = keychain.wrapping_key(&folders, true, &OsEntropy).unwrap();
            let wrapped = before.wrap(&[7; 16], &OsEntropy).unwrap();
            keychain
                .replace_wrapping_key(&folders, &[8; 32], now)
                .unwrap();
            keychain
                .replace_wrapping_key(&folders, &[9; 32], now)
                .unwrap();
            let (after, _) = keychain.wrapping_key(&folders, false, &OsEntropy).unwrap();
            assert!(after.unwrap(&wrapped).is_err());
            let wrapped = Keyring::open(&[9; 32]).wrap(&[7; 16], &OsEntropy).unwrap();
            assert!(after.unwrap(&wrapped).is_ok());
            for name in ["inlay-key.replaced-at-1", "inlay-key.replaced-at-1-2"] {
                let kept =
                    matches!(keychain.get(name), Ok(Some(_))) || folder.path().join(name).exists();
                assert!(kept, "a key before is lost: {name}");
            }
        }
    }

    #[test]
    fn a_secret_is_recalled_from_where_it_was_kept_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let folders = folders(folder.path());
        let secret = Zeroizing::new("sesame".to_owned());
        for keychain in [working(), silent()] {
            keychain.keep(&folders, "shop", &secret).unwrap();
            assert_eq!(keychain.recall(&folders, "shop").unwrap(), secret);
            keychain.forget(&folders, "shop");
            assert!(keychain.recall(&folders, "shop").is_err());
        }
    }
}
