//! The demonstration: simulated tags, an experience and virtual inlays for trying Tapdesk. It is
//! recognised by the tags' slugs and the experience's name.

use std::collections::BTreeMap;

use crate::service::Service;
use domain::entropy;
use domain::experience::{Content, ExperienceFields};
use domain::id::{ExperienceId, TagId};
use domain::inventory::{InlayFields, NewInlay, SealedKey, SealedKeys, virtual_uid};
use domain::keyring::KeyringError;
use domain::macros::Target;
use domain::tag::{Properties, PropertyKey, Slug, Tag, TagFields};
use domain::world::World;
use inlay::key::AesKey;
use inlay::technology::Mode;
use inlay::{MacFrom, Mirror, Technology};
use storage::{
    Conflict, ExperienceFilter, InlayFilter, SimulatedTag, StorageError, TagChange, TagFilter,
    TagList, TagOrder,
};

/// A tag of the demonstration.
pub struct DemoTag {
    /// Slug, by which the tag is recognised.
    pub slug: &'static str,
    /// The feature that it shows, in words.
    pub about: &'static str,
    name: &'static str,
    sku: &'static str,
    /// How its virtual inlay shows UID and counter; `None` for a tag with only a printed QR code.
    mirror: Option<Mirror>,
}

impl DemoTag {
    fn slug(&self) -> Slug {
        Slug::parse(self.slug).expect("a slug of ours is one")
    }
}

/// The tags of the demonstration.
pub const TAGS: [DemoTag; 3] = [
    DemoTag {
        slug: "demo-bottle",
        about: "an inlay with the encrypted mirror",
        name: "Bottle (demo)",
        sku: "B-100",
        mirror: Some(Mirror::Encrypted),
    },
    DemoTag {
        slug: "demo-jacket",
        about: "an inlay with the plain mirror",
        name: "Jacket (demo)",
        sku: "J-200",
        mirror: Some(Mirror::Plain),
    },
    DemoTag {
        slug: "demo-poster",
        about: "a printed QR code only: nothing to verify",
        name: "Poster (demo)",
        sku: "P-300",
        mirror: None,
    },
];

const EXPERIENCE: &str = "Register product (demo)";
const TARGET: &str = "https://example.com/register?sn={{tag:attribute:sku}}";
/// How many tags or experiences with a similar name are searched at most.
const LOOK_AT: usize = 200;

/// Why the demonstration cannot be made or removed.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A read or a write of the database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The keys of its inlays cannot be stored.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
}

/// The result of creating the demo data.
pub struct Made {
    /// Its tags, in the order of [`TAGS`].
    pub tags: Vec<TagId>,
    /// Whether any part of it was missing.
    pub anything: bool,
}

/// Creates the missing parts of the demonstration.
pub async fn make(service: &Service) -> Result<Made, DemoError> {
    let _one_at_a_time = service.demo_change.lock().await;
    let experience = match experience(service).await? {
        Some(id) => id,
        None => insert_experience(service).await?,
    };
    let mut tags = Vec::new();
    let mut anything = false;
    for demo in &TAGS {
        let present = match find(service, demo, false).await? {
            None => restore(service, demo).await?,
            present => present,
        };
        let (id, made) = complete(service, demo, present, experience).await?;
        tags.push(id);
        anything |= made;
    }
    Ok(Made { tags, anything })
}

/// Removes the demonstration: its tags with their inlays, and its experience, unless other tags use
/// it by now. Returns how many tags were removed.
pub async fn remove(service: &Service) -> Result<usize, DemoError> {
    let _one_at_a_time = service.demo_change.lock().await;
    let storage = &service.storage;
    let mut ids = Vec::new();
    for demo in &TAGS {
        let Some(tag) = find(service, demo, false).await? else {
            continue;
        };
        for inlay in storage.inlays(inlays_of(tag.id), None, LOOK_AT).await? {
            storage.delete_inlay(inlay.id).await?;
        }
        // A deleted tag keeps its slug, which the next demonstration needs.
        if tag.fields.slug.as_str() == demo.slug {
            let slug = Slug::generate(&*service.entropy);
            let anonymous = move |mut fields: TagFields| {
                fields.slug = slug.clone();
                Ok(fields)
            };
            storage.edit_tag(tag.id, Box::new(anonymous)).await?;
        }
        storage.release_slug(tag.id, demo.slug()).await?;
        ids.push(tag.id);
    }
    let removed = ids.len();
    storage
        .change_tags(ids.clone(), TagChange::Assign(None))
        .await?;
    storage.change_tags(ids, TagChange::Delete).await?;
    if let Some(id) = experience(service).await? {
        match storage.delete_experience(id).await {
            Err(StorageError::Conflict(Conflict::InUse(_))) => {}
            deleted => drop(deleted?),
        }
    }
    Ok(removed)
}

/// The demonstration's tag, or its deleted one.
async fn find(
    service: &Service,
    demo: &DemoTag,
    deleted: bool,
) -> Result<Option<Tag>, StorageError> {
    let list = TagList {
        filter: TagFilter {
            q: Some(demo.slug.to_owned()),
            world: World::Simulated,
            deleted,
            ..TagFilter::default()
        },
        order: TagOrder::Created,
        after: None,
        limit: LOOK_AT,
    };
    let found = service.storage.tags(list).await?.into_iter();
    let mut found = found.map(|(tag, _)| tag);
    Ok(found.find(|tag| tag.answers_to(demo.slug)))
}

/// Restores a deleted tag of the demonstration.
async fn restore(service: &Service, demo: &DemoTag) -> Result<Option<Tag>, StorageError> {
    let Some(deleted) = find(service, demo, true).await? else {
        return Ok(None);
    };
    let ids = vec![deleted.id];
    service.storage.change_tags(ids, TagChange::Restore).await?;
    Ok(Some(deleted))
}

/// Creates the missing parts of a tag. Returns whether any was missing.
async fn complete(
    service: &Service,
    demo: &DemoTag,
    present: Option<Tag>,
    experience: ExperienceId,
) -> Result<(TagId, bool), DemoError> {
    let storage = &service.storage;
    let (tag, inlay) = match (present, demo.mirror) {
        (Some(tag), mirror) => {
            let leads = TagChange::Assign(Some(experience));
            let changed = match tag.fields.experience_id {
                None => storage.change_tags(vec![tag.id], leads).await?,
                Some(_) => Vec::new(),
            };
            let has_inlay = storage.count_inlays(inlays_of(tag.id)).await? > 0;
            let Some(mirror) = mirror.filter(|_| !has_inlay) else {
                return Ok((tag.id, !changed.is_empty()));
            };
            (SimulatedTag::Existing(tag.id), chip(service, mirror)?)
        }
        (None, None) => {
            let tags = vec![fields(demo, experience)];
            let mut inserted = storage.insert_tags(tags, true).await?;
            let id = inserted.remove(0).map_err(StorageError::Conflict)?;
            return Ok((id, true));
        }
        (None, Some(mirror)) => {
            let tag = Box::new(fields(demo, experience));
            (SimulatedTag::New(tag), chip(service, mirror)?)
        }
    };
    let chip = storage.insert_virtual_inlay(tag, inlay).await?;
    let missing = Conflict::Missing {
        noun: "tag of the virtual inlay",
        id: chip.id.get(),
    };
    let tag = chip.inlay.fields.tag_id;
    Ok((tag.ok_or(StorageError::Conflict(missing))?, true))
}

async fn experience(service: &Service) -> Result<Option<ExperienceId>, StorageError> {
    let filter = ExperienceFilter {
        name_contains: Some(EXPERIENCE.to_owned()),
        ..ExperienceFilter::default()
    };
    let found = service.storage.experiences(filter, None, LOOK_AT).await?;
    let ours = found.into_iter().find(|found| &*found.name == EXPERIENCE);
    Ok(ours.map(|ours| ours.id))
}

async fn insert_experience(service: &Service) -> Result<ExperienceId, StorageError> {
    let content = Content::Redirect {
        pass_query: false,
        target: Target::parse(TARGET).expect("a target of ours is one"),
        rules: Vec::new(),
    };
    let experience = ExperienceFields::named(EXPERIENCE, content);
    let experience = experience.expect("a name of ours is one");
    let inserted = service.storage.insert_experience(experience, true).await?;
    Ok(inserted.id)
}

fn fields(demo: &DemoTag, experience: ExperienceId) -> TagFields {
    let property = |key: &str, value: &str| {
        let key = PropertyKey::parse(key).expect("a key of ours is one");
        Properties(BTreeMap::from([(key, value.to_owned())]))
    };
    TagFields {
        slug: demo.slug(),
        experience_id: Some(experience),
        attributes: property("sku", demo.sku),
        variables: property("registered", "false"),
        has_qr_code: demo.mirror.is_none(),
        ..TagFields::named(demo.name.to_owned())
    }
}

/// A virtual chip with its own random keys.
fn chip(service: &Service, mirror: Mirror) -> Result<NewInlay, KeyringError> {
    let key = || {
        let key = AesKey::from_bytes(entropy::bytes(&*service.entropy));
        SealedKey::seal(&key, &service.keyring, &*service.entropy)
    };
    Ok(NewInlay {
        uid: virtual_uid(&*service.entropy),
        fields: InlayFields {
            technology: Technology::Ntag424Dna,
            mode: Mode::Aes,
            url_template_id: None,
            tag_id: None,
            mirror: Some(mirror),
            mac_from: MacFrom::None,
            keys: Some(SealedKeys::Own {
                meta: Some(key()?),
                file: key()?,
            }),
            other_keys: None,
            blocked_at: None,
        },
        simulated: true,
        last_counter: 0,
    })
}

fn inlays_of(tag: TagId) -> InlayFilter {
    InlayFilter {
        tag_id: Some(tag),
        ..InlayFilter::default()
    }
}
