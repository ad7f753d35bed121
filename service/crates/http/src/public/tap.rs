//! `GET /t/{slug}`: a tap.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::form;
use super::home::home;
use super::reached::{self, Visit};
use super::staff;
use crate::auth::origin::{Origin, user_agent, visitor};
use crate::error;
use crate::pages;
use crate::public::AsService;
use crate::state::AppState;
use app::prove_address;
use app::service::Service;
use app::tag_address;
use app::tap::{self, HeldKey, KeyCookie, Linked, Place, Tap, TapAnswer, TapError};
use domain::interaction::TapOrigin;
use domain::rolling_key::RollingKey;
use domain::settings::PlainPage;
use domain::visitor::Visitor;
use inlay::template;

/// Tap a tag
///
/// The target of an inlay's one-time URL, a QR code or a static URL. Tapdesk verifies the code and
/// records the interaction before it answers. The answer contains the rolling key as `rk`.
#[utoipa::path(
    get, path = "/t/{slug}", tag = "public",
    params(
        ("slug" = String, Path, description = "The tag"),
        ("uid" = Option<String>, Query, description = "The inlay's mirror: its UID in 14 hex digits, or its encrypted PICC data in 32"),
        ("token" = Option<String>, Query, description = "The inlay's counter and MAC: 22 hex digits, or 16 with encrypted PICC data")
    ),
    responses(
        (status = FOUND, description = "A redirect to the owner's page, with the rolling key"),
        (status = OK, body = String, content_type = "text/html", description = "A page: a studio experience, or a tag that is not set up yet"),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "No tag has this slug"),
        (status = GONE, body = String, content_type = "text/html", description = "The tag is archived"),
        (status = CONFLICT, body = String, content_type = "text/html", description = "The inlay's keys are locked"),
        (status = INSUFFICIENT_STORAGE, body = String, content_type = "text/html", description = "The disk is full, and the page needs a key"),
        (status = SERVICE_UNAVAILABLE, body = String, content_type = "text/html", description = "A prefetch, or the database is not available, or too many codes wait for keys that are slow to derive")
    )
)]
pub(crate) async fn tap(
    AsService(service): AsService,
    origin: Origin,
    request: Request,
) -> Response {
    let asked = requested(&request);
    if let Some(segment) = reached::segment(asked.path) {
        let visit = Visit {
            segment,
            query: asked.query.to_owned(),
            host: asked.host.to_owned(),
            method: request.method().clone(),
            client: origin.address,
            visitor: visitor(request.headers(), user_agent(request.headers())),
        };
        return Box::pin(reached::reached(&service, visit)).await;
    }
    let (path, query) = match asked.forgiven() {
        Some((path, query)) => (path, query.into_owned()),
        None => (asked.path, asked.query.to_owned()),
    };
    // A slug contains no characters that need escaping, so an escaped path is not a tag's.
    let place = Place::Slug {
        slug: slug_in(path).unwrap_or_default().to_owned(),
        path: asked.path.to_owned(),
    };
    at(&service, place, &query, origin, request).await
}

/// Handles a request of the routes of taps by slug.
pub(crate) async fn tap_by_slug(state: AppState, request: Request) -> Response {
    let origin = Origin::of(request.extensions(), request.headers(), &state);
    tap(AsService(Arc::clone(state.as_service())), origin, request).await
}

/// The slug in a tag's path, which a QR code may have in capitals.
fn slug_in(path: &str) -> Option<&str> {
    path.strip_prefix("/t/")
        .or_else(|| path.strip_prefix("/T/"))
}

/// The host, path and query of a request.
pub(super) fn requested(request: &Request) -> template::Request<'_> {
    let uri = request.uri();
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let host = uri.authority().map(Authority::as_str).or(host);
    template::Request {
        host: host.unwrap_or_default(),
        path: uri.path(),
        query: uri.query().unwrap_or_default(),
    }
}

/// Handles a request that matches no route. It is a tap if its address matches a URL template, or a
/// tag's address with a trailing slash, behind which an app may have put parameters. Else it may be
/// for the page at `/`.
pub(crate) async fn tap_by_template(own: AsService, origin: Origin, request: Request) -> Response {
    let AsService(service) = &own;
    let templates = match service.templates.current().await {
        Ok(templates) => templates,
        Err(error) => return error::refused_tap(TapError::from(error)),
    };
    let asked = requested(&request);
    let Some(place) = Place::at_template(templates.find(&asked), asked.path) else {
        let meant = asked.forgiven().map(|(path, _)| path);
        let tag = meant.and_then(slug_in);
        if tag.is_some_and(|slug| !slug.is_empty() && !slug.contains('/')) {
            return Box::pin(tap(own, origin, request)).await;
        }
        let visitor = visitor(request.headers(), user_agent(request.headers()));
        if asked.path == "/" && matches!(*request.method(), Method::GET | Method::HEAD) {
            return home(service, asked.host, &visitor);
        }
        return error::no_such_route(service, asked.path, &visitor);
    };
    let query = asked.query.to_owned();
    at(service, place, &query, origin, request).await
}

/// Handles a request at the address of a tag. `query` belongs to that address.
///
/// The router copies the future of each request, so those that few requests need are boxed here and
/// below.
async fn at(
    service: &Service,
    mut place: Place,
    query: &str,
    origin: Origin,
    request: Request,
) -> Response {
    if *request.method() == Method::POST && form::is_form(request.headers()) {
        return Box::pin(form::form(service, place, query, request)).await;
    }
    let headers = request.headers();
    let agent = user_agent(headers);
    let visitor = visitor(headers, agent);
    let answer = match *request.method() {
        Method::GET if is_prefetch(headers) => return not_now(),
        Method::GET if agent.previews_links => {
            return match Box::pin(tap::linked(service, &mut place)).await {
                Ok(Linked::Tag(tag)) => {
                    if !tag.simulated() {
                        service.count_preview();
                    }
                    pages::preview(&tag)
                }
                Ok(Linked::NoTag) => respond(service, TapAnswer::NoTag, &visitor),
                Ok(Linked::Nobody) => respond(service, TapAnswer::NoSuchTag, &visitor),
                Err(error) => error::refused_tap(error),
            };
        }
        Method::HEAD => Box::pin(tap::look(service, &mut place, &visitor)).await,
        Method::GET => {
            let host = requested(&request).host;
            // Most visitors send no cookie.
            let has_cookie = headers.contains_key(header::COOKIE);
            let is_staff = if has_cookie {
                match Box::pin(staff::is_tap_of_staff(service, headers, host)).await {
                    Ok(is_staff) => is_staff,
                    Err(error) => return error::refused_tap(TapError::from(error)),
                }
            } else {
                false
            };
            let cookie = (has_cookie && !is_staff)
                .then(|| held_key(headers, &place.cookie_names(query)))
                .flatten();
            let country = origin.country;
            let client = if is_staff {
                origin.client.of_staff()
            } else {
                origin.client
            };
            let sent = request.uri().path_and_query();
            let made_by = match sent {
                _ if is_staff => TapOrigin::Staff,
                Some(sent) => service.storage.take_expected(sent.as_str()),
                None => TapOrigin::Visitor,
            };
            let tapped = tap::tap(
                service,
                Tap {
                    place,
                    query,
                    origin: made_by,
                    cookie,
                    reload: is_reload(headers),
                    client,
                    country,
                    visitor: &visitor,
                },
            )
            .await;
            if tapped.as_ref().is_ok_and(|tapped| tapped.proves_address) {
                prove_address(service, host, origin.address).await;
            }
            tapped.map(|tapped| tapped.answer)
        }
        _ => return Box::pin(wrong_method(service, &mut place, request.method())).await,
    };
    match answer {
        Ok(answer) => respond(service, answer, &visitor),
        Err(error) => error::refused_tap(error),
    }
}

/// Records that the tag URL is proved: a real chip was verified through it.
async fn prove_address(service: &Service, host: &str, client: IpAddr) {
    let tag_url = &service.settings().tag_url;
    if service.tag_address.knows(&service.storage, tag_url)
        || !tag_address::visit_counts(tag_url, host, client)
    {
        return;
    }
    if let Err(error) = Box::pin(prove_address::proved_by_tap(service, tag_url)).await {
        tracing::debug!("a tap proves the address, which cannot be noted: {error}");
    }
}

/// A tap's answer over HTTP.
pub(crate) fn respond(service: &Service, answer: TapAnswer, visitor: &Visitor) -> Response {
    match answer {
        TapAnswer::NoSuchTag => {
            let (status, which) = (StatusCode::NOT_FOUND, PlainPage::NotFound);
            pages::owned(service, status, which, visitor, |words| {
                (&words.unknown_title, &words.unknown)
            })
        }
        TapAnswer::NoTag => {
            let (status, which) = (StatusCode::OK, PlainPage::NotSetUp);
            pages::owned(service, status, which, visitor, |words| {
                (&words.no_tag_title, &words.no_tag)
            })
        }
        TapAnswer::NotSetUp(tag) => {
            let (status, which) = (StatusCode::OK, Some(PlainPage::NotSetUp));
            pages::tag(service, status, &tag, visitor, which, |words| {
                &words.not_set_up
            })
        }
        TapAnswer::Archived(tag) => {
            let status = StatusCode::GONE;
            pages::tag(service, status, &tag, visitor, None, |words| {
                &words.archived
            })
        }
        TapAnswer::Recalled(tag) => {
            let (status, which) = (StatusCode::OK, Some(PlainPage::Recalled));
            pages::tag(service, status, &tag, visitor, which, |words| {
                &words.recalled
            })
        }
        TapAnswer::TryAgain(tag) => {
            let status = StatusCode::INSUFFICIENT_STORAGE;
            pages::tag(service, status, &tag, visitor, None, |words| {
                &words.try_again
            })
        }
        TapAnswer::Staff(id) => staff::taps::to_page(id, None),
        TapAnswer::Redirect { location, key, .. } => with_key(service, redirect(&location), key),
        TapAnswer::Page { html, nonce, key } => {
            with_key(service, pages::experience(html, &nonce), key)
        }
    }
}

pub(super) fn redirect(location: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(location) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::FOUND;
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, location);
    pages::keep_private(headers);
    response
}

fn with_key(service: &Service, mut response: Response, key: Option<HeldKey>) -> Response {
    if let Some(HeldKey {
        key,
        max_age,
        cookie: KeyCookie { name, path, secure },
    }) = key
    {
        // If the tag URL is https, the cookie must not be sent over http.
        let secure = secure.unwrap_or_else(|| service.settings().is_https());
        let secure = if secure { "; Secure" } else { "" };
        let cookie = format!(
            "{name}={}; Path={path}; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}",
            key.expose()
        );
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
    }
    response
}

fn held_key(headers: &HeaderMap, cookies: &[Cow<'static, str>]) -> Option<RollingKey> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| cookies.iter().any(|cookie| cookie == name))
        .and_then(|(_, value)| RollingKey::parse(value))
}

/// Whether the visitor reloads the page. Browsers then ask every cache on the way for a new copy.
fn is_reload(headers: &HeaderMap) -> bool {
    let says = |name, marks: &[&str]| {
        let values = headers.get_all(name).iter();
        let directives = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        directives.map(str::trim).any(|directive| {
            marks
                .iter()
                .any(|mark| directive.eq_ignore_ascii_case(mark))
        })
    };
    says(header::CACHE_CONTROL, &["max-age=0", "no-cache"]) || says(header::PRAGMA, &["no-cache"])
}

/// Whether the browser only prefetches the page. Such a request must not use up a one-time URL.
fn is_prefetch(headers: &HeaderMap) -> bool {
    // One pass, because four searches take longer, and every tap is asked.
    headers.iter().any(|(name, value)| {
        let marks: &[&str] = match name.as_str() {
            "sec-purpose" | "purpose" | "x-purpose" => &["prefetch", "prerender", "preview"],
            "x-moz" => &["prefetch"],
            _ => return false,
        };
        let value = value.to_str().map(str::to_ascii_lowercase);
        value.is_ok_and(|value| marks.iter().any(|mark| value.contains(mark)))
    })
}

fn not_now() -> Response {
    let mut response = StatusCode::SERVICE_UNAVAILABLE.into_response();
    pages::keep_private(response.headers_mut());
    response
}

/// The answer for a method that the tag does not support, or for a POST that is not a form.
async fn wrong_method(service: &Service, place: &mut Place, method: &Method) -> Response {
    match tap::takes_forms(service, place).await {
        Ok(true) if *method == Method::POST => pages::message(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Not like this",
            "This page takes what a form of its own sends (application/x-www-form-urlencoded).",
        ),
        Ok(true) => not_allowed("GET, HEAD, POST"),
        Ok(false) => not_allowed("GET, HEAD"),
        Err(error) => error::refused_tap(error),
    }
}

/// The answer for a method that is not `allowed`.
pub(super) fn not_allowed(allowed: &'static str) -> Response {
    let mut response = pages::message(
        StatusCode::METHOD_NOT_ALLOWED,
        "Not like this",
        "A tag's address is opened, nothing else.",
    );
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefetch_is_known_by_each_of_its_headers_in_any_place_and_by_no_other() {
        for (name, values, prefetches) in [
            ("sec-purpose", &["prefetch"][..], true),
            ("sec-purpose", &["prefetch;Prerender"][..], true),
            ("purpose", &["Preview"][..], true),
            ("x-purpose", &["none", "preview"][..], true),
            ("x-moz", &["prefetch"][..], true),
            ("x-moz", &["preview"][..], false),
            ("sec-purpose", &["none"][..], false),
            ("accept", &["prefetch"][..], false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("tags.example"));
            for value in values {
                headers.append(name, HeaderValue::from_str(value).unwrap());
            }
            assert_eq!(is_prefetch(&headers), prefetches, "{name}: {values:?}");
        }
        assert!(!is_prefetch(&HeaderMap::new()));
    }
}
