//! The tags of a service for development: those of `demo`, and the page that they open.

use anyhow::{Result, anyhow};
use serde_json::{Value, json};
use tapdesk_service::experience::{Content, ExperienceFields};
use tapdesk_service::id::TagId;
use tapdesk_service::macros::Target;
use tapdesk_service::storage::TagChange;
use tapdesk_service::{Service, demo};

/// The name of the experience that leads to the developer's page.
const EXPERIENCE: &str = "Your page";

/// Makes the tags, which lead to `page` if there is one. Returns them as a test needs them.
pub(super) async fn make(service: &Service, page: Option<&str>) -> Result<Vec<Value>> {
    let tags = demo::make(service).await?.tags;
    if let Some(page) = page {
        lead_to(service, page, tags.clone()).await?;
    }
    shown(service, tags).await
}

async fn lead_to(service: &Service, page: &str, tags: Vec<TagId>) -> Result<()> {
    let target = Target::parse(page)
        .map_err(|error| anyhow!("The URL of --page cannot be used: {error}"))?;
    let content = Content::Redirect {
        pass_query: false,
        target,
        rules: Vec::new(),
    };
    let storage = &service.storage;
    let experience = ExperienceFields::named(EXPERIENCE, content)?;
    let experience = storage.insert_experience(experience, true).await?;
    let leads = TagChange::Assign(Some(experience.id));
    storage.change_tags(tags, leads).await?;
    Ok(())
}

async fn shown(service: &Service, tags: Vec<TagId>) -> Result<Vec<Value>> {
    let storage = &service.storage;
    // One for each tag at most.
    let chips = storage.virtual_inlays(None, tags.len()).await?;
    let mut shown = Vec::new();
    for tag in storage.tags_by_id(tags).await? {
        let experience = match tag.fields.experience_id {
            Some(id) => storage.experience(id).await?,
            None => None,
        };
        let experience = experience.map(|found| json!({"id": found.id, "name": found.name}));
        let chip = chips
            .iter()
            .find(|chip| chip.inlay.fields.tag_id == Some(tag.id));
        let inlay = chip.map(|chip| json!({"id": chip.id, "uid": chip.inlay.uid}));
        let slug = tag.fields.slug.as_str();
        shown.push(json!({
            "id": tag.id,
            "name": tag.fields.name,
            "slug": slug,
            "url": service.settings().url_of(slug),
            "inlay": inlay,
            "experience": experience,
        }));
    }
    Ok(shown)
}
