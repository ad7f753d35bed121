//! Rotates the key that wraps secrets at rest: every secret of a database is wrapped by a new key.
//! No other process may use the database meanwhile.
//!
//! A rotation may be stopped at any point, and resumes when it is started again. The new key is
//! stored ([`places`]) before the first secret is wrapped by it. Before the first secret changes,
//! the database records that a rotation is not done, and no service starts until it is. The
//! database does not record which key wraps a secret: it is the one that opens it. The former key
//! is moved aside once no secret needs it.
//!
//! All secrets are opened before any is changed. A secret that neither key opens would be lost for
//! good when the former key is thrown away, so the error comes before anything has changed.

pub mod files;
pub mod places;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use places::{KeyPlaces, Names};

use domain::caller::{Actor, Caller};
use domain::clock::Timestamp;
use domain::entropy::{self, Entropy};
use domain::keyring::{Keyring, KeyringError};
use domain::scope::Reach;
use storage::{
    Access, Conflict, KeyRotation, Rewrap, Rewrapped, SecretsPlace, Storage, StorageError,
    finish_import,
};

/// Rows whose secrets are changed in one commit.
pub const AT_ONCE: usize = 200;
/// Plain text of the probe that the mark of a rotation wraps. It has no meaning.
const PROBE: &[u8; 16] = b"tapdesk rotation";

/// Why a rotation stopped. Each is a sentence for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum RotateError {
    /// A read or a write of the database failed.
    #[error(
        "The rotation stopped: {}. Start it again to continue.",
        .0.to_string().trim_end_matches('.')
    )]
    Storage(#[from] StorageError),
    /// A key cannot be used.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// A key place cannot be used: a sentence.
    #[error("{0}")]
    Place(String),
    /// There is no present key.
    #[error("There is no key in {}. {}", .0.present, .0.find)]
    NoKey(Names),
    /// The present key belongs to another database.
    #[error("The key in {} is not the one of this database. {}", .0.present, .0.find)]
    OtherKey(Names),
    /// A rotation was begun, but its new key is missing.
    #[error(
        "A rotation of this database was begun with a new key that is neither in {} nor in {}. \
         Put that key back, or restore a backup of before.", .0.next, .0.present
    )]
    NewKeyMissing(Names),
    /// No key opens some secrets.
    #[error(
        "{secrets} of the table {table} cannot be opened by the present key, and nothing was changed. \
         Put the key file of that time back, or delete what they belong to; then rotate."
    )]
    Unknown {
        /// Table of the secrets.
        table: &'static str,
        /// Number of secrets, in words.
        secrets: String,
    },
    /// An import is not finished.
    #[error(
        "An import was not finished. Start the service, wait two minutes, stop it, and rotate then."
    )]
    ImportOpen,
}

/// The keys of a rotation.
pub struct Keys {
    /// The present key; `None` if its file was already moved aside.
    pub former: Option<Arc<Keyring>>,
    /// The key that wraps secrets from now on.
    pub new: Arc<Keyring>,
}

/// The present work of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// All secrets are opened, to check that this is possible.
    Checking,
    /// Secrets are wrapped again, with the new key.
    Wrapping,
    /// Old wrapped secrets are erased from the database's free pages.
    Erasing,
}

/// Receives the progress of a rotation.
pub trait Observer: Send {
    /// A phase begins, with so many rows to do.
    fn begin(&mut self, phase: Phase, total: u64);
    /// So many more rows of `table` are done, and on disk.
    fn advance(&mut self, table: &'static str, rows: u64);
    /// The phase is over.
    fn end(&mut self);
}

/// Whether the key is the new one of a rotation.
pub fn is_new_key(key: &Keyring, rotation: &KeyRotation) -> bool {
    let opened = key.unwrap_secret(&rotation.probe);
    opened.is_ok_and(|probe| probe.as_slice() == PROBE)
}

/// The result of a rotation.
#[derive(Clone, Debug)]
pub struct Rotated {
    /// When it was begun, if it was resumed.
    pub begun: Option<Timestamp>,
    /// How many rows have secrets.
    pub rows: u64,
    /// The place of the former key, in words; `None` if it was moved before.
    pub former: Option<String>,
}

/// Runs a whole rotation, or resumes one: of the database in `storage`, with the keys in `places`.
pub async fn run(
    database: &Storage,
    places: &Arc<dyn KeyPlaces>,
    actor: Actor,
    now: Timestamp,
    entropy: &Arc<dyn Entropy>,
    observer: &mut dyn Observer,
) -> Result<Rotated, RotateError> {
    let storage = database.as_service();
    let begun = storage.key_rotation().await?;
    let wrapped = storage.any_wrapped_key().await?;
    let keys = {
        let (begun, entropy) = (begun.clone(), Arc::clone(entropy));
        blocking(places, move |places| {
            places::keys(places, begun.as_ref(), wrapped.as_deref(), &*entropy)
        })
        .await?
    };
    let rows = rotate(database, &keys, actor, entropy, observer).await?;
    let replace = move |places: &dyn KeyPlaces| places.replace(now).map_err(RotateError::Place);
    let former = blocking(places, replace).await?;
    observer.begin(Phase::Erasing, 0);
    done(database).await?;
    observer.end();
    Ok(Rotated {
        begun: begun.map(|begun| begun.began_at),
        rows,
        former,
    })
}

/// Calls a key place on a thread that may block: a keychain may ask a person for a password.
async fn blocking<T: Send + 'static>(
    places: &Arc<dyn KeyPlaces>,
    ask: impl FnOnce(&dyn KeyPlaces) -> Result<T, RotateError> + Send + 'static,
) -> Result<T, RotateError> {
    let places = Arc::clone(places);
    tokio::task::spawn_blocking(move || ask(&*places))
        .await
        .unwrap_or_else(|error| Err(RotateError::Place(format!("The rotation ended: {error}."))))
}

/// Wraps every secret in `storage` by the new key, and returns how many rows have secrets. The
/// rotation is not finished before [`done`]. `actor` is the name in the audit log.
pub async fn rotate(
    database: &Storage,
    keys: &Keys,
    actor: Actor,
    entropy: &Arc<dyn Entropy>,
    observer: &mut dyn Observer,
) -> Result<u64, RotateError> {
    let storage = database.as_service();
    for (import, decided) in storage.abandoned_imports().await? {
        finish_import(&storage, import, decided).await?;
    }
    // Only opens secrets and changes nothing.
    go_through(&storage, observer, Phase::Checking, &|| look(keys)).await?;
    let caller = Arc::new(Caller::new(
        actor,
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        ("keyring.rotate".into(), "keyring".to_owned()),
        Reach::EVERYTHING,
        entropy::bytes(&**entropy),
    ));
    let probe = keys.new.wrap_secret(PROBE, &**entropy)?;
    let storage = database.on_behalf_of(&caller);
    let begun = storage.begin_key_rotation(probe).await;
    begun.map_err(|error| match error {
        StorageError::Conflict(Conflict::InUse(_)) => RotateError::ImportOpen,
        error => error.into(),
    })?;
    let change = || change(keys, entropy);
    go_through(&storage, observer, Phase::Wrapping, &change).await
}

/// Records that the rotation is done, so that services start again. Before that, secrets wrapped by
/// the former key are erased from all pages of the database.
pub async fn done(database: &Storage) -> Result<(), RotateError> {
    let storage = database.as_service();
    storage.forget_replaced().await?;
    Ok(storage.end_key_rotation().await?)
}

async fn go_through(
    storage: &Access,
    observer: &mut dyn Observer,
    phase: Phase,
    with: &(dyn Fn() -> Rewrap + Sync),
) -> Result<u64, RotateError> {
    observer.begin(phase, storage.count_wrapped().await?);
    let (mut place, mut all) = (Some(SecretsPlace::default()), 0);
    while let Some(from) = place {
        let done = storage.rewrap(from, AT_ONCE, with()).await?;
        if done.unknown > 0 {
            return Err(RotateError::Unknown {
                table: done.table,
                secrets: domain::plural::counted(done.unknown, "secret"),
            });
        }
        all += done.rows;
        observer.advance(done.table, done.rows);
        place = done.next;
    }
    observer.end();
    Ok(all)
}

/// Checks that one of the keys opens a secret.
fn look(keys: &Keys) -> Rewrap {
    let all: Vec<_> = keys.former.iter().chain([&keys.new]).cloned().collect();
    Box::new(move |wrapped| {
        if all.iter().any(|key| key.unwrap_secret(wrapped).is_ok()) {
            Rewrapped::Stays
        } else {
            Rewrapped::Unknown
        }
    })
}

/// Wraps a secret by the new key.
fn change(keys: &Keys, entropy: &Arc<dyn Entropy>) -> Rewrap {
    let (former, new) = (keys.former.clone(), Arc::clone(&keys.new));
    let entropy = Arc::clone(entropy);
    Box::new(move |wrapped| {
        if new.unwrap_secret(wrapped).is_ok() {
            return Rewrapped::Stays;
        }
        let opened = former.as_ref().map(|key| key.unwrap_secret(wrapped));
        let Some(Ok(secret)) = opened else {
            return Rewrapped::Unknown;
        };
        match new.wrap_secret(&secret, &*entropy) {
            Ok(wrapped) => Rewrapped::As(wrapped),
            Err(_) => Rewrapped::Unknown,
        }
    })
}
