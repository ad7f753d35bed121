//! `GET /t/!..`: a test URL for the address that chips contain. The service opens one test URL
//! itself through that address, and a phone opens another.

use std::net::IpAddr;

use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::error::{nothing_here, refused_tap};
use crate::pages;
use app::prove_address;
use app::service::Service;
use app::tag_address::{self, Probe};
use app::tap::TapError;
use domain::visitor::Visitor;
use storage::StorageError;

/// The segment of a test URL; `None` for any other path. Programs may escape its first character.
pub(super) fn segment(path: &str) -> Option<String> {
    let segment = path.strip_prefix("/t/")?;
    let rest = segment
        .strip_prefix('!')
        .or_else(|| segment.strip_prefix("%21"))?;
    Some(format!("!{rest}"))
}

/// A request for a test URL.
pub(super) struct Visit {
    /// The path segment of the test URL.
    pub(super) segment: String,
    /// The query of the URL.
    pub(super) query: String,
    /// The host that the request is addressed to.
    pub(super) host: String,
    /// The HTTP method. HEAD proves nothing.
    pub(super) method: Method,
    /// The IP address of the client.
    pub(super) client: IpAddr,
    /// The visitor, as the browser's headers describe them.
    pub(super) visitor: Visitor,
}

/// The answer to a request for a test URL. HEAD proves nothing.
pub(super) async fn reached(service: &Service, visit: Visit) -> Response {
    match read(service, visit).await {
        Ok(answer) => answer,
        Err(error) => refused_tap(TapError::from(error)),
    }
}

async fn read(service: &Service, visit: Visit) -> Result<Response, StorageError> {
    if visit.method != Method::GET {
        return Ok(nothing_here());
    }
    let now = service.storage.now().await?;
    let probes = &service.tag_address.probes;
    let tag_url = match probes.read(&visit.segment, &visit.query, now) {
        None => return Ok(nothing_here()),
        Some(Probe::Check(answer)) => {
            let plain = [
                (header::CONTENT_TYPE, "text/plain"),
                (header::CACHE_CONTROL, "no-store"),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            return Ok((plain, answer).into_response());
        }
        Some(Probe::Phone(tag_url)) => tag_url,
    };
    if !tag_address::visit_counts(&tag_url, &visit.host, visit.client) {
        let why = "This visit came by another host name, or from the computer of the service itself: it does not \
            prove the address. Open it on a phone. A proxy in between has to be a trusted one, and to pass the Host header on.";
        return Ok(pages::message(StatusCode::OK, "Tapdesk was reached", why));
    }
    prove_address::proved_by_phone(service, &tag_url).await?;
    Ok(pages::reached(&visit.visitor))
}
