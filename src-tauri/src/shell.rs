//! The state behind the window: the embedded service, the owner's choices, and the connection that
//! the screens show. It knows nothing of windows.

mod choices;
mod connections;
mod key;
mod lifecycle;
mod recovery;
mod releases;
mod remote;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use tokio::sync::watch;

use self::connections::connection;
use self::recovery::Downloaded;
use self::remote::Shown;
use crate::backend::Backend;
use crate::carriers::Carriers;
use crate::embedded::Embedded;
use crate::folders::Folders;
use crate::keychain::Keychain;
use crate::kiosk_settings::KioskSettings;
use crate::listener;
use crate::preferences::Preferences;
use crate::state::{Connection, ConnectionKind, EMBEDDED, Ready, ShellState, StartProblem};

/// The state behind the window. Errors of its operations are sentences for people.
pub struct Shell {
    folders: Folders,
    keychain: Keychain,
    preferences: Mutex<Preferences>,
    kiosk: Mutex<KioskSettings>,
    /// Address and port from an argument or the environment.
    listen: Option<SocketAddr>,
    /// Locked for writing while the service starts or stops, so that calls wait.
    embedded: tokio::sync::RwLock<Option<Embedded>>,
    /// The remote service that the screens show; `None` if they show the embedded one.
    remote: RwLock<Option<Shown>>,
    state: watch::Sender<ShellState>,
    /// A backup of a bucket whose passphrase was wrong, until the person gives up.
    downloaded: Mutex<Option<Downloaded>>,
}

impl Shell {
    /// A shell whose service has not started yet. `listen` is the address from an argument or the
    /// environment.
    pub fn new(folders: Folders, keychain: Keychain, listen: Option<SocketAddr>) -> Self {
        let preferences = Preferences::load(&folders.preferences);
        let kiosk = KioskSettings::load(&folders.kiosk);
        Self {
            folders,
            keychain,
            preferences: Mutex::new(preferences),
            kiosk: Mutex::new(kiosk),
            listen,
            embedded: tokio::sync::RwLock::default(),
            remote: RwLock::default(),
            state: watch::Sender::new(ShellState::Starting),
            downloaded: Mutex::default(),
        }
    }

    /// A copy of the present state.
    pub fn state(&self) -> ShellState {
        self.state.borrow().clone()
    }

    /// Receives the present state and every change.
    pub fn watch(&self) -> watch::Receiver<ShellState> {
        self.state.subscribe()
    }

    /// The connection to the embedded service once it runs, or the problem that prevents its start.
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

    /// The service that the screens show. Waits while the embedded one starts; `None` if it could
    /// not start.
    pub async fn backend(&self) -> Option<Backend> {
        self.connected().await.map(|(_, backend)| backend)
    }

    /// The same as [`Self::backend`], with the id of the connection.
    pub async fn connected(&self) -> Option<(String, Backend)> {
        if let Some(shown) = &*read(&self.remote) {
            let backend = Backend::Remote(Arc::clone(&shown.service));
            return Some((shown.connection.id.clone(), backend));
        }
        let embedded = self.embedded_backend().await?;
        Some((EMBEDDED.to_owned(), embedded))
    }

    /// The service of `connection`, if the screens still show it: a request for one service must
    /// not reach another. The error is a sentence for people.
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

    /// The embedded service, whichever service the screens show.
    pub async fn embedded_backend(&self) -> Option<Backend> {
        let embedded = self.embedded.read().await;
        embedded
            .as_ref()
            .map(|embedded| Backend::Embedded(embedded.door.clone()))
    }

    /// The same as [`Self::backend_of`], with the URL at which others reach the service.
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

    /// Publishes the addresses of this computer on its networks, if they have changed. Does nothing
    /// while the service starts or stops.
    pub fn follow_network(&self) {
        let Ok(embedded) = self.embedded.try_read() else {
            return;
        };
        let Some(running) = embedded.as_ref() else {
            return;
        };
        let lan = listener::others_addresses(running.address);
        let has_changed =
            matches!(&*self.state.borrow(), ShellState::Ready(ready) if ready.lan != lan);
        if has_changed {
            self.publish(Some(running), None);
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
        // The stored counts stay: a port from an argument or the environment may be back for this
        // run only.
        let left = preferences.left_port;
        let left = left.filter(|left| left.port != embedded.address.port());
        let by_itself = embedded.moved_from.map(|port| Carriers {
            port,
            ..Carriers::default()
        });
        let here = Connection {
            id: EMBEDDED.to_owned(),
            name: "This computer".to_owned(),
            kind: ConnectionKind::Embedded,
            url: address.clone(),
        };
        let (shown, lost) = match &*read(&self.remote) {
            Some(shown) => (shown.connection.clone(), shown.lost.clone()),
            None => (here.clone(), None),
        };
        let others = preferences.connections.iter().map(connection);
        Ready {
            version: env!("CARGO_PKG_VERSION"),
            connection: shown,
            connections: std::iter::once(here).chain(others).collect(),
            address,
            tag_url: embedded.door.service.settings().tag_url.clone(),
            phones: !embedded.address.ip().to_canonical().is_loopback(),
            lan: listener::others_addresses(embedded.address),
            listen_fixed: self.listen.is_some(),
            port_fixed: preferences.port,
            moved: left.or(by_itself),
            lost,
            key_store: embedded.key_store.clone(),
            database: self.folders.database.display().to_string(),
            releases: preferences.releases.clone().newer(),
        }
    }
}

/// Runs blocking work on a thread that may block.
async fn blocking<T: Send + 'static, E: From<String> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(error.to_string().into()))
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}
