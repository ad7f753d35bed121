//! The use case of a tap: it comes in, is verified, recorded, and answered.
//!
//! Parse, verify, accept the counter, record, issue the key, answer. Only the counter can race, so
//! storage decides it in the one operation that records the tap. The answer is made after its
//! commit.

mod answer;
mod destination;
pub mod dry_run;
mod form;
mod named;
mod place;
mod preview;
mod stand_in;
#[cfg(test)]
mod tests;
mod unlisted;
mod values;
mod verify;

pub use answer::{HeldKey, TapAnswer, nonce};
pub use dry_run::TapUrl;
pub use form::{FormAnswer, SentForm, lines, submit, takes_forms};
use named::{Named, TagCode};
pub use place::{KeyCookie, Place};
pub use preview::{Preview, PreviewedTap, preview};
pub use stand_in::is_stand_in;
use values::{Facts, MacroValues};
use verify::{Checked, Occasion, UrlCode, classify};

use crate::service::{CachedTag, SentFrom, Service, unmarked};
use answer::{Given, answer, keyless, repeat};
use destination::Destination;
use domain::clock::Millis;
use domain::id::InteractionId;
use domain::interaction::{
    Client, KnownAt, NewInteraction, NewKey, Reason, Recorded, TapOrigin, Traits, Verdict,
};
use domain::keyring::KeyringError;
use domain::macros::Macro;
use domain::rolling_key::{KeySeed, LIFETIME, RollingKey};
use domain::visitor::Visitor;
use storage::StorageError;

/// A tap that comes in at a tag's place.
#[derive(Debug)]
pub struct Tap<'a> {
    /// The place at which it comes in.
    pub place: Place,
    /// The URL's query, unchanged; empty if there is none.
    pub query: &'a str,
    /// The key that an earlier tap at this path issued, from the cookie.
    pub cookie: Option<RollingKey>,
    /// Whether the browser states that it reloads the page.
    pub reload: bool,
    /// Anonymous identity of the visitor's client.
    pub client: Client,
    /// Two-letter code of the visitor's country, or empty.
    pub country: String,
    /// The visitor, as the browser's headers describe them.
    pub visitor: &'a Visitor,
    /// The announced origin of the tap, such as a test.
    pub origin: TapOrigin,
}

impl Tap<'_> {
    /// Whether a staff phone made it: its answer is the staff page, without a key.
    fn is_staff(&self) -> bool {
        self.origin == TapOrigin::Staff
    }
}

/// A tap with its answer.
#[derive(Debug)]
pub struct Tapped {
    /// Answer to send to the visitor.
    pub answer: TapAnswer,
    /// The interaction and its verdict; `None` if no interaction was recorded.
    pub recorded: Option<(InteractionId, Verdict)>,
    /// Whether it is a verified tap of a real chip with a tag URL.
    pub proves_address: bool,
}

impl Tapped {
    const fn unrecorded(answer: TapAnswer) -> Self {
        Self {
            answer,
            recorded: None,
            proves_address: false,
        }
    }
}

/// Why a tap could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// A read or a write of the database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The keyring cannot open the inlay's keys.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// A page cannot be rendered.
    #[error(transparent)]
    Page(#[from] askama::Error),
    /// The code needs a slow derivation of keys, and too many others wait for one.
    #[error("Too many codes wait for keys that are slow to derive; try again in a second.")]
    Busy,
}

/// Handles a tap, from its URL to its answer.
pub async fn tap(service: &Service, tap: Tap<'_>) -> Result<Tapped, TapError> {
    let is_staff = tap.is_staff();
    let mut tapped = attempt(service, tap, true).await?;
    if is_staff && let Some((id, _)) = tapped.recorded {
        tapped.answer = TapAnswer::Staff(id);
    }
    Ok(tapped)
}

/// Handles a tap. `may_repeat`: whether its inlay is looked up once more if it was stored meanwhile.
async fn attempt(
    service: &Service,
    mut tap: Tap<'_>,
    may_repeat: bool,
) -> Result<Tapped, TapError> {
    match Named::by(service, Occasion::Visit, &mut tap.place).await? {
        Named::Nobody => Ok(Tapped::unrecorded(TapAnswer::NoSuchTag)),
        Named::NoTag(inlay, checked) => {
            let at = KnownAt::Inlay(inlay.id);
            Box::pin(without_a_tag(service, tap, at, inlay.simulated, checked)).await
        }
        // Boxed, so that the futures of other taps stay small.
        Named::Unlisted(code) => Box::pin(unlisted::tap(service, tap, code, may_repeat)).await,
        Named::Tag(tag, code) => of_tag(service, tap, tag, code).await,
    }
}

/// Handles a tap of a tag: records it, and answers with its destination.
///
/// Futures that few taps need are boxed here and below: each tap is copied to the heap with room for
/// all of its futures.
async fn of_tag(
    service: &Service,
    mut tap: Tap<'_>,
    tag: CachedTag,
    code: TagCode,
) -> Result<Tapped, TapError> {
    let (query, marked) = unmarked(tap.query);
    let url_digest = tap.place.digest(query);
    let cookie = tap.place.cookie(query);
    let mut earlier = None;
    if let Some(key) = tap.cookie.take()
        && let Some((issued, interaction)) = service.live_key(&key).await?
        && interaction.tag_id == tag.id()
    {
        let lets_repeat = issued.consumed.is_none() || !tap.place.is_static(query);
        if interaction.url_digest == url_digest && (lets_repeat || tap.reload || marked) {
            let recorded = Some((interaction.id, interaction.verdict));
            let mut given = Given::new(tap.visitor, None, None);
            given.passed = tap.place.passed(query);
            given.consumed = issued.consumed.is_some();
            let answer = Box::pin(repeat(service, tag, cookie, interaction, key, given)).await?;
            return Ok(Tapped {
                recorded,
                ..Tapped::unrecorded(answer)
            });
        }
        // A new tap of the same browser.
        earlier = Some(interaction.id);
    }

    let checked = code.check(service, Occasion::Visit, &tap.place, query, &tag)?;
    let destination = Destination::of(service, &tag).await?;
    let group = destination.group(&tag, tap.client);
    let (tech, tamper, inlay) = (checked.tech, checked.tamper, checked.claim.inlay_id());
    let is_staff = tap.is_staff();
    let seed = (destination.takes_a_key() && !is_staff).then(|| KeySeed::draw(&*service.entropy));
    let first = tap
        .place
        .first_real_tap(Some(&tag), &checked.claim, tag.simulated());
    let at = KnownAt::Tag(tag.id());
    let interaction = interaction(service, &tap, at, tag.simulated(), checked);
    let recorded = service.storage.record_tap(NewInteraction {
        experience: tag.experience().map(|experience| experience.version),
        recalled_by: tag.recalled_by(),
        key: seed.as_ref().map(|seed| NewKey {
            hash: seed.hash(),
            url_digest,
        }),
        traits: Traits {
            group,
            ..interaction.traits
        },
        first_at_template: first,
        ..interaction
    });
    let (id, facts) = match recorded.await {
        Ok(recorded) => {
            note(service, &tag, tap.origin, seed.is_some(), &recorded);
            if first.is_some() {
                tap.place.note_real_tap();
            }
            let facts = Facts {
                id: Some(recorded.id),
                at: recorded.at,
                verdict: recorded.verdict,
                tech,
                tamper,
                country: tap.country,
                group,
                inlay,
                passed: tap.place.passed(query),
            };
            (recorded.id, facts)
        }
        // Redirects continue without a key, and the counter has not changed.
        Err(StorageError::Full) => {
            return Ok(Tapped::unrecorded(
                Box::pin(keyless(service, &tag, tap.visitor)).await?,
            ));
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(earlier) = earlier {
        Box::pin(note_same_browser(service, id, earlier)).await;
    }
    let held = seed.map(|seed| HeldKey {
        key: service.key_mask.key(&seed, id),
        max_age: LIFETIME.whole_seconds(),
        cookie,
    });
    let recorded = Some((id, facts.verdict));
    let is_verified = facts.verdict.tag_verified() == Some(true);
    let proves_address = is_verified && !tag.simulated() && matches!(tap.place, Place::Slug { .. });
    let answer = if is_staff {
        TapAnswer::Staff(id)
    } else {
        let given = Given::new(tap.visitor, Some(facts), held);
        answered(service, &tag, destination, given, id).await?
    };
    Ok(Tapped {
        answer,
        recorded,
        proves_address,
    })
}

/// The answer to the recorded tap `id`. Its trace gets the rule of a redirect, and the macros
/// without values.
async fn answered(
    service: &Service,
    tag: &CachedTag,
    destination: Destination<'_>,
    given: Given<'_>,
    id: InteractionId,
) -> Result<TapAnswer, TapError> {
    let missing = destination.missing();
    let answer = answer(service, tag, destination, given).await?;
    let left_out = match &answer {
        TapAnswer::Redirect { left_out, rule, .. } => {
            if let Some(rule) = *rule {
                service.storage.note_rule(id, rule);
            }
            left_out
        }
        _ => &missing,
    };
    note_left_out(service, id, left_out).await;
    Ok(answer)
}

/// Updates metrics and caches after a tap was recorded.
fn note(service: &Service, tag: &CachedTag, origin: TapOrigin, keyed: bool, recorded: &Recorded) {
    let reason = recorded.verdict.reason();
    let origin = origin.in_world(tag.simulated());
    service.metrics.tap(reason.as_str(), origin.as_str());
    if keyed {
        let from = SentFrom {
            tag_id: tag.id(),
            page: tag.experience().map(|experience| experience.version),
            verification: reason.verification(),
        };
        service.recent_taps.insert(recorded.id, from);
    }
    // Staff test a tag again and again, and no visitor's copy is behind it.
    if reason == Reason::Replayed
        && origin != TapOrigin::Staff
        && let (Some(counter), _) = recorded.verdict.counters()
        && !tag.simulated()
    {
        service.copies.note((tag.id(), counter), recorded.at);
    }
}

/// Records the tap of a chip that is on no tag. The counter of an inlay rises, so that the code is
/// already used when the inlay gets a tag. No key is issued.
async fn without_a_tag(
    service: &Service,
    tap: Tap<'_>,
    at: KnownAt,
    simulated: bool,
    checked: Checked,
) -> Result<Tapped, TapError> {
    let first = tap.place.first_real_tap(None, &checked.claim, simulated);
    let recorded = service.storage.record_tap(NewInteraction {
        first_at_template: first,
        ..interaction(service, &tap, at, simulated, checked)
    });
    let recorded = match recorded.await {
        Ok(recorded) => {
            let origin = tap.origin.in_world(simulated);
            let reason = recorded.verdict.reason();
            service.metrics.tap(reason.as_str(), origin.as_str());
            if first.is_some() {
                tap.place.note_real_tap();
            }
            Some((recorded.id, recorded.verdict))
        }
        // The page stays the same, and the counter has not changed.
        Err(StorageError::Full) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Tapped {
        answer: TapAnswer::NoTag,
        recorded,
        proves_address: false,
    })
}

/// The interaction of a tap, without an experience and a key.
fn interaction(
    service: &Service,
    tap: &Tap<'_>,
    at: KnownAt,
    simulated: bool,
    checked: Checked,
) -> NewInteraction {
    NewInteraction {
        tamper: checked.tamper,
        file_data: checked.file_data.map(|data| data.expose().to_vec()),
        country: tap.country.clone(),
        traits: Traits {
            system: Some(tap.visitor.operating_system),
            language: tap.visitor.reported_language(),
            group: None,
        },
        simulated,
        time_offset: time_offset(service, simulated),
        origin: tap.origin,
        ..NewInteraction::new(at, tap.client, checked.claim, checked.tech)
    }
}

/// How far simulated time is ahead; not at all for real taps.
fn time_offset(service: &Service, simulated: bool) -> Millis {
    if simulated {
        service.storage.simulated_offset()
    } else {
        Millis::ZERO
    }
}

/// Records that a tap and an earlier one came from the same browser. An error here does not stop
/// the tap.
async fn note_same_browser(service: &Service, id: InteractionId, earlier: InteractionId) {
    if let Err(error) = service.storage.note_same_browser(id, earlier).await {
        tracing::warn!(interaction = %id, "that two taps are of one browser was not noted: {error}");
    }
}

/// Records for the trace which macros' values the answer lacks. An error here does not stop the
/// tap.
async fn note_left_out(service: &Service, id: InteractionId, left_out: &[Macro]) {
    if left_out.is_empty() {
        return;
    }
    let names = left_out.iter().map(Macro::to_string).collect();
    if let Err(error) = service.storage.note_left_out(id, names).await {
        tracing::warn!(interaction = %id, "what a redirect left out was not noted: {error}");
    }
}

/// The object of a link.
pub enum Linked {
    /// A tag that the link names.
    Tag(CachedTag),
    /// A chip that is on no tag yet.
    NoTag,
    /// No chip and no tag of this service.
    Nobody,
}

impl Linked {
    /// The tag, if the link is that of one.
    fn tag(self) -> Option<CachedTag> {
        match self {
            Self::Tag(tag) => Some(tag),
            Self::NoTag | Self::Nobody => None,
        }
    }
}

/// The tag or chip at a place, for callers that only show a link to it. Of several templates the
/// place keeps the one that names it.
pub async fn linked(service: &Service, place: &mut Place) -> Result<Linked, TapError> {
    Ok(match Named::by(service, Occasion::Visit, place).await? {
        Named::Tag(tag, _) => Linked::Tag(tag),
        Named::NoTag(..) => Linked::NoTag,
        Named::Unlisted(_) => match unlisted::shown(place) {
            TapAnswer::NoTag => Linked::NoTag,
            _ => Linked::Nobody,
        },
        Named::Nobody => Linked::Nobody,
    })
}

/// The answer that a tap would get, without a key: nothing is verified, recorded or issued.
pub async fn look(
    service: &Service,
    place: &mut Place,
    visitor: &Visitor,
) -> Result<TapAnswer, TapError> {
    let given = Given::new(visitor, None, None);
    match Named::by(service, Occasion::Visit, place).await? {
        Named::Tag(tag, _) => {
            let destination = Destination::of(service, &tag).await?;
            answer(service, &tag, destination, given).await
        }
        Named::NoTag(..) => Ok(TapAnswer::NoTag),
        Named::Unlisted(_) => Ok(unlisted::shown(place)),
        Named::Nobody => Ok(TapAnswer::NoSuchTag),
    }
}
