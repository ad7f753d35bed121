//! The service in this process: from the owner's choices to a running listener,
//! and back to a closed database.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::settings::{Layers, Settings};
use tapdesk_service::start::{Database, Start, Started, TokenSource, WrappingKey, start};
use tapdesk_service::{Exposure, Service, housekeeping, router, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::backend;
use crate::folders::Folders;
use crate::keychain::{self, Keychain};
use crate::listener::{self, BindError, Wish};
use crate::problem::StartFailure;
use crate::state::{KeyStore, KeyStoreKind};

/// Memory for the configuration of tags, in bytes: enough for 50,000 of them.
const TAG_CACHE: usize = 16_000_000;

/// A running service.
pub struct Embedded {
    /// How the screens reach it.
    pub door: backend::Embedded,
    /// Where it listens.
    pub address: SocketAddr,
    /// Where the key that wraps inlay keys is kept.
    pub key_store: KeyStore,
    listening: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl Embedded {
    /// Starts the service over `folders`, listening as wished.
    pub async fn start(
        folders: &Folders,
        keychain: &Keychain,
        wish: Wish,
    ) -> Result<Self, StartFailure> {
        let listener = listener::bind(wish).await?;
        let refused = |error| BindError {
            port: wish.fixed.unwrap_or_default(),
            error,
            free: None,
            from_outside: wish.at.is_some(),
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
            test: None,
        })
        .await?;
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
            listening,
            stop,
        })
    }

    /// Whether the key that wraps secrets cannot be had.
    pub fn is_locked(&self) -> bool {
        self.key_store.kind == KeyStoreKind::Locked
    }

    /// Lets open requests end, commits, and closes the database.
    pub async fn stop(self) {
        // The listener may have ended by itself.
        let _ = self.stop.send(());
        let _ = self.listening.await;
        self.door.service.storage.close().await;
    }
}

async fn listen(
    listener: TcpListener,
    routes: Router,
    service: Arc<Service>,
    stopped: oneshot::Receiver<()>,
) {
    let stopped = async {
        // Dropped, the sender stops it, too.
        let _ = stopped.await;
    };
    let served = tokio::select! {
        served = serve(listener, routes, stopped) => served,
        never = housekeeping::run(&service) => match never {},
    };
    if let Err(error) = served {
        tracing::error!("the listener ended: {error}");
    }
}

/// Base of the tags' URLs if the owner chose none.
fn tag_url(address: SocketAddr) -> String {
    let on_network = listener::others_addresses(address).into_iter().next();
    let origin = on_network.unwrap_or_else(|| listener::local_address(address));
    format!("{origin}/t")
}

/// The wrapping key as the start asks for it, and where it turned out to be kept.
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
