//! `/admin/v1/tag-url`: the tag URL that chips contain, and whether it is proved.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, BadBody, Common, Written};
use app::prove_address;
use app::service::Service;
use app::tag_address;
use domain::field_error::FieldError;
use domain::tag_url::TagUrlCheck;

/// A tag URL to check.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTagUrlCheck {
    /// An address as people type it: a host with optional scheme, port and path. Default: the
    /// current setting `tag_url`.
    #[schema(max_length = 300)]
    tag_url: Option<String>,
}

/// A tag URL to look up.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TagUrlQuery {
    /// An address as people type it: a host with optional scheme, port and path. Default: the
    /// current setting `tag_url`.
    #[param(max_length = 300)]
    tag_url: Option<String>,
}

/// A tag URL that chips contain, or could contain.
#[derive(Serialize, ToSchema)]
#[schema(as = TagUrl)]
pub(crate) struct TagUrlView {
    /// The address in its full form.
    tag_url: String,
    /// Whether it is the current setting.
    in_force: bool,
    /// The last check of the address; null if there was none. An address is proved if `state` is
    /// `proved`.
    check: Option<TagUrlCheck>,
    /// URL of a page for a phone. A phone that opens it through the address proves the address.
    /// Valid for a day. Null for an address of this computer, which no phone can open, and for an
    /// address that is not the current setting.
    phone_url: Option<String>,
}

/// Get the tag URL for chips
///
/// Completes the address that a person typed, and returns its last check. The service opens no URL.
#[utoipa::path(
    get, path = "/tag-url", tag = "settings", params(TagUrlQuery),
    responses((status = OK, body = TagUrlView), Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Query(query): Query<TagUrlQuery>,
) -> Result<Json<TagUrlView>, ApiError> {
    let tag_url = meant(&service, query.tag_url.as_deref())?;
    let checks = service.storage.tag_url_checks().await?;
    let check = checks.into_iter().find(|check| check.tag_url == tag_url);
    let in_force = service.settings().tag_url == tag_url;
    // Only for the current setting: otherwise anyone with read access could prove any address.
    let phone_url = if in_force {
        prove_address::phone_url(&service, &tag_url).await?
    } else {
        None
    };
    Ok(Json(TagUrlView {
        tag_url,
        in_force,
        check,
        phone_url,
    }))
}

/// Check the tag URL for chips
///
/// Opens a test URL of this service through the address, within 12 seconds, and stores the result
/// with the setting. Follows redirects only on the same host. If another server answers, the result
/// says only that it is another server. A phone that opens `phone_url`, or a verified tap of a real
/// chip, also proves the address, if the request comes from another device and uses the host of the
/// address.
#[utoipa::path(
    post, path = "/tag-url/check", tag = "settings", request_body = Option<NewTagUrlCheck>,
    responses((status = OK, body = TagUrlCheck), BadBody, Written, Common)
)]
pub(crate) async fn check(
    Asked(service): Asked,
    body: Option<Body<NewTagUrlCheck>>,
) -> Result<Json<TagUrlCheck>, ApiError> {
    let Body(body) = body.unwrap_or(Body(NewTagUrlCheck::default()));
    let tag_url = meant(&service, body.tag_url.as_deref())?;
    Ok(Json(prove_address::check(&service, tag_url).await?))
}

/// The tag URLs that chips contain.
#[derive(Serialize, ToSchema)]
pub(crate) struct CarriedTagUrls {
    /// Tag URLs of inlays that were encoded here, most inlays first. `GET /inlays?carried_tag_url=`
    /// lists the inlays.
    items: Vec<CarriedTagUrlView>,
    /// Number of tags with a printed code (`has_qr_code`). Each code contains the tag URL of the
    /// day on which it was printed.
    printed_codes: u64,
}

/// A tag URL that chips contain.
#[derive(Serialize, ToSchema)]
#[schema(as = CarriedTagUrl)]
struct CarriedTagUrlView {
    /// The tag URL, as inlays contain it.
    tag_url: String,
    /// Whether it is the current setting.
    in_force: bool,
    /// Number of inlays that contain it.
    inlays: u64,
}

/// Count inlays by tag URL
///
/// Read this before you change the setting `tag_url`: existing chips and printed codes keep their
/// address.
#[utoipa::path(
    get, path = "/tag-url/carried", tag = "settings",
    responses((status = OK, body = CarriedTagUrls), Common)
)]
pub(crate) async fn carried(Asked(service): Asked) -> Result<Json<CarriedTagUrls>, ApiError> {
    let in_force = &service.settings().tag_url;
    let carried = service.storage.carried_tag_urls().await?;
    let items = carried.into_iter().map(|carried| CarriedTagUrlView {
        in_force: carried.tag_url == *in_force,
        tag_url: carried.tag_url,
        inlays: carried.inlays,
    });
    Ok(Json(CarriedTagUrls {
        items: items.collect(),
        printed_codes: service.storage.count_printed_codes().await?,
    }))
}

/// The requested address; without one, the current setting.
fn meant(service: &Service, typed: Option<&str>) -> Result<String, ApiError> {
    match typed {
        None => Ok(service.settings().tag_url.clone()),
        Some(typed) => tag_address::complete(typed)
            .map_err(|why| ApiError::Invalid(FieldError::of("tag_url", why))),
    }
}
