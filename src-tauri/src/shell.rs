//! What the window stands on: the embedded service, the owner's choices, and
//! the connection that the screens show. Knows nothing of windows.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::caller::Actor;
use tapdesk_service::clock::{Clock as _, SystemClock, Timestamp};
use tapdesk_service::entropy::{self, OsEntropy};
use tapdesk_service::field_error::FieldError;
use tapdesk_service::keyring::{Passphrase, SealedWrappingKey};
use tapdesk_service::start::StartError;
use tapdesk_service::storage::sqlite::{Restore, move_aside};
use tokio::sync::watch;
use zeroize::Zeroizing;

use crate::backend::{self, Backend, RemoteService};
use crate::embedded::Embedded;
use crate::folders::Folders;
use crate::keychain::{Keychain, Secret};
use crate::kiosk::settings::KioskSettings;
use crate::listener::{self, Wish};
use crate::preferences::{Preferences, Remote};
use crate::problem::StartFailure;
use crate::rotation::{self, RotationProgress};
use crate::state::{Connection, ConnectionKind, EMBEDDED, Ready, ShellState, StartProblem};

/// Characters and length of a connection's id.
const ID: (&[u8], usize) = (b"abcdefghijklmnopqrstuvwxyz0123456789", 8);

/// The shell. Errors of its operations are sentences for people.
pub struct Shell {
    folders: Folders,
    keychain: Keychain,
    preferences: Mutex<Preferences>,
    /// Where to listen, fixed from outside.
    listen: Option<SocketAddr>,
    /// Held for writing while the service starts or stops: calls wait for it.
    embedded: tokio::sync::RwLock<Option<Embedded>>,
    /// The service that the screens show instead of the embedded one.
    remote: RwLock<Option<(Connection, Arc<RemoteService>)>>,
    state: watch::Sender<ShellState>,
}

impl Shell {
    /// A shell whose service is yet to be started. `listen` is where it is to
    /// listen, if that is fixed from outside.
    pub fn new(folders: Folders, keychain: Keychain, listen: Option<SocketAddr>) -> Self {
        let preferences = Preferences::load(&folders.preferences);
        Self {
            folders,
            keychain,
            preferences: Mutex::new(preferences),
            listen,
            embedded: tokio::sync::RwLock::default(),
            remote: RwLock::default(),
            state: watch::Sender::new(ShellState::Starting),
        }
    }

    /// Where it stands.
    pub fn state(&self) -> ShellState {
        self.state.borrow().clone()
    }

    /// Where it stands, and every change.
    pub fn watch(&self) -> watch::Receiver<ShellState> {
        self.state.subscribe()
    }

    /// How the embedded service is reached, once it runs, or what keeps it from running.
    pub async fn ready(&self) -> Result<Ready, StartProblem> {
        let mut states = self.watch();
        loop {
            let state = states.borrow_and_update().clone();
            match state {
                ShellState::Ready(ready) => return Ok(*ready),
                ShellState::Failed { problem } => return Err(problem),
                ShellState::Starting | ShellState::Rotating { .. } => {}
            }
            if states.changed().await.is_err() {
                return Err(StartProblem::other("It was stopped.".to_owned()));
            }
        }
    }

    /// The service to speak to. Waits while the embedded one starts; `None`
    /// if it could not.
    pub async fn backend(&self) -> Option<Backend> {
        if let Some((_, remote)) = &*read(&self.remote) {
            return Some(Backend::Remote(Arc::clone(remote)));
        }
        self.embedded_backend().await
    }

    /// The service in this process, whichever the screens show.
    pub async fn embedded_backend(&self) -> Option<Backend> {
        let embedded = self.embedded.read().await;
        embedded
            .as_ref()
            .map(|embedded| Backend::Embedded(embedded.door.clone()))
    }

    /// The same, with the address at which others reach it.
    pub async fn backend_at(&self) -> Option<(Backend, String)> {
        let backend = self.backend().await?;
        match self.state() {
            ShellState::Ready(ready) => Some((backend, ready.connection.url)),
            _ => None,
        }
    }

    /// Starts the embedded service, or says in the state why it cannot be
    /// started. One that runs is stopped first.
    pub async fn start(&self) {
        let mut running = self.embedded.write().await;
        let started = self.launch(&mut running).await;
        self.publish(running.as_ref(), started.err());
    }

    /// The same on another port, which becomes the fixed one.
    pub async fn start_on(&self, port: u16) {
        self.choose(|preferences| preferences.port = Some(port));
        self.start().await;
    }

    /// Stops the embedded service: open requests end, the database is closed.
    pub async fn stop(&self) {
        if let Some(embedded) = self.embedded.write().await.take() {
            embedded.stop().await;
        }
    }

    /// Fixes the port, or lets the system choose again. If the port cannot be
    /// had, everything stays as it was.
    pub async fn fix_port(&self, port: Option<u16>) -> Result<(), String> {
        self.listen_as(|preferences| preferences.port = port).await
    }

    /// Opens the listener to this network, or closes it again.
    pub async fn allow_phones(&self, allowed: bool) -> Result<(), String> {
        self.listen_as(|preferences| preferences.phones = allowed)
            .await
    }

    async fn listen_as(&self, choice: impl FnOnce(&mut Preferences)) -> Result<(), String> {
        if self.listen.is_some() {
            return Err(
                "Where Tapdesk listens is fixed by --listen or TAPDESK_LISTEN, \
                 and is changed there alone."
                    .to_owned(),
            );
        }
        let mut running = self.embedded.write().await;
        let before = self.preferences().clone();
        self.choose(choice);
        let Err(refused) = self.launch(&mut running).await else {
            self.publish(running.as_ref(), None);
            return Ok(());
        };
        self.choose(|preferences| *preferences = before);
        let again = self.launch(&mut running).await;
        self.publish(running.as_ref(), again.err());
        Err(refused.to_string())
    }

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

    /// Stops the service, lets `work` see to the files, and starts it again,
    /// whatever came of the work.
    async fn start_after<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folders, &Keychain) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let mut running = self.embedded.write().await;
        if let Some(embedded) = running.take() {
            embedded.stop().await;
        }
        let (folders, keychain) = (self.folders.clone(), self.keychain.clone());
        let done = blocking(move || work(&folders, &keychain)).await;
        let started = self.launch(&mut running).await;
        let outcome = match &started {
            Ok(()) => done,
            Err(problem) => done.and(Err(problem.to_string())),
        };
        self.publish(running.as_ref(), started.err());
        outcome
    }

    /// Stops what runs and starts the service by the present choices.
    async fn launch(&self, running: &mut Option<Embedded>) -> Result<(), StartProblem> {
        if let Some(embedded) = running.take() {
            embedded.stop().await;
        }
        let wish = {
            let preferences = self.preferences();
            Wish {
                at: self.listen,
                fixed: preferences.port,
                last: preferences.last_port,
                phones: preferences.phones,
            }
        };
        let embedded = match Embedded::start(&self.folders, &self.keychain, wish).await {
            Err(StartFailure::Start(StartError::Rotating(_))) => {
                self.finish_rotation().await?;
                Embedded::start(&self.folders, &self.keychain, wish).await?
            }
            started => started?,
        };
        if self.listen.is_none() {
            let port = embedded.address.port();
            self.choose(|preferences| preferences.last_port = Some(port));
        }
        *running = Some(embedded);
        Ok(())
    }

    /// Goes on with a rotation that was ended in the middle.
    async fn finish_rotation(&self) -> Result<(), StartProblem> {
        let state = &self.state;
        let mut tell = |progress| drop(state.send_replace(ShellState::Rotating { progress }));
        let finished = rotation::run(&self.folders, &self.keychain, &mut tell).await;
        finished.map_err(|stopped| StartProblem::rotating(&stopped.why))
    }

    /// Replaces the key that wraps secrets, while the service is stopped, and tells how far it is.
    /// One that is ended in the middle is finished at the next start.
    pub async fn rotate_key(
        &self,
        mut tell: impl FnMut(RotationProgress) + Send,
    ) -> Result<(), String> {
        let mut running = self.embedded.write().await;
        let Some(embedded) = running.take_if(|embedded| !embedded.is_locked()) else {
            return Err(match &*running {
                Some(locked) => locked.key_store.text.clone(),
                None => "The service is not running.".to_owned(),
            });
        };
        embedded.stop().await;
        let rotated = rotation::run(&self.folders, &self.keychain, &mut tell).await;
        // It finishes what is half way.
        let started = self.launch(&mut running).await;
        let outcome = match (&started, rotated) {
            (Err(problem), _) => Err(problem.to_string()),
            (Ok(()), Err(stopped)) if !stopped.half_way => Err(stopped.why),
            (Ok(()), _) => Ok(()),
        };
        self.publish(running.as_ref(), started.err());
        outcome
    }

    /// Shows another service from now on.
    pub async fn connect(&self, id: &str) -> Result<(), String> {
        let remote = if id == EMBEDDED {
            None
        } else {
            let known = self
                .preferences()
                .connections
                .iter()
                .find(|known| known.id == id)
                .cloned();
            let known = known.ok_or("This connection no longer exists.")?;
            let (keychain, folders) = (self.keychain.clone(), self.folders.clone());
            let name = secret_name(id);
            let token = blocking(move || keychain.recall(&folders, &name)).await?;
            let token = AdminToken::parse(&token).map_err(|error| error.to_string())?;
            let service = RemoteService::new(known.url.clone(), token);
            Some((connection(&known), Arc::new(service)))
        };
        *write(&self.remote) = remote;
        self.publish(self.embedded.read().await.as_ref(), None);
        Ok(())
    }

    /// Adds a remote service, once it has accepted the token.
    pub async fn add_connection(
        &self,
        name: &str,
        url: &str,
        token: Zeroizing<String>,
    ) -> Result<Connection, FieldError> {
        let remote = Remote {
            id: entropy::text(&OsEntropy, ID.0, ID.1),
            name: name.trim().to_owned(),
            url: backend::address(url).map_err(|why| FieldError::of("url", why))?,
        };
        if remote.name.is_empty() {
            return Err(FieldError::of("name", "A connection needs a name."));
        }
        let parsed = AdminToken::parse(&token)
            .map_err(|error| FieldError::of("token", error.to_string()))?;
        let service = RemoteService::new(remote.url.clone(), parsed);
        let (keychain, folders) = (self.keychain.clone(), self.folders.clone());
        let secret = secret_name(&remote.id);
        let kept = move || {
            service.check()?;
            keychain
                .keep(&folders, &secret, &token)
                .map_err(|error| format!("The token cannot be stored: {error}."))
                .map_err(|why| FieldError::of("token", why))
        };
        blocking(move || Ok(kept()))
            .await
            .map_err(FieldError::whole)??;
        let added = connection(&remote);
        self.choose(|preferences| preferences.connections.push(remote));
        self.publish(self.embedded.read().await.as_ref(), None);
        Ok(added)
    }

    /// Forgets a remote service, and its token.
    pub async fn remove_connection(&self, id: &str) -> Result<(), String> {
        self.choose(|preferences| preferences.connections.retain(|known| known.id != id));
        {
            let mut remote = write(&self.remote);
            if remote.as_ref().is_some_and(|(shown, _)| shown.id == id) {
                *remote = None;
            }
        }
        let (keychain, folders) = (self.keychain.clone(), self.folders.clone());
        let name = secret_name(id);
        blocking(move || {
            keychain.forget(&folders, &name);
            Ok(())
        })
        .await?;
        self.publish(self.embedded.read().await.as_ref(), None);
        Ok(())
    }

    fn publish(&self, embedded: Option<&Embedded>, problem: Option<StartProblem>) {
        let state = match (embedded, problem) {
            (_, Some(problem)) => ShellState::Failed { problem },
            (Some(embedded), None) => ShellState::Ready(Box::new(self.as_ready(embedded))),
            (None, None) => return,
        };
        self.state.send_replace(state);
    }

    fn as_ready(&self, embedded: &Embedded) -> Ready {
        let preferences = self.preferences();
        let address = listener::local_address(embedded.address);
        let here = Connection {
            id: EMBEDDED.to_owned(),
            name: "This computer".to_owned(),
            kind: ConnectionKind::Embedded,
            url: address.clone(),
        };
        let shown = read(&self.remote).as_ref().map(|(shown, _)| shown.clone());
        let others = preferences.connections.iter().map(connection);
        Ready {
            version: env!("CARGO_PKG_VERSION"),
            connection: shown.unwrap_or_else(|| here.clone()),
            connections: std::iter::once(here).chain(others).collect(),
            address,
            tag_url: embedded.door.service.settings().tag_url.clone(),
            lan: listener::others_addresses(embedded.address),
            listen_fixed: self.listen.is_some(),
            port_fixed: preferences.port,
            key_store: embedded.key_store.clone(),
            database: self.folders.database.display().to_string(),
        }
    }

    /// What the owner chose for the kiosk.
    pub fn kiosk(&self) -> KioskSettings {
        self.preferences().kiosk.clone()
    }

    /// Changes what the owner chose for the kiosk.
    pub fn choose_kiosk(&self, choice: impl FnOnce(&mut KioskSettings)) {
        self.choose(|preferences| choice(&mut preferences.kiosk));
    }

    fn preferences(&self) -> MutexGuard<'_, Preferences> {
        self.preferences
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the choices. That they could not be written down is no reason not
    /// to follow them now.
    fn choose(&self, choice: impl FnOnce(&mut Preferences)) {
        let mut preferences = self.preferences();
        choice(&mut preferences);
        if let Err(error) = preferences.save(&self.folders.preferences) {
            let file = self.folders.preferences.display();
            tracing::warn!("{file} cannot be written: {error}");
        }
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

fn connection(remote: &Remote) -> Connection {
    Connection {
        id: remote.id.clone(),
        name: remote.name.clone(),
        kind: ConnectionKind::Remote,
        url: remote.url.clone(),
    }
}

/// Under which name the token of a connection is kept.
fn secret_name(id: &str) -> String {
    format!("connection-{id}")
}

/// Runs what may block where it may.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(error.to_string()))
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
