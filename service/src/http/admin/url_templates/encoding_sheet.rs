//! `GET /admin/v1/url-templates/{id}/encoding-sheet`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::field_error::FieldError;
use crate::http::admin::path::Id;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Invalid, NotFound};
use crate::id::{TagId, UrlTemplateId};
use crate::inlay::Technology;
use crate::inlay::technology::Mode;
use crate::inlay::template::{EncodingSheet, KeyUse, LayoutError, Memory};
use crate::service::Service;

/// For which tag.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SheetQuery {
    /// The tag whose slug is written; needed if the template contains `{slug}`.
    tag_id: Option<TagId>,
}

/// How the chips of a template are written.
#[derive(Serialize, ToSchema)]
#[schema(as = EncodingSheet)]
pub(crate) struct EncodingSheetView {
    /// The chip.
    technology: Technology,
    /// Its cipher.
    mode: Mode,
    /// The slug in the URL; null if it has none.
    slug: Option<String>,
    /// The URL with zeros in the place of what the chip mirrors.
    url: String,
    /// Where the bytes are written: `ndef_file`, from its first byte, or `pages`, from page 4 on.
    written_to: WrittenTo,
    /// The bytes, in hex digits: zeros in the place of what the chip mirrors.
    #[schema(pattern = "^([0-9A-F]{2})*$")]
    bytes: String,
    /// What the chip mirrors, in the order of the URL.
    mirrors: Vec<MirrorView>,
    /// What the MAC covers; null if the chip's make fixes that.
    mac_input: Option<Stretch>,
    /// At which byte the chip writes the letters of its tamper loop; null without them. Within
    /// the place of `enc` they are encrypted.
    tamper_offset: Option<usize>,
    /// The settings of an NTAG 424 DNA; null for other chips.
    change_file_settings: Option<FileSettings>,
    /// Where an NTAG 21x or 22x DNA begins to mirror; null for other chips.
    mirror_start: Option<MirrorStart>,
}

/// A kind of memory.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum WrittenTo {
    /// The NDEF file of a Type 4 tag: its length, then the message.
    NdefFile,
    /// The pages of a Type 2 tag.
    Pages,
}

/// A placeholder in the bytes.
#[derive(Serialize, ToSchema)]
struct MirrorView {
    /// Its name.
    name: &'static str,
    /// Its first byte.
    offset: usize,
    /// How many bytes it has.
    length: usize,
}

/// A stretch of the bytes.
#[derive(Serialize, ToSchema)]
#[schema(as = ByteStretch)]
struct Stretch {
    /// Its first byte.
    offset: usize,
    /// How many bytes it has; 0 for an empty MAC input.
    length: usize,
}

/// `ChangeFileSettings` of the NDEF file. It is sent under key 0, encrypted.
#[derive(Serialize, ToSchema)]
struct FileSettings {
    /// The file's number.
    file: u8,
    /// The command's data after the file's number, in hex digits.
    #[schema(pattern = "^([0-9A-F]{2})*$")]
    data: String,
    /// The slot of the meta key, `SDMMetaRead`; null without one.
    meta_slot: Option<u8>,
    /// The slot of the file key, `SDMFileRead`; null without one.
    file_slot: Option<u8>,
}

/// A byte of a Type 2 tag.
#[derive(Serialize, ToSchema)]
struct MirrorStart {
    /// `MIRROR_PAGE`.
    page: usize,
    /// `MIRROR_BYTE`.
    byte: usize,
}

/// The number of the NDEF file (`NT4H2421Gx` section 8.2.3).
const NDEF_FILE: u8 = 2;

/// Get the encoding sheet of a URL template
///
/// Everything a chip needs to write its URLs as the template says: bytes, offsets and settings. It
/// contains no key. A template with `{*}` has none.
#[utoipa::path(
    get, path = "/url-templates/{id}/encoding-sheet", tag = "url templates",
    params(("id" = UrlTemplateId, Path), SheetQuery),
    responses((status = OK, body = EncodingSheetView), NotFound, Invalid, Common)
)]
pub(crate) async fn encoding_sheet(
    State(service): State<Arc<Service>>,
    Id(id): Id<UrlTemplateId>,
    Query(SheetQuery { tag_id }): Query<SheetQuery>,
) -> Result<Json<EncodingSheetView>, ApiError> {
    let found = service.storage.url_template(id).await?;
    let template = found
        .ok_or(ApiError::NotFound("URL template"))?
        .fields
        .template;
    let invalid = |field, why: String| ApiError::Invalid(FieldError::of(field, why));
    let slug = match tag_id {
        None => None,
        Some(id) => {
            let tag = service.storage.tag(id).await?;
            let tag = tag.ok_or_else(|| invalid("tag_id", format!("There is no tag {id}.")))?;
            Some(tag.fields.slug.to_string())
        }
    };
    let sheet = template.encoding_sheet(slug.as_deref());
    let sheet = sheet.map_err(|why| match why {
        LayoutError::NoSlug => {
            let why = "The template contains {slug}: choose the tag whose slug is written.";
            invalid("tag_id", why.to_owned())
        }
        LayoutError::Any | LayoutError::TooLong { .. } => invalid("template", why.to_string()),
    })?;
    let settings = template.settings();
    let slug = slug.filter(|_| template.has(crate::inlay::template::Field::Slug));
    let (technology, mode) = (settings.technology, settings.mode);
    Ok(Json(EncodingSheetView::of(sheet, technology, mode, slug)))
}

impl EncodingSheetView {
    /// A sheet with its chip; `slug` is the one in its URL.
    pub(in crate::http::admin) fn of(
        sheet: EncodingSheet,
        technology: Technology,
        mode: Mode,
        slug: Option<String>,
    ) -> Self {
        let hex = |bytes: &[u8]| format!("{:X}", base16ct::HexDisplay(bytes));
        let slot = |wanted| {
            let found = sheet.slots.iter().find(|(of, _)| *of == wanted);
            found.map(|(_, slot)| *slot)
        };
        let mirrors = sheet.mirrors.iter().map(|mirrored| MirrorView {
            name: mirrored.field.name(),
            offset: mirrored.offset,
            length: mirrored.length,
        });
        Self {
            technology,
            mode,
            slug,
            bytes: hex(&sheet.bytes),
            mirrors: mirrors.collect(),
            written_to: match sheet.written_to {
                Memory::NdefFile => WrittenTo::NdefFile,
                Memory::Pages => WrittenTo::Pages,
            },
            mac_input: sheet
                .mac_input
                .map(|(offset, length)| Stretch { offset, length }),
            tamper_offset: sheet.tamper,
            change_file_settings: sheet.file_settings.as_deref().map(|data| FileSettings {
                file: NDEF_FILE,
                data: hex(data),
                meta_slot: slot(KeyUse::Meta),
                file_slot: slot(KeyUse::File),
            }),
            mirror_start: sheet
                .mirror_start
                .map(|(page, byte)| MirrorStart { page, byte }),
            url: sheet.url,
        }
    }
}
