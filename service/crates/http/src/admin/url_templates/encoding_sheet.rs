//! `GET /admin/v1/url-templates/{id}/encoding-sheet`.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Common, Invalid, NotFound};
use domain::field_error::FieldError;
use domain::id::{TagId, UrlTemplateId};
use inlay::Technology;
use inlay::technology::Mode;
use inlay::template::{EncodingSheet, KeyUse, LayoutError, Memory};

/// The tag to encode.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SheetQuery {
    /// The tag whose slug is written. Required if the template contains `{slug}`.
    tag_id: Option<TagId>,
}

/// The content and the settings of the chips of a template.
#[derive(Serialize, ToSchema)]
#[schema(as = EncodingSheet)]
pub(crate) struct EncodingSheetView {
    /// Type of the chip.
    technology: Technology,
    /// The cipher mode of the chip.
    mode: Mode,
    /// The slug in the URL; null if the URL contains none.
    slug: Option<String>,
    /// The URL, with zeros in place of the parts that the chip mirrors.
    url: String,
    /// Where the bytes are written: `ndef_file`, from its first byte, or `pages`, from page 4 on.
    written_to: WrittenTo,
    /// The bytes in hex digits, with zeros in place of the parts that the chip mirrors.
    #[schema(pattern = "^([0-9A-F]{2})*$")]
    bytes: String,
    /// The placeholders that the chip mirrors, in the order of the URL.
    mirrors: Vec<MirrorView>,
    /// The bytes that the MAC covers; null if the type of chip defines them.
    mac_input: Option<Stretch>,
    /// Byte at which the chip writes the letters of its tamper loop; null without them. Within the
    /// place of `enc` they are encrypted.
    tamper_offset: Option<usize>,
    /// The settings of an NTAG 424 DNA; null for other chips.
    change_file_settings: Option<FileSettings>,
    /// Where an NTAG 21x or 22x DNA begins to mirror; null for other chips.
    mirror_start: Option<MirrorStart>,
}

/// The memory that the bytes are written to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum WrittenTo {
    /// The NDEF file of a Type 4 tag: its length, then the message.
    NdefFile,
    /// The pages of a Type 2 tag.
    Pages,
}

/// The place of a placeholder in the bytes.
#[derive(Serialize, ToSchema)]
struct MirrorView {
    /// Name of the placeholder.
    name: &'static str,
    /// Position of its first byte.
    offset: usize,
    /// Length of the placeholder, in bytes.
    length: usize,
}

/// A range of the bytes.
#[derive(Serialize, ToSchema)]
#[schema(as = ByteStretch)]
struct Stretch {
    /// Position of its first byte.
    offset: usize,
    /// Length in bytes; 0 for an empty MAC input.
    length: usize,
}

/// `ChangeFileSettings` of the NDEF file. Send it encrypted with key 0.
#[derive(Serialize, ToSchema)]
struct FileSettings {
    /// The number of the file.
    file: u8,
    /// The data of the command after the file number, in hex digits.
    #[schema(pattern = "^([0-9A-F]{2})*$")]
    data: String,
    /// The slot of the meta key, `SDMMetaRead`; null without one.
    meta_slot: Option<u8>,
    /// The slot of the file key, `SDMFileRead`; null without one.
    file_slot: Option<u8>,
}

/// A byte in the memory of a Type 2 tag.
#[derive(Serialize, ToSchema)]
struct MirrorStart {
    /// Value of `MIRROR_PAGE`: the page where mirroring begins.
    page: usize,
    /// Value of `MIRROR_BYTE`: the byte within that page.
    byte: usize,
}

/// The number of the NDEF file (`NT4H2421Gx` section 8.2.3).
const NDEF_FILE: u8 = 2;

/// Get the encoding sheet of a URL template
///
/// Contains everything that a chip needs to write its URLs by the template: bytes, offsets and
/// settings, but no key. A template with `{*}` has no sheet.
#[utoipa::path(
    get, path = "/url-templates/{id}/encoding-sheet", tag = "url templates",
    params(("id" = UrlTemplateId, Path), SheetQuery),
    responses((status = OK, body = EncodingSheetView), NotFound, Invalid, Common)
)]
pub(crate) async fn encoding_sheet(
    Asked(service): Asked,
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
        LayoutError::SlugInHost => invalid("tag_id", why.to_string()),
        LayoutError::Any | LayoutError::TooLong { .. } => invalid("template", why.to_string()),
    })?;
    let settings = template.settings();
    let slug = slug.filter(|_| template.has(inlay::template::Field::Slug));
    let (technology, mode) = (settings.technology, settings.mode);
    Ok(Json(EncodingSheetView::of(sheet, technology, mode, slug)))
}

impl EncodingSheetView {
    /// A sheet with its chip; `slug` is the slug in its URL.
    pub(in crate::admin) fn of(
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
