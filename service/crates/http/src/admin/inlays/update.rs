//! `PATCH /admin/v1/inlays/{id}`.

use serde::Deserialize;
use utoipa::ToSchema;

use super::view::InlayView;
use crate::admin::Asked;
use crate::admin::extract::body::Patch;
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written};
use app::inlays::{KeyRequest, OtherKeysRequest, mode_of, template};
use domain::field_error::FieldError;
use domain::id::{InlayId, MasterKeyId, TagId, UrlTemplateId};
use domain::inventory::{InlayFields, InvalidInlay, MemberPatch};
use inlay::key::{AesKey, SomeKey};
use inlay::{MacFrom, Mirror};

/// Changes to an inlay. Members that are not sent stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InlayPatch {
    /// The tag of the inlay; null to remove the inlay from its tag.
    #[serde(default)]
    #[schema(value_type = Option<TagId>)]
    tag_id: MemberPatch<TagId>,
    /// Another URL template; null for the canonical form. The inlay gets the mode of the template.
    #[serde(default)]
    #[schema(value_type = Option<UrlTemplateId>)]
    url_template_id: MemberPatch<UrlTemplateId>,
    /// How the URL contains UID and counter; null if the chip makes no codes any more.
    #[serde(default)]
    #[schema(value_type = Option<Mirror>)]
    mirror: MemberPatch<Mirror>,
    /// Start of the part of the URL that the MAC covers. It cannot be null: `none` is the empty
    /// input.
    #[serde(default)]
    #[schema(value_type = Option<MacFrom>, nullable = false)]
    mac_from: MemberPatch<MacFrom>,
    /// A new `SDMMetaReadKey` of the chip.
    #[serde(default)]
    #[schema(value_type = Option<AesKey>)]
    meta_key: MemberPatch<AesKey>,
    /// A new `SDMFileReadKey`, or a new value of the chip's only key.
    #[serde(default)]
    #[schema(value_type = Option<SomeKey>)]
    file_key: MemberPatch<SomeKey>,
    /// A master key from which the inlay's keys are derived from now on. If `meta_key` is sent, too,
    /// only the file key is derived.
    #[serde(default)]
    #[schema(value_type = Option<MasterKeyId>)]
    master_key_id: MemberPatch<MasterKeyId>,
    /// The chip's other keys, if another program encoded it; null to forget them. They are replaced
    /// together: a request with only some of them is refused.
    #[serde(default)]
    #[schema(value_type = Option<OtherKeysRequest>)]
    other_keys: MemberPatch<OtherKeysRequest>,
    /// Accepts a counter that increased by too much. Every code up to this counter is used up. The
    /// value can only increase, and cannot be null.
    #[serde(default)]
    #[schema(value_type = Option<u64>, maximum = 4_294_967_295_u32, nullable = false)]
    last_counter: MemberPatch<u32>,
    /// Whether the inlay is blocked, because it was lost or cloned. Its authentic codes then get
    /// `false` with reason `blocked`, as soon as the change is stored. These codes are used up:
    /// they do not verify after the inlay is unblocked. It cannot be null.
    #[serde(default)]
    #[schema(value_type = Option<bool>, nullable = false)]
    blocked: MemberPatch<bool>,
    /// Whether to accept the all-zero factory key. Codes with it prove nothing.
    #[serde(default)]
    allow_factory_keys: bool,
}

/// Change an inlay
///
/// New keys restart the counter from 0, because a new encoding resets it on the chip. Codes made
/// with the old keys no longer verify. Former keys return with their counter, so that no code is
/// accepted twice. UID and technology cannot change.
#[utoipa::path(
    patch, path = "/inlays/{id}", tag = "inlays", params(("id" = InlayId, Path)),
    request_body(content = InlayPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = InlayView), NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    Asked(service): Asked,
    Id(id): Id<InlayId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<InlayView>, ApiError> {
    let patch: InlayPatch = patch.read()?;
    if patch.mac_from == MemberPatch::Remove {
        let why = "mac_from cannot be null. Leave it out to keep what is there; \"none\" is the empty input.";
        return Err(ApiError::Invalid(FieldError::of("mac_from", why)));
    }
    let inlay = service.storage.inlay(id).await?;
    let inlay = inlay.ok_or(ApiError::NotFound("inlay"))?;
    let (uid, technology) = (inlay.uid, inlay.fields.technology);
    let spent = match patch.last_counter {
        MemberPatch::Keep => None,
        MemberPatch::Set(counter) => Some(counter),
        MemberPatch::Remove => {
            let why = "last_counter cannot be null. Leave it out to keep what is there.";
            return Err(ApiError::Invalid(FieldError::of("last_counter", why)));
        }
    };
    if spent.is_some_and(|counter| counter > technology.counter_max()) {
        return Err(ApiError::invalid(InvalidInlay::LastCounter(technology)));
    }
    let now = service.storage.now().await?;
    let blocked = match patch.blocked {
        MemberPatch::Keep => None,
        MemberPatch::Set(blocked) => Some(blocked),
        MemberPatch::Remove => {
            let why = "blocked cannot be null. Leave it out to keep what is there; false unblocks the inlay.";
            return Err(ApiError::Invalid(FieldError::of("blocked", why)));
        }
    };
    let request = KeyRequest {
        meta_key: patch.meta_key,
        file_key: patch.file_key,
        master_key_id: patch.master_key_id,
        allow_factory_keys: patch.allow_factory_keys,
    };
    let url_template_id = patch.url_template_id;
    let template = template(
        &service,
        url_template_id.apply(inlay.fields.url_template_id),
    )
    .await?;
    let keys = request.seal(&service, uid, technology, template.as_ref());
    let keys = keys.await?;
    let mode = match url_template_id {
        MemberPatch::Keep => None,
        MemberPatch::Remove | MemberPatch::Set(_) => Some(mode_of(template.as_ref())),
    };
    let other_keys = patch.other_keys.try_map(|keys| keys.seal(&service))?;
    let (tag_id, mirror, mac_from) = (patch.tag_id, patch.mirror, patch.mac_from);
    let edit = move |before: InlayFields| {
        expected.check(Some(&before))?;
        // A template already defines these two settings of the canonical form.
        let form = match url_template_id {
            MemberPatch::Set(_) => (None, MacFrom::None),
            _ => (before.mirror, before.mac_from),
        };
        let fields = InlayFields {
            technology: before.technology,
            mode: mode.unwrap_or(before.mode),
            url_template_id: url_template_id.apply(before.url_template_id),
            tag_id: tag_id.apply(before.tag_id),
            mirror: mirror.apply(form.0),
            mac_from: mac_from.apply(Some(form.1)).unwrap_or(MacFrom::None),
            keys: keys.clone().apply(before.keys).map_err(FieldError::from)?,
            other_keys: other_keys.clone().apply(before.other_keys),
            blocked_at: match blocked {
                None => before.blocked_at,
                Some(false) => None,
                Some(true) => before.blocked_at.or(Some(now)),
            },
        };
        fields.validate().map_err(FieldError::from)?;
        Ok(fields)
    };
    let storage = &service.storage;
    let edited = storage
        .edit_inlay_and_spend(id, Box::new(edit), spent)
        .await;
    let inlay = unless_changed(edited, super::current(&service, id)).await?;
    let inlay = inlay.ok_or(ApiError::NotFound("inlay"))?;
    Ok(Edited::shown_as(inlay, InlayView::from))
}
