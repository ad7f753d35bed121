//! `GET /admin/v1/tags/{id}/encoding-sheet`.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::admin::url_templates::EncodingSheetView;
use crate::error::{ApiError, Common, Invalid, NotFound};
use domain::field_error::FieldError;
use domain::id::TagId;
use inlay::template::Template;
use inlay::{MacFrom, Mirror};

/// The codes in the URL of the tag's chip.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CodesQuery {
    /// How the chip shows UID and counter; by default encrypted.
    mirror: Option<Mirror>,
    /// Where the MAC's input begins; by default it is empty.
    mac_from: Option<MacFrom>,
}

/// Get the encoding sheet of a tag
///
/// Contains everything that an NTAG 424 DNA needs to write the tag's URL with one-time codes in the
/// canonical form: bytes, offsets and settings, but no key. Chips of a URL template have the
/// template's sheet.
#[utoipa::path(
    get, path = "/tags/{id}/encoding-sheet", tag = "tags",
    params(("id" = TagId, Path), CodesQuery),
    responses((status = OK, body = EncodingSheetView), NotFound, Invalid, Common)
)]
pub(crate) async fn encoding_sheet(
    Asked(service): Asked,
    Id(id): Id<TagId>,
    Query(CodesQuery { mirror, mac_from }): Query<CodesQuery>,
) -> Result<Json<EncodingSheetView>, ApiError> {
    let tag = service.storage.tag(id).await?;
    let slug = tag.ok_or(ApiError::NotFound("tag"))?.fields.slug;
    let slug = slug.to_string();
    let mirror = mirror.unwrap_or(Mirror::Encrypted);
    let mac_from = mac_from.unwrap_or(MacFrom::None);
    let refused = |why: String| ApiError::Invalid(FieldError::whole(why));
    let template = Template::canonical(&service.settings().tag_url, mirror, mac_from);
    let template = template
        .map_err(|why| refused(format!("The tag URL cannot be written to a chip: {why}")))?;
    let sheet = template.encoding_sheet(Some(&slug));
    let sheet = sheet.map_err(|why| refused(why.to_string()))?;
    let settings = template.settings();
    let (technology, mode) = (settings.technology, settings.mode);
    Ok(Json(EncodingSheetView::of(
        sheet,
        technology,
        mode,
        Some(slug),
    )))
}
