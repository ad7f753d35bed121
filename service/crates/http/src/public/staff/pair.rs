//! `/staff/pair/{code}`: a phone becomes a staff phone.
//!
//! Opening the address only shows a button, so that a link preview uses up nothing. The button pairs
//! the phone at this host. A service may have several tag hosts, and a cookie is of one host: the
//! page then has a link to each other host, with a new code that is good for one of them.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request};
use axum::http::{StatusCode, header};
use axum::response::Response;

use super::{cookie, foreign_form, is_of_this_host, on_behalf};
use crate::auth::origin::Origin;
use crate::error::refused_tap;
use crate::pages;
use crate::public::AsService;
use crate::public::tap::requested;
use app::service::Service;
use app::staff::{self, PairPage, TagHost};
use app::tap::TapError;
use domain::admin_token::TokenHash;
use domain::phone::{PairedPhone, Pairing, PhoneSecret, PhoneState};
use inlay::template::host_name;

/// Open a pair URL
///
/// Shows a button that pairs the phone. Opening the URL changes nothing.
#[utoipa::path(
    get, path = "/staff/pair/{code}", tag = "public",
    params(("code" = String, Path, description = "The code of the pair URL")),
    responses(
        (status = OK, body = String, content_type = "text/html", description = "The page with the button"),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "There is nothing for this phone: the code was used or has expired, the cookie is not that of a staff phone, or no such tap exists")
    )
)]
pub(crate) async fn ask(
    AsService(service): AsService,
    code: Result<Path<String>, PathRejection>,
) -> Response {
    asked(&service, code).await.unwrap_or_else(refused_tap)
}

/// Pair a staff phone
///
/// Uses the code up, and sets the phone's cookie for this host.
#[utoipa::path(
    post, path = "/staff/pair/{code}", tag = "public",
    params(("code" = String, Path, description = "The code of the pair URL")),
    responses(
        (status = OK, body = String, content_type = "text/html", description = "The phone is paired"),
        (status = FORBIDDEN, body = String, content_type = "text/html", description = "The request is not of the page's own button"),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "There is nothing for this phone: the code was used or has expired, the cookie is not that of a staff phone, or no such tap exists")
    )
)]
pub(crate) async fn pair(
    AsService(service): AsService,
    origin: Origin,
    code: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let host = requested(&request).host.to_owned();
    let is_own = is_of_this_host(request.headers(), &host);
    let paired = async {
        let Some((code, phone)) = to_pair(&service, code).await? else {
            return over(&service);
        };
        if !is_own {
            return Ok(foreign_form());
        }
        pair_at(&service, origin.address, (code, phone), &host).await
    };
    // Boxed, because the future of the change is large.
    Box::pin(paired).await.unwrap_or_else(refused_tap)
}

async fn asked(
    service: &Service,
    code: Result<Path<String>, PathRejection>,
) -> Result<Response, TapError> {
    let Some((_, found)) = to_pair(service, code).await? else {
        return over(service);
    };
    let text = format!(
        "Your taps with this phone then show the staff page of \u{201c}{}\u{201d}, and count as no visits.",
        found.phone.name
    );
    let page = PairPage {
        title: "Use this phone for staff",
        text: &text,
        good: false,
        button: Some("Pair this phone"),
        links: &[],
    };
    answer(service, StatusCode::OK, &page)
}

/// The phone of a code, with the code's hash. `None` if the code cannot be used.
async fn to_pair(
    service: &Service,
    code: Result<Path<String>, PathRejection>,
) -> Result<Option<(TokenHash, PairedPhone)>, TapError> {
    let code = code.ok().and_then(|Path(code)| PhoneSecret::parse(&code));
    let Some(code) = code.map(|code| code.hash()) else {
        return Ok(None);
    };
    let Some((paired, until)) = service.storage.phone_to_pair(code).await? else {
        return Ok(None);
    };
    let now = service.storage.now().await?;
    let is_over = now >= until || paired.phone.state(now) == PhoneState::Expired;
    Ok((!is_over).then_some((code, paired)))
}

async fn pair_at(
    service: &Service,
    address: IpAddr,
    (code, found): (TokenHash, PairedPhone),
    host: &str,
) -> Result<Response, TapError> {
    let is_https = staff::is_https_at(service, host).await?;
    let name = host_name(host);
    let others = others(service, &found, &name).await?;
    let secret = PhoneSecret::generate(&*service.entropy);
    let next = (!others.is_empty()).then(|| PhoneSecret::generate(&*service.entropy));
    let pairing = Pairing {
        id: found.phone.id,
        code,
        host: name,
        secret: secret.hash(),
        next: next.as_ref().map(PhoneSecret::hash),
    };
    let object = format!("phones/{}", found.phone.id);
    let theirs: Arc<Service> = on_behalf(service, &found.phone, address, ("phones.pair", object));
    let Some(paired) = theirs.storage.pair_phone(pairing).await? else {
        return over(service);
    };
    let links = next.map_or_else(Vec::new, |next| links(&others, &next));
    let text = if links.is_empty() {
        "Tap a tag: its staff page opens. The desk can end this at any time."
    } else {
        "Tap a tag of this address: its staff page opens. Tags at other addresses need one more step each."
    };
    let page = PairPage {
        title: "This phone is paired",
        text,
        good: true,
        button: None,
        links: &links,
    };
    let mut response = answer(service, StatusCode::OK, &page)?;
    let (end, now) = (paired.phone.expires_at, service.storage.now().await?);
    if let Some(cookie) = cookie::header_of(&secret, is_https, end, now) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// The tag hosts at which the phone is not paired, besides `name`.
async fn others(
    service: &Service,
    found: &PairedPhone,
    name: &str,
) -> Result<Vec<TagHost>, TapError> {
    let mut hosts = staff::tag_hosts(service).await?;
    hosts.retain(|host| host.name != name && !found.cookies.has(&host.name));
    Ok(hosts)
}

/// A link to each of these hosts. They have one code, so the first that is used leaves the others to
/// the page that then opens.
fn links(hosts: &[TagHost], code: &PhoneSecret) -> Vec<(String, String)> {
    let link = |host: &TagHost| {
        let label = format!("Continue at {}", host.name);
        (
            label,
            format!("{}/staff/pair/{}", host.origin, code.expose()),
        )
    };
    hosts.iter().map(link).collect()
}

/// The page for a code that cannot be used.
fn over(service: &Service) -> Result<Response, TapError> {
    let page = PairPage {
        title: "This link is over",
        text: "It was used, or is older than ten minutes. Let the desk show a new one.",
        good: false,
        button: None,
        links: &[],
    };
    answer(service, StatusCode::NOT_FOUND, &page)
}

fn answer(
    service: &Service,
    status: StatusCode,
    page: &PairPage<'_>,
) -> Result<Response, TapError> {
    let nonce = pages::nonce(&*service.entropy);
    let html = staff::pair_page(page, &nonce)?;
    Ok(pages::staff(status, html, &nonce))
}
