//! Who may call a route. One list names the routes that need no token. Every other route needs one,
//! however it is added to the router.

use axum::extract::Request;
use axum::http::Version;
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::uri::Authority;
use axum::response::{IntoResponse as _, Response};
use url::Host;

use super::origin::{user_agent, visitor};
use crate::Exposure;
use crate::admins::Grant;
use crate::error::{self, ApiError};
use crate::rate_limiter::{Operation, refused};
use crate::state::AppState;
use domain::admin_token::TokenHash;
use domain::settings::host;

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Everybody, by any host name.
    Public,
    /// Callers that address one of the service's host names. A page that rebinds its own name to a
    /// loopback address is no such caller.
    Readers,
    /// [`Self::Readers`] that have an admin token.
    Administrators,
}

impl Audience {
    /// The audience of `route`. `None` matches no route, so everybody may get the answer that it
    /// does not exist.
    pub(crate) fn of(route: Option<&str>) -> Self {
        match route {
            None
            | Some(
                "/t/{slug}"
                | "/T/{slug}"
                | "/v2/interactions/rk_payload"
                | "/v2/interactions/data"
                | "/media/{name}"
                | "/stand-in"
                | "/staff/pair/{code}"
                | "/staff/taps/{id}"
                | "/staff/taps/{id}/photo"
                | "/staff/scan.js"
                | "/kit/1/tapdesk.js"
                | "/kit/1"
                | "/kit/1/"
                | "/.well-known/apple-app-site-association"
                | "/.well-known/assetlinks.json"
                | "/health"
                | "/ready",
            ) => Self::Public,
            // The API reference and the documents hold no data, and browsers open them without a
            // token.
            Some("/openapi.json" | "/docs" | "/docs/" | "/docs/{*path}" | "/llms.txt") => {
                Self::Readers
            }
            Some(_) => Self::Administrators,
        }
    }
}

/// Lets a request pass if it is well addressed and may call its route. Also returns the grant of
/// its token, if the route needs one.
pub(crate) async fn admit(
    state: &AppState,
    exposure: Exposure,
    audience: Audience,
    request: Request,
) -> Result<(Request, Option<Grant>), Response> {
    let path = request.uri().path();
    let host = match addressed(&request) {
        Ok(host) => host,
        Err(error) if audience == Audience::Public => return Err(error::by_part(path, &error)),
        Err(error) => return Err(error.into_response()),
    };
    if audience == Audience::Public {
        return Ok((request, None));
    }
    if exposure == Exposure::PublicOnly {
        let visitor = visitor(request.headers(), user_agent(request.headers()));
        return Err(error::no_such_route(state.as_service(), path, &visitor));
    }
    let host = host.and_then(host::of_authority);
    if !host.as_ref().is_some_and(|host| is_ours(state, host)) {
        return Err(ApiError::Misdirected.into_response());
    }
    // A host may have become one of the service's names after a template began to use it.
    let templates = state.as_service().templates.current().await;
    let taps_alone = |host: &Host| {
        let named = host.to_string();
        templates.is_ok_and(|templates| templates.answer_at(&named))
    };
    if host.as_ref().is_some_and(taps_alone) {
        return Err(ApiError::Misdirected.into_response());
    }
    if audience == Audience::Readers {
        return Ok((request, None));
    }
    let token = TokenHash::of(bearer(&request).unwrap_or_default());
    let (storage, now) = (&state.as_service().storage, state.as_service().clock.now());
    let admins = &state.edge.admins;
    // Boxed, because the futures of public calls contain this one, too.
    match Box::pin(admins.accept(token, request.headers(), now, storage)).await {
        Ok(Some(grant)) => Ok((request, Some(grant))),
        Ok(None) => Err(refused(
            Operation::Admin,
            ApiError::Unauthorized.into_response(),
        )),
        Err(error) => Err(ApiError::from(error).into_response()),
    }
}

/// The host that a request is addressed to. The authority of the request target takes precedence.
/// HTTP/1.1 requires exactly one `Host` (RFC 9112, section 3.2).
fn addressed(request: &Request) -> Result<Option<&str>, ApiError> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err(ApiError::BadlyAddressed);
    }
    if host.is_none() && request.version() == Version::HTTP_11 {
        return Err(ApiError::BadlyAddressed);
    }
    let authority = request.uri().authority().map(Authority::as_str);
    Ok(authority.or_else(|| host.and_then(|host| host.to_str().ok())))
}

fn bearer(request: &Request) -> Option<&str> {
    let value = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether requests for the admin API may use this host.
pub(crate) fn is_ours(state: &AppState, host: &Host) -> bool {
    if host::is_loopback(host)
        || host::address(host).is_some_and(|address| state.listens_on(address))
    {
        return true;
    }
    let settings = state.shared().settings();
    host::of_url(&settings.tag_url).as_ref() == Some(host)
        || settings.hosts.contains(&host.to_string())
}
