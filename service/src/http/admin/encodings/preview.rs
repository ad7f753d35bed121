//! `POST /admin/v1/encodings/preview`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::start::read_uid;
use crate::encode::{self, Asked, Fact, FormOptions, KnownChip, Whom};
use crate::encoding::Reason;
use crate::encoding::machine::preview::PreviewStep;
use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::admin::url_templates::EncodingSheetView;
use crate::http::error::{ApiError, BadBody, Common, Conflicting};
use crate::id::{EncodingRunId, TagId, UrlTemplateId};
use crate::inlay::{MacFrom, Mirror, Technology, Uid};
use crate::service::Service;

/// An encoding to be looked at before it begins.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the API's shape: each is a decision of its own"
)]
pub(crate) struct EncodingQuestion {
    /// The UID that the reader shows, if a chip lies on it.
    #[serde(default, deserialize_with = "optional_uid")]
    #[schema(value_type = Option<String>, pattern = "^([0-9A-Fa-f]{14}|08[0-9A-Fa-f]{6})$")]
    uid: Option<Uid>,
    /// The chip as the reader knows it.
    chip: Option<Technology>,
    /// The tag that it is to be an inlay of. Without it and a `run_id`: a tag that is not there yet.
    tag_id: Option<TagId>,
    /// The run whose next tag it is to be an inlay of. The run says how it is written.
    run_id: Option<EncodingRunId>,
    /// How it writes its URL; by default the canonical form of a tag URL.
    url_template_id: Option<UrlTemplateId>,
    /// How it shows UID and counter in the canonical form; by default encrypted.
    mirror: Option<Mirror>,
    /// Where the MAC's input begins in the canonical form; by default it is empty.
    mac_from: Option<MacFrom>,
    /// The chip of the canonical form. By default `ntag424dna`, or that of the URL template.
    technology: Option<Technology>,
    /// Whether an NTAG 213, 215 or 216 is to be locked against writing, for ever.
    #[serde(default)]
    lock: bool,
    /// Whether an NTAG 424 DNA is to be switched to LRP mode, for ever.
    #[serde(default)]
    lrp: bool,
    /// Whether its keys are to be random ones.
    #[serde(default)]
    own_keys: bool,
    /// Whether a finished chip is to be encoded again.
    #[serde(default)]
    replace: bool,
    /// Whether it is to be encoded though the tag has an inlay already.
    #[serde(default)]
    additional: bool,
}

fn optional_uid<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Uid>, D::Error> {
    /// A UID as a reader shows it.
    #[derive(Deserialize)]
    struct Shown(#[serde(deserialize_with = "read_uid")] Uid);
    let shown = Option::<Shown>::deserialize(deserializer)?;
    Ok(shown.map(|Shown(uid)| uid))
}

/// What an encoding would do.
#[derive(Serialize, ToSchema)]
pub(crate) struct EncodingPreview {
    /// The tag; null if it is not there yet.
    tag_id: Option<TagId>,
    /// The slug in the URL; an example if the tag is not there yet.
    slug: String,
    /// The chip that is written.
    technology: Technology,
    /// What is known of the chip on the reader; null without a `uid`.
    chip: Option<KnownChip>,
    /// The version of its new keys; of its present ones if it is finished. Null for chips without keys.
    generation: Option<u8>,
    /// Why it would not be encoded; null if nothing is known against it.
    reason: Option<Reason>,
    /// What would be on the chip, in words.
    facts: Vec<Fact>,
    /// What to think of before, in words.
    warnings: Vec<&'static str>,
    /// The URL, the bytes and the settings; null if no chip can hold them.
    sheet: Option<EncodingSheetView>,
    /// The steps in their order; none if it would not be encoded.
    steps: Vec<PreviewStep>,
}

/// Preview an encoding
///
/// A dry run: what would be written, byte by byte, and every step in words with the names of its
/// commands. Nothing is sent, and nothing is stored: no tag of a run is created, and no encoding
/// root. With the `uid` of a chip on the reader the answer is about that chip, as far as its
/// journal knows it; what only the chip can tell shows when it is encoded.
#[utoipa::path(
    post, path = "/encodings/preview", tag = "encodings", request_body = EncodingQuestion,
    responses((status = OK, body = EncodingPreview), Conflicting, BadBody, Common)
)]
pub(crate) async fn preview(
    State(service): State<Arc<Service>>,
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
    let asked = Asked {
        uid: body.uid,
        chip: body.chip,
        whom,
        options: FormOptions {
            url_template_id: body.url_template_id,
            mirror: body.mirror,
            mac_from: body.mac_from,
            technology: body.technology,
            lock: body.lock,
            lrp: body.lrp,
            own_keys: body.own_keys,
            replace: body.replace,
            additional: body.additional,
        },
    };
    let found = encode::preview(&service, &asked).await?;
    Ok(Json(view(found)))
}

fn view(found: encode::Preview) -> EncodingPreview {
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
