//! The HTTP interface of the Tapdesk service. [`router`] lists every public route.
//!
//! | Modules | Subject |
//! |---|---|
//! | `public` | taps, the two operations of a rolling key, forms, images, staff phones, the page kit, apps of a host, health; the way to https |
//! | `admin` | the admin API, by resource; `routes` declares the scope of each route |
//! | `auth` | the caller of a request: its address, and whether it may call the route |
//! | `admins` | the valid admin tokens, and their rights |
//! | `clients` | an identity made from an address, which does not reveal it |
//! | `countries` | the country of an address |
//! | `rate_limiter` | the limit of refused calls per client |
//! | `reserved` | paths that no URL template may match |
//! | `error` | the only mapping from errors to statuses and codes |
//! | `envelope` | the answers of the two operations of a rolling key |
//! | `document`, `schema` | the OpenAPI document, and schemas of bodies that have no type |
//! | `serve`, `state` | a router on a listener, and the state that only HTTP needs |
//! | `taps` | the routes of taps by slug, which wrap their requests by themselves |

mod admin;
mod admins;
mod auth;
mod body;
mod clients;
mod countries;
mod document;
mod envelope;
mod error;
mod pages;
mod picture;
mod public;
mod rate_limiter;
mod reserved;
mod schema;
mod serve;
mod state;
mod taps;
mod traceparent;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{any, any_service, get};
use futures_util::FutureExt as _;
use tracing::Instrument as _;

pub use admin::openapi;
pub use countries::Countries;
pub use public::{plain_router, with_hsts};
pub use serve::{Arrival, Limits, listen, serve, serve_tls};
pub use state::AppState;

use auth::access::{self, Audience};
use auth::origin::client_address;
use auth::tied;
use domain::clock::{Stopwatch, Timestamp};
use taps::Taps;

/// Selects the routes that a router serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Only the public routes: taps, rolling keys and health.
    PublicOnly,
    /// Also the admin API. It requires a token and one of the service's host names.
    WithAdmin,
}

/// The service as a router, for a listener or for calls in-process.
///
/// A route that `auth/access.rs` does not list as open requires a token.
pub fn router(state: AppState, exposure: Exposure) -> Router {
    let routes = match exposure {
        Exposure::PublicOnly => with_fallbacks(public_routes()),
        Exposure::WithAdmin => ALL_ROUTES.clone(),
    };
    let taps = any_service(Taps::new(state.clone(), exposure));
    routes
        .layer(middleware::from_fn_with_state(
            (state.clone(), exposure),
            pass,
        ))
        .route("/t/{slug}", taps.clone())
        // A QR code in capitals is smaller.
        .route("/T/{slug}", taps)
        .with_state(state)
}

/// The routes for monitors. They have time limits, so they do not wait for settings.
const PROBES: [&str; 2] = ["/health", "/ready"];

/// The routes of a listener with the admin API. They have no state yet, so all routers of this process
/// share them, with the parts of descriptions that requests need.
static ALL_ROUTES: LazyLock<Router<AppState>> =
    LazyLock::new(|| with_fallbacks(public_routes().merge(admin::router())));

fn with_fallbacks(routes: Router<AppState>) -> Router<AppState> {
    routes
        .fallback(public::tap_by_template)
        .method_not_allowed_fallback(error::no_such_method)
}

fn public_routes() -> Router<AppState> {
    Router::new()
        .route("/v2/interactions/rk_payload", any(public::payload))
        .route("/v2/interactions/data", any(public::data))
        .route("/media/{name}", get(public::media))
        .route("/stand-in", get(public::stand_in))
        .route(
            "/staff/pair/{code}",
            get(public::staff::pair::ask).post(public::staff::pair::pair),
        )
        .route(
            "/staff/taps/{id}",
            get(public::staff::taps::page).post(public::staff::taps::act),
        )
        .route("/staff/taps/{id}/photo", get(public::staff::taps::photo))
        .route("/staff/scan.js", get(public::staff::scan::script))
        .route("/kit/1/tapdesk.js", get(public::kit_script))
        .route("/kit/1", get(public::kit_page))
        // As the script's address reads without its name.
        .route("/kit/1/", get(public::kit_page))
        .route(
            "/.well-known/apple-app-site-association",
            get(public::app_links::ios),
        )
        .route(
            "/.well-known/assetlinks.json",
            get(public::app_links::android),
        )
        .route("/health", get(public::health))
        .route("/ready", get(public::ready))
}

/// Wraps the requests of all routes below the layer.
async fn pass(
    State((state, exposure)): State<(AppState, Exposure)>,
    request: Request,
    next: Next,
) -> Response {
    passed(&state, exposure, request, |request| next.run(request)).await
}

/// Wraps a request: checks access, and applies the rules that hold for every answer. `handle` makes
/// the answer of its route.
async fn passed<F: Future<Output = Response>>(
    state: &AppState,
    exposure: Exposure,
    request: Request,
    handle: impl FnOnce(Request) -> F,
) -> Response {
    let stopwatch = Stopwatch::start();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    // Count and log the matched path, because the URI may contain a key.
    let path = route.as_ref().map_or("", MatchedPath::as_str);
    let span = traceparent::span(request.headers(), &method, path);
    // Pinned here: each move would copy the whole future, for every request.
    let answer = pin!(async {
        let answer = answer(state, exposure, route.as_ref(), request, handle).await;
        let status = answer.status().as_u16();
        let time = stopwatch.elapsed();
        state
            .as_service()
            .metrics
            .request(path, method.as_str(), status, time);
        tracing::debug!(status, "answered");
        traceparent::answered(status);
        answer
    });
    answer.instrument(span).await
}

async fn answer<F: Future<Output = Response>>(
    state: &AppState,
    exposure: Exposure,
    route: Option<&MatchedPath>,
    request: Request,
    handle: impl FnOnce(Request) -> F,
) -> Response {
    let audience = Audience::of(route.map(MatchedPath::as_str));
    if !route.is_some_and(|route| PROBES.contains(&route.as_str())) {
        // Settings decide who has access, and pages show them.
        state.as_service().follow_settings().await;
    }
    let client = client_address(&request, state);
    let answered = pin!(async {
        let answer = match access::admit(state, exposure, audience, request).await {
            Ok((request, None)) => handle(request).await,
            Ok((mut request, Some(grant))) => {
                let extensions = request.extensions_mut();
                let service = state.as_service();
                extensions.insert(admin::Requester::new(service, grant.clone(), client));
                // Boxed, so that the futures of public calls stay small.
                Box::pin(tied::answered(state, grant, handle(request))).await
            }
            Err(refused) => refused,
        };
        let limit = || state.as_service().settings().rate_limit;
        let limits = &state.edge.rate_limits;
        let mut answer = rate_limiter::limited(limits, limit, client, answer);
        if audience != Audience::Public {
            // Clients compare times with this one, not with their own clock, which may be wrong.
            let now = http_date(state.as_service().clock.now());
            answer.headers_mut().insert(header::DATE, now);
        }
        answer
    });
    let mut answer = contained(state, route, answered).await;
    error::say_when_to_try_again(&mut answer);
    if audience != Audience::Public {
        let headers = answer.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    answer
}

/// Formats a time as an HTTP date: RFC 9110, section 5.6.7.
fn http_date(at: Timestamp) -> HeaderValue {
    let since_epoch = Duration::from_secs(at.unix_seconds().unsigned_abs());
    let date = httpdate::fmt_http_date(UNIX_EPOCH + since_epoch);
    HeaderValue::try_from(date).expect("an HTTP date is ASCII")
}

/// Runs a handler. If it panics, answers with an error instead, so that the connection stays
/// usable.
async fn contained(
    state: &AppState,
    route: Option<&MatchedPath>,
    answer: impl Future<Output = Response>,
) -> Response {
    let route = route.map_or("", MatchedPath::as_str);
    let answer = AssertUnwindSafe(answer).catch_unwind().await;
    answer.unwrap_or_else(|_| {
        tracing::error!(route, "the handler panicked");
        state.as_service().metrics.request_panic();
        error::panicked(route)
    })
}
