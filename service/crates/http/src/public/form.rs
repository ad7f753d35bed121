//! `POST /t/{slug}`: a form of a page, sent without JavaScript.

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use sha2::{Digest, Sha256};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::tap::{not_allowed, respond};
use super::{BODY_MAX, BODY_TIME};
use crate::auth::origin::{user_agent, visitor};
use crate::body::{self, BodyError, is_of_type};
use crate::error::refused_tap;
use crate::pages;
use crate::rate_limiter::{Operation, refused};
use app::service::Service;
use app::tap::{self, FormAnswer, Place, SentForm, TapAnswer, TapError};
use domain::tag::{PropertyClass, PropertyKey};
use storage::StorageError;

/// Whether the request contains a form.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    is_of_type(headers, &["application/x-www-form-urlencoded"])
}

/// The fields of a form, for the OpenAPI document.
pub(crate) struct FormFields;

impl PartialSchema for FormFields {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .property(
                "rolling_key",
                text()
                    .pattern(Some("^[A-Za-z0-9+/_ -]+={0,2}$"))
                    .description(Some("The rolling key of the page, Base64-encoded.")),
            )
            .property(
                "form",
                text()
                    .pattern(Some("^[0-9]{1,3}$"))
                    .description(Some("Which form of the page it is, from 1. Distinguishes forms for the same variables.")),
            )
            .required("rolling_key")
            .additional_properties(Some(Schema::from(text().description(Some(
                "`tag:variable:KEY`: a variable's new value. Other fields mean nothing.",
            )))))
            .into()
    }
}

impl ToSchema for FormFields {}

/// Send a form of a page
///
/// Forms of a studio page use it without JavaScript. It updates variables and returns the updated
/// page. A repeated form counts as the same submission.
#[utoipa::path(
    post, path = "/t/{slug}", tag = "public",
    params(("slug" = String, Path, description = "The tag")),
    request_body(content = FormFields, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = OK, body = String, content_type = "text/html", description = "The page as it is now"),
        (status = BAD_REQUEST, body = String, content_type = "text/html", description = "The page with what is wrong, or one that asks for another tap"),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "No tag has this slug"),
        (status = METHOD_NOT_ALLOWED, body = String, content_type = "text/html", description = "The body is no form, or the tag has none"),
        (status = REQUEST_TIMEOUT, body = String, content_type = "text/html", description = "The form took too long to arrive"),
        (status = CONFLICT, body = String, content_type = "text/html", description = "The inlay's keys are locked"),
        (status = GONE, body = String, content_type = "text/html", description = "The tag is archived"),
        (status = PAYLOAD_TOO_LARGE, body = String, content_type = "text/html", description = "Over 64 KiB"),
        (status = TOO_MANY_REQUESTS, body = String, content_type = "text/html", description = "Too many refused updates"),
        (status = INSUFFICIENT_STORAGE, body = String, content_type = "text/html", description = "The disk is full; nothing was written"),
        (status = SERVICE_UNAVAILABLE, body = String, content_type = "text/html", description = "The database is not available")
    )
)]
pub(crate) async fn form(
    service: &Service,
    place: Place,
    query: &str,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let visitor = visitor(&parts.headers, user_agent(&parts.headers));
    let body = match body::read(body, BODY_MAX, BODY_TIME).await {
        Ok(body) => body,
        Err(error) => return refused(Operation::Update, unreadable(error)),
    };
    let Fields {
        rolling_key,
        data,
        form,
    } = fields(&body);
    let sent = SentForm {
        place,
        query,
        rolling_key: &rolling_key,
        data,
        form,
        digest: digest(&body),
        visitor: visitor.clone(),
    };
    match tap::submit(service, sent).await {
        Ok(FormAnswer::NoSuchTag) => respond(service, TapAnswer::NoSuchTag, &visitor),
        Ok(FormAnswer::NoForm) => not_allowed("GET, HEAD"),
        Ok(FormAnswer::TapAgain(tag)) => {
            let page = pages::tap_again(service, StatusCode::BAD_REQUEST, &tag, &visitor);
            refused(Operation::Update, page)
        }
        Ok(FormAnswer::Page { page, saved: true }) => respond(service, page, &visitor),
        Ok(FormAnswer::Page { page, saved: false }) => {
            let mut response = respond(service, page, &visitor);
            *response.status_mut() = StatusCode::BAD_REQUEST;
            refused(Operation::Update, response)
        }
        Err(TapError::Storage(StorageError::Full)) => pages::message(
            StatusCode::INSUFFICIENT_STORAGE,
            "This could not be saved just now",
            "Something is wrong with the service, not with your tag. Please tap again in a moment.",
        ),
        Err(error) => refused_tap(error),
    }
}

/// The page that explains why a form could not be read.
pub(super) fn unreadable(error: BodyError) -> Response {
    let (status, text) = match error {
        BodyError::TooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "What you wrote is too long. Please go back and write less.",
        ),
        BodyError::Incomplete => (
            StatusCode::BAD_REQUEST,
            "What you sent arrived in part only. Please go back and try again.",
        ),
        BodyError::TimedOut => (
            StatusCode::REQUEST_TIMEOUT,
            "What you sent took too long to arrive. Please go back and try again.",
        ),
    };
    pages::message(status, "This could not be saved", text)
}

struct Fields {
    rolling_key: String,
    data: Vec<(PropertyKey, String)>,
    form: Option<usize>,
}

/// Parses the fields of a form. If a field is repeated, its last value counts: that is how a
/// checkbox sends yes. Line breaks follow the rules of the update operation.
fn fields(body: &[u8]) -> Fields {
    let prefix = format!("tag:{}:", PropertyClass::Variable.as_str());
    let mut fields = Fields {
        rolling_key: String::new(),
        data: Vec::new(),
        form: None,
    };
    for (name, value) in form_urlencoded::parse(body) {
        let variable = name.strip_prefix(&prefix).map(PropertyKey::parse);
        match (&*name, variable) {
            ("rolling_key", _) => fields.rolling_key = value.into_owned(),
            ("form", _) => fields.form = value.parse().ok(),
            (_, Some(Ok(key))) => {
                let value = tap::lines(&value);
                match fields.data.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, known)) => *known = value,
                    None => fields.data.push((key, value)),
                }
            }
            _ => {}
        }
    }
    fields
}

/// The digest by which a repeated form counts as the same submission. No request of the update
/// operation has the same digest.
fn digest(body: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(b"form\0");
    digest.update(body);
    digest.finalize().into()
}
