//! The use case: a tap comes in, is verified, recorded, and answered.
//!
//! Parse, verify, accept the counter, record, issue the key, answer. What can
//! race, the counter, is decided by storage in the one operation that records;
//! the answer is made after its commit.

mod answer;
mod destination;
pub(crate) mod dry_run;
mod form;
mod named;
mod place;
mod preview;
mod stand_in;
mod values;
mod verify;

pub(crate) use answer::{HeldKey, TapAnswer, nonce};
pub use dry_run::TapUrl;
pub(crate) use form::{FormAnswer, SentForm, submit, takes_forms};
use named::Named;
pub(crate) use place::{KeyCookie, Place};
pub(crate) use preview::{Preview, PreviewedTap, preview};
pub(crate) use stand_in::is_stand_in;
use values::{Facts, MacroValues};
use verify::{Checked, Occasion, UrlCode, classify};

use crate::id::InteractionId;
use crate::interaction::{ClientId, NewInteraction, NewKey, Reason, Recorded, Traits, Verdict};
use crate::keyring::KeyringError;
use crate::macros::Macro;
use crate::rolling_key::{KeySeed, LIFETIME_MILLIS, RollingKey};
use crate::service::{CachedTag, OpenedInlay, SentFrom, Service};
use crate::storage::StorageError;
use crate::visitor::Visitor;
use answer::{Given, answer, keyless, repeat};
use destination::Destination;

/// A tap, as it comes in at a tag's place.
#[derive(Debug)]
pub(crate) struct Tap<'a> {
    /// Where it comes in.
    pub place: Place,
    /// The URL's query as it stands, empty if there is none.
    pub query: &'a str,
    /// The key of the answer to an earlier tap at this path, from its cookie.
    pub cookie: Option<RollingKey>,
    /// Whether the browser says that it loads the page again.
    pub reload: bool,
    /// Who taps.
    pub client: ClientId,
    /// Where from: a two-letter code, or empty.
    pub country: String,
    /// The visitor, as the browser's headers describe them.
    pub visitor: Visitor,
}

/// A tap that was answered.
#[derive(Debug)]
pub(crate) struct Tapped {
    /// The answer.
    pub answer: TapAnswer,
    /// The interaction behind it and its verdict; `None` if nothing was recorded.
    pub recorded: Option<(InteractionId, Verdict)>,
}

/// Why a tap got no answer of its own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TapError {
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
pub(crate) async fn tap(service: &Service, tap: Tap<'_>) -> Result<Tapped, TapError> {
    let unrecorded = |answer| Tapped {
        answer,
        recorded: None,
    };
    let (tag, checked) = match Named::by(service, Occasion::Visit, &tap.place).await? {
        Named::Nobody => return Ok(unrecorded(TapAnswer::NoSuchTag)),
        Named::NoTag(inlay, checked) => return without_a_tag(service, tap, &inlay, checked).await,
        Named::Tag(tag, checked) => (tag, checked),
    };
    let (query, marked) = unmarked(tap.query);
    let url_digest = tap.place.digest(query);
    let cookie = tap.place.cookie(query);
    if let Some(key) = tap.cookie
        && let Some((issued, interaction)) = service.live_key(&key).await?
        && interaction.tag_id == tag.id()
        && interaction.url_digest == url_digest
        && (issued.consumed.is_none() || !tap.place.is_static(query) || tap.reload || marked)
    {
        let recorded = Some((interaction.id, interaction.verdict));
        let mut given = Given::new(&tap.visitor, None, None);
        given.consumed = issued.consumed.is_some();
        let answer = repeat(service, tag, cookie, interaction, key, given).await?;
        return Ok(Tapped { answer, recorded });
    }

    let Checked {
        claim,
        tech,
        tamper,
        file_data,
    } = named::checked(service, Occasion::Visit, &tap.place, query, &tag, checked)?;
    let destination = Destination::of(service, &tag).await?;
    let missing = destination.missing();
    let traits = Traits {
        system: Some(tap.visitor.operating_system),
        language: tap.visitor.reported_language(),
        group: destination.group(&tag, tap.client),
    };
    let seed = destination
        .takes_a_key()
        .then(|| KeySeed::draw(&*service.entropy));
    let first = tap
        .place
        .first_real_tap(Some(&tag), &claim, tag.simulated());
    let recorded = service.storage.record_tap(NewInteraction {
        tag_id: Some(tag.id()),
        claim,
        tech,
        tamper,
        file_data: file_data.map(|data| data.expose().to_vec()),
        experience: tag.experience().map(|experience| experience.version),
        key: seed.as_ref().map(|seed| NewKey {
            hash: seed.hash(),
            url_digest,
        }),
        client: tap.client,
        country: tap.country.clone(),
        traits: traits.clone(),
        simulated: tag.simulated(),
        time_offset: time_offset(service, tag.simulated()),
        first_at_template: first,
    });
    let facts = match recorded.await {
        Ok(recorded) => {
            note(service, &tag, seed.is_some(), &recorded);
            if first.is_some() {
                tap.place.note_real_tap();
            }
            Facts {
                id: recorded.id,
                at: recorded.at,
                verdict: recorded.verdict,
                tech,
                tamper,
                country: tap.country,
                group: traits.group,
            }
        }
        // Redirects continue without a key; the counter has not moved.
        Err(StorageError::Full) => {
            return Ok(unrecorded(keyless(service, &tag, &tap.visitor).await?));
        }
        Err(error) => return Err(error.into()),
    };
    let id = facts.id;
    let held = seed.map(|seed| HeldKey {
        key: service.key_mask.key(&seed, id),
        max_age: LIFETIME_MILLIS / 1000,
        cookie,
    });
    let recorded = Some((id, facts.verdict));
    let given = Given::new(&tap.visitor, Some(facts), held);
    let answer = answer(service, &tag, destination, given).await?;
    let left_out = match &answer {
        TapAnswer::Redirect { left_out, .. } => left_out,
        _ => &missing,
    };
    note_left_out(service, id, left_out).await;
    Ok(Tapped { answer, recorded })
}

/// Notes in memory what follows from a tap that is recorded.
fn note(service: &Service, tag: &CachedTag, keyed: bool, recorded: &Recorded) {
    let reason = recorded.verdict.reason();
    service.metrics.tap(reason.as_str());
    if keyed {
        let from = SentFrom {
            tag_id: tag.id(),
            page: tag.experience().map(|experience| experience.version),
            verification: reason.verification(),
        };
        service.recent_taps.insert(recorded.id, from);
    }
    if reason == Reason::Replayed
        && let (Some(counter), _) = recorded.verdict.counters()
        && !tag.simulated()
    {
        service.copies.note((tag.id(), counter), recorded.at);
    }
}

/// Records the tap of an inlay that is on no tag: its counter moves, so that the code is spent
/// when the inlay gets a tag. It issues no key.
async fn without_a_tag(
    service: &Service,
    tap: Tap<'_>,
    inlay: &OpenedInlay,
    checked: Checked,
) -> Result<Tapped, TapError> {
    let first = tap
        .place
        .first_real_tap(None, &checked.claim, inlay.simulated);
    let recorded = service.storage.record_tap(NewInteraction {
        tag_id: None,
        claim: checked.claim,
        tech: checked.tech,
        tamper: checked.tamper,
        file_data: checked.file_data.map(|data| data.expose().to_vec()),
        experience: None,
        key: None,
        client: tap.client,
        country: tap.country,
        traits: Traits {
            system: Some(tap.visitor.operating_system),
            language: tap.visitor.reported_language(),
            group: None,
        },
        simulated: inlay.simulated,
        time_offset: time_offset(service, inlay.simulated),
        first_at_template: first,
    });
    let recorded = match recorded.await {
        Ok(recorded) => {
            service.metrics.tap(recorded.verdict.reason().as_str());
            if first.is_some() {
                tap.place.note_real_tap();
            }
            Some((recorded.id, recorded.verdict))
        }
        // The page is the same; the counter has not moved.
        Err(StorageError::Full) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Tapped {
        answer: TapAnswer::NoTag,
        recorded,
    })
}

/// How far the time of what is simulated is ahead, in milliseconds.
fn time_offset(service: &Service, simulated: bool) -> i64 {
    if simulated {
        service.storage.simulated_offset()
    } else {
        0
    }
}

/// Keeps for the trace whose values a redirect did without. The tap continues without it.
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

/// The tag at a place, for who only wants to show a link to it.
pub(crate) async fn linked(
    service: &Service,
    place: &Place,
) -> Result<Option<CachedTag>, TapError> {
    Ok(match Named::by(service, Occasion::Visit, place).await? {
        Named::Tag(tag, _) => Some(tag),
        Named::Nobody | Named::NoTag(..) => None,
    })
}

/// What a tap would be answered with, without a key: nothing is verified,
/// recorded or issued.
pub(crate) async fn look(
    service: &Service,
    place: &Place,
    visitor: &Visitor,
) -> Result<TapAnswer, TapError> {
    let given = Given::new(visitor, None, None);
    match Named::by(service, Occasion::Visit, place).await? {
        Named::Tag(tag, _) => {
            let destination = Destination::of(service, &tag).await?;
            answer(service, &tag, destination, given).await
        }
        Named::NoTag(..) => Ok(TapAnswer::NoTag),
        Named::Nobody => Ok(TapAnswer::NoSuchTag),
    }
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
