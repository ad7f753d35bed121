//! A form of a page, sent without JavaScript: the update operation's rules
//! (specification 4.2) with a page for an answer. With the key alone it is the
//! page as it is now, which the page's script asks for.

use super::answer::{Given, repeat};
use super::{Place, TapAnswer, TapError, linked};
use crate::experience::Content;
use crate::interaction::KeyedInteraction;
use crate::rolling_key::{IssuedKey, RollingKey};
use crate::service::{CachedTag, Service};
use crate::storage::{StorageError, UpdateRefusal};
use crate::studio::Outcome;
use crate::tag::{InvalidProperty, PropertyKey, check_value};
use crate::visitor::Visitor;

/// What a page's form sends.
#[derive(Debug)]
pub(crate) struct Submission<'a> {
    /// Where it comes in.
    pub place: Place,
    /// The URL's query as it stands.
    pub query: &'a str,
    /// The rolling key, Base64-encoded.
    pub rolling_key: &'a str,
    /// New values of variables; no key twice. Empty to see the page alone.
    pub data: Vec<(PropertyKey, String)>,
    /// Says that the page's script has saved something with the key.
    pub saved: bool,
    /// What makes the same form, sent again, this very submission.
    pub digest: [u8; 32],
    /// The visitor, as the browser's headers describe them.
    pub visitor: Visitor,
}

/// What a form is answered with.
#[derive(Debug)]
pub(crate) enum FormAnswer {
    /// No tag has this slug.
    NoSuchTag,
    /// The tag leads to no page with forms.
    NoForm,
    /// The key is not, or no longer, of this tag: the visitor taps again.
    TapAgain(CachedTag),
    /// The page as it is now.
    Page {
        /// The page.
        page: TapAnswer,
        /// Whether what was sent is saved, or nothing was sent.
        saved: bool,
    },
}

/// Whether the tag at a place leads to a page, which is what forms are sent to.
pub(crate) async fn takes_forms(service: &Service, place: &Place) -> Result<bool, TapError> {
    let tag = linked(service, place).await?;
    Ok(tag.is_some_and(|tag| leads_to_a_page(&tag)))
}

fn leads_to_a_page(tag: &CachedTag) -> bool {
    let content = tag.experience().map(|experience| &*experience.content);
    matches!(content, Some(Content::Studio { .. }))
}

/// Takes a form to its answer.
///
/// Whether the key may be used is decided by the one operation that uses it;
/// what is read before and behind it is for the words of the answer.
pub(crate) async fn submit(
    service: &Service,
    submission: Submission<'_>,
) -> Result<FormAnswer, TapError> {
    let Some(tag) = linked(service, &submission.place).await? else {
        return Ok(FormAnswer::NoSuchTag);
    };
    if !leads_to_a_page(&tag) {
        return Ok(FormAnswer::NoForm);
    }
    let Some(key) = RollingKey::from_base64(submission.rolling_key) else {
        return Ok(FormAnswer::TapAgain(tag));
    };
    if live_key_of(service, &tag, &key).await?.is_none() {
        return Ok(FormAnswer::TapAgain(tag));
    }
    let mut given = Given::new(&submission.visitor, None, None);
    let mut saved = true;
    if !submission.data.is_empty() {
        let outcome = save(service, &key, &submission).await?;
        saved = outcome == Outcome::Saved;
        given.outcome = Some(outcome);
        if !saved {
            given.entered = submission.data;
        }
    }
    let Some((issued, interaction)) = live_key_of(service, &tag, &key).await? else {
        return Ok(FormAnswer::TapAgain(tag));
    };
    given.consumed = issued.consumed.is_some();
    if submission.saved && given.consumed && given.outcome.is_none() {
        given.outcome = Some(Outcome::Saved);
    }
    let cookie = submission.place.cookie(submission.query);
    let page = repeat(service, tag, cookie, interaction, key, given).await?;
    Ok(FormAnswer::Page { page, saved })
}

/// What [`Service::live_key`] finds, if it is of a tap of `tag`.
async fn live_key_of(
    service: &Service,
    tag: &CachedTag,
    key: &RollingKey,
) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
    let found = service.live_key(key).await?;
    Ok(found.filter(|(_, interaction)| interaction.tag_id == tag.id()))
}

async fn save(
    service: &Service,
    key: &RollingKey,
    submission: &Submission<'_>,
) -> Result<Outcome, TapError> {
    for (_, value) in &submission.data {
        match check_value(value) {
            Ok(()) => {}
            Err(InvalidProperty::TooLong) => return Ok(Outcome::TooLong),
            Err(_) => return Ok(Outcome::NotReady),
        }
    }
    let data = submission.data.clone();
    let refusal = service.update(key, Some(submission.digest), data).await?;
    Ok(match refusal {
        None => Outcome::Saved,
        Some(UpdateRefusal::InvalidKey | UpdateRefusal::Consumed) => Outcome::Used,
        Some(UpdateRefusal::NotVerified) => Outcome::Unverified,
        Some(UpdateRefusal::UnknownVariable(_) | UpdateRefusal::NotAssigned) => Outcome::NotReady,
    })
}
