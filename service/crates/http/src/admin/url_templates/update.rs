//! `PATCH /admin/v1/url-templates/{id}`.

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::UrlTemplateView;
use crate::admin::Asked;
use crate::admin::extract::body::Patch;
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written};
use crate::state::AppState;
use domain::field_error::FieldError;
use domain::id::{ExperienceId, GroupId, UrlTemplateId};
use domain::inventory::{
    ChipPlace, MemberPatch, UnlistedMode, UnlistedRule, UrlTemplate, UrlTemplateFields,
};
use inlay::Technology;
use inlay::key::AesKey;
use inlay::technology::Mode;
use inlay::template::{Lookup, MacStart, TemplateSettings};

/// Changes to a URL template. Members that are not sent stay unchanged. Members that affect a MAC
/// can only change while neither inlays nor chips in production use the template.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UrlTemplatePatch {
    /// New name of the template.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200, nullable = false)]
    name: MemberPatch<String>,
    /// New URL with placeholders.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 512, nullable = false)]
    template: MemberPatch<String>,
    /// New type of the chips.
    #[serde(default)]
    #[schema(value_type = Option<Technology>, nullable = false)]
    technology: MemberPatch<Technology>,
    /// New cipher mode of the chips.
    #[serde(default)]
    #[schema(value_type = Option<Mode>, nullable = false)]
    mode: MemberPatch<Mode>,
    /// New start of the MAC input.
    #[serde(default)]
    #[schema(value_type = Option<MacStart>, nullable = false)]
    mac_from: MemberPatch<MacStart>,
    /// New NDEF prefix code; null for the longest that fits.
    #[serde(default)]
    #[schema(value_type = Option<u8>, maximum = 4)]
    ndef_prefix: MemberPatch<u8>,
    /// New length of `{enc}`; null without it.
    #[serde(default)]
    #[schema(value_type = Option<usize>, minimum = 32, multiple_of = 32)]
    enc_length: MemberPatch<usize>,
    /// New position of the tamper pair; null without one.
    #[serde(default)]
    #[schema(value_type = Option<usize>)]
    tamper_at: MemberPatch<usize>,
    /// New lookup; null without one.
    #[serde(default)]
    #[schema(value_type = Option<Lookup>)]
    lookup: MemberPatch<Lookup>,
    /// New answer to authentic codes of chips that are no inlays.
    #[serde(default)]
    #[schema(value_type = Option<UnlistedMode>, nullable = false)]
    unlisted: MemberPatch<UnlistedMode>,
    /// New maximum number of tags that taps create in a UTC day.
    #[serde(default)]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 1_000_000, nullable = false)]
    create_limit: MemberPatch<u32>,
    /// New experience of tags that taps create; null for none.
    #[serde(default)]
    #[schema(value_type = Option<ExperienceId>)]
    experience_id: MemberPatch<ExperienceId>,
    /// New group of tags that taps create; null for none.
    #[serde(default)]
    #[schema(value_type = Option<GroupId>)]
    group_id: MemberPatch<GroupId>,
    /// New file key that all chips of the template share; null for none. Existing inlays keep their
    /// keys.
    #[serde(default)]
    #[schema(value_type = Option<AesKey>)]
    shared_file_key: MemberPatch<AesKey>,
    /// Whether to accept the all-zero factory key. Codes with it prove nothing.
    #[serde(default)]
    #[schema(required = false)]
    allow_factory_keys: bool,
}

/// Change a URL template
///
/// To change its keys, use `/url-templates/{id}/meta-keys`.
#[utoipa::path(
    patch, path = "/url-templates/{id}", tag = "url templates", params(("id" = UrlTemplateId, Path)),
    request_body(content = UrlTemplatePatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = UrlTemplateView), NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    State(state): State<AppState>,
    Asked(service): Asked,
    Id(id): Id<UrlTemplateId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<UrlTemplateView>, ApiError> {
    let patch: UrlTemplatePatch = patch.read()?;
    patch.check()?;
    let name = patch.name.set().cloned().map(super::name).transpose()?;
    let file_key = patch.shared_file_key.clone();
    let file_key =
        file_key.try_map(|key| super::sealed(&service, &key, patch.allow_factory_keys))?;
    let of_state = state.clone();
    let edit = move |before: &UrlTemplate| {
        expected.check(Some(before))?;
        let rule = &before.fields.unlisted;
        let settings = patch.apply(before.fields.settings());
        let template = if settings == *before.fields.settings() {
            before.fields.template.clone()
        } else {
            let checked = super::checked(&of_state, settings)?;
            // The API shows the default prefix of a template. If a client sends it back, nothing
            // changes, and the request is allowed while the template is in use.
            if checked.is_same(&before.fields.template) {
                before.fields.template.clone()
            } else {
                checked
            }
        };
        Ok(UrlTemplateFields {
            name: name.clone().unwrap_or_else(|| before.fields.name.clone()),
            template,
            keys: before.fields.keys.clone(),
            unlisted: UnlistedRule {
                mode: patch.unlisted.set().copied().unwrap_or(rule.mode),
                create_limit: patch
                    .create_limit
                    .set()
                    .copied()
                    .unwrap_or(rule.create_limit),
                place: ChipPlace {
                    experience_id: patch.experience_id.apply(rule.place.experience_id),
                    group_id: patch.group_id.apply(rule.place.group_id),
                },
                file_key: file_key.clone().apply(rule.file_key.clone()),
            },
        })
    };
    let edited = service.storage.edit_url_template(id, Box::new(edit)).await;
    let edited = unless_changed(edited, super::current(&service, id)).await?;
    let edited = edited.ok_or(ApiError::NotFound("URL template"))?;
    Ok(Edited::shown_as(edited, UrlTemplateView::from))
}

impl UrlTemplatePatch {
    /// Refuses null for members that a template requires.
    fn check(&self) -> Result<(), ApiError> {
        let null = [
            ("name", self.name == MemberPatch::Remove),
            ("template", self.template == MemberPatch::Remove),
            ("technology", self.technology == MemberPatch::Remove),
            ("mode", self.mode == MemberPatch::Remove),
            ("mac_from", self.mac_from == MemberPatch::Remove),
            ("unlisted", self.unlisted == MemberPatch::Remove),
            ("create_limit", self.create_limit == MemberPatch::Remove),
        ];
        match null.into_iter().find(|(_, null)| *null) {
            Some((member, _)) => {
                let why = format!("{member} cannot be null. Leave it out to keep what is there.");
                Err(ApiError::Invalid(FieldError::of(member, why)))
            }
            None => Ok(()),
        }
    }

    fn apply(&self, before: &TemplateSettings) -> TemplateSettings {
        TemplateSettings {
            template: self.template.set().unwrap_or(&before.template).clone(),
            technology: self.technology.set().copied().unwrap_or(before.technology),
            mode: self.mode.set().copied().unwrap_or(before.mode),
            mac_from: self.mac_from.set().copied().unwrap_or(before.mac_from),
            ndef_prefix: self.ndef_prefix.apply(before.ndef_prefix),
            enc_length: self.enc_length.apply(before.enc_length),
            tamper_at: self.tamper_at.apply(before.tamper_at),
            lookup: self.lookup.apply(before.lookup),
        }
    }
}
