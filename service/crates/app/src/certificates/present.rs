//! The certificates that handshakes get.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::read::open;
use crate::service::Service;
use domain::clock::Timestamp;
use storage::StoredCertificate;

/// Certificates by domain, with their last moments. Replacing one affects only later handshakes.
pub(super) struct Present {
    /// The domain for clients that name none, such as checks of a load balancer.
    first: Option<String>,
    keys: RwLock<HashMap<String, (Arc<CertifiedKey>, Timestamp)>>,
    /// The domains of which only certificates are stored that cannot be opened.
    lost: RwLock<HashSet<String>>,
}

impl Present {
    pub(super) fn new(first: Option<String>) -> Self {
        Self {
            first,
            keys: RwLock::default(),
            lost: RwLock::default(),
        }
    }

    /// Serves the best certificates of `stored`: of the authority at `directory` if there is one,
    /// otherwise the one that is valid longest. A certificate stays if no better one can be opened.
    pub(super) fn install(&self, service: &Service, directory: &str, stored: &[StoredCertificate]) {
        let mut stored: Vec<_> = stored.iter().collect();
        stored.sort_by_key(|one| (one.directory == directory, one.validity.until));
        let mut lost = HashSet::new();
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        // The best one of a domain is the last.
        for certificate in stored {
            let StoredCertificate {
                domain, validity, ..
            } = certificate;
            match open(service, certificate) {
                Ok(key) => {
                    keys.insert(domain.clone(), (Arc::new(key), validity.until));
                }
                Err(why) => {
                    tracing::warn!("the certificate of {domain} cannot be used: {why}");
                    lost.insert(domain.clone());
                }
            }
        }
        lost.retain(|domain| !keys.contains_key(domain));
        *self.lost.write().unwrap_or_else(PoisonError::into_inner) = lost;
        if let Some(first) = keys.values().map(|(_, until)| *until).min() {
            service.metrics.certificate_expires(first);
        }
    }

    /// Whether handshakes for a domain get no certificate because its key cannot be opened.
    pub(super) fn has_lost(&self, domain: &str) -> bool {
        let lost = self.lost.read().unwrap_or_else(PoisonError::into_inner);
        lost.contains(domain)
    }
}

impl ResolvesServerCert for Present {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let named = hello.server_name().map(str::to_ascii_lowercase);
        let domain = named.as_ref().or(self.first.as_ref())?;
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.get(domain).map(|(key, _)| Arc::clone(key))
    }
}

impl fmt::Debug for Present {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Present")
    }
}
