//! Staff phones: how a phone is paired, and the pages that its taps get.
//!
//! Only four things read the cookie: a tap, the page of a tap, its photo, and the forms of that page.
//! No other route knows it, and a page of an experience gets nothing by it.

mod cookie;
mod fields;
pub(crate) mod pair;
pub(crate) mod scan;
pub(crate) mod taps;

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;

use crate::auth::origin::{user_agent, visitor};
use crate::pages;
use crate::rate_limiter::{Operation, refused};
use app::service::Service;
use app::staff::{self, StaffLanguage};
use app::tap::TapError;
use domain::caller::{Actor, Caller};
use domain::entropy;
use domain::phone::Phone;
use storage::StorageError;

/// Whether the request of a tap is of a staff phone. Notes the use of the phone.
pub(super) async fn is_tap_of_staff(
    service: &Service,
    headers: &HeaderMap,
    host: &str,
) -> Result<bool, StorageError> {
    let Some(phone) = cookie::phone(service, headers, host).await? else {
        return Ok(false);
    };
    let now = service.storage.now().await?;
    if let Err(error) = service.storage.note_phone_use(phone.id, now).await {
        // Reading must work while the disk is full.
        tracing::debug!("the use of a phone could not be noted: {error}");
    }
    Ok(true)
}

/// The service, working for a phone. `as_done` is the action and its object, for the audit log.
fn on_behalf(
    service: &Service,
    phone: &Phone,
    address: IpAddr,
    as_done: (&str, String),
) -> Arc<Service> {
    let (action, object) = as_done;
    let caller = Caller::new(
        Actor::Phone(phone.id, phone.name.clone()),
        address,
        (action.into(), object),
        phone.rights().reach(),
        entropy::bytes(&*service.entropy),
    );
    service.on_behalf_of(&Arc::new(caller))
}

/// Whether a form was sent by a page of this host, as the browser says. Every browser names the
/// origin of a form, so a form without one is refused, too.
fn is_of_this_host(headers: &HeaderMap, host: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let origin = text(header::ORIGIN.as_str()).and_then(|origin| origin.split_once("://"));
    let site = text("sec-fetch-site");
    // Browsers leave the default port out, which some proxies add to `Host`.
    let is_same = |(scheme, from): (&str, &str)| {
        let port = if scheme == "https" { ":443" } else { ":80" };
        let host = host.strip_suffix(port).unwrap_or(host);
        from.eq_ignore_ascii_case(host)
    };
    origin.is_some_and(is_same) && site.is_none_or(|site| site == "same-origin")
}

/// The answer to a form of another site.
fn foreign_form(service: &Service, headers: &HeaderMap) -> Result<Response, TapError> {
    let nonce = pages::nonce(&*service.entropy);
    let html = staff::foreign_form(language(headers), &nonce)?;
    let page = pages::staff(StatusCode::FORBIDDEN, html, &nonce);
    Ok(refused(Operation::Update, page))
}

/// The language of the user of a phone, as its browser says.
fn language(headers: &HeaderMap) -> StaffLanguage {
    StaffLanguage::of(&visitor(headers, user_agent(headers)).languages)
}
