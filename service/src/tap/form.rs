//! A form of a page, sent without JavaScript: the update operation's rules
//! (specification 4.2) with a page for an answer. With the key alone it is the
//! page as it is now, which the page's script asks for.

use super::answer::{Given, repeat};
use super::{Place, TapAnswer, TapError, linked};
use crate::experience::Content;
use crate::interaction::KeyedInteraction;
use crate::rolling_key::{IssuedKey, RollingKey};
use crate::service::{CachedTag, SentFrom, Service};
use crate::storage::{StorageError, UpdateRefusal};
use crate::studio::Outcome;
use crate::submission::missing;
use crate::tag::{InvalidProperty, PropertyKey, check_value};
use crate::visitor::Visitor;

/// What a page's form sends.
#[derive(Debug)]
pub(crate) struct SentForm<'a> {
    /// Where it comes in.
    pub place: Place,
    /// The URL's query as it stands.
    pub query: &'a str,
    /// The rolling key, Base64-encoded.
    pub rolling_key: &'a str,
    /// New values of variables; no key twice. Empty to see the page alone.
    pub data: Vec<(PropertyKey, String)>,
    /// The form's place among those of its page, from 1. A variable button says none.
    pub form: Option<usize>,
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
pub(crate) async fn submit(service: &Service, sent: SentForm<'_>) -> Result<FormAnswer, TapError> {
    let Some(tag) = linked(service, &sent.place).await? else {
        return Ok(FormAnswer::NoSuchTag);
    };
    if !leads_to_a_page(&tag) {
        return Ok(FormAnswer::NoForm);
    }
    let Some(key) = RollingKey::from_base64(sent.rolling_key) else {
        return Ok(FormAnswer::TapAgain(tag));
    };
    let Some((_, interaction)) = live_key_of(service, &tag, &key).await? else {
        return Ok(FormAnswer::TapAgain(tag));
    };
    let mut given = Given::new(&sent.visitor, None, None);
    let mut saved = true;
    if !sent.data.is_empty() {
        let outcome = save(service, &key, &interaction, &sent).await?;
        saved = outcome == Outcome::Saved;
        given.outcome = Some(outcome);
        if !saved {
            given.entered = sent.data;
        }
    }
    let Some((issued, interaction)) = live_key_of(service, &tag, &key).await? else {
        return Ok(FormAnswer::TapAgain(tag));
    };
    given.consumed = issued.consumed.is_some();
    let cookie = sent.place.cookie(sent.query);
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
    tap: &KeyedInteraction,
    sent: &SentForm<'_>,
) -> Result<Outcome, TapError> {
    for (_, value) in &sent.data {
        match check_value(value) {
            Ok(()) => {}
            Err(InvalidProperty::TooLong) => return Ok(Outcome::TooLong),
            Err(_) => return Ok(Outcome::NotReady),
        }
    }
    // Its own script and browser ask for it, too; nothing makes a sender use them.
    let page = service.page_of(SentFrom::from(tap)).await?;
    let content = page.as_ref().map(|page| &*page.content);
    let missing = content.and_then(|content| missing(content, sent.form, &sent.data));
    if let Some(field) = missing {
        return Ok(Outcome::Missing(field.label.clone()));
    }
    let (digest, data) = (Some(sent.digest), sent.data.clone());
    let refusal = service.update(key, digest, sent.form, data).await?;
    Ok(match refusal {
        None => Outcome::Saved,
        Some(UpdateRefusal::InvalidKey | UpdateRefusal::Consumed) => Outcome::Used,
        Some(UpdateRefusal::NotVerified) => Outcome::Unverified,
        Some(UpdateRefusal::SentBefore) => Outcome::SentBefore,
        Some(UpdateRefusal::UnknownVariable(_) | UpdateRefusal::NotAssigned) => Outcome::NotReady,
    })
}
