//! `/staff/taps/{id}`: the page of a tap for the staff phone that made it, and its forms.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use utoipa::ToSchema;

use super::cookie;
use super::fields::{Cut, Fields, Unread};
use super::{foreign_form, is_of_this_host, language, on_behalf};
use crate::auth::origin::Origin;
use crate::error::{nothing_here, refused_change, refused_tap};
use crate::pages;
use crate::picture;
use crate::public::AsService;
use crate::public::form::unreadable;
use crate::public::tap::requested;
use crate::rate_limiter::{Operation, refused};
use crate::schema::Binary;
use app::service::Service;
use app::staff::{self, Acted, Action, Done, Said, Shown, StaffLanguage, StaffTap};
use app::studio::pictures;
use app::tap::TapError;
use domain::experience::picture::PictureError;
use domain::id::{InteractionId, SheetId};
use domain::image_type::ImageType;
use domain::phone::Phone;
use domain::scope::Scope;
use domain::trace::TracedInteraction;
use storage::StorageError;

/// The parameter of the page's address that names a change which was just made.
const DONE: &str = "done";

/// The fields of a form of the page.
#[derive(ToSchema)]
#[expect(dead_code, reason = "its shape is what counts")]
pub(crate) struct StaffForm {
    /// The token of the page. It is of this tap and this phone, and valid for an hour.
    token: String,
    /// The action: a row `good` or `bad` of a test sheet, a `note` of the tap, or a new `experience`,
    /// `value` or tag of the `inlay`.
    #[schema(pattern = "^(good|bad|note|experience|value|inlay)$")]
    action: String,
    /// With `good` and `bad`: the test sheet.
    sheet: Option<i64>,
    /// With `good` and `bad`: a note for the row. With `note`: the note of the tap; empty removes it.
    #[schema(max_length = 1000)]
    note: Option<String>,
    /// With `note`: any text removes the stored photo. With `good`, `bad` and `note`, a photo is the file
    /// `photo` of a form that is `multipart/form-data`.
    remove_photo: Option<String>,
    /// With `experience`: the experience; empty for none.
    experience_id: Option<String>,
    /// With `value`: the variable.
    key: Option<String>,
    /// With `value`: its new value.
    #[schema(max_length = 4096)]
    value: Option<String>,
    /// With `inlay`: the slug of the tag.
    slug: Option<String>,
}

/// Open the page of a staff phone's tap
///
/// A tap of a paired phone leads here. Nobody else sees the page: without the phone's cookie there
/// is nothing at this address.
#[utoipa::path(
    get, path = "/staff/taps/{id}", tag = "public",
    params(
        ("id" = InteractionId, Path, description = "The interaction"),
        ("done" = Option<String>, Query, description = "A change that was just made")
    ),
    responses(
        (status = OK, body = String, content_type = "text/html", description = "The page"),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "No cookie of a staff phone, or no such tap")
    )
)]
pub(crate) async fn page(
    AsService(service): AsService,
    origin: Origin,
    id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let (sent, _) = Sent::of(id, origin, request);
    shown(&service, &sent).await.unwrap_or_else(refused_tap)
}

/// Get the photo of a staff phone's tap
///
/// Only for phones that see the notes of the tap: those with the scope `read`, `tags` or `encode`.
#[utoipa::path(
    get, path = "/staff/taps/{id}/photo", tag = "public",
    params(("id" = InteractionId, Path, description = "The interaction")),
    responses(
        (status = OK, content((inline(Binary) = "image/png"), (inline(Binary) = "image/jpeg"))),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "No cookie of a staff phone, or no such photo")
    )
)]
pub(crate) async fn photo(
    AsService(service): AsService,
    origin: Origin,
    id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let (sent, _) = Sent::of(id, origin, request);
    shown_photo(&service, &sent)
        .await
        .unwrap_or_else(refused_tap)
}

/// Send a form of a staff page
///
/// Makes one change on behalf of the phone, with a row in the audit log, and leads back to the page.
#[utoipa::path(
    post, path = "/staff/taps/{id}", tag = "public",
    params(("id" = InteractionId, Path, description = "The interaction")),
    request_body(content(
        (StaffForm = "application/x-www-form-urlencoded"),
        (StaffForm = "multipart/form-data")
    )),
    responses(
        (status = SEE_OTHER, description = "The change is made; the page shows it"),
        (status = BAD_REQUEST, body = String, content_type = "text/html", description = "The fields are of no form of the page"),
        (status = FORBIDDEN, body = String, content_type = "text/html", description = "The form is of another site, another phone or another tap, or has expired, or the phone lacks the scope"),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "No cookie of a staff phone, or no such tap"),
        (status = REQUEST_TIMEOUT, body = String, content_type = "text/html", description = "The form took too long to arrive. If it was its photo, the page is shown again with the texts"),
        (status = CONFLICT, body = String, content_type = "text/html", description = "The change does not fit the present state"),
        (status = PAYLOAD_TOO_LARGE, body = String, content_type = "text/html", description = "Over 64 KiB of texts, or over 16 MiB with a photo. The page is shown again with the texts of a form whose photo is too large"),
        (status = UNSUPPORTED_MEDIA_TYPE, body = String, content_type = "text/html", description = "The body is no form"),
        (status = UNPROCESSABLE_ENTITY, body = String, content_type = "text/html", description = "A value is not valid"),
        (status = INSUFFICIENT_STORAGE, body = String, content_type = "text/html", description = "The disk is full; nothing was written")
    )
)]
pub(crate) async fn act(
    AsService(service): AsService,
    origin: Origin,
    id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let (sent, body) = Sent::of(id, origin, request);
    // Boxed, as its part below is, because the futures of the body and of the change are large.
    let acted = Box::pin(acted(&service, &sent, body));
    acted.await.unwrap_or_else(refused_tap)
}

/// The answer that leads to the page of a tap.
pub(in crate::public) fn to_page(id: InteractionId, done: Option<Done>) -> Response {
    let place = match done {
        None => format!("/staff/taps/{id}"),
        Some(done) => format!("/staff/taps/{id}?{DONE}={}", done.as_str()),
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    if let Ok(place) = HeaderValue::from_str(&place) {
        headers.insert(header::LOCATION, place);
    }
    headers.insert(header::VARY, HeaderValue::from_static("Cookie"));
    pages::keep_private(headers);
    // From one staff page to the next, the browser then keeps its group of windows.
    pages::keep_from_opener(headers);
    response
}

/// A request for the page of a tap.
struct Sent {
    id: Option<InteractionId>,
    host: String,
    origin: Origin,
    parts: Parts,
}

impl Sent {
    fn of(
        id: Result<Path<String>, PathRejection>,
        origin: Origin,
        request: Request,
    ) -> (Self, Body) {
        let host = requested(&request).host.to_owned();
        let (parts, body) = request.into_parts();
        let sent = Self {
            id: id.ok().and_then(|Path(id)| id.parse().ok()),
            host,
            origin,
            parts,
        };
        (sent, body)
    }

    /// The phone whose cookie the request has, and the tap that it asks for. `None` if either is
    /// missing.
    async fn phone(
        &self,
        service: &Service,
    ) -> Result<Option<(Arc<Phone>, InteractionId)>, TapError> {
        let phone = cookie::phone(service, &self.parts.headers, &self.host).await?;
        Ok(phone.zip(self.id))
    }

    /// The service, working for the phone, with the action and its object.
    fn on_behalf(&self, service: &Service, phone: &Phone, as_done: (&str, String)) -> Arc<Service> {
        on_behalf(service, phone, self.origin.address, as_done)
    }

    /// The tap as the phone sees it, or the answer instead.
    async fn tap(
        &self,
        service: &Service,
        phone: &Phone,
        id: InteractionId,
    ) -> Result<Result<Box<TracedInteraction>, Response>, TapError> {
        let reading = self.on_behalf(service, phone, ("", String::new()));
        Ok(match staff::staff_tap(service, &reading, id).await? {
            StaffTap::Within(tap) => Ok(tap),
            StaffTap::Outside => {
                let nonce = pages::nonce(&*service.entropy);
                // The tag left the groups after the page was opened, so its form changes nothing.
                let is_form = self.parts.method == Method::POST;
                let status = if is_form {
                    StatusCode::FORBIDDEN
                } else {
                    StatusCode::OK
                };
                let html = staff::outside(self.language(), is_form, &nonce)?;
                Err(pages::staff(status, html, &nonce))
            }
            StaffTap::Nothing => Err(nothing_here()),
        })
    }

    /// The page of a tap, with the sheet of the phone's last row first.
    async fn page(
        &self,
        service: &Service,
        (phone, tap): (&Phone, &TracedInteraction),
        (status, shown): (StatusCode, Shown<'_>),
    ) -> Result<Response, TapError> {
        let shown = Shown {
            sheet: shown.sheet.or_else(|| cookie::sheet(&self.parts.headers)),
            ..shown
        };
        let reading = self.on_behalf(service, phone, ("", String::new()));
        let nonce = pages::nonce(&*service.entropy);
        let look = (self.language(), &*nonce);
        let html = staff::page(&reading, phone, tap, shown, look).await?;
        Ok(pages::staff(status, html, &nonce))
    }

    fn language(&self) -> StaffLanguage {
        language(&self.parts.headers)
    }

    /// The change that the page's address says was just made.
    fn done(&self) -> Option<Done> {
        let query = self.parts.uri.query().unwrap_or_default();
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let (_, name) = pairs.find(|(name, _)| name == DONE)?;
        Done::parse(&name)
    }
}

async fn shown(service: &Service, sent: &Sent) -> Result<Response, TapError> {
    let paired = cookie::paired(service, &sent.parts.headers, &sent.host).await?;
    let (Some((phone, secret)), Some(id)) = (paired, sent.id) else {
        return Ok(nothing_here());
    };
    let tap = match sent.tap(service, &phone, id).await? {
        Ok(tap) => tap,
        Err(other) => return Ok(other),
    };
    let shown = Shown {
        said: sent.done().map(Said::Done),
        ..Shown::default()
    };
    let ok = (StatusCode::OK, shown);
    let mut response = sent.page(service, (&phone, &tap), ok).await?;
    // Browsers keep a cookie for 400 days. Without this, a phone that is used every day would be a
    // visitor's after that.
    let is_https = staff::is_https_at(service, &sent.host).await?;
    let now = service.storage.now().await?;
    if let Some(cookie) = cookie::header_of(&secret, is_https, phone.expires_at, now) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

async fn shown_photo(service: &Service, sent: &Sent) -> Result<Response, TapError> {
    let Some((phone, id)) = sent.phone(service).await? else {
        return Ok(nothing_here());
    };
    let rights = phone.rights();
    let sees = [Scope::Read, Scope::Tags, Scope::Encode];
    if !sees.into_iter().any(|scope| rights.allow(scope)) {
        return Ok(nothing_here());
    }
    let reading = sent.on_behalf(service, &phone, ("", String::new()));
    let Some((photo, bytes)) = reading.storage.staff_photo(id).await? else {
        return Ok(nothing_here());
    };
    let mut response = picture::answer(photo.media_type, bytes);
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("Cookie"));
    pages::keep_private(headers);
    Ok(response)
}

async fn acted(service: &Service, sent: &Sent, body: Body) -> Result<Response, TapError> {
    let Some((phone, id)) = sent.phone(service).await? else {
        return Ok(nothing_here());
    };
    let headers = &sent.parts.headers;
    if !is_of_this_host(headers, &sent.host) {
        return foreign_form(service, headers);
    }
    let fields = match Fields::read(headers, body).await {
        Ok(fields) => fields,
        Err(Unread::NoForm) => return Ok(no_form()),
        Err(Unread::Body(error)) => return Ok(refused(Operation::Update, unreadable(error))),
    };
    let typed = fields.typed().map(str::to_owned);
    let answered = Box::pin(answered(service, sent, (&phone, id), fields));
    let other = match answered.await {
        Ok(Ok(page)) => return Ok(page),
        Ok(Err(other)) => other,
        Err(error) => refused_tap(error),
    };
    let Some(typed) = typed else {
        return Ok(other);
    };
    let nonce = pages::nonce(&*service.entropy);
    let html = staff::unsaved(sent.language(), &typed, &nonce)?;
    Ok(pages::staff(other.status(), html, &nonce))
}

/// Makes the change of a form, and returns the page of its tap; or the answer without this page.
async fn answered(
    service: &Service,
    sent: &Sent,
    (phone, id): (&Phone, InteractionId),
    Fields { texts, photo }: Fields,
) -> Result<Result<Response, Response>, TapError> {
    let tap = match sent.tap(service, phone, id).await? {
        Ok(tap) => tap,
        Err(other) => return Ok(Err(other)),
    };
    let language = sent.language();
    let token = texts.get("token").map_or("", String::as_str);
    let is_own = staff::is_form_of(service, phone, &tap, token).await?;
    let has_photo = matches!(photo, Some(Ok(_)));
    let said = match photo.transpose() {
        _ if !is_own => Err((StatusCode::FORBIDDEN, language.too_old().to_owned())),
        Ok(photo) => change(service, sent, (phone, &tap), (&texts, photo)).await?,
        Err(Cut::Large) => {
            let why = language.photo(&PictureError::TooMuchMemory);
            Err((StatusCode::PAYLOAD_TOO_LARGE, why.to_owned()))
        }
        Err(Cut::Late) => Err((
            StatusCode::REQUEST_TIMEOUT,
            language.late_photo().to_owned(),
        )),
    };
    let sheet: Option<SheetId> = texts.get("sheet").and_then(|id| id.parse().ok());
    match said {
        Ok(done) => {
            let mut response = to_page(id, Some(done));
            let is_https = staff::is_https_at(service, &sent.host).await?;
            if let Some(cookie) = sheet.and_then(|sheet| cookie::header_of_sheet(sheet, is_https)) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            Ok(Ok(response))
        }
        Err((status, mut why)) => {
            if has_photo {
                // A page cannot fill a choice of a file again.
                why = format!("{why} {}", language.photo_again());
            }
            let shown = Shown {
                said: Some(Said::Refused(&why)),
                typed: Some(&texts),
                sheet,
            };
            let page = sent.page(service, (phone, &tap), (status, shown)).await?;
            Ok(Ok(if is_own {
                page
            } else {
                refused(Operation::Update, page)
            }))
        }
    }
}

/// The answer to a body that is no form. No page sends one.
fn no_form() -> Response {
    let text = "This page takes what a form of its own sends (application/x-www-form-urlencoded \
                or multipart/form-data).";
    pages::message(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Not like this", text)
}

/// Makes the change of a form, or returns the status and the reason of its refusal.
async fn change(
    service: &Service,
    sent: &Sent,
    (phone, tap): (&Phone, &TracedInteraction),
    (fields, photo): (&BTreeMap<String, String>, Option<Vec<u8>>),
) -> Result<Result<Done, (StatusCode, String)>, TapError> {
    let language = sent.language();
    let Some(mut action) = Action::of(fields) else {
        let why = language.no_form().to_owned();
        return Ok(Err((StatusCode::BAD_REQUEST, why)));
    };
    let (scopes, rights) = (action.scopes(), phone.rights());
    if !scopes.iter().any(|scope| rights.allow(*scope)) {
        return Ok(Err((StatusCode::FORBIDDEN, language.lacks(scopes))));
    }
    let kept = match &mut action {
        Action::Note { photo, .. } | Action::Row { photo, .. } => Some(photo),
        _ => None,
    };
    if let (Some(kept), Some(bytes)) = (kept, photo) {
        match fitted(bytes).await {
            Ok(fitted) => *kept = Some(fitted),
            Err(error) => {
                let why = language.photo(&error).to_owned();
                return Ok(Err((StatusCode::UNPROCESSABLE_ENTITY, why)));
            }
        }
    }
    let changing = sent.on_behalf(service, phone, action.recorded_as(tap));
    match staff::act(&changing, phone, tap, action, language).await {
        Ok(Acted::Done(done)) => Ok(Ok(done)),
        Ok(Acted::Refused(why)) => Ok(Err((StatusCode::UNPROCESSABLE_ENTITY, why))),
        Err(error @ (StorageError::Conflict(_) | StorageError::Full)) => {
            let in_words = language.sheet(&error);
            let (status, why) = refused_change(error);
            Ok(Err((status, in_words.map_or(why, str::to_owned))))
        }
        Err(error) => Err(error.into()),
    }
}

/// Encodes a photo again from its pixels, so that it has no place of the camera any more.
async fn fitted(bytes: Vec<u8>) -> Result<(ImageType, Vec<u8>), PictureError> {
    // No camera makes a GIF.
    if ImageType::of(&bytes) == Some(ImageType::Gif) {
        return Err(PictureError::UnknownType);
    }
    pictures::fit(bytes).await
}
