//! `POST /admin/v1/encodings/preview`.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::start::read_uid;
use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::url_templates::EncodingSheetView;
use crate::error::{ApiError, BadBody, Common, Conflicting};
use app::encoder::{self, Fact, FormOptions, KnownChip, Whom};
use domain::field_error::FieldError;
use domain::id::{EncodingRunId, TagId, UrlTemplateId};
use encoding::Reason;
use encoding::machine::preview::PreviewStep;
use inlay::{MacFrom, Mirror, Technology, Uid};

/// An encoding to preview.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the API's shape: each is a decision of its own"
)]
pub(crate) struct EncodingQuestion {
    /// The UID that the reader shows, if a chip is on the reader.
    #[serde(default, deserialize_with = "optional_uid")]
    #[schema(value_type = Option<String>, pattern = "^([0-9A-Fa-f]{14}|08[0-9A-Fa-f]{6})$")]
    uid: Option<Uid>,
    /// The type of chip that the reader detected.
    chip: Option<Technology>,
    /// The tag of the new inlay. Without it and `run_id`, a tag that does not exist yet.
    tag_id: Option<TagId>,
    /// The run that assigns the tag and the form of the URL.
    run_id: Option<EncodingRunId>,
    /// The URL template; by default the canonical form of a tag URL.
    url_template_id: Option<UrlTemplateId>,
    /// How the URL contains UID and counter in the canonical form; by default encrypted.
    mirror: Option<Mirror>,
    /// Start of the MAC input in the canonical form; by default the input is empty.
    mac_from: Option<MacFrom>,
    /// The chip for the canonical form. By default `ntag424dna`, or that of the URL template.
    technology: Option<Technology>,
    /// Whether to lock an NTAG 213, 215 or 216 against writing, permanently.
    #[serde(default)]
    lock: bool,
    /// Whether to give an NTAG 213, 215 or 216 a write password, derived from the encoding root.
    /// It cannot be combined with `lock`. If false, a password of this service is removed. By default
    /// it stays.
    write_password: Option<bool>,
    /// Whether to switch an NTAG 424 DNA to LRP mode, permanently.
    #[serde(default)]
    lrp: bool,
    /// Whether the new keys are random.
    #[serde(default)]
    own_keys: bool,
    /// Whether to encode a finished chip again.
    #[serde(default)]
    replace: bool,
    /// Whether to encode the chip although the tag already has an inlay.
    #[serde(default)]
    additional: bool,
}

fn optional_uid<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Uid>, D::Error> {
    /// A UID as the reader shows it.
    #[derive(Deserialize)]
    struct Shown(#[serde(deserialize_with = "read_uid")] Uid);
    let shown = Option::<Shown>::deserialize(deserializer)?;
    Ok(shown.map(|Shown(uid)| uid))
}

/// The plan of an encoding.
#[derive(Serialize, ToSchema)]
pub(crate) struct EncodingPreview {
    /// The tag; null if it does not exist yet.
    tag_id: Option<TagId>,
    /// The slug in the URL; an example if the tag does not exist yet.
    slug: String,
    /// The type of chip that would be written.
    technology: Technology,
    /// Known facts about the chip on the reader; null without a `uid`.
    chip: Option<KnownChip>,
    /// The version of the new keys; for a finished chip, of its current keys. Null for chips
    /// without keys.
    generation: Option<u8>,
    /// Why the chip would not be encoded; null if no reason is known.
    reason: Option<Reason>,
    /// The future content of the chip, for people.
    facts: Vec<Fact>,
    /// Warnings for people before the encoding.
    warnings: Vec<&'static str>,
    /// URL, bytes and settings; null if no chip can hold them.
    sheet: Option<EncodingSheetView>,
    /// The steps in their order; empty if the chip would not be encoded.
    steps: Vec<PreviewStep>,
}

/// Preview an encoding
///
/// A dry run. It shows every byte to write, and explains every step with the names of its commands.
/// Nothing is sent or stored: neither a tag of a run nor an encoding root is created. With the
/// `uid` of a chip on the reader, the answer is about that chip, based on its journal. Facts that
/// only the chip can provide appear during its encoding.
#[utoipa::path(
    post, path = "/encodings/preview", tag = "encodings", request_body = EncodingQuestion,
    responses((status = OK, body = EncodingPreview), Conflicting, BadBody, Common)
)]
pub(crate) async fn preview(
    Asked(service): Asked,
    Body(body): Body<EncodingQuestion>,
) -> Result<Json<EncodingPreview>, ApiError> {
    let whom = match (body.tag_id, body.run_id) {
        (Some(tag), None) => Whom::Tag(tag),
        (None, Some(run)) => Whom::Run(run),
        (None, None) => Whom::Anyone,
        _ => {
            let why = "Send tag_id or run_id, not both.";
            return Err(ApiError::Invalid(FieldError::of("tag_id", why)));
        }
    };
    let asked = encoder::Asked {
        uid: body.uid,
        chip: body.chip,
        whom,
        options: FormOptions {
            url_template_id: body.url_template_id,
            mirror: body.mirror,
            mac_from: body.mac_from,
            technology: body.technology,
            lock: body.lock,
            write_password: body.write_password,
            lrp: body.lrp,
            own_keys: body.own_keys,
            replace: body.replace,
            additional: body.additional,
            // A preview writes nothing, so the address need not be proved.
            allow_unproved_address: true,
            has_message: false,
        },
    };
    let found = encoder::preview(&service, &asked).await?;
    Ok(Json(view(found)))
}

fn view(found: encoder::Preview) -> EncodingPreview {
    let settings = &found.form.template;
    let (technology, mode) = (settings.technology, settings.mode);
    let slug = found.form.slug;
    let sheet = found.sheet.map(|sheet| {
        let slug = sheet.url.contains(&slug).then(|| slug.clone());
        EncodingSheetView::of(sheet, technology, mode, slug)
    });
    EncodingPreview {
        tag_id: found.tag,
        slug,
        technology,
        chip: found.chip,
        generation: found.generation,
        reason: found.reason,
        facts: found.facts,
        warnings: found.warnings,
        sheet,
        steps: found.steps,
    }
}
