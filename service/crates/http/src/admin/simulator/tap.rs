//! `POST /admin/v1/simulator/inlays/{id}/tap`.

use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::path::Id;
use crate::auth::origin::Origin;
use crate::error::{ApiError, BadBody, Code, Common, Conflicting, NotFound, Written};
use crate::public;
use app::inlays::open_keys;
use app::payload;
use app::service::Service;
use app::tap::{self, Linked, Place, Tap, TapAnswer};
use domain::clock::Stopwatch;
use domain::entropy;
use domain::field_error::FieldError;
use domain::id::{InteractionId, TagId, UrlTemplateId, VirtualInlayId};
use domain::interaction::{Reason, TapOrigin};
use domain::inventory::SimulatedInlay;
use domain::rolling_key::RollingKey;
use domain::visitor::Visitor;
use inlay::Uid;
use inlay::assessment::Tamper;
use inlay::check::Read;
use inlay::key::InlayKeys;
use inlay::template::{Field, Request};
use inlay::virtual_inlay::{OneTimeCode, VirtualInlay};
use storage::Conflict;

/// Maximum number of characters of file data. No supported chip encrypts more.
const FILE_DATA_MAX: usize = 128;

/// Options of the tap.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct VirtualTap {
    /// Whether to open the URL, and to read the payload with the rolling key of the answer.
    follow: bool,
    /// The counter for the code; `SIC43` chips have 32 bits. The chip's own counter stays
    /// unchanged.
    #[schema(value_type = Option<u64>, maximum = 4_294_967_295_u32)]
    counter: Option<u32>,
    /// Whether to falsify the MAC of the code, like a forger without the key. No effect on a chip
    /// without a MAC.
    tamper: bool,
    /// The state of the tamper loop, if the chip reports one; by default sealed.
    #[schema(inline)]
    seal: Option<Tamper>,
    /// File data for the chip to encrypt, if its URL template has a place for it.
    #[schema(max_length = 128)] // FILE_DATA_MAX
    file_data: Option<String>,
    /// Use the code at another simulated tag, like someone who copied it.
    at_tag_id: Option<TagId>,
    /// Whether to open the URL like the link preview of a messenger.
    link_preview: bool,
}

/// A tap of a virtual inlay.
#[derive(Serialize, ToSchema)]
pub(crate) struct VirtualTapped {
    /// The one-time URL of the read.
    url: String,
    /// UID of the chip.
    uid: Uid,
    /// The counter of this read.
    #[schema(value_type = u64)]
    counter: u32,
    /// The result of opening the URL; null if it was not requested.
    followed: Option<Followed>,
}

/// The result of opening a one-time URL.
#[derive(Serialize, ToSchema)]
pub(crate) struct Followed {
    /// The HTTP status of the tap's answer: 302 for a redirect.
    status: u16,
    /// The target of the redirect.
    location: Option<String>,
    /// The interaction; null if nothing was recorded.
    interaction_id: Option<InteractionId>,
    /// The `tag_verified` of the interaction.
    tag_verified: Option<bool>,
    /// The reason for the verdict; null if nothing was recorded.
    reason: Option<Reason>,
    /// The rolling key from the redirect; null if none was issued.
    rk: Option<String>,
    /// The rolling key in the form that clients send.
    rk_base64: Option<String>,
    /// The payload for the key.
    #[schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>)]
    payload: Option<Box<RawValue>>,
    /// Duration of the tap, in microseconds; null for a link preview.
    tap_micros: Option<u64>,
    /// Duration of the payload call, in microseconds; null if the payload was not read.
    payload_micros: Option<u64>,
}

/// Tap a virtual inlay
///
/// The chip increases its counter and makes a one-time URL. If the URL is opened, the answer
/// contains the rolling key, because the caller made this tap.
#[utoipa::path(
    post, path = "/simulator/inlays/{id}/tap", tag = "simulator", params(("id" = VirtualInlayId, Path)),
    request_body = Option<VirtualTap>,
    responses((status = OK, body = VirtualTapped), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn tap(
    Asked(service): Asked,
    Id(id): Id<VirtualInlayId>,
    origin: Origin,
    body: Option<Body<VirtualTap>>,
) -> Result<Json<VirtualTapped>, ApiError> {
    let options = body.map(|Body(options)| options).unwrap_or_default();
    let file_data = options.file_data.as_deref().unwrap_or_default();
    if file_data.chars().count() > FILE_DATA_MAX {
        let why = format!("File data has at most {FILE_DATA_MAX} characters.");
        return Err(ApiError::Invalid(FieldError::of("file_data", why)));
    }
    let chip = match options.counter {
        Some(_) => service.storage.virtual_inlay(id).await?,
        None => service.storage.raise_virtual_counter(id).await?,
    };
    let chip = chip.ok_or(ApiError::NotFound("virtual inlay"))?;
    let max = chip.inlay.fields.technology.counter_max();
    if options.counter.is_some_and(|counter| counter > max) {
        let why = format!("This chip's counter is 0 to {max}.");
        return Err(ApiError::Invalid(FieldError::of("counter", why)));
    }
    let counter = options.counter.unwrap_or(chip.counter);
    let (url, mut place) = match chip.inlay.fields.url_template_id {
        Some(template) => written(&service, &chip, template, counter, &options).await?,
        None => canonical(&service, &chip, counter, &options).await?,
    };
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let followed = match options {
        VirtualTap { follow: false, .. } => None,
        VirtualTap {
            link_preview: true, ..
        } => Some(preview(&service, &mut place).await?),
        _ => Some(follow(&service, place, query, origin).await?),
    };
    Ok(Json(VirtualTapped {
        uid: chip.inlay.uid,
        counter,
        followed,
        url,
    }))
}

/// A tap with the canonical form: its URL and its place.
async fn canonical(
    service: &Service,
    chip: &SimulatedInlay,
    counter: u32,
    options: &VirtualTap,
) -> Result<(String, Place), ApiError> {
    let slug = match options.at_tag_id {
        Some(id) => slug_of(service, id).await?,
        None => chip.slug.clone().ok_or_else(on_no_tag)?,
    };
    let mut code = code(service, chip, counter).await?;
    if options.tamper {
        code.token = falsified(&code.token);
    }
    let url = code.url(&service.settings().tag_url, &slug);
    let path = format!("/t/{slug}");
    Ok((url, Place::Slug { slug, path }))
}

/// A tap with a URL template: its URL and its place.
async fn written(
    service: &Service,
    chip: &SimulatedInlay,
    template: UrlTemplateId,
    counter: u32,
    options: &VirtualTap,
) -> Result<(String, Place), ApiError> {
    let templates = service.templates.read().await?;
    let of = templates.get(template).ok_or(ApiError::Internal)?;
    let of = &of.template;
    let slug = match (of.has(Field::Slug), options.at_tag_id) {
        (true, Some(id)) => Some(slug_of(service, id).await?),
        (true, None) => Some(chip.slug.clone().ok_or_else(on_no_tag)?),
        (false, None) => None,
        (false, Some(_)) => {
            let why = "This inlay's URL contains no slug: its code names the tag.";
            return Err(ApiError::Invalid(FieldError::of("at_tag_id", why)));
        }
    };
    let slug = slug.as_deref();
    let technology = of.settings().technology;
    let seal = options.seal.unwrap_or(Tamper::Sealed);
    let keys = open_keys(service, &chip.inlay).await?;
    let read = Read {
        uid: chip.inlay.uid,
        counter,
        keys: &keys,
        picc: None,
        tamper: technology.tamper_letters(seal).unwrap_or_default(),
        file_data: options.file_data.as_deref().unwrap_or_default().as_bytes(),
        random: entropy::bytes(&*service.entropy),
    };
    let mut code = of.make_code(slug, &read).ok_or_else(makes_none)?;
    if options.tamper
        && let Some(mac) = code.get(Field::Mac).map(falsified)
    {
        code.set(Field::Mac, &mac);
    }
    let url = of.url(slug, &code);
    let request = Request::of_url(&url).ok_or(ApiError::Internal)?;
    let place = Place::at_template(templates.find(&request), request.path);
    let place = place.ok_or(ApiError::Internal)?;
    Ok((url, place))
}

/// The same hex digits with another last digit.
fn falsified(digits: &str) -> String {
    let mut digits = digits.to_owned();
    let last = digits.pop();
    digits.push(if last == Some('0') { '1' } else { '0' });
    digits
}

fn on_no_tag() -> ApiError {
    ApiError::conflict(
        Code::NoTag,
        "This virtual inlay has no tag. Bind its inlay to a simulated tag first.",
    )
}

fn makes_none() -> ApiError {
    ApiError::conflict(
        Code::NoMirror,
        "This virtual inlay no longer makes codes. Set its inlay's mirror first.",
    )
}

/// The slug of a simulated tag. Real tags can only be tapped in the real world.
async fn slug_of(service: &Service, id: TagId) -> Result<String, ApiError> {
    let (field, noun) = ("at_tag_id", "tag");
    let missing = || {
        let why = Conflict::Missing { noun, id: id.get() }.to_string();
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
        return Err(makes_none());
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

/// Opens the URL of a tag like a messenger that previews a link.
async fn preview(service: &Service, place: &mut Place) -> Result<Followed, ApiError> {
    let status = match tap::linked(service, place).await? {
        Linked::Tag(_) | Linked::NoTag => StatusCode::OK,
        Linked::Nobody => StatusCode::NOT_FOUND,
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
        tap_micros: None,
        payload_micros: None,
    })
}

/// Opens the URL of a tag like a visitor's browser, but within the process.
async fn follow(
    service: &Service,
    place: Place,
    query: &str,
    origin: Origin,
) -> Result<Followed, ApiError> {
    let visitor = Visitor::default();
    let tap = Tap {
        place,
        query,
        cookie: None,
        reload: false,
        client: origin.client,
        country: origin.country,
        visitor: &visitor,
        origin: TapOrigin::Visitor,
    };
    let tapping = Stopwatch::start();
    let tapped = tap::tap(service, tap).await?;
    let tap_micros = micros(tapping);
    let (key, location) = match &tapped.answer {
        TapAnswer::Redirect { location, key, .. } => (key.as_ref(), Some(location.clone())),
        TapAnswer::Page { key, .. } => (key.as_ref(), None),
        _ => (None, None),
    };
    let key = key.map(|held| held.key.clone());
    let rk_base64 = key.as_ref().map(RollingKey::to_base64);
    let reading = Stopwatch::start();
    let payload = match &rk_base64 {
        Some(key) => payload::payload(service, key).await?,
        None => None,
    };
    let payload_micros = payload.as_ref().map(|_| micros(reading));
    let recorded = tapped.recorded;
    Ok(Followed {
        status: public::respond(service, tapped.answer, &visitor)
            .status()
            .as_u16(),
        location,
        interaction_id: recorded.map(|(id, _)| id),
        tag_verified: recorded.and_then(|(_, verdict)| verdict.tag_verified()),
        reason: recorded.map(|(_, verdict)| verdict.reason()),
        rk: key.map(|key| key.expose().to_owned()),
        rk_base64,
        payload: payload
            .map(|payload| RawValue::from_string(payload.json))
            .transpose()
            .map_err(|_| ApiError::Internal)?,
        tap_micros: Some(tap_micros),
        payload_micros,
    })
}

fn micros(since: Stopwatch) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}
