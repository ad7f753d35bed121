//! Reads a certificate and its key.

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::parse_x509_certificate;

use crate::service::Service;
use domain::certificate::Validity;
use domain::clock::Timestamp;
use storage::StoredCertificate;

/// A stored certificate with its opened key. An error says why it cannot be used.
pub(super) fn open(service: &Service, stored: &StoredCertificate) -> Result<CertifiedKey, String> {
    let key = service.keyring.unwrap_secret(&stored.key);
    let key = key.map_err(|error| error.to_string())?;
    certified(&stored.chain, &key)
}

/// A chain as PEM with its key as PEM. An error says why they do not belong together.
pub(super) fn certified(chain: &str, key: &[u8]) -> Result<CertifiedKey, String> {
    let chain = CertificateDer::pem_slice_iter(chain.as_bytes()).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| error.to_string())?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| error.to_string())?;
    let provider = rustls::crypto::ring::default_provider();
    CertifiedKey::from_der(chain, key, &provider).map_err(|error| error.to_string())
}

/// When a certificate is valid; `None` if it cannot be read.
pub(super) fn validity(certificate: &CertificateDer<'_>) -> Option<Validity> {
    let (_, certificate) = parse_x509_certificate(certificate).ok()?;
    let validity = certificate.validity();
    let at = |seconds: i64| Timestamp::from_millis(seconds.saturating_mul(1_000));
    Some(Validity {
        from: at(validity.not_before.timestamp()),
        until: at(validity.not_after.timestamp()),
    })
}
