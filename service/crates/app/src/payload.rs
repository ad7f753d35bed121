//! The interaction payload (specification 2.2 to 2.4), which the owner's domain gets for a rolling
//! key. The specification defines its members and their order.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::service::{CachedTag, Service};
use domain::clock::Millis;
use domain::id::{InlayId, InteractionId};
use domain::interaction::KeyedInteraction;
use domain::rolling_key::{LIFETIME, RollingKey};
use domain::settings::Settings;
use domain::tag::{Location, WidgetSettings};
use storage::{StorageError, TagKey};

/// A payload, and how long its key is still valid.
pub struct Retrieved {
    /// The object of specification 2.2 as JSON.
    pub json: String,
    /// The rest of the key's five minutes; more than nothing.
    pub remaining: Millis,
}

/// The payload for the key `presented` (Base64). `None` if the key is invalid or expired; a consumed
/// key is still accepted.
pub async fn payload(
    service: &Service,
    presented: &str,
) -> Result<Option<Retrieved>, StorageError> {
    let Some(key) = RollingKey::from_base64(presented) else {
        return Ok(None);
    };
    let Some((issued, interaction)) = service.live_key(&key).await? else {
        return Ok(None);
    };
    let tag = TagKey::Id(interaction.tag_id);
    let Some(tag) = service.tags.get(tag).await? else {
        return Ok(None);
    };
    service
        .storage
        .note_payload_read(interaction.id, interaction.read_at);
    let settings = service.settings();
    let url = address(service, &settings, &tag, interaction.inlay_id).await?;
    let payload = Payload::new(&settings, &tag, url, &interaction, &key);
    let json =
        serde_json::to_string(&payload).map_err(|error| StorageError::Failed(error.to_string()))?;
    let remaining = LIFETIME - interaction.read_at.since(issued.issued_at);
    Ok(Some(Retrieved { json, remaining }))
}

/// The tag's URL without its one-time part, in the form in which it was tapped.
async fn address(
    service: &Service,
    settings: &Settings,
    tag: &CachedTag,
    inlay: Option<InlayId>,
) -> Result<String, StorageError> {
    if let Some(id) = tag.url_template(inlay)
        && let Some(template) = service.templates.current().await?.get(id)
    {
        return Ok(template.template.address(tag.slug()));
    }
    Ok(settings.url_of(tag.slug()))
}

/// The object of specification 2.2.
#[derive(Serialize, ToSchema)]
pub struct Payload<'a> {
    #[schema(value_type = Vec<Value>)]
    campaigns: [(); 0],
    metadata: Metadata<'a>,
    app_id: i64,
    social: Social,
    location: &'a Location,
    #[schema(value_type = Vec<InteractionId>)]
    interaction_ids: [InteractionId; 1],
    #[schema(value_type = Vec<Value>)]
    impression_ids: [(); 0],
    track_location: bool,
    #[schema(value_type = Vec<Value>)]
    payloads: [(); 0],
    /// True, false, or null if it was not checked.
    tag_verified: Option<bool>,
    device: Device<'a>,
    #[schema(pattern = "^[A-Za-z0-9]{44}$")]
    rk: &'a str,
}

/// The object of specification 2.3.
#[derive(Serialize, ToSchema)]
struct Metadata<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    url: String,
    tag_id: i64,
    #[schema(pattern = "^[0-9]*$")]
    studio_id: String,
    #[schema(value_type = BTreeMap<String, BTreeMap<String, Value>>)]
    widget_settings: &'a WidgetSettings,
    language_code: &'a str,
    #[schema(pattern = "^[01]$")]
    verified: &'static str,
    #[schema(pattern = "^[01]$")]
    tag_verifier_enabled: &'static str,
    device_id: i64,
}

#[derive(Default, Serialize, ToSchema)]
struct Social {
    #[schema(value_type = BTreeMap<String, Value>)]
    blacklist: Map<String, Value>,
}

#[derive(Serialize, ToSchema)]
struct Device<'a> {
    r: bool,
    rd: bool,
    country: &'a str,
}

/// The specification's form of a boolean in `metadata`.
const fn digit(yes: bool) -> &'static str {
    if yes { "1" } else { "0" }
}

impl<'a> Payload<'a> {
    fn new(
        settings: &Settings,
        tag: &'a CachedTag,
        url: String,
        interaction: &'a KeyedInteraction,
        key: &'a RollingKey,
    ) -> Self {
        static NOWHERE: std::sync::LazyLock<Location> = std::sync::LazyLock::new(Location::default);
        let tag_verified = interaction.verdict.tag_verified();
        Self {
            campaigns: [],
            metadata: Metadata {
                name: tag.name(),
                title: tag.title(),
                description: tag.description(),
                url,
                tag_id: tag.id().get(),
                studio_id: tag.studio_id(),
                widget_settings: tag.widget_settings(),
                language_code: tag.language_code(),
                verified: digit(tag_verified == Some(true)),
                tag_verifier_enabled: digit(tag.switches.verifier_enabled),
                device_id: interaction.inlay_id.map_or(0, InlayId::get),
            },
            app_id: settings.app_id,
            social: Social::default(),
            location: tag.location().unwrap_or(&NOWHERE),
            interaction_ids: [interaction.id],
            impression_ids: [],
            track_location: tag.switches.track_location,
            payloads: [],
            tag_verified,
            device: Device {
                r: interaction.returning.month,
                rd: interaction.returning.day,
                country: &interaction.country,
            },
            rk: key.expose(),
        }
    }
}
