//! Reads a certificate and its key.

use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
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

/// When a new certificate is valid. An error says why visitors of `domain` would refuse it `now`, so
/// that it never takes the place of a good one.
pub(super) fn usable(
    certified: &CertifiedKey,
    domain: &str,
    now: Timestamp,
) -> Result<Validity, String> {
    let own = certified
        .end_entity_cert()
        .map_err(|error| error.to_string())?;
    let validity = validity(own).ok_or("it has no dates")?;
    if validity.until <= now {
        let until = validity.until;
        return Err(format!(
            "it expired at {until}, by the clock of the database"
        ));
    }
    let name = ServerName::try_from(domain).map_err(|error| error.to_string())?;
    ParsedCertificate::try_from(own)
        .and_then(|own| verify_server_name(&own, &name))
        .map_err(|_| format!("it is not for {domain}"))?;
    Ok(validity)
}

/// When a certificate is valid; `None` if it cannot be read.
fn validity(certificate: &CertificateDer<'_>) -> Option<Validity> {
    let (_, certificate) = parse_x509_certificate(certificate).ok()?;
    let validity = certificate.validity();
    let at = |seconds: i64| Timestamp::from_millis(seconds.saturating_mul(1_000));
    Some(Validity {
        from: at(validity.not_before.timestamp()),
        until: at(validity.not_after.timestamp()),
    })
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    const DOMAIN: &str = "tags.example.com";
    /// The first moment of 2026 in UTC.
    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    /// A certificate for a domain that is valid until a year begins, and its key, as PEM.
    fn certificate(domain: &str, until: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([domain.to_owned()]).unwrap();
        params.not_after = date_time_ymd(until, 1, 1);
        let certificate = params.self_signed(&key).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn check(domain: &str, until: i32) -> Result<Validity, String> {
        let (chain, key) = certificate(domain, until);
        usable(&certified(&chain, key.as_bytes()).unwrap(), DOMAIN, NOW)
    }

    #[test]
    fn a_certificate_is_usable_for_its_domain_until_it_expires() {
        let until = check(DOMAIN, 2027).unwrap().until;
        assert_eq!(until, Timestamp::from_millis(1_798_761_600_000));
        let expired = check(DOMAIN, 2026).unwrap_err();
        assert!(expired.starts_with("it expired at 2026-01-01"), "{expired}");
        for other in ["example.com", "shop.example.com", "a.tags.example.com"] {
            assert_eq!(
                check(other, 2027).unwrap_err(),
                "it is not for tags.example.com"
            );
        }
    }

    #[test]
    fn a_chain_belongs_to_its_key() {
        let (chain, _) = certificate(DOMAIN, 2027);
        let (_, key) = certificate(DOMAIN, 2027);
        assert!(certified(&chain, key.as_bytes()).is_err());
        assert!(certified("", key.as_bytes()).is_err());
        assert!(certified(&chain, b"").is_err());
    }
}
