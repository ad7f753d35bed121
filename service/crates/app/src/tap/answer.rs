//! The answer to a tap: a redirect with its macros expanded, a page of the service, or a notice
//! that there is neither.

use super::destination::Destination;
use super::{Facts, KeyCookie, MacroValues, TapError, stand_in};
use crate::service::{CachedTag, Service};
use crate::studio::{FormOutcome, PageKey, StudioPage};
use domain::entropy::{self, Entropy};
use domain::experience::{Block, LedBy, PublishedExperience, Rule, Theme, When, forms};
use domain::id::InteractionId;
use domain::interaction::KeyedInteraction;
use domain::macros::{Location, Macro, Settled};
use domain::rolling_key::{LIFETIME, RollingKey};
use domain::tag::PropertyKey;
use domain::visitor::Visitor;
use storage::StorageError;

/// The answer to a tap.
#[derive(Debug)]
pub enum TapAnswer {
    /// No tag has this slug. No interaction was recorded.
    NoSuchTag,
    /// An inlay of ours that is on no tag yet.
    NoTag,
    /// The tag has no destination yet.
    NotSetUp(CachedTag),
    /// The tag is no longer in use.
    Archived(CachedTag),
    /// The tag is recalled, and the recall has no page of its own.
    Recalled(CachedTag),
    /// A redirect to the owner's page.
    Redirect {
        /// Expanded URL for the `Location` header.
        location: String,
        /// The key in the URL; `None` if none was issued.
        key: Option<HeldKey>,
        /// The macros whose values did not fit into the URL.
        left_out: Vec<Macro>,
        /// The rule that chose the target; `None` if the redirect has no rules.
        rule: Option<LedBy>,
    },
    /// A studio experience: a page of the service itself.
    Page {
        /// HTML of the rendered page.
        html: String,
        /// Nonce for the page's own style and script.
        nonce: String,
        /// The key issued with it.
        key: Option<HeldKey>,
    },
    /// The tap of a staff phone. Its page shows this interaction.
    Staff(InteractionId),
    /// The tap could not be recorded; a page of the service would not work.
    TryAgain(CachedTag),
}

/// A key for the visitor's cookie.
#[derive(Debug)]
pub struct HeldKey {
    /// Key to store in the cookie.
    pub key: RollingKey,
    /// Seconds until it expires.
    pub max_age: i64,
    /// The cookie that holds the key, for the requested place only.
    pub cookie: KeyCookie,
}

/// The inputs of an answer, besides the tag and the destination.
pub(super) struct Given<'a> {
    pub(super) visitor: &'a Visitor,
    /// The facts about the interaction, once it is recorded.
    pub(super) facts: Option<Facts>,
    pub(super) held: Option<HeldKey>,
    /// Whether a form was already saved with the key.
    pub(super) consumed: bool,
    /// The result of a form, and its values if they are not saved.
    pub(super) outcome: Option<FormOutcome>,
    pub(super) entered: Vec<(PropertyKey, String)>,
    /// The parameters of the visitor's URL, for an answer that is repeated.
    pub(super) passed: Vec<(String, String)>,
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
            passed: Vec::new(),
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
        Destination::NotSetUp | Destination::NoUrl(_) if tag.is_recalled() => {
            Ok(TapAnswer::Recalled(tag.clone()))
        }
        Destination::NotSetUp | Destination::NoUrl(_) => Ok(TapAnswer::NotSetUp(tag.clone())),
        Destination::Archived => Ok(TapAnswer::Archived(tag.clone())),
        Destination::Redirect(target, rules, pass_query) => {
            let rk = given.held.as_ref().map(|held| held.key.expose());
            let target = (&target, rules);
            let facts = given.facts.as_ref();
            let passed = facts
                .filter(|_| pass_query)
                .map(|facts| facts.passed.clone());
            let found = location(service, tag, target, given.visitor, given.facts, rk).await?;
            let (location, rule) = found;
            let location = location.passing(&passed.unwrap_or_default());
            let stand_in = stand_in::address(service, tag, &location.url, rk);
            Ok(TapAnswer::Redirect {
                location: stand_in.unwrap_or(location.url),
                key: given.held,
                left_out: location.left_out,
                rule,
            })
        }
        Destination::Page(experience, blocks, theme) => {
            Box::pin(page(service, tag, experience, blocks, theme, given)).await
        }
    }
}

/// The URL of a redirect: the target of its first rule that applies and has a URL for the tag, or
/// its own target. If it has rules, also which one applied.
pub(super) async fn location(
    service: &Service,
    tag: &CachedTag,
    (target, rules): (&Settled<'_>, &[Rule]),
    visitor: &Visitor,
    facts: Option<Facts>,
    rk: Option<&str>,
) -> Result<(Location, Option<LedBy>), StorageError> {
    if rules.is_empty() {
        let scope = MacroValues::with(service, tag, |f| target.uses(f), facts, rk).await?;
        return Ok((target.location(&scope, rk), None));
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
    let numbered = (1..).zip(rules);
    let mut met = numbered.filter(|(_, rule)| rule.is_met(&context));
    let met = met.find_map(|(number, rule)| {
        let location = rule.target_url.location(&scope, rk)?;
        Some((location, LedBy::Rule(number)))
    });
    let (location, rule) = met.unwrap_or_else(|| (target.location(&scope, rk), LedBy::Default));
    Ok((location, Some(rule)))
}

/// Renders a page of the service with the present values.
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
        names_blocks: false,
        nonce: &nonce,
    };
    let html = page.to_html(&scope, &service.media)?;
    Ok(TapAnswer::Page {
        html,
        nonce,
        key: given.held,
    })
}

/// The language for a visitor: the best match among the offered languages and the tag's own, in
/// which all content without a condition is written. If the visitor wants none of them, the tag's
/// own.
pub(super) fn language(visitor: &Visitor, offered: &[&str], tag: &CachedTag) -> String {
    let own = tag.language();
    let best = visitor.languages.best(Some(&own), offered);
    best.map(str::to_owned).unwrap_or(own)
}

/// A random nonce, by which the browser recognises the page's own script and style.
pub fn nonce(entropy: &dyn Entropy) -> String {
    entropy::text(entropy, b"0123456789abcdef", 32)
}

/// The answer to a tap that could not be recorded because the disk is full.
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

/// Answers an interaction again, from the version of the experience that it was first answered
/// from.
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
    let left = LIFETIME - interaction.read_at.since(interaction.at);
    given.held = Some(HeldKey {
        key,
        max_age: left.whole_seconds(),
        cookie,
    });
    let destination = match &experience {
        Some(experience) => Destination::within(service, &tag, experience).await?,
        None => Destination::NotSetUp,
    };
    given.facts = Some(Facts {
        passed: std::mem::take(&mut given.passed),
        ..Facts::from(interaction)
    });
    answer(service, &tag, destination, given).await
}
