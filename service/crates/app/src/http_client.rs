//! Parts of the HTTP clients with which the service calls other servers: TLS verification and name
//! resolution of the system, pauses that a server asks for, and errors of certificates in words.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::future::BoxFuture;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use rustls::CertificateError;

use domain::clock::Timestamp;

/// The addresses of a name, once they are found.
pub(crate) type LookingUp = BoxFuture<'static, io::Result<Vec<SocketAddr>>>;

/// Looks up the addresses of names.
pub(crate) trait Lookup: Send + Sync {
    /// The addresses of `name` now. Their ports are ignored, because the URL decides the port.
    fn look_up(&self, name: String) -> LookingUp;
}

/// Looks up names with the system's resolver.
pub(crate) struct System;

impl Lookup for System {
    fn look_up(&self, name: String) -> LookingUp {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
    }
}

/// TLS with the system's own verification of certificates. An error says why it is not available.
pub(crate) fn tls() -> Result<rustls::ClientConfig, String> {
    let failed = |error: rustls::Error| error.to_string();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        rustls_platform_verifier::Verifier::new(Arc::clone(&provider)).map_err(failed)?;
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        // Not dangerous here: this is the system's own verification of certificates.
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(tls)
}

/// The pause that a server asks for with `Retry-After`, if it does.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    pause(headers.get(RETRY_AFTER)?.to_str().ok()?.trim(), now)
}

/// Parses `Retry-After`: seconds, or a date in one of the three HTTP formats (RFC 9110, 5.6.7).
fn pause(asked: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(asked).ok()?;
    let until = until.duration_since(UNIX_EPOCH).ok()?;
    let now = Duration::from_millis(now.millis().try_into().ok()?);
    Some(until.saturating_sub(now))
}

/// All causes of `error`, the outermost first. A network error does not show its own cause, which
/// is often a TLS error.
pub(crate) fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| {
        let error: &'e (dyn Error + 'static) = *error;
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
            .map(|inner| inner as &(dyn Error + 'static));
        inner.or_else(|| error.source())
    })
}

/// The error in the TLS certificate of `whose`, and the way out; `None` if the error is another
/// one.
pub(crate) fn certificate_fault(error: &(dyn Error + 'static), whose: &str) -> Option<String> {
    let Some(rustls::Error::InvalidCertificate(fault)) = error.downcast_ref() else {
        return None;
    };
    let subject = format!("The TLS certificate of {whose}");
    Some(match fault {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("{subject} has expired. Renew it there.")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            format!("{subject} is not valid yet. Check the clocks of both machines.")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("{subject} is for another host name.")
        }
        CertificateError::UnknownIssuer => format!(
            "{subject} is signed by nobody whom this machine trusts: it signed itself, or {whose} does not send \
             the certificates between."
        ),
        CertificateError::Revoked => format!("{subject} is revoked. Replace it there."),
        // Other errors are for the operator of that server, in the words of their own tools.
        _ => format!("{subject} is not valid. Look at it with a program such as openssl s_client."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_asked_for_in_seconds_or_until_a_date() {
        // 1994-11-06T08:49:00Z.
        let now = Timestamp::from_millis(784_111_740_000);
        for (asked, seconds) in [
            ("120", Some(120)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(37)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(37)),
            ("Sun Nov  6 08:49:37 1994", Some(37)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            let expected = seconds.map(Duration::from_secs);
            assert_eq!(pause(asked, now), expected, "{asked}");
        }
    }
}
