//! What only HTTP needs, beside the service: who calls, and from where.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use axum::extract::FromRef;

use super::admins::Admins;
use super::clients::Clients;
use super::countries::Countries;
use super::rate_limiter::RateLimits;
use crate::admin_token::AdminToken;
use crate::service::Service;
use crate::storage::StorageError;

/// The state of a router: the service, and what is known of those who call it. All
/// routers of one service share it. A clone is the same state.
#[derive(Clone)]
pub struct AppState {
    pub(super) service: Arc<Service>,
    pub(super) edge: Arc<Edge>,
}

/// What is known of clients.
pub(super) struct Edge {
    pub(super) clients: Clients,
    pub(super) countries: Countries,
    pub(super) admins: Admins,
    pub(super) rate_limits: RateLimits,
    listening: OnceLock<SocketAddr>,
}

impl AppState {
    /// The state over `service`. `admin_token` is accepted beside the stored ones.
    ///
    /// # Errors
    ///
    /// If the database does not give the secret that identifies clients.
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

    /// The service behind it.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// Notes where the service listens: an address by which the admin API may be addressed.
    pub fn set_listening(&self, address: SocketAddr) {
        // The first listener counts; a service has one.
        let _ = self.edge.listening.set(address);
    }

    /// Whether the service listens on `address`.
    pub(super) fn listens_on(&self, address: IpAddr) -> bool {
        let listening = self.edge.listening.get();
        listening.is_some_and(|listening| listening.ip().to_canonical() == address)
    }
}

/// Most handlers need the service alone.
impl FromRef<AppState> for Arc<Service> {
    fn from_ref(state: &AppState) -> Self {
        Arc::clone(&state.service)
    }
}
