//! The listeners of `--acme`: https with the service's own certificates, and http beside it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use tapdesk_service::certificates::{self, Certificates};
use tapdesk_service::{
    AppState, Exposure, Limits, Service, plain_router, router, serve, serve_tls, with_hsts,
};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::options;

/// The listeners for visitors, and their certificates.
pub(super) struct Public {
    https: TcpListener,
    http: TcpListener,
    domains: Vec<String>,
    certificates: Certificates,
}

/// The listeners' common signal to end, with the time that load balancers need to notice.
pub(super) type End = watch::Receiver<Option<Duration>>;

impl Public {
    /// Opens the listeners; `None` without `--acme`.
    pub(super) fn open(options: &options::Certificates) -> Result<Option<Self>> {
        let Some(acme) = options.acme() else {
            return Ok(None);
        };
        let domains = acme.domains.clone();
        let certificates = Certificates::new(acme).map_err(|why| anyhow!(why))?;
        Ok(Some(Self {
            https: listen("--https-listen", options.https_listen)?,
            http: listen("--http-listen", options.http_listen)?,
            domains,
            certificates,
        }))
    }

    /// The tag URL, if the settings have none.
    pub(super) fn tag_url(&self) -> String {
        let domain = self.domains.first().map_or("", String::as_str);
        format!("https://{domain}/t")
    }

    /// Fails if the keys of certificates cannot be stored.
    pub(super) fn check(&self, service: &Service) -> Result<()> {
        if let Some(why) = service.keyring.why_locked() {
            bail!(
                "Keys of certificates are wrapped as inlay keys are, and these are locked: {why}"
            );
        }
        let (https, http) = (self.https.local_addr()?, self.http.local_addr()?);
        tracing::info!("https is at {https}, and http at {http}");
        Ok(())
    }

    /// Serves visitors until the end, and obtains certificates meanwhile.
    pub(super) async fn serve(
        self,
        state: AppState,
        exposure: Exposure,
        limits: Limits,
        end: End,
    ) -> io::Result<()> {
        let service = Arc::clone(state.as_service());
        let tls = self.certificates.tls().map_err(io::Error::other)?;
        let plain = plain_router(state.clone(), &self.domains);
        let encrypted = with_hsts(router(state, exposure));
        let https = serve_tls(self.https, tls, encrypted, limits, ended(end.clone()));
        let http = serve(self.http, plain, limits, ended(end));
        tokio::select! {
            served = async { tokio::try_join!(https, http) } => served.map(drop),
            never = certificates::run(&service, &self.certificates) => match never {},
        }
    }
}

/// Opens the listener of an option.
pub(super) fn listen(option: &str, address: SocketAddr) -> Result<TcpListener> {
    tapdesk_service::listen(address)
        .map_err(|error| anyhow!(options::cannot_listen(option, address, &error)))
}

/// Waits for the end.
pub(super) async fn ended(mut end: End) -> Duration {
    let delay = end.wait_for(Option::is_some).await;
    delay.map_or(Duration::ZERO, |delay| delay.unwrap_or_default())
}
