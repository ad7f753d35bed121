//! Certificates of the service's own domains, obtained and renewed by ACME (RFC 8555).
//!
//! All nodes of a database share accounts, certificates and challenges. One node claims a domain and
//! orders, and every node answers the authority's challenge and serves the certificate. A renewal that
//! fails changes nothing about the present certificate.

mod authority;
mod external_account;
mod order;
mod present;
mod read;
mod renewal;
mod words;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::outage::Outage;
use crate::service::Service;
use authority::Authority;
use external_account::ExternalAccount;
use present::Present;
use storage::panics;

/// Pause between two looks at the database, which reads a few rows. Another node's new certificate is
/// served so long after it was stored.
const PAUSE: Duration = Duration::from_secs(1);

/// The choices of an operator about certificates.
#[derive(Clone, Debug)]
pub struct Acme {
    /// The domains, in lower case and ASCII. Each has a certificate of its own.
    pub domains: Vec<String>,
    /// The mail address that the authority may write to.
    pub mail: Option<String>,
    /// URL of the authority's directory.
    pub directory: String,
    /// A PEM file with the certificates that the authority's server is verified with, if not those of
    /// the system.
    pub trusted: Option<PathBuf>,
    /// A file with the id and the key that the authority gave the operator for new accounts, if it
    /// needs them.
    pub account: Option<PathBuf>,
}

/// The certificates of this node's listeners.
pub struct Certificates {
    acme: Acme,
    authority: Authority,
    /// Read at the start, so that a file that cannot be used is a fault of the start.
    external_account: Option<ExternalAccount>,
    present: Arc<Present>,
}

impl Certificates {
    /// No certificates yet. An error is a sentence for people.
    ///
    /// # Errors
    ///
    /// If the file with trusted certificates or that of the account cannot be used, or the system has
    /// no certificates.
    pub fn new(acme: Acme) -> Result<Self, String> {
        let authority = Authority::new(acme.trusted.as_deref())?;
        let external_account = acme.account.as_deref().map(ExternalAccount::read);
        let present = Arc::new(Present::new(acme.domains.first().cloned()));
        Ok(Self {
            acme,
            authority,
            external_account: external_account.transpose()?,
            present,
        })
    }

    /// The TLS settings of a listener. Each handshake gets the certificate that is present then. One
    /// for a domain without a certificate is refused.
    ///
    /// # Errors
    ///
    /// If the library supports no protocol version.
    pub fn tls(&self) -> Result<Arc<rustls::ServerConfig>, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.present) as _);
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(tls))
    }
}

/// Obtains and renews certificates until the future is dropped, which is allowed at any time.
pub async fn run(service: &Service, certificates: &Certificates) -> Infallible {
    let panicked = || service.metrics.task_panic();
    tokio::select! {
        never = panics::restarted(panicked, || follow(service, certificates)) => never,
        never = panics::restarted(panicked, || renewal::run(service, certificates)) => never,
    }
}

/// Serves the certificates that this node or another one stores.
async fn follow(service: &Service, certificates: &Certificates) -> Infallible {
    let Certificates { acme, present, .. } = certificates;
    let (mut known, mut outage) = (Vec::new(), Outage::default());
    loop {
        match service.storage.certificates(acme.domains.clone()).await {
            Ok(stored) => {
                outage.ends();
                if stored != known {
                    present.install(service, &acme.directory, &stored);
                    known = stored;
                }
            }
            Err(error) if outage.begins() => {
                tracing::warn!("certificates of other nodes have to wait: {error}");
            }
            Err(_) => {}
        }
        tokio::time::sleep(PAUSE).await;
    }
}
