//! `/staff/pair/{code}`: a phone becomes a staff phone.
//!
//! Opening the address only shows a button, so that a link preview uses up nothing. The button pairs
//! the phone at this host. A service may have several tag hosts, and a cookie is of one host: the
//! page then has a link to each other host, with a new code that is good for one of them. Who presses
//! twice is paired once, and has the same answer twice.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;

use super::{cookie, foreign_form, is_of_this_host, language, on_behalf};
use crate::auth::origin::Origin;
use crate::body;
use crate::error::refused_tap;
use crate::pages;
use crate::public::form::unreadable;
use crate::public::tap::requested;
use crate::public::{AsService, BODY_MAX, BODY_TIME};
use crate::rate_limiter::{Operation, refused};
use app::service::Service;
use app::staff::{self, PairPage, Press, TagHost};
use app::tap::TapError;
use domain::phone::{PairedPhone, Pairing, PhoneSecret, PhoneState};
use inlay::template::host_name;

/// Open a pair URL
///
/// Shows a button that pairs the phone. Opening the URL changes nothing.
#[utoipa::path(
    get, path = "/staff/pair/{code}", tag = "public",
    params(("code" = String, Path, description = "The code of the pair URL")),
    responses(
        (status = OK, body = String, content_type = "text/html", description = "The page with the button, or the message that this phone is paired already"),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "The code was used, has expired, or never existed")
    )
)]
pub(crate) async fn ask(
    AsService(service): AsService,
    origin: Origin,
    code: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let (sent, _) = Sent::of(code, &origin, request);
    asked(&service, &sent).await.unwrap_or_else(refused_tap)
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
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "The code was used, has expired, or never existed")
    )
)]
pub(crate) async fn pair(
    AsService(service): AsService,
    origin: Origin,
    code: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let (sent, body) = Sent::of(code, &origin, request);
    // Boxed, because the future of the change is large.
    let pressed = Box::pin(pressed(&service, &sent, body));
    pressed.await.unwrap_or_else(refused_tap)
}

/// A request for a pair URL.
struct Sent {
    /// `None` if no code has its form.
    code: Option<PhoneSecret>,
    host: String,
    address: IpAddr,
    headers: HeaderMap,
}

impl Sent {
    fn of(
        code: Result<Path<String>, PathRejection>,
        origin: &Origin,
        request: Request,
    ) -> (Self, Body) {
        let host = requested(&request).host.to_owned();
        let (parts, body) = request.into_parts();
        let sent = Self {
            code: code.ok().and_then(|Path(code)| PhoneSecret::parse(&code)),
            host,
            address: origin.address,
            headers: parts.headers,
        };
        (sent, body)
    }
}

async fn asked(service: &Service, sent: &Sent) -> Result<Response, TapError> {
    let Some((_, found)) = to_pair(service, sent).await? else {
        return over(service, sent).await;
    };
    let of_page = PhoneSecret::generate(&*service.entropy);
    let page = PairPage::Ask {
        name: &found.phone.name,
        page: of_page.expose(),
    };
    answer(service, StatusCode::OK, page, &sent.headers)
}

/// The phone of the code, with the code. `None` if the code cannot be used.
async fn to_pair<'a>(
    service: &Service,
    sent: &'a Sent,
) -> Result<Option<(&'a PhoneSecret, PairedPhone)>, TapError> {
    let Some(code) = &sent.code else {
        return Ok(None);
    };
    let Some((paired, until)) = service.storage.phone_to_pair(code.hash()).await? else {
        return Ok(None);
    };
    let now = service.storage.now().await?;
    let is_over = now >= until || paired.phone.state(now) == PhoneState::Expired;
    Ok((!is_over).then_some((code, paired)))
}

async fn pressed(service: &Service, sent: &Sent, body: Body) -> Result<Response, TapError> {
    let found = to_pair(service, sent).await?;
    if !is_of_this_host(&sent.headers, &sent.host) {
        return match found {
            Some(_) => foreign_form(service, &sent.headers),
            None => over(service, sent).await,
        };
    }
    let Some(code) = &sent.code else {
        return over(service, sent).await;
    };
    let body = match body::read(body, BODY_MAX, BODY_TIME).await {
        Ok(body) => body,
        Err(error) => return Ok(refused(Operation::Update, unreadable(error))),
    };
    let press = Press::of(service, code, &page_of(service, &body));
    let paired = match found {
        Some((code, found)) => pair_at(service, sent, (code, found), &press).await?,
        None => None,
    };
    let paired = match paired {
        Some(paired) => Some(paired),
        // The code was used meanwhile, perhaps by this press.
        None => press.phone(service).await?,
    };
    match paired {
        Some(paired) => answer_paired(service, sent, &paired, &press).await,
        None => over(service, sent).await,
    }
}

/// The text of the page whose button sent this form. A program that sends none gets one.
fn page_of(service: &Service, body: &[u8]) -> PhoneSecret {
    let mut fields = form_urlencoded::parse(body);
    let page = fields.find(|(name, _)| name == "page");
    let page = page.and_then(|(_, text)| PhoneSecret::parse(&text));
    page.unwrap_or_else(|| PhoneSecret::generate(&*service.entropy))
}

/// Uses the code up. `None` if it was used meanwhile.
async fn pair_at(
    service: &Service,
    sent: &Sent,
    (code, found): (&PhoneSecret, PairedPhone),
    press: &Press,
) -> Result<Option<PairedPhone>, TapError> {
    let name = host_name(&sent.host);
    let others = others(service, &found, &name).await?;
    let pairing = Pairing {
        id: found.phone.id,
        code: code.hash(),
        host: name,
        secret: press.secret.hash(),
        next: (!others.is_empty()).then(|| press.next.hash()),
    };
    let object = format!("phones/{}", found.phone.id);
    let done = ("phones.pair", object);
    let theirs: Arc<Service> = on_behalf(service, &found.phone, sent.address, done);
    let paired = theirs.storage.pair_phone(pairing).await?;
    Ok(paired)
}

/// The page of a phone that is paired now, with its cookie.
async fn answer_paired(
    service: &Service,
    sent: &Sent,
    paired: &PairedPhone,
    press: &Press,
) -> Result<Response, TapError> {
    let is_https = staff::is_https_at(service, &sent.host).await?;
    let others = others(service, paired, &host_name(&sent.host)).await?;
    let links = links(&others, &press.next);
    let page = PairPage::Paired { links: &links };
    let mut response = answer(service, StatusCode::OK, page, &sent.headers)?;
    let (end, now) = (paired.phone.expires_at, service.storage.now().await?);
    if let Some(cookie) = cookie::header_of(&press.secret, is_https, end, now) {
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
        let address = format!("{}/staff/pair/{}", host.origin, code.expose());
        (host.name.clone(), address)
    };
    hosts.iter().map(link).collect()
}

/// The page for a code that cannot be used. A phone that is paired sees that it is: a person opens
/// the link a second time, or reloads the page.
async fn over(service: &Service, sent: &Sent) -> Result<Response, TapError> {
    if let Some(phone) = cookie::phone(service, &sent.headers, &sent.host).await? {
        let page = PairPage::Already { name: &phone.name };
        return answer(service, StatusCode::OK, page, &sent.headers);
    }
    answer(
        service,
        StatusCode::NOT_FOUND,
        PairPage::Over,
        &sent.headers,
    )
}

fn answer(
    service: &Service,
    status: StatusCode,
    page: PairPage<'_>,
    headers: &HeaderMap,
) -> Result<Response, TapError> {
    let nonce = pages::nonce(&*service.entropy);
    let html = staff::pair_page(page, language(headers), &nonce)?;
    Ok(pages::staff(status, html, &nonce))
}
