//! The use case: a tap comes in, is verified, recorded, and answered.
//!
//! Parse, verify, accept the counter, record, issue the key, answer. What can
//! race, the counter, is decided by storage in the one operation that records;
//! the answer is made after its commit.

mod cache;
mod rehearsal;
mod scope;
mod verify;

use std::sync::Arc;

use sha2::{Digest, Sha256};

pub use cache::{CachedTag, TagCache};
pub use rehearsal::{KEY_PLACEHOLDER, Rehearsal, rehearse};
pub use scope::{Facts, Scope};
pub use verify::{Presented, classify};

use crate::clock::Timestamp;
use crate::experience::{Block, Content};
use crate::id::InteractionId;
use crate::interaction::{ClientId, KeyedInteraction, NewInteraction, NewKey, Verdict};
use crate::keyring::KeyringError;
use crate::macros::{Encoding, Target, Template};
use crate::rolling_key::{LIFETIME_MILLIS, RollingKey, is_live};
use crate::service::Service;
use crate::settings::SimulatedTargets;
use crate::storage::{PublishedExperience, StorageError, TagKey};
use crate::tag::Status;

/// A tap, as it comes in at `/t/{slug}`.
#[derive(Debug)]
pub struct Tap<'a> {
    /// The last part of the tag's URL.
    pub slug: &'a str,
    /// The URL's query as it stands, empty where there is none.
    pub query: &'a str,
    /// The key of the answer to an earlier tap at this path, from its cookie.
    pub cookie: Option<RollingKey>,
    /// Who taps.
    pub client: ClientId,
    /// Where from: a two-letter code, or empty.
    pub country: String,
}

/// What a tap is answered with.
#[derive(Debug)]
pub enum TapAnswer {
    /// No tag has this slug. Nothing was recorded.
    NoSuchTag,
    /// The tag leads nowhere yet.
    NotSetUp(Arc<CachedTag>),
    /// The tag is no longer in use.
    Archived(Arc<CachedTag>),
    /// On to the owner's page.
    Redirect {
        /// The final URL.
        location: String,
        /// The key it carries; `None` where none was issued.
        key: Option<HeldKey>,
    },
    /// A studio experience: a page of the service itself.
    Page {
        /// The tag.
        tag: Arc<CachedTag>,
        /// The texts of the page, macros expanded; data, never markup.
        texts: Vec<String>,
        /// The key issued with it.
        key: Option<HeldKey>,
    },
    /// The tap could not be recorded; a page of the service would not work.
    TryAgain(Arc<CachedTag>),
}

/// A tap that was answered.
#[derive(Debug)]
pub struct Tapped {
    /// The answer.
    pub answer: TapAnswer,
    /// The interaction behind it and its verdict; `None` where nothing was recorded.
    pub recorded: Option<(InteractionId, Verdict)>,
}

/// A key for the visitor's cookie.
#[derive(Debug)]
pub struct HeldKey {
    /// The key.
    pub key: RollingKey,
    /// Seconds until it expires.
    pub max_age: i64,
    /// The tag's slug: the cookie is for this path alone.
    pub slug: String,
}

/// Why a tap got no answer of its own.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The inlay's keys cannot be had.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
}

/// Takes a tap from its URL to its answer.
pub async fn tap(service: &Service, tap: Tap<'_>) -> Result<Tapped, TapError> {
    let unrecorded = |answer| Tapped {
        answer,
        recorded: None,
    };
    let Some(tag) = service.tags.get(service, TagKey::Slug(tap.slug)).await? else {
        return Ok(unrecorded(TapAnswer::NoSuchTag));
    };
    let url_digest = digest(tap.query);
    if let Some(key) = tap.cookie
        && let Some(interaction) = earlier(service, &tag, &key, url_digest).await?
    {
        let recorded = Some((interaction.id, interaction.verdict));
        let answer = repeat(service, tag, interaction, key).await?;
        return Ok(Tapped { answer, recorded });
    }

    let presented = Presented::in_query(tap.query);
    let claim = classify(&tag, &presented)?;
    let tech = tag.tech(&presented);
    let id = service.storage.reserve_interaction_id().await?;
    let destination = Destination::of(&tag);
    let key = destination
        .takes_a_key()
        .then(|| service.key_mask.issue(id, &*service.entropy));
    let recorded = service.storage.record_tap(NewInteraction {
        id,
        tag_id: tag.id(),
        claim,
        tech,
        experience: tag.experience().map(|experience| experience.version),
        key: key.as_ref().map(|key| NewKey {
            hash: key.hash(),
            url_digest,
        }),
        client: tap.client,
        country: tap.country.clone(),
        simulated: tag.simulated(),
        time_offset: if tag.simulated() {
            service.storage.simulated_offset()
        } else {
            0
        },
    });
    let facts = match recorded.await {
        Ok(recorded) => {
            service.metrics.tap(recorded.verdict.reason().as_str());
            Facts {
                id,
                at: recorded.at,
                verdict: recorded.verdict,
                tech,
                country: tap.country,
            }
        }
        // Redirects go on without a key; the counter has not moved.
        Err(StorageError::Full) => return Ok(unrecorded(keyless(service, &tag).await?)),
        Err(error) => return Err(error.into()),
    };
    let held = key.map(|key| HeldKey {
        key,
        max_age: LIFETIME_MILLIS / 1000,
        slug: tag.slug().to_owned(),
    });
    let recorded = Some((id, facts.verdict));
    let answer = answer(service, &tag, destination, Some(facts), held).await?;
    Ok(Tapped { answer, recorded })
}

/// The tag at `slug`, for a preview of its link.
pub async fn preview(
    service: &Service,
    slug: &str,
) -> Result<Option<Arc<CachedTag>>, StorageError> {
    service.tags.get(service, TagKey::Slug(slug)).await
}

/// What a tap would be answered with, without a key: nothing is verified,
/// recorded or issued.
pub async fn look(service: &Service, slug: &str) -> Result<TapAnswer, TapError> {
    match service.tags.get(service, TagKey::Slug(slug)).await? {
        Some(tag) => answer(service, &tag, Destination::of(&tag), None, None).await,
        None => Ok(TapAnswer::NoSuchTag),
    }
}

/// Where a tap leads.
#[derive(Clone, Copy)]
enum Destination<'a> {
    NotSetUp,
    Archived,
    Redirect(&'a Target),
    Page(&'a [Block]),
}

impl<'a> Destination<'a> {
    fn of(tag: &'a CachedTag) -> Self {
        match (tag.status(), tag.experience()) {
            (Status::Archived, _) => Self::Archived,
            (Status::Active, None) => Self::NotSetUp,
            (Status::Active, Some(experience)) => Self::within(experience),
        }
    }

    fn within(experience: &'a PublishedExperience) -> Self {
        match &*experience.content {
            Content::Redirect { target } => Self::Redirect(target),
            Content::Studio { blocks } => Self::Page(blocks),
        }
    }

    const fn takes_a_key(self) -> bool {
        matches!(self, Self::Redirect(_) | Self::Page(_))
    }
}

async fn answer(
    service: &Service,
    tag: &Arc<CachedTag>,
    destination: Destination<'_>,
    facts: Option<Facts>,
    held: Option<HeldKey>,
) -> Result<TapAnswer, TapError> {
    let rk = held.as_ref().map(|held| held.key.expose());
    Ok(match destination {
        Destination::NotSetUp => TapAnswer::NotSetUp(Arc::clone(tag)),
        Destination::Archived => TapAnswer::Archived(Arc::clone(tag)),
        Destination::Redirect(target) => {
            let scope = Scope::for_target(service, tag, target, facts, rk).await?;
            match target.expand(&scope, rk) {
                Some(location) => {
                    let location = stand_in(service, tag, &location, rk).unwrap_or(location);
                    TapAnswer::Redirect {
                        location,
                        key: held,
                    }
                }
                None => TapAnswer::NotSetUp(Arc::clone(tag)),
            }
        }
        Destination::Page(blocks) => {
            let scope = Scope::full(service, tag, facts, rk).await?;
            TapAnswer::Page {
                tag: Arc::clone(tag),
                texts: texts(blocks, &scope),
                key: held,
            }
        }
    })
}

/// The texts of a page, macros expanded.
fn texts(blocks: &[Block], scope: &Scope<'_>) -> Vec<String> {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Heading { text } | Block::Text { text } => Some(text),
        _ => None,
    });
    texts
        .map(|text| Template::parse(text).render(scope, Encoding::Text))
        .collect()
}

/// The answer to a tap for which the disk has no room.
async fn keyless(service: &Service, tag: &Arc<CachedTag>) -> Result<TapAnswer, TapError> {
    match Destination::of(tag) {
        Destination::Page(_) => Ok(TapAnswer::TryAgain(Arc::clone(tag))),
        destination => answer(service, tag, destination, None, None).await,
    }
}

/// The interaction whose answer is due again: the same URL, reloaded by the
/// visitor who holds its key.
async fn earlier(
    service: &Service,
    tag: &CachedTag,
    key: &RollingKey,
    url_digest: [u8; 8],
) -> Result<Option<KeyedInteraction>, StorageError> {
    let Some(id) = service.key_mask.interaction_id(key) else {
        return Ok(None);
    };
    let Some((issued, interaction)) = service.storage.issued_key(id).await? else {
        return Ok(None);
    };
    let same = issued.hash == key.hash()
        && is_live(issued.issued_at, interaction.read_at)
        && interaction.tag_id == tag.id()
        && interaction.url_digest == url_digest;
    Ok(same.then_some(interaction))
}

/// The answer to an interaction once more, from the version of the experience it was made from.
async fn repeat(
    service: &Service,
    tag: Arc<CachedTag>,
    interaction: KeyedInteraction,
    key: RollingKey,
) -> Result<TapAnswer, TapError> {
    let experience = match (interaction.experience, tag.experience()) {
        (Some(version), Some(current)) if current.version == version => Some(current.clone()),
        (Some(version), _) => service.storage.published(version).await?,
        (None, _) => None,
    };
    let left = LIFETIME_MILLIS - interaction.read_at.millis_since(interaction.at);
    let held = HeldKey {
        key,
        max_age: left.div_euclid(1000),
        slug: tag.slug().to_owned(),
    };
    let destination = experience
        .as_ref()
        .map_or(Destination::NotSetUp, Destination::within);
    let facts = Facts::from(interaction);
    answer(service, &tag, destination, Some(facts), Some(held)).await
}

/// The time that decides about a key: simulated keys live in simulated time.
pub async fn now_for(service: &Service, simulated: bool) -> Result<Timestamp, StorageError> {
    let offset = if simulated {
        service.storage.simulated_offset()
    } else {
        0
    };
    Ok(service.storage.now().await?.plus_millis(offset))
}

/// Simulated taps lead to the built-in stand-in for the owner's domain, unless
/// the owner asks otherwise.
fn stand_in(
    service: &Service,
    tag: &CachedTag,
    location: &str,
    rk: Option<&str>,
) -> Option<String> {
    let settings = service.settings();
    if !tag.simulated() || settings.simulated_targets == SimulatedTargets::Real {
        return None;
    }
    let mut url = url::Url::parse(&settings.origin())
        .ok()?
        .join("/stand-in")
        .ok()?;
    url.query_pairs_mut()
        .append_pair("for", location.split(['?', '#']).next().unwrap_or_default());
    if let Some(rk) = rk {
        url.query_pairs_mut().append_pair("rk", rk);
    }
    Some(url.into())
}

fn digest(query: &str) -> [u8; 8] {
    let digest = Sha256::digest(query);
    std::array::from_fn(|i| digest[i])
}
