//! What the window stands on: the embedded service, the owner's choices, and
//! the connection that the screens show. Knows nothing of windows.

mod choices;
mod connections;
mod key;
mod lifecycle;
mod recovery;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use tokio::sync::watch;

use self::connections::connection;
use crate::backend::{Backend, RemoteService};
use crate::embedded::Embedded;
use crate::folders::Folders;
use crate::keychain::Keychain;
use crate::listener;
use crate::preferences::Preferences;
use crate::state::{Connection, ConnectionKind, EMBEDDED, Ready, ShellState, StartProblem};

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
        self.connected().await.map(|(_, backend)| backend)
    }

    /// The same, with the id of its connection.
    pub async fn connected(&self) -> Option<(String, Backend)> {
        if let Some((shown, remote)) = &*read(&self.remote) {
            return Some((shown.id.clone(), Backend::Remote(Arc::clone(remote))));
        }
        let embedded = self.embedded_backend().await?;
        Some((EMBEDDED.to_owned(), embedded))
    }

    /// The service of `connection`, as long as the screens show it: what somebody asked of one
    /// service is not for another. The error is a sentence for people.
    pub async fn backend_of(&self, connection: &str) -> Result<Backend, String> {
        let (shown, backend) = self
            .connected()
            .await
            .ok_or("The service is not running.")?;
        if shown == connection {
            Ok(backend)
        } else {
            Err("The connection changed. Nothing was sent.".to_owned())
        }
    }

    /// The service in this process, whichever the screens show.
    pub async fn embedded_backend(&self) -> Option<Backend> {
        let embedded = self.embedded.read().await;
        embedded
            .as_ref()
            .map(|embedded| Backend::Embedded(embedded.door.clone()))
    }

    /// The service of `connection` as `backend_of`, with the address at which others reach it.
    pub async fn backend_at(&self, connection: &str) -> Result<(Backend, String), String> {
        let backend = self.backend_of(connection).await?;
        match self.state() {
            ShellState::Ready(ready) if ready.connection.id == connection => {
                Ok((backend, ready.connection.url))
            }
            ShellState::Ready(_) => Err("The connection changed. Nothing was sent.".to_owned()),
            _ => Err("The service is not running.".to_owned()),
        }
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
}

/// Runs what may block where it may.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(error.to_string()))
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}
