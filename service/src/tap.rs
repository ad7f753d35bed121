//! The use case: a tap comes in, is verified, recorded, and answered.
//!
//! Parse, verify, accept the counter, record, issue the key, answer. What can
//! race, the counter, is decided by storage in the one operation that records;
//! the answer is made after its commit.

mod cache;
mod destination;
mod form;
mod rehearsal;
mod scope;
mod stand_in;
mod verify;

use std::sync::Arc;

use sha2::{Digest, Sha256};

pub use cache::{CachedTag, TagCache};
pub use form::{FormAnswer, Submission, submit, takes_forms};
pub use rehearsal::{KEY_PLACEHOLDER, Rehearsal, RehearsedTap, rehearse};
pub use scope::{Facts, Scope};
pub use stand_in::is_stand_in;
pub use verify::{Presented, classify};

use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::experience::{Block, Rule, Theme, When};
use crate::id::InteractionId;
use crate::interaction::{ClientId, KeyedInteraction, NewInteraction, NewKey, Verdict};
use crate::keyring::KeyringError;
use crate::macros::{Location, Macro, Settled};
use crate::rolling_key::{IssuedKey, LIFETIME_MILLIS, RollingKey, is_live};
use crate::service::Service;
use crate::storage::{PublishedExperience, StorageError, TagKey};
use crate::studio::{Outcome, Page, PageKey};
use crate::tag::PropertyKey;
use crate::visitor::{Visitor, negotiate};
use destination::Destination;

/// A tap, as it comes in at `/t/{slug}`.
#[derive(Debug)]
pub struct Tap<'a> {
    /// The last part of the tag's URL.
    pub slug: &'a str,
    /// The URL's query as it stands, empty where there is none.
    pub query: &'a str,
    /// The key of the answer to an earlier tap at this path, from its cookie.
    pub cookie: Option<RollingKey>,
    /// Whether the browser says that it loads the page again.
    pub reload: bool,
    /// Who taps.
    pub client: ClientId,
    /// Where from: a two-letter code, or empty.
    pub country: String,
    /// What the browser says of itself.
    pub visitor: Visitor,
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
        /// The macros whose values it had no room for.
        left_out: Vec<Macro>,
    },
    /// A studio experience: a page of the service itself.
    Page {
        /// The page.
        html: String,
        /// What marks its style and script as its own.
        nonce: String,
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
    /// The slug that was asked for, the tag's or a former one: the cookie is for this path alone.
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
    /// A page cannot be written.
    #[error(transparent)]
    Page(#[from] askama::Error),
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
    let (query, marked) = unmarked(tap.query);
    let presented = Presented::in_query(query);
    let url_digest = digest(query);
    if let Some(key) = tap.cookie
        && let Some((issued, interaction)) = held(service, &tag, &key).await?
        && interaction.url_digest == url_digest
        && (issued.consumed.is_none() || !presented.is_static() || tap.reload || marked)
    {
        let recorded = Some((interaction.id, interaction.verdict));
        let mut visit = Visit::new(&tap.visitor, None, None);
        visit.consumed = issued.consumed.is_some();
        let answer = repeat(service, tag, tap.slug, interaction, key, visit).await?;
        return Ok(Tapped { answer, recorded });
    }

    let claim = classify(&tag, &presented)?;
    let tech = tag.tech(&presented);
    let id = service.storage.reserve_interaction_id().await?;
    let destination = Destination::of(service, &tag).await?;
    let missing = destination.missing();
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
        Err(StorageError::Full) => {
            return Ok(unrecorded(keyless(service, &tag, &tap.visitor).await?));
        }
        Err(error) => return Err(error.into()),
    };
    let held = key.map(|key| HeldKey {
        key,
        max_age: LIFETIME_MILLIS / 1000,
        slug: tap.slug.to_owned(),
    });
    let recorded = Some((id, facts.verdict));
    let visit = Visit::new(&tap.visitor, Some(facts), held);
    let answer = answer(service, &tag, destination, visit).await?;
    let left_out = match &answer {
        TapAnswer::Redirect { left_out, .. } => left_out,
        _ => &missing,
    };
    note_left_out(service, id, left_out).await;
    Ok(Tapped { answer, recorded })
}

/// Keeps for the trace whose values a redirect did without. The tap goes on without it.
async fn note_left_out(service: &Service, id: InteractionId, left_out: &[Macro]) {
    if left_out.is_empty() {
        return;
    }
    let names = left_out.iter().map(Macro::to_string).collect();
    if let Err(error) = service.storage.note_left_out(id, names).await {
        tracing::warn!(interaction = %id, "what a redirect left out was not noted: {error}");
    }
}

/// The mark that a page's script puts behind the query of the page's own address. A
/// browser that goes back, or restores a tab, asks for that address, and sends nothing
/// else that a new scan of a static URL would not.
const MARK: &str = "again";

/// A query without the mark, and whether it had it.
fn unmarked(query: &str) -> (&str, bool) {
    let unmarked = match query.strip_suffix(MARK) {
        Some("") => Some(""),
        Some(before) => before.strip_suffix('&'),
        None => None,
    };
    (unmarked.unwrap_or(query), unmarked.is_some())
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
pub async fn look(service: &Service, slug: &str, visitor: &Visitor) -> Result<TapAnswer, TapError> {
    let visit = Visit::new(visitor, None, None);
    match service.tags.get(service, TagKey::Slug(slug)).await? {
        Some(tag) => {
            let destination = Destination::of(service, &tag).await?;
            answer(service, &tag, destination, visit).await
        }
        None => Ok(TapAnswer::NoSuchTag),
    }
}

/// What an answer is made for, beside the tag and where it leads.
struct Visit<'a> {
    visitor: &'a Visitor,
    /// Of the interaction, once it is recorded.
    facts: Option<Facts>,
    held: Option<HeldKey>,
    /// Whether something was saved with the key.
    consumed: bool,
    /// What became of what a form sent, and what it sent where that is not saved.
    outcome: Option<Outcome>,
    entered: Vec<(PropertyKey, String)>,
}

impl<'a> Visit<'a> {
    fn new(visitor: &'a Visitor, facts: Option<Facts>, held: Option<HeldKey>) -> Self {
        Self {
            visitor,
            facts,
            held,
            consumed: false,
            outcome: None,
            entered: Vec::new(),
        }
    }
}

async fn answer(
    service: &Service,
    tag: &Arc<CachedTag>,
    destination: Destination<'_>,
    visit: Visit<'_>,
) -> Result<TapAnswer, TapError> {
    match destination {
        Destination::NotSetUp | Destination::NoUrl(_) => Ok(TapAnswer::NotSetUp(Arc::clone(tag))),
        Destination::Archived => Ok(TapAnswer::Archived(Arc::clone(tag))),
        Destination::Redirect(target, rules) => {
            let rk = visit.held.as_ref().map(|held| held.key.expose());
            let target = (&target, rules);
            let location = location(service, tag, target, visit.visitor, visit.facts, rk).await?;
            let stand_in = stand_in::address(service, tag, &location.url, rk);
            Ok(TapAnswer::Redirect {
                location: stand_in.unwrap_or(location.url),
                key: visit.held,
                left_out: location.left_out,
            })
        }
        Destination::Page(experience, blocks, theme) => {
            page(service, tag, experience, blocks, theme, visit).await
        }
    }
}

/// Where a redirect leads: to the target of its first rule that is met and has a
/// URL for the tag, or to its own.
async fn location(
    service: &Service,
    tag: &CachedTag,
    (target, rules): (&Settled<'_>, &[Rule]),
    visitor: &Visitor,
    facts: Option<Facts>,
    rk: Option<&str>,
) -> Result<Location, StorageError> {
    if rules.is_empty() {
        let scope = Scope::with(service, tag, |f| target.uses(f), facts, rk).await?;
        return Ok(target.location(&scope, rk));
    }
    let now = service.storage.now().await?;
    let named = rules.iter().flat_map(|rule| &rule.when);
    let offered: Vec<_> = named
        .flat_map(When::languages)
        .map(String::as_str)
        .collect();
    let language = language(visitor, &offered, tag);
    let scope = Scope::full(service, tag, facts, rk).await?;
    let circumstances = scope.circumstances(visitor, &language, now);
    let mut met = rules.iter().filter(|rule| rule.is_met(&circumstances));
    let met = met.find_map(|rule| rule.target_url.location(&scope, rk));
    Ok(met.unwrap_or_else(|| target.location(&scope, rk)))
}

/// A page of the service, as it is now.
async fn page(
    service: &Service,
    tag: &CachedTag,
    experience: &PublishedExperience,
    blocks: &[Block],
    theme: &Theme,
    visit: Visit<'_>,
) -> Result<TapAnswer, TapError> {
    let rk = visit.held.as_ref().map(|held| held.key.expose());
    let verified = visit
        .facts
        .as_ref()
        .map(|facts| facts.verdict.tag_verified());
    let key = match &visit.held {
        None => PageKey::Absent,
        Some(_) if visit.consumed => PageKey::Consumed,
        Some(_) if tag.tag().fields.updates_require_verified && verified != Some(Some(true)) => {
            PageKey::Unverified
        }
        Some(held) => PageKey::Live {
            base64: held.key.to_base64(),
            millis: held.max_age.saturating_mul(1000),
        },
    };
    let now = service.storage.now().await?;
    let scope = Scope::full(service, tag, visit.facts, rk).await?;
    let language = language(visit.visitor, &experience.content.languages(), tag);
    let nonce = nonce(&*service.entropy);
    let page = Page {
        blocks,
        theme,
        experience: experience.version.experience_id,
        title: tag.tag().shown_title(),
        circumstances: &scope.circumstances(visit.visitor, &language, now),
        rk,
        key,
        outcome: visit.outcome,
        entered: &visit.entered,
        nonce: &nonce,
    };
    let html = page.to_html(&scope, &service.media)?;
    Ok(TapAnswer::Page {
        html,
        nonce,
        key: visit.held,
    })
}

/// The language for a visitor: the best of those that are offered, or else the tag's.
fn language(visitor: &Visitor, offered: &[&str], tag: &CachedTag) -> String {
    match negotiate(&visitor.languages, offered) {
        Some(language) => language.to_owned(),
        None => tag.tag().language(),
    }
}

/// What marks the one script and the one style of a page as ours.
pub fn nonce(entropy: &dyn Entropy) -> String {
    entropy::text(entropy, b"0123456789abcdef", 32)
}

/// The answer to a tap for which the disk has no room.
async fn keyless(
    service: &Service,
    tag: &Arc<CachedTag>,
    visitor: &Visitor,
) -> Result<TapAnswer, TapError> {
    match Destination::of(service, tag).await? {
        Destination::Page(..) => Ok(TapAnswer::TryAgain(Arc::clone(tag))),
        destination => answer(service, tag, destination, Visit::new(visitor, None, None)).await,
    }
}

/// What stands behind a key that lives and is of a tap of `tag`.
async fn held(
    service: &Service,
    tag: &CachedTag,
    key: &RollingKey,
) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
    let Some(id) = service.key_mask.interaction_id(key) else {
        return Ok(None);
    };
    let Some((issued, interaction)) = service.storage.issued_key(id).await? else {
        return Ok(None);
    };
    let same = issued.hash == key.hash()
        && is_live(issued.issued_at, interaction.read_at)
        && interaction.tag_id == tag.id();
    Ok(same.then_some((issued, interaction)))
}

/// The answer to an interaction at `slug` once more, from the version of the experience it was made from.
async fn repeat(
    service: &Service,
    tag: Arc<CachedTag>,
    slug: &str,
    interaction: KeyedInteraction,
    key: RollingKey,
    mut visit: Visit<'_>,
) -> Result<TapAnswer, TapError> {
    let experience = match (interaction.experience, tag.experience()) {
        (Some(version), Some(current)) if current.version == version => Some(current.clone()),
        (Some(version), _) => service.storage.published(version).await?,
        (None, _) => None,
    };
    let left = LIFETIME_MILLIS - interaction.read_at.millis_since(interaction.at);
    visit.held = Some(HeldKey {
        key,
        max_age: left.div_euclid(1000),
        slug: slug.to_owned(),
    });
    let destination = match &experience {
        Some(experience) => Destination::within(service, &tag, experience).await?,
        None => Destination::NotSetUp,
    };
    visit.facts = Some(Facts::from(interaction));
    answer(service, &tag, destination, visit).await
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

fn digest(query: &str) -> [u8; 8] {
    let digest = Sha256::digest(query);
    std::array::from_fn(|i| digest[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_a_page_is_no_part_of_its_url() {
        for (query, unmarked_query, marked) in [
            ("", "", false),
            ("again", "", true),
            ("utm=1", "utm=1", false),
            ("utm=1&again", "utm=1", true),
            ("x=again", "x=again", false),
            ("again&x", "again&x", false),
        ] {
            assert_eq!(unmarked(query), (unmarked_query, marked), "{query}");
        }
    }
}
