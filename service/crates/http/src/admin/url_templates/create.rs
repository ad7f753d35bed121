//! `POST /admin/v1/url-templates`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::keys::SharedKeys;
use super::view::UrlTemplateView;
use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::state::AppState;
use domain::id::{ExperienceId, GroupId, MasterKeyId};
use domain::inventory::{CREATE_LIMIT, ChipPlace, UnlistedMode, UnlistedRule, UrlTemplateFields};
use inlay::Technology;
use inlay::key::AesKey;
use inlay::technology::Mode;
use inlay::template::{Lookup, MacStart, TemplateSettings};

/// A URL template to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUrlTemplate {
    /// Name of the URL template.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The URL with the placeholders `{slug}`, `{uid}`, `{counter}`, `{picc}`, `{enc}`, `{mac}`,
    /// `{tamper}` or `{*}` (anything). Double a literal brace.
    #[schema(min_length = 1, max_length = 512)]
    template: String,
    /// Type of the chips.
    technology: Technology,
    /// The cipher of an NTAG 424 DNA.
    #[serde(default)]
    mode: Mode,
    /// Start of the MAC input: `none`, the name of a placeholder, or the chip's own offset.
    #[serde(default)]
    mac_from: MacStart,
    /// The NDEF prefix code on the chips; by default the longest that fits.
    #[schema(maximum = 4)]
    ndef_prefix: Option<u8>,
    /// Number of characters of `{enc}`, a multiple of 32.
    #[schema(minimum = 32, multiple_of = 32)]
    enc_length: Option<usize>,
    /// Position of the tamper pair in the decrypted file data, in bytes.
    tamper_at: Option<usize>,
    /// How a tap finds the inlay of a URL with `{uid}` and without `{slug}` if the chips make no
    /// MAC. Required for such a template, because anyone can write any UID into the URL.
    #[serde(default)]
    lookup: Option<Lookup>,
    /// The answer to authentic codes of chips that are no inlays.
    #[serde(default)]
    unlisted: UnlistedMode,
    /// Maximum number of tags that taps create in a UTC day.
    #[serde(default = "create_limit")]
    #[schema(minimum = 1, maximum = 1_000_000, default = 10_000)]
    create_limit: u32,
    /// The experience of tags that taps create.
    #[serde(default)]
    experience_id: Option<ExperienceId>,
    /// The group of tags that taps create.
    #[serde(default)]
    group_id: Option<GroupId>,
    /// A file key that all chips of the template share. Inlays that are created without keys get
    /// it.
    #[serde(default)]
    shared_file_key: Option<AesKey>,
    /// Meta keys that identify the inlay of a URL without slug and UID.
    #[serde(default)]
    #[schema(max_items = 64)]
    meta_keys: Vec<AesKey>,
    /// Master keys whose shared meta keys identify inlays in the same way, and whose file keys check
    /// the codes of unlisted chips.
    #[serde(default)]
    #[schema(max_items = 64)]
    master_key_ids: Vec<MasterKeyId>,
    /// Whether to accept the all-zero factory key. Codes with it prove nothing.
    #[serde(default)]
    allow_factory_keys: bool,
}

const fn create_limit() -> u32 {
    CREATE_LIMIT
}

/// Create a URL template
///
/// Several templates can have one address if their placeholders or the lengths of these tell them
/// apart; a URL is tried with at most four. Fails if they do not, if a URL could reach a route of
/// the service, or if the host is one of the admin API's.
#[utoipa::path(
    post, path = "/url-templates", tag = "url templates", request_body = NewUrlTemplate,
    responses((status = CREATED, body = UrlTemplateView), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    State(state): State<AppState>,
    Asked(service): Asked,
    Body(new): Body<NewUrlTemplate>,
) -> Result<(StatusCode, Edited<UrlTemplateView>), ApiError> {
    let template = super::checked(
        &state,
        TemplateSettings {
            template: new.template,
            technology: new.technology,
            mode: new.mode,
            mac_from: new.mac_from,
            ndef_prefix: new.ndef_prefix,
            enc_length: new.enc_length,
            tamper_at: new.tamper_at,
            lookup: new.lookup,
        },
    )
    .map_err(ApiError::Invalid)?;
    let keys = SharedKeys {
        meta_keys: new.meta_keys,
        master_key_ids: new.master_key_ids,
        allow_factory_keys: new.allow_factory_keys,
    };
    let file_key = new.shared_file_key.as_ref();
    let file_key = file_key.map(|key| super::sealed(&service, key, new.allow_factory_keys));
    let mut fields = UrlTemplateFields {
        name: super::name(new.name)?,
        template,
        keys: Vec::new(),
        unlisted: UnlistedRule {
            mode: new.unlisted,
            create_limit: new.create_limit,
            place: ChipPlace {
                experience_id: new.experience_id,
                group_id: new.group_id,
            },
            file_key: file_key.transpose()?,
        },
    };
    fields.add(keys.seal(&service).await?);
    let template = service.storage.insert_url_template(fields).await?;
    let template = Edited::shown_as(template, UrlTemplateView::from);
    Ok((StatusCode::CREATED, template))
}
