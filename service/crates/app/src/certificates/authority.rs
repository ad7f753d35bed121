//! The HTTP client for an authority. This is reqwest, with redirects, proxies of the environment and
//! retries switched off.

use std::error::Error as StdError;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_types::{Request, Response};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Body, Client, StatusCode, redirect, retry};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use crate::http_client::{causes, certificate_fault, retry_after, tls};
use domain::clock::{Clock as _, SystemClock};

/// Time limit of a request. Authorities answer within a second, and some need a few under load.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest answer that is read, in bytes. A chain has some thousand.
const ANSWER_MAX: usize = 1 << 20;
/// Longest `Retry-After` that the library sees. It adds the pause to the present time, and an
/// attempt has ended long before anyway.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// An authority, as its client sees it. A clone shares the pause that was asked for.
#[derive(Clone)]
pub(super) struct Authority {
    http: Client,
    /// The pause that the last refusal asked for.
    pause: Arc<Mutex<Option<Duration>>>,
}

/// Why there was no answer, a sentence for people.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoAnswer(String);

impl Authority {
    /// A client that verifies the server with the certificates in the file `trusted`, or with those
    /// of the system. An error is a sentence for people.
    pub(super) fn new(trusted: Option<&Path>) -> Result<Self, String> {
        let tls = trusted.map_or_else(tls, trusting)?;
        let http = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .retry(retry::never())
            .referer(false)
            .timeout(PATIENCE)
            .user_agent(concat!("Tapdesk/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            http,
            pause: Arc::default(),
        })
    }

    /// Takes the pause that a refusal asked for since the last call.
    pub(super) fn take_pause(&self) -> Option<Duration> {
        let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        pause.take()
    }

    async fn answer(&self, request: Request<BodyWrapper<Bytes>>) -> Result<BytesResponse, Error> {
        let request = reqwest::Request::try_from(request.map(Body::wrap));
        let request = request.map_err(|error| failed(&error))?;
        let answer = self.http.execute(request).await;
        let mut answer = answer.map_err(|error| failed(&error))?;
        let (status, mut headers) = (answer.status(), answer.headers().clone());
        let asked = retry_after(&headers, SystemClock::start().now());
        if let StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE = status {
            *self.pause.lock().unwrap_or_else(PoisonError::into_inner) = asked;
        }
        shorten(&mut headers, asked);
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| failed(&error))? {
            if body.len() + chunk.len() > ANSWER_MAX {
                let why = "The authority's answer is too long.".to_owned();
                return Err(Error::Other(Box::new(NoAnswer(why))));
            }
            body.extend_from_slice(&chunk);
        }
        let mut response = Response::new(());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        let (parts, ()) = response.into_parts();
        Ok(BytesResponse {
            parts,
            body: Box::new(Bytes::from(body)),
        })
    }
}

impl HttpClient for Authority {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let authority = self.clone();
        Box::pin(async move { authority.answer(request).await })
    }
}

/// Replaces a `Retry-After` that the library could not add to the present time. `asked` is its
/// pause.
fn shorten(headers: &mut HeaderMap, asked: Option<Duration>) {
    if asked.is_some_and(|asked| asked > RETRY_AFTER_MAX) {
        let seconds = HeaderValue::from(RETRY_AFTER_MAX.as_secs());
        headers.insert(RETRY_AFTER, seconds);
    }
}

/// TLS that trusts the certificates in a PEM file.
fn trusting(file: &Path) -> Result<rustls::ClientConfig, String> {
    let shown = file.display();
    let unusable = |why: String| {
        format!("{shown} has no certificate to verify the authority with: {why}. Name a PEM file.")
    };
    let certificates = CertificateDer::pem_file_iter(file);
    let certificates = certificates.and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = certificates.map_err(|error| unusable(error.to_string()))?;
    let mut roots = rustls::RootCertStore::empty();
    for certificate in certificates {
        let added = roots.add(certificate);
        added.map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("it is empty".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(tls)
}

/// Why there is no complete answer: the innermost cause, without the URL.
fn failed(error: &reqwest::Error) -> Error {
    let mut causes_of = causes(error);
    let why = if error.is_timeout() {
        "The authority did not answer within 30 seconds.".to_owned()
    } else if let Some(why) = causes_of.find_map(|cause| certificate_fault(cause, "the authority"))
    {
        why
    } else {
        let mut reason: &dyn StdError = error;
        while let Some(cause) = reason.source() {
            reason = cause;
        }
        format!("The authority cannot be reached: {reason}.")
    };
    Error::Other(Box::new(NoAnswer(why)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::clock::Timestamp;

    #[test]
    fn the_library_sees_no_pause_that_it_cannot_add_to_the_time() {
        let now = Timestamp::from_millis(0);
        for (asked, seen) in [
            ("18446744073709551615", "3600"),
            ("31536000000", "3600"),
            ("Fri, 31 Dec 9999 23:59:59 GMT", "3600"),
            ("3600", "3600"),
            ("5", "5"),
            ("soon", "soon"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(asked));
            let pause = retry_after(&headers, now);
            shorten(&mut headers, pause);
            assert_eq!(headers[RETRY_AFTER], seen, "{asked}");
        }
        let mut none = HeaderMap::new();
        shorten(&mut none, None);
        assert!(none.is_empty());
    }
}
