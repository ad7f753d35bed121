//! `POST /admin/v1/simulator/inlays/{id}/tap`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::entropy;
use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::admin::inlays::open_keys;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, Code, Common, Conflicting, NotFound, Written};
use crate::http::origin::Origin;
use crate::http::public;
use crate::id::{InteractionId, TagId, VirtualInlayId};
use crate::inlay::Uid;
use crate::inlay::code::COUNTER_MAX;
use crate::inlay::key::InlayKeys;
use crate::inlay::virtual_inlay::{OneTimeCode, VirtualInlay};
use crate::interaction::Reason;
use crate::inventory::SimulatedInlay;
use crate::payload;
use crate::rolling_key::RollingKey;
use crate::service::Service;
use crate::storage::Conflict;
use crate::tap::{self, Place, Tap, TapAnswer};
use crate::visitor::Visitor;

/// How to tap.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct VirtualTap {
    /// Also open the URL, and read the payload with the rolling key in the answer.
    follow: bool,
    /// Make the code for this counter. The chip's own counter stays.
    #[schema(maximum = 16_777_215)]
    counter: Option<u32>,
    /// Falsify the code's MAC, as a forger without the key would.
    tamper: bool,
    /// Use the code at another simulated tag, as someone would who copied it.
    at_tag_id: Option<TagId>,
    /// Open the URL as a messenger's link preview does.
    link_preview: bool,
}

/// A tap of a virtual inlay.
#[derive(Serialize, ToSchema)]
pub(crate) struct VirtualTapped {
    /// The one-time URL.
    url: String,
    /// The chip's UID.
    uid: Uid,
    /// The counter of the read.
    counter: u32,
    /// The result of opening the URL; null if it was not requested.
    followed: Option<Followed>,
}

/// The result of opening a one-time URL.
#[derive(Serialize, ToSchema)]
pub(crate) struct Followed {
    /// The status of the tap's answer: 302 for a redirect.
    status: u16,
    /// Where it leads.
    location: Option<String>,
    /// The interaction; null if nothing was recorded.
    interaction_id: Option<InteractionId>,
    /// Its `tag_verified`.
    tag_verified: Option<bool>,
    /// Why, by name; null if nothing was recorded.
    reason: Option<Reason>,
    /// The rolling key as received in the redirect; null if none was issued.
    rk: Option<String>,
    /// The rolling key as clients send it.
    rk_base64: Option<String>,
    /// The payload for the key.
    #[schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>)]
    payload: Option<Box<RawValue>>,
}

/// Tap a virtual inlay
///
/// The chip's counter rises, then it makes a one-time URL. If the URL is opened, the answer
/// contains the rolling key, because the caller made this tap.
#[utoipa::path(
    post, path = "/simulator/inlays/{id}/tap", tag = "simulator", params(("id" = VirtualInlayId, Path)),
    request_body = Option<VirtualTap>,
    responses((status = OK, body = VirtualTapped), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn tap(
    State(service): State<Arc<Service>>,
    Id(id): Id<VirtualInlayId>,
    origin: Origin,
    body: Option<Body<VirtualTap>>,
) -> Result<Json<VirtualTapped>, ApiError> {
    let options = body.map(|Body(options)| options).unwrap_or_default();
    if options.counter.is_some_and(|counter| counter > COUNTER_MAX) {
        let why = format!("A chip's counter is 0 to {COUNTER_MAX}.");
        return Err(ApiError::Invalid(FieldError::of("counter", why)));
    }
    let chip = match options.counter {
        Some(_) => service.storage.virtual_inlay(id).await?,
        None => service.storage.raise_virtual_counter(id).await?,
    };
    let chip = chip.ok_or(ApiError::NotFound("virtual inlay"))?;
    let slug = match options.at_tag_id {
        Some(id) => slug_of(&service, id).await?,
        None => chip.slug.clone().ok_or_else(on_no_tag)?,
    };
    let counter = options.counter.unwrap_or(chip.counter);
    let mut code = code(&service, &chip, counter).await?;
    if options.tamper {
        let last = code.token.pop();
        code.token.push(if last == Some('0') { '1' } else { '0' });
    }
    let url = code.url(&service.settings().tag_url, &slug);
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let followed = match options {
        VirtualTap { follow: false, .. } => None,
        VirtualTap {
            link_preview: true, ..
        } => Some(preview(&service, &slug).await?),
        _ => Some(follow(&service, &slug, query, origin).await?),
    };
    Ok(Json(VirtualTapped {
        uid: chip.inlay.uid,
        counter,
        followed,
        url,
    }))
}

fn on_no_tag() -> ApiError {
    ApiError::conflict(
        Code::NoTag,
        "This virtual inlay has no tag. Bind its inlay to a simulated tag first.",
    )
}

/// The slug of a simulated tag: the real ones are tapped in the real world alone.
async fn slug_of(service: &Service, id: TagId) -> Result<String, ApiError> {
    let (field, noun) = ("at_tag_id", "tag");
    let missing = || {
        let why = Conflict::Missing { noun, id: id.0 }.to_string();
        ApiError::Conflict(Code::Missing, FieldError::of(field, why))
    };
    let tag = service.storage.tag(id).await?;
    let tag = tag.ok_or_else(missing)?;
    if tag.simulated {
        Ok(tag.fields.slug.to_string())
    } else {
        let why = "A virtual inlay can only tap a simulated tag. This tag is real.";
        Err(ApiError::Invalid(FieldError::of(field, why)))
    }
}

async fn code(
    service: &Service,
    chip: &SimulatedInlay,
    counter: u32,
) -> Result<OneTimeCode, ApiError> {
    let keys = open_keys(service, &chip.inlay).await?;
    let (Some(mirror), InlayKeys::Aes(keys)) = (chip.inlay.fields.mirror, keys) else {
        return Err(ApiError::conflict(
            Code::NoMirror,
            "This virtual inlay no longer makes codes. Set its inlay's mirror first.",
        ));
    };
    let chip = VirtualInlay {
        uid: chip.inlay.uid,
        mirror,
        mac_from: chip.inlay.fields.mac_from,
        keys,
        counter,
    };
    Ok(chip.code_at(counter, entropy::bytes(&*service.entropy)))
}

/// Opens a tag's URL as a messenger does, for the preview of a link.
async fn preview(service: &Service, slug: &str) -> Result<Followed, ApiError> {
    let place = Place::Slug(slug.to_owned());
    let status = match tap::linked(service, &place).await? {
        Some(_) => StatusCode::OK,
        None => StatusCode::NOT_FOUND,
    };
    Ok(Followed {
        status: status.as_u16(),
        location: None,
        interaction_id: None,
        tag_verified: None,
        reason: None,
        rk: None,
        rk_base64: None,
        payload: None,
    })
}

/// Opens a tag's URL as a visitor's browser does, without leaving the process.
async fn follow(
    service: &Service,
    slug: &str,
    query: &str,
    origin: Origin,
) -> Result<Followed, ApiError> {
    let tap = Tap {
        place: Place::Slug(slug.to_owned()),
        query,
        cookie: None,
        reload: false,
        client: origin.client,
        country: origin.country,
        visitor: Visitor::default(),
    };
    let tapped = tap::tap(service, tap).await?;
    let (key, location) = match &tapped.answer {
        TapAnswer::Redirect { location, key, .. } => (key.as_ref(), Some(location.clone())),
        TapAnswer::Page { key, .. } => (key.as_ref(), None),
        _ => (None, None),
    };
    let key = key.map(|held| held.key.clone());
    let rk_base64 = key.as_ref().map(RollingKey::to_base64);
    let payload = match &rk_base64 {
        Some(key) => payload::payload(service, key).await?,
        None => None,
    };
    let recorded = tapped.recorded;
    Ok(Followed {
        status: public::respond(service, tapped.answer, &Visitor::default())
            .status()
            .as_u16(),
        location,
        interaction_id: recorded.map(|(id, _)| id),
        tag_verified: recorded.and_then(|(_, verdict)| verdict.tag_verified()),
        reason: recorded.map(|(_, verdict)| verdict.reason()),
        rk: key.map(|key| key.expose().to_owned()),
        rk_base64,
        payload: payload
            .map(RawValue::from_string)
            .transpose()
            .map_err(|_| ApiError::Internal)?,
    })
}
