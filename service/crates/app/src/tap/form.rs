//! A form of a page, sent without JavaScript: the rules of the update operation (specification
//! 4.2), with a page as the answer. The page defines the fields and buttons; a value that they
//! cannot send is refused before the key is used. A request with only the key returns the present
//! page, which the page's script requests.

use super::answer::{Given, repeat};
use super::{Facts, MacroValues, Place, TapAnswer, TapError, linked};
use crate::service::{CachedTag, SentFrom, Service};
use crate::studio::FormOutcome;
use domain::experience::Content;
use domain::interaction::KeyedInteraction;
use domain::macros::{Encoding, Template};
use domain::rolling_key::{IssuedKey, RollingKey};
use domain::submission::entries::{self, Entries};
use domain::tag::{InvalidProperty, PropertyKey, check_value};
use domain::visitor::Visitor;
use storage::{StorageError, UpdateRefusal};

/// A request from a page's form.
#[derive(Debug)]
pub struct SentForm<'a> {
    /// Place of the tag.
    pub place: Place,
    /// The URL's query, unchanged.
    pub query: &'a str,
    /// The rolling key, Base64-encoded.
    pub rolling_key: &'a str,
    /// New values of variables, each key once. Empty to get only the page.
    pub data: Vec<(PropertyKey, String)>,
    /// The position of the form on its page, from 1; `None` for a variable button.
    pub form: Option<usize>,
    /// Identifies this submission, so that sending the same form again does not save it twice.
    pub digest: [u8; 32],
    /// The visitor, as the browser's headers describe them.
    pub visitor: Visitor,
}

/// The answer to a form.
#[derive(Debug)]
pub enum FormAnswer {
    /// No tag has this slug.
    NoSuchTag,
    /// The tag has no page, and so no form.
    NoForm,
    /// The key is not valid for this tag, or not any more: the visitor has to tap again.
    TapAgain(CachedTag),
    /// The page with the present values.
    Page {
        /// Page to answer with.
        page: TapAnswer,
        /// Whether the values were saved, or there were none.
        saved: bool,
    },
}

/// Whether the tag at a place has a page, the only destination that has forms.
pub async fn takes_forms(service: &Service, place: &mut Place) -> Result<bool, TapError> {
    let tag = linked(service, place).await?.tag();
    Ok(tag.is_some_and(|tag| leads_to_a_page(&tag)))
}

fn leads_to_a_page(tag: &CachedTag) -> bool {
    let content = tag.experience().map(|experience| &*experience.content);
    matches!(content, Some(Content::Studio { .. }))
}

/// Takes a form to its answer.
///
/// The one operation that uses the key decides whether the key may be used. The reads before and
/// after it only determine the words of the answer.
pub async fn submit(service: &Service, mut sent: SentForm<'_>) -> Result<FormAnswer, TapError> {
    let Some(tag) = linked(service, &mut sent.place).await?.tag() else {
        return Ok(FormAnswer::NoSuchTag);
    };
    if !leads_to_a_page(&tag) {
        return Ok(FormAnswer::NoForm);
    }
    let Some(key) = RollingKey::from_base64(sent.rolling_key) else {
        return Ok(FormAnswer::TapAgain(tag));
    };
    let Some((issued, interaction)) = live_key_of(service, &tag, &key).await? else {
        return Ok(FormAnswer::TapAgain(tag));
    };
    let verified = interaction.verdict.tag_verified() == Some(true);
    // A key that can save nothing has its own answer, whatever was entered.
    let closed = issued.consumed.is_some() || (tag.switches.updates_require_verified && !verified);
    let mut given = Given::new(&sent.visitor, None, None);
    given.passed = sent.place.passed(sent.query);
    let mut saved = true;
    if !sent.data.is_empty() {
        let compared = if closed {
            Ok(sent.data.clone())
        } else {
            compare(service, &tag, &key, &interaction, &sent).await?
        };
        let outcome = match compared {
            Ok(data) => save(service, &key, data, &sent).await?,
            Err(outcome) => outcome,
        };
        saved = outcome == FormOutcome::Saved;
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

/// The key that [`Service::live_key`] finds, if it belongs to a tap of `tag`.
async fn live_key_of(
    service: &Service,
    tag: &CachedTag,
    key: &RollingKey,
) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
    let found = service.live_key(key).await?;
    Ok(found.filter(|(_, interaction)| interaction.tag_id == tag.id()))
}

/// Compares the values with the page of the tap: the data to store, or the reason for refusing
/// them.
async fn compare(
    service: &Service,
    tag: &CachedTag,
    key: &RollingKey,
    tap: &KeyedInteraction,
    sent: &SentForm<'_>,
) -> Result<Result<Vec<(PropertyKey, String)>, FormOutcome>, TapError> {
    let Some(page) = service.page_of(SentFrom::from(tap)).await? else {
        return Ok(Ok(sent.data.clone()));
    };
    let values = match entries::compare(&page.content, sent.form, &sent.data) {
        Entries::Form(data) => return Ok(Ok(data)),
        Entries::Refused(faults) => return Ok(Err(FormOutcome::Refused(faults))),
        Entries::NotOffered => return Ok(Err(FormOutcome::NotOffered)),
        Entries::Button(values) => values,
    };
    let facts = Some(Facts::from(tap.clone()));
    let scope = MacroValues::full(service, tag, facts, Some(key.expose())).await?;
    let mut offered = values
        .into_iter()
        .map(|value| lines(&Template::parse(value).render(&scope, Encoding::Text)));
    if offered.any(|value| sent.data.iter().all(|(_, sent)| *sent == value)) {
        Ok(Ok(sent.data.clone()))
    } else {
        Ok(Err(FormOutcome::NotOffered))
    }
}

/// Converts a text to the line breaks of the update operation; browsers send others.
pub fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

async fn save(
    service: &Service,
    key: &RollingKey,
    data: Vec<(PropertyKey, String)>,
    sent: &SentForm<'_>,
) -> Result<FormOutcome, TapError> {
    for (_, value) in &data {
        match check_value(value) {
            Ok(()) => {}
            Err(InvalidProperty::TooLong) => return Ok(FormOutcome::TooLong),
            Err(_) => return Ok(FormOutcome::NotReady),
        }
    }
    let refusal = service
        .update(key, Some(sent.digest), sent.form, data)
        .await?;
    let Some(refused) = refusal else {
        return Ok(FormOutcome::Saved);
    };
    Ok(match refused.why {
        _ if refused.kept => FormOutcome::Kept,
        UpdateRefusal::InvalidKey | UpdateRefusal::Consumed => FormOutcome::Used,
        UpdateRefusal::NotVerified => FormOutcome::Unverified,
        UpdateRefusal::SentBefore => FormOutcome::SentBefore,
        UpdateRefusal::UnknownVariable(_)
        | UpdateRefusal::NotAssigned
        | UpdateRefusal::SeveralForms => FormOutcome::NotReady,
    })
}
