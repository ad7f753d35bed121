//! Who may call the admin API: a token, and a `Host` of ours. The second keeps
//! a page that rebinds its own name to a loopback address away.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::http::error::ApiError;
use crate::http::origin::Address;
use crate::refusals::Operation;
use crate::service::Service;

/// Lets a request with a valid token pass.
pub(super) async fn require_token(
    State(service): State<Arc<Service>>,
    Address(address): Address,
    request: Request,
    next: Next,
) -> Response {
    let presented = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let presented = presented
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let accepted = match presented {
        Some((_, token)) => service.admins.accept(token.trim(), &*service.storage).await,
        None => Ok(false),
    };
    match accepted {
        Ok(true) => next.run(request).await,
        Ok(false) => match service.refused(Operation::Admin, address) {
            Some(seconds) => ApiError::TooMany(seconds).into_response(),
            None => ApiError::Unauthorized.into_response(),
        },
        Err(error) => ApiError::from(error).into_response(),
    }
}

/// Lets a request by a name of ours pass.
pub(super) async fn require_host(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let authority = request.uri().authority().map(Authority::as_str);
    let host = authority.or_else(|| {
        request
            .headers()
            .get(HOST)
            .and_then(|value| value.to_str().ok())
    });
    if host.is_some_and(|host| is_ours(&service, name_of(host))) {
        next.run(request).await
    } else {
        ApiError::Misdirected.into_response()
    }
}

/// A host without its port and brackets.
fn name_of(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

fn is_ours(service: &Service, name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return true;
    }
    if let Ok(address) = name.parse::<IpAddr>()
        && (address.is_loopback() || service.listens_on(address))
    {
        return true;
    }
    let settings = service.settings();
    let tag_url_host = url::Url::parse(&settings.tag_url).ok();
    let tag_url_host = tag_url_host.as_ref().and_then(url::Url::host_str);
    tag_url_host == Some(name.as_str()) || settings.hosts.contains(&name)
}

/// `GET /metrics`, for Prometheus.
pub(super) async fn metrics(State(service): State<Arc<Service>>) -> impl IntoResponse {
    const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([("content-type", TYPE)], service.metrics.render())
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_host_is_known_without_its_port() {
        for (host, name) in [
            ("localhost:8787", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]:8787", "::1"),
            ("[::1]", "::1"),
            ("evil.example:80", "evil.example"),
        ] {
            assert_eq!(name_of(host), name);
        }
    }
}
