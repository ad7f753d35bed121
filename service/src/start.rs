//! From an installation's files to a running service. The headless binary and programs that embed
//! the service share this code. It opens no listener yet.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::admin_token::{AdminToken, TOKEN_MIN};
use crate::clock::{Clock, Millis, SystemClock, TestClock, Timestamp};
use crate::entropy::{Entropy, OsEntropy};
use crate::keyring::{KeyFileError, Keyring};
use crate::private_file;
use crate::rotate::files::KeyFiles;
use crate::rotate::places::KeyPlaces as _;
use crate::s3_server::S3Server;
use crate::settings::Layers;
#[cfg(feature = "postgres")]
use crate::storage::postgres::{self, PostgresStorage, Time};
use crate::storage::sqlite::{self, SqliteStorage};
use crate::storage::{Storage, StorageError};
use crate::{AppState, Countries};
use crate::{Parts, Service};

pub use crate::storage::Database;

/// The choices of a start.
pub struct Start {
    /// Kind and place of the database.
    pub database: Database,
    /// The key that wraps inlay keys.
    pub wrapping_key: WrappingKey,
    /// The admin token that is not stored.
    pub admin_token: TokenSource,
    /// Defaults, and fixed values from arguments and the environment.
    pub layers: Layers,
    /// An MMDB file that maps addresses to countries.
    pub countries: Option<PathBuf>,
    /// Memory for the configuration of tags, in bytes.
    pub tag_cache: usize,
    /// The server of backups in buckets.
    pub s3_server: S3Server,
    /// Test mode, if it is on.
    pub test: Option<TestMode>,
}

/// Test mode: the service's time can be moved.
#[derive(Clone, Copy, Debug)]
pub struct TestMode {
    /// The error of this node's own clock, in milliseconds.
    pub skew: Millis,
    /// How often SQLite folds the counts of taps into its tables, if not the default.
    pub fold_every: Option<Duration>,
}

/// The source of the key that wraps inlay keys.
pub enum WrappingKey {
    /// A file. It is created if it is missing and no stored inlay key needs the missing one.
    File(PathBuf),
    /// A file shared by all nodes of a database; no node creates it.
    Shared(Option<PathBuf>),
    /// The embedding program stores it.
    Kept(KeepsKey),
}

/// Returns the keyring, or a locked one with the reason. The argument allows making a new key; it
/// is false if a stored inlay key needs the existing one. It may block.
pub type KeepsKey = Box<dyn FnOnce(bool) -> Result<Keyring, KeyFileError> + Send>;

/// The source of the installation's own admin token.
pub enum TokenSource {
    /// A file. It is created if it is missing.
    File(PathBuf),
    /// The embedding program, or the environment.
    Given(AdminToken),
}

/// A service without a listener yet, and the token of its administrators.
pub struct Started {
    /// Service to serve requests with.
    pub service: Arc<Service>,
    /// The state of its routers.
    pub state: AppState,
    /// The admin token that is not stored.
    pub admin_token: AdminToken,
}

/// Why a service cannot be started. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The SQLite file cannot be opened.
    #[error(transparent)]
    Sqlite(#[from] sqlite::OpenError),
    /// The PostgreSQL database cannot be opened.
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] postgres::OpenError),
    /// The database can be read but not written.
    #[error(
        "The database cannot be written to, and a tap must be recorded before it is answered. \
         Allow this user to write there, then start again. ({0})."
    )]
    NotWritable(StorageError),
    /// Its secrets are wrapped by two keys, because a rotation is not finished.
    #[error(
        "The key that wraps inlay keys is being rotated, and the rotation of {0} was not finished. Run \
         tapdesk-service rotate-key again with the same database and key file, then start. If the desktop \
         began it, start the desktop: it finishes it."
    )]
    Rotating(Timestamp),
    /// The database cannot provide the data that a service needs.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The key file cannot be used.
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    /// The token file cannot be read or created.
    #[error("{file} cannot be used: {error}.", file = .0.display(), error = .1)]
    TokenFile(PathBuf, io::Error),
    /// The token in the file is too short.
    #[error(
        "The admin token in {} has fewer than {TOKEN_MIN} characters. \
         Remove the file to create a new token.", .0.display()
    )]
    ShortToken(PathBuf),
    /// The MMDB file cannot be read.
    #[error("{0}")]
    Countries(String),
}

/// Opens everything and assembles the service.
pub async fn start(start: Start) -> Result<Started, StartError> {
    let clock: Arc<dyn Clock> = match start.test {
        Some(test) => Arc::new(TestClock::start(test.skew)),
        None => Arc::new(SystemClock::start()),
    };
    start_in(start, clock, Arc::new(OsEntropy)).await
}

/// Like [`start`], in a world of its own: with this clock, and with all randomness from `entropy`.
pub async fn start_in(
    start: Start,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
) -> Result<Started, StartError> {
    let countries = start
        .countries
        .map_or_else(|| Ok(Countries::default()), |path| Countries::open(&path))
        .map_err(StartError::Countries)?;
    // The files next to the database may only be changed by the process that owns it.
    let database = open(start.database, &clock, start.test, &*entropy).await?;
    let storage = database.as_service();
    match storage.check_writable().await {
        // Redirects continue without a key, and recording resumes when there is space again.
        Err(StorageError::Full) => tracing::error!(
            "the disk is full: nothing can be recorded and no rolling key issued until there is room"
        ),
        written => written.map_err(StartError::NotWritable)?,
    }
    if let Some(rotation) = storage.key_rotation().await? {
        database.close().await;
        return Err(StartError::Rotating(rotation.began_at));
    }
    let wrapped_key = storage.any_wrapped_key().await?;
    let may_create = wrapped_key.is_none();
    let keyring = match start.wrapping_key {
        WrappingKey::File(file) => {
            if let Some(wrapped) = &wrapped_key {
                finish_restore(&file, wrapped, clock.now());
            }
            Keyring::from_file(&file, may_create, &*entropy)?
        }
        WrappingKey::Shared(Some(file)) => Keyring::from_file(&file, false, &*entropy)?,
        WrappingKey::Shared(None) => {
            Keyring::locked("this node has no key; name its file in TAPDESK_KEY_FILE.")
        }
        WrappingKey::Kept(keep) => tokio::task::spawn_blocking(move || keep(may_create))
            .await
            .unwrap_or_else(|error| Ok(Keyring::locked(format!("its keeper failed: {error}."))))?,
    };
    let keyring = keyring.for_stored(wrapped_key.as_deref());
    if let Some(why) = keyring.why_locked() {
        tracing::warn!("inlay keys are locked, and their codes cannot be verified: {why}");
    }
    let admin_token = match start.admin_token {
        TokenSource::Given(token) => token,
        TokenSource::File(file) => token_file(&file, &*entropy)?,
    };
    let service = Service::new(Parts {
        storage: database,
        clock,
        entropy,
        keyring,
        layers: start.layers,
        tag_cache: start.tag_cache,
        s3_server: start.s3_server,
    })
    .await?;
    let known = Some(admin_token.clone());
    let state = AppState::new(Arc::clone(&service), countries, known).await?;
    Ok(Started {
        service,
        state,
        admin_token,
    })
}

/// Puts the key of a killed restore into `file`, if the database needs it: the database took its place
/// before its key did. `wrapped` is any inlay's key in the database.
fn finish_restore(file: &Path, wrapped: &[u8], now: Timestamp) {
    let files = KeyFiles::of_restore(file);
    let finished = files.is_half_restored(wrapped).and_then(|is_half| {
        if is_half {
            files.replace(now)
        } else {
            Ok(None)
        }
    });
    match finished {
        Ok(Some(aside)) => tracing::warn!(
            "a restore was ended before its key took its place: the key is in {} now, and the former one in {aside}",
            file.display()
        ),
        Ok(None) => {}
        Err(why) => tracing::warn!("the key of an ended restore was not put in its place: {why}"),
    }
}

async fn open(
    database: Database,
    clock: &Arc<dyn Clock>,
    test: Option<TestMode>,
    entropy: &dyn Entropy,
) -> Result<Storage, StartError> {
    let clock = Arc::clone(clock);
    Ok(match database {
        Database::Sqlite(path) => {
            sqlite::make_place(&path)?;
            let fold_every = test.and_then(|test| test.fold_every);
            match fold_every {
                Some(every) => SqliteStorage::open_folding(&path, clock, entropy, every)?,
                None => SqliteStorage::open(&path, clock, entropy)?,
            }
            .into()
        }
        #[cfg(feature = "postgres")]
        Database::Postgres(address) => {
            let time = if test.is_some() {
                Time::Movable
            } else {
                Time::Its
            };
            let storage = PostgresStorage::open(*address, clock, time, entropy).await?;
            if let Err(error) = storage.connect().await {
                tracing::warn!("not all connections to the database could be made: {error}");
            }
            storage.into()
        }
    })
}

/// Opens a database that no service uses, to change all of it. No service starts meanwhile.
pub async fn open_exclusive(database: Database) -> Result<Storage, StartError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    match database {
        Database::Sqlite(path) => {
            // Opening would create the file.
            if !path.try_exists().unwrap_or(true) {
                let missing = io::Error::from(ErrorKind::NotFound);
                return Err(sqlite::OpenError::Io(path, missing).into());
            }
            open(Database::Sqlite(path), &clock, None, &OsEntropy).await
        }
        #[cfg(feature = "postgres")]
        Database::Postgres(address) => {
            let storage = PostgresStorage::open_exclusive(*address, clock, &OsEntropy).await?;
            Ok(storage.into())
        }
    }
}

/// The token in `file`, which is created if it is missing.
fn token_file(file: &Path, entropy: &dyn Entropy) -> Result<AdminToken, StartError> {
    let io = |error| StartError::TokenFile(file.to_owned(), error);
    match std::fs::read_to_string(file).map(Zeroizing::new) {
        Ok(text) => AdminToken::parse(&text).map_err(|_| StartError::ShortToken(file.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = AdminToken::generate(entropy);
            private_file::create(file, token.expose().as_bytes()).map_err(io)?;
            Ok(token)
        }
        Err(error) => Err(io(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inlay::key::AesKey;
    use crate::inlay::technology::Mode;
    use crate::inlay::{MacFrom, Mirror, Technology, Uid};
    use crate::inventory::{InlayFields, NewInlay, SealedKey, SealedKeys};

    /// Starts over `database` with the wrapping key 1. Also returns whether a new key would have
    /// been allowed.
    async fn start_with_keeper(database: &Path) -> (Started, bool) {
        let (sender, receiver) = std::sync::mpsc::channel();
        let keep = move |may_create| {
            sender.send(may_create).unwrap();
            Ok(Keyring::open(&[1; 32]))
        };
        let started = start(Start {
            database: Database::Sqlite(database.to_owned()),
            wrapping_key: WrappingKey::Kept(Box::new(keep)),
            admin_token: TokenSource::Given(AdminToken::generate(&OsEntropy)),
            layers: Layers::default(),
            countries: None,
            tag_cache: 1 << 20,
            s3_server: S3Server::default(),
            test: None,
        });
        (started.await.unwrap(), receiver.recv().unwrap())
    }

    #[tokio::test]
    async fn a_keeper_may_make_a_key_until_an_inlays_key_needs_the_one_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("tapdesk.db");
        let (Started { service, .. }, may_create) = start_with_keeper(&database).await;
        assert!(may_create);
        let key = AesKey::from_bytes([7; 16]);
        let inlay = NewInlay {
            uid: Uid::from_bytes([4; 7]),
            fields: InlayFields {
                technology: Technology::Ntag424Dna,
                mode: Mode::Aes,
                url_template_id: None,
                tag_id: None,
                mirror: Some(Mirror::Plain),
                mac_from: MacFrom::None,
                keys: Some(SealedKeys::Own {
                    meta: None,
                    file: SealedKey::seal(&key, &service.keyring, &OsEntropy).unwrap(),
                }),
                other_keys: None,
                blocked_at: None,
            },
            simulated: false,
            last_counter: 0,
        };
        service.storage.insert_inlay(inlay).await.unwrap();
        service.close().await;

        let (Started { service, .. }, may_create) = start_with_keeper(&database).await;
        assert!(!may_create);
        assert_eq!(service.keyring.why_locked(), None);
        service.close().await;
    }
}
