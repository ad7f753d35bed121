//! What a tap is answered with: a redirect with its macros expanded, a page of the
//! service, or a word on why there is neither.

use super::destination::Destination;
use super::{Facts, KeyCookie, MacroValues, TapError, stand_in};
use crate::entropy::{self, Entropy};
use crate::experience::{Block, PublishedExperience, Rule, Theme, When, forms};
use crate::interaction::KeyedInteraction;
use crate::macros::{Location, Macro, Settled};
use crate::rolling_key::{LIFETIME_MILLIS, RollingKey};
use crate::service::{CachedTag, Service};
use crate::storage::StorageError;
use crate::studio::{Outcome, PageKey, StudioPage};
use crate::tag::PropertyKey;
use crate::visitor::{Visitor, negotiate};

/// What a tap is answered with.
#[derive(Debug)]
pub(crate) enum TapAnswer {
    /// No tag has this slug. Nothing was recorded.
    NoSuchTag,
    /// An inlay of ours that is on no tag yet.
    NoTag,
    /// The tag leads nowhere yet.
    NotSetUp(CachedTag),
    /// The tag is no longer in use.
    Archived(CachedTag),
    /// A redirect to the owner's page.
    Redirect {
        /// The final URL.
        location: String,
        /// The key it contains; `None` if none was issued.
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
    TryAgain(CachedTag),
}

/// A key for the visitor's cookie.
#[derive(Debug)]
pub(crate) struct HeldKey {
    /// The key.
    pub key: RollingKey,
    /// Seconds until it expires.
    pub max_age: i64,
    /// The cookie that holds it: for the place that was asked for alone.
    pub cookie: KeyCookie,
}

/// What an answer is made for, beside the tag and where it leads.
pub(super) struct Given<'a> {
    pub(super) visitor: &'a Visitor,
    /// Of the interaction, once it is recorded.
    pub(super) facts: Option<Facts>,
    pub(super) held: Option<HeldKey>,
    /// Whether something was saved with the key.
    pub(super) consumed: bool,
    /// The result of a form, and its values if they are not saved.
    pub(super) outcome: Option<Outcome>,
    pub(super) entered: Vec<(PropertyKey, String)>,
}

impl<'a> Given<'a> {
    pub(super) fn new(visitor: &'a Visitor, facts: Option<Facts>, held: Option<HeldKey>) -> Self {
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

pub(super) async fn answer(
    service: &Service,
    tag: &CachedTag,
    destination: Destination<'_>,
    given: Given<'_>,
) -> Result<TapAnswer, TapError> {
    match destination {
        Destination::NotSetUp | Destination::NoUrl(_) => Ok(TapAnswer::NotSetUp(tag.clone())),
        Destination::Archived => Ok(TapAnswer::Archived(tag.clone())),
        Destination::Redirect(target, rules) => {
            let rk = given.held.as_ref().map(|held| held.key.expose());
            let target = (&target, rules);
            let location = location(service, tag, target, given.visitor, given.facts, rk).await?;
            let stand_in = stand_in::address(service, tag, &location.url, rk);
            Ok(TapAnswer::Redirect {
                location: stand_in.unwrap_or(location.url),
                key: given.held,
                left_out: location.left_out,
            })
        }
        Destination::Page(experience, blocks, theme) => {
            page(service, tag, experience, blocks, theme, given).await
        }
    }
}

/// Where a redirect leads: to the target of its first rule that is met and has a
/// URL for the tag, or to its own.
pub(super) async fn location(
    service: &Service,
    tag: &CachedTag,
    (target, rules): (&Settled<'_>, &[Rule]),
    visitor: &Visitor,
    facts: Option<Facts>,
    rk: Option<&str>,
) -> Result<Location, StorageError> {
    if rules.is_empty() {
        let scope = MacroValues::with(service, tag, |f| target.uses(f), facts, rk).await?;
        return Ok(target.location(&scope, rk));
    }
    let now = service.storage.now().await?;
    let named = rules.iter().flat_map(|rule| &rule.when);
    let offered: Vec<_> = named
        .flat_map(When::languages)
        .map(String::as_str)
        .collect();
    let language = language(visitor, &offered, tag);
    let scope = MacroValues::full(service, tag, facts, rk).await?;
    let context = scope.context(visitor, &language, now);
    let mut met = rules.iter().filter(|rule| rule.is_met(&context));
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
    given: Given<'_>,
) -> Result<TapAnswer, TapError> {
    let rk = given.held.as_ref().map(|held| held.key.expose());
    let verified = given
        .facts
        .as_ref()
        .map(|facts| facts.verdict.tag_verified());
    let key = match &given.held {
        None => PageKey::Absent,
        Some(_) if given.consumed => PageKey::Consumed,
        Some(_) if tag.switches.updates_require_verified && verified != Some(Some(true)) => {
            PageKey::Unverified
        }
        Some(held) => PageKey::Live {
            base64: held.key.to_base64(),
            millis: held.max_age.saturating_mul(1000),
        },
    };
    let now = service.storage.now().await?;
    let scope = MacroValues::full(service, tag, given.facts, rk).await?;
    let language = language(given.visitor, &experience.content.languages(), tag);
    let nonce = nonce(&*service.entropy);
    let has_once = forms(&experience.content).iter().any(|form| form.once);
    let sent = if has_once {
        service.storage.sent_forms(tag.id()).await?
    } else {
        Vec::new()
    };
    let page = StudioPage {
        blocks,
        theme,
        experience: experience.version.experience_id,
        title: tag.shown_title(),
        context: &scope.context(given.visitor, &language, now),
        rk,
        key,
        outcome: given.outcome,
        sent: &sent,
        entered: &given.entered,
        nonce: &nonce,
    };
    let html = page.to_html(&scope, &service.media)?;
    Ok(TapAnswer::Page {
        html,
        nonce,
        key: given.held,
    })
}

/// The language for a visitor: the best of those that are offered, or else the tag's.
pub(super) fn language(visitor: &Visitor, offered: &[&str], tag: &CachedTag) -> String {
    match negotiate(&visitor.languages, offered) {
        Some(language) => language.to_owned(),
        None => tag.language(),
    }
}

/// What marks the one script and the one style of a page as ours.
pub(crate) fn nonce(entropy: &dyn Entropy) -> String {
    entropy::text(entropy, b"0123456789abcdef", 32)
}

/// The answer to a tap for which the disk has no room.
pub(super) async fn keyless(
    service: &Service,
    tag: &CachedTag,
    visitor: &Visitor,
) -> Result<TapAnswer, TapError> {
    match Destination::of(service, tag).await? {
        Destination::Page(..) => Ok(TapAnswer::TryAgain(tag.clone())),
        destination => answer(service, tag, destination, Given::new(visitor, None, None)).await,
    }
}

/// The answer to an interaction once more, from the version of the experience it was made from.
pub(super) async fn repeat(
    service: &Service,
    tag: CachedTag,
    cookie: KeyCookie,
    interaction: KeyedInteraction,
    key: RollingKey,
    mut given: Given<'_>,
) -> Result<TapAnswer, TapError> {
    let experience = match (interaction.experience, tag.experience()) {
        (Some(version), Some(current)) if current.version == version => Some(current.clone()),
        (Some(version), _) => service.storage.published(version).await?,
        (None, _) => None,
    };
    let left = LIFETIME_MILLIS - interaction.read_at.millis_since(interaction.at);
    given.held = Some(HeldKey {
        key,
        max_age: left.div_euclid(1000),
        cookie,
    });
    let destination = match &experience {
        Some(experience) => Destination::within(service, &tag, experience).await?,
        None => Destination::NotSetUp,
    };
    given.facts = Some(Facts::from(interaction));
    answer(service, &tag, destination, given).await
}
