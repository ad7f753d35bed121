//! The listener without TLS beside one with TLS: it answers the challenges of certificate
//! authorities, and leads everything else to https.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;

use super::AsService;
use crate::error::{no_such_method, nothing_here, refused_tap};
use crate::state::AppState;
use app::tap::TapError;

/// Browsers open the host by https only, for a year: chips carry its address for longer. Its
/// subdomains may be other servers, so they are not in it.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");
/// Longest token of a challenge, in bytes. Authorities use 43.
const TOKEN_MAX: usize = 128;

/// A router for the listener without TLS. `domains` are those that are served over TLS, in lower
/// case.
pub fn plain_router(state: AppState, domains: &[String]) -> Router {
    let domains: Arc<[String]> = domains.into();
    Router::new()
        .route("/.well-known/acme-challenge/{token}", get(challenge))
        .fallback(move |request: Request| lead(Arc::clone(&domains), request))
        .method_not_allowed_fallback(no_such_method)
        .with_state(state)
}

/// `router` for a listener with TLS: browsers that were here come back by https only.
pub fn with_hsts(router: Router) -> Router {
    router.layer(map_response(add_hsts))
}

async fn add_hsts(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    answer
}

/// The answer to a challenge (RFC 8555, section 8.3), which any node may have begun.
async fn challenge(
    AsService(service): AsService,
    token: Result<Path<String>, PathRejection>,
) -> Response {
    let Some(token) = token
        .ok()
        .map(|Path(token)| token)
        .filter(|token| is_token(token))
    else {
        return nothing_here();
    };
    match service.storage.challenge_answer(token).await {
        Ok(Some(answer)) => {
            let plain = [
                (header::CONTENT_TYPE, "application/octet-stream"),
                (header::CACHE_CONTROL, "no-store"),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (plain, answer).into_response()
        }
        Ok(None) => nothing_here(),
        Err(error) => refused_tap(TapError::from(error)),
    }
}

/// Whether it may be a token: Base64 for URLs.
fn is_token(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    text.len() <= TOKEN_MAX && text.bytes().all(is_digit)
}

/// Leads a request to https, at the usual port. One with a body was already sent in clear, so it is
/// refused: its sender learns of it.
async fn lead(domains: Arc<[String]>, request: Request) -> Response {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return no_such_method(request).await;
    }
    let Some(host) = host(&request).filter(|host| domains.contains(host)) else {
        return nothing_here();
    };
    let path = request.uri().path_and_query();
    let path = path.map_or("/", |path| path.as_str());
    // `GET *` has no path. Behind the host, it would be a part of another name.
    if !path.starts_with(['/', '?']) {
        return nothing_here();
    }
    Redirect::permanent(&format!("https://{host}{path}")).into_response()
}

/// The host that the request is addressed to, in lower case and without a port.
fn host(request: &Request) -> Option<String> {
    let named = request.headers().get(header::HOST);
    let named = named.and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let authority = request.uri().authority().cloned().or(named)?;
    Some(authority.host().trim_end_matches('.').to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::StatusCode;

    use super::*;

    /// Where a request is led to; `None` if it is refused.
    async fn led(target: &str, host: &str) -> Option<String> {
        let request = Request::builder()
            .uri(target)
            .header(header::HOST, host)
            .body(Body::empty())
            .unwrap();
        let domains = ["tags.example.com".to_owned()];
        let answer = lead(Arc::new(domains), request).await;
        let to = answer.headers().get(header::LOCATION)?;
        assert_eq!(answer.status(), StatusCode::PERMANENT_REDIRECT);
        Some(to.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn a_request_is_led_to_no_host_but_ours() {
        let ours = "tags.example.com";
        for (target, host, to) in [
            ("/t/a?b=c", ours, "https://tags.example.com/t/a?b=c"),
            (
                "//evil.example/",
                ours,
                "https://tags.example.com//evil.example/",
            ),
            (
                "/@evil.example",
                ours,
                "https://tags.example.com/@evil.example",
            ),
            (
                "http://tags.example.com",
                "evil.example",
                "https://tags.example.com/",
            ),
            (
                "http://a@TAGS.example.com./x",
                "",
                "https://tags.example.com/x",
            ),
        ] {
            assert_eq!(led(target, host).await.as_deref(), Some(to), "{target}");
        }
        for (target, host) in [
            ("*", ours),
            ("/", "tags.example.com@evil.example"),
            ("/", "tags.example.com.evil.example"),
            ("/", "eviltags.example.com"),
            ("/", "tags.example.com/x"),
            ("/", ""),
            ("http://evil.example/", ours),
            ("http://tags.example.com@evil.example/", ours),
        ] {
            assert_eq!(led(target, host).await, None, "{target} {host}");
        }
    }
}
