//! State that only HTTP needs, in addition to the service: clients and their origin.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use super::admins::Admins;
use super::clients::Clients;
use super::countries::Countries;
use super::rate_limiter::RateLimits;
use app::service::{Service, Shared};
use domain::admin_token::AdminToken;
use storage::StorageError;

/// The state of a router: the service, and state about its clients. All routers of one service
/// share it. A clone refers to the same state.
#[derive(Clone)]
pub struct AppState {
    service: Arc<Service>,
    pub(super) edge: Arc<Edge>,
}

/// State that all routers of a service share about clients.
pub(super) struct Edge {
    pub(super) clients: Clients,
    pub(super) countries: Countries,
    pub(super) admins: Admins,
    pub(super) rate_limits: RateLimits,
    listening: OnceLock<SocketAddr>,
}

impl AppState {
    /// The state for `service`. `admin_token` is accepted in addition to the stored tokens.
    ///
    /// # Errors
    ///
    /// If the secret that identifies clients cannot be read from the database.
    pub async fn new(
        service: Arc<Service>,
        countries: Countries,
        admin_token: Option<AdminToken>,
    ) -> Result<Self, StorageError> {
        let secrets = service.storage.secrets().await?;
        let edge = Arc::new(Edge {
            clients: Clients::new(secrets.client),
            countries,
            admins: Admins::new(admin_token),
            rate_limits: RateLimits::new(Arc::clone(&service.clock)),
            listening: OnceLock::new(),
        });
        Ok(Self { service, edge })
    }

    /// The service that the routers serve, working for itself.
    pub fn as_service(&self) -> &Arc<Service> {
        &self.service
    }

    /// The parts of the service without its database, for code that works for a caller.
    pub(super) fn shared(&self) -> &Shared {
        &self.service
    }

    /// Records the address of the listener. The admin API accepts this address as a host.
    pub fn set_listening(&self, address: SocketAddr) {
        // A service has one listener, so only the first address counts.
        let _ = self.edge.listening.set(address);
    }

    /// Whether the service listens on `address`.
    pub(super) fn listens_on(&self, address: IpAddr) -> bool {
        let listening = self.edge.listening.get();
        listening.is_some_and(|listening| listening.ip().to_canonical() == address)
    }
}
