//! The service in this process: from the owner's choices to a running listener, and back to a
//! closed database.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::s3_server::S3Server;
use tapdesk_service::settings::{Layers, Settings};
use tapdesk_service::start::{Database, Start, Started, TokenSource, WrappingKey, start};
use tapdesk_service::{Exposure, Limits, Service, housekeeping, router, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::backend;
use crate::carriers::Carriers;
use crate::folders::Folders;
use crate::keychain::{self, KeyStore, KeyStoreKind, Keychain};
use crate::listener::{self, BindError, Bound, Wish};
use crate::problem::StartFailure;

/// Memory for the configuration of tags, in bytes: enough for 50,000 of them.
const TAG_CACHE: usize = 16_000_000;

/// A running service with its listener.
pub struct Embedded {
    /// The service's routes and events, called without a socket.
    pub door: backend::Embedded,
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The place of the key that wraps inlay keys.
    pub key_store: KeyStore,
    /// The port that it should have used but could not. Nothing leads to that port.
    pub moved_from: Option<u16>,
    listening: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl Embedded {
    /// Starts the service over `folders`, listening as `wish` says.
    pub async fn start(
        folders: &Folders,
        keychain: &Keychain,
        wish: Wish,
    ) -> Result<Self, StartFailure> {
        let Bound {
            listener,
            refused: moved,
        } = listener::bind(wish)?;
        let refused = |error| BindError {
            port: wish.fixed.unwrap_or_default(),
            error,
            free: None,
            from_outside: wish.at.is_some(),
            carriers: None,
        };
        let address = listener.local_addr().map_err(refused)?;
        let (wrapping_key, key_store) = wrapping_key(folders, keychain);
        let Started {
            service,
            state,
            admin_token,
        } = start(Start {
            database: Database::Sqlite(folders.database.clone()),
            wrapping_key,
            admin_token: TokenSource::File(folders.token_file()),
            layers: Layers {
                defaults: Settings {
                    tag_url: tag_url(address),
                    private_webhooks: std::env::var_os("TAPDESK_PRIVATE_WEBHOOKS")
                        .is_some_and(|set| set == "1"),
                    ..Settings::default()
                },
                ..Layers::default()
            },
            countries: None,
            tag_cache: TAG_CACHE,
            s3_server: S3Server::from_variables(|name| std::env::var(name).ok()),
            test: None,
        })
        .await?;
        let moved_from = match may_move(&service, moved, wish).await {
            Ok(moved_from) => moved_from,
            Err(refused) => {
                service.close().await;
                return Err(refused);
            }
        };
        state.set_listening(address);
        let (stop, stopped) = oneshot::channel();
        let routes = listener::routes(&state);
        let listening = tokio::spawn(listen(listener, routes, Arc::clone(&service), stopped));
        let key_store = match service.keyring.why_locked() {
            Some(why) => keychain::locked_store(why),
            None => key_store
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        };
        Ok(Self {
            door: backend::Embedded {
                router: router(state, Exposure::WithAdmin),
                token: admin_token,
                service,
            },
            address,
            key_store,
            moved_from,
            listening,
            stop,
        })
    }

    /// Whether the key that wraps secrets is unavailable.
    pub fn is_locked(&self) -> bool {
        self.key_store.kind == KeyStoreKind::Locked
    }

    /// Waits for open requests, commits, and closes the database.
    pub async fn stop(self) {
        // If the listener ended by itself, nobody receives this.
        let _ = self.stop.send(());
        let _ = self.listening.await;
        // If the disk is full, some previews are not counted.
        let _ = self.door.service.note_previews().await;
        self.door.service.close().await;
    }
}

/// Whether the service may listen on another port than the one it could not get. Returns the port
/// that it moves from. It fails if the owner fixed the port, or if anything leads to it.
async fn may_move(
    service: &Service,
    moved: Option<BindError>,
    wish: Wish,
) -> Result<Option<u16>, StartFailure> {
    let Some(refused) = moved else {
        return Ok(None);
    };
    let carriers = match wish.left {
        Some(left) => left,
        None => Carriers::count(&service.storage, refused.port, wish.phones)
            .await
            .map_err(StartFailure::Count)?,
    };
    if !carriers.any() && wish.fixed.is_none() {
        return Ok(Some(refused.port));
    }
    Err(StartFailure::Bind(BindError {
        carriers: carriers.any().then_some(carriers),
        ..refused
    }))
}

async fn listen(
    listener: TcpListener,
    routes: Router,
    service: Arc<Service>,
    stopped: oneshot::Receiver<()>,
) {
    let stopped = async {
        // Dropping the sender stops the listener, too.
        let _ = stopped.await;
        // A desktop has no load balancer in front, so there is nothing to wait for.
        Duration::ZERO
    };
    let served = tokio::select! {
        served = serve(listener, routes, Limits::default(), stopped) => served,
        never = housekeeping::run(&service) => match never {},
    };
    if let Err(error) = served {
        tracing::error!("the listener ended: {error}");
    }
}

/// Base of the tag URLs if the owner chose none.
fn tag_url(address: SocketAddr) -> String {
    let on_network = listener::others_addresses(address).into_iter().next();
    let origin = on_network.unwrap_or_else(|| listener::local_address(address));
    format!("{origin}/t")
}

/// The wrapping key as a function that the start calls, and the place where that function found the
/// key.
fn wrapping_key(folders: &Folders, keychain: &Keychain) -> (WrappingKey, Arc<Mutex<KeyStore>>) {
    let place = Arc::new(Mutex::new(KeyStore {
        kind: KeyStoreKind::Keychain,
        text: String::new(),
    }));
    let found = Arc::clone(&place);
    let (folders, keychain) = (folders.clone(), keychain.clone());
    let keep = move |may_create| {
        let (keyring, store) = keychain.wrapping_key(&folders, may_create, &OsEntropy)?;
        *found.lock().unwrap_or_else(PoisonError::into_inner) = store;
        Ok(keyring)
    };
    (WrappingKey::Kept(Box::new(keep)), place)
}
