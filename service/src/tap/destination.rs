//! Where a tap leads. It is decided before the tap is recorded, so that no key is
//! issued that no answer contains.

use super::MacroValues;
use crate::experience::{Block, Content, PublishedExperience, Rule, Theme, When};
use crate::interaction::ClientId;
use crate::macros::{Macro, Settled, Target};
use crate::service::{CachedTag, Service};
use crate::storage::StorageError;
use crate::tag::Status;

/// Where a tap leads.
pub(super) enum Destination<'a> {
    /// The tag has no experience that is published.
    NotSetUp,
    /// The experience's target is one macro, which gives no URL for this tag.
    NoUrl(&'a Target),
    /// The tag is no longer in use.
    Archived,
    /// To the first rule's target that is met and has a URL, or else to this one.
    Redirect(Settled<'a>, &'a [Rule]),
    /// To a page of the service.
    Page(&'a PublishedExperience, &'a [Block], &'a Theme),
}

impl<'a> Destination<'a> {
    /// Where a tap of `tag` leads now.
    pub(super) async fn of(
        service: &Service,
        tag: &'a CachedTag,
    ) -> Result<Destination<'a>, StorageError> {
        match (tag.switches.status, tag.experience()) {
            (Status::Archived, _) => Ok(Self::Archived),
            (Status::Active, None) => Ok(Self::NotSetUp),
            (Status::Active, Some(experience)) => Self::within(service, tag, experience).await,
        }
    }

    /// Where a version of an experience leads a tap of `tag`.
    pub(super) async fn within(
        service: &Service,
        tag: &CachedTag,
        experience: &'a PublishedExperience,
    ) -> Result<Destination<'a>, StorageError> {
        Ok(match &*experience.content {
            Content::Redirect { target, rules } => match settled(service, tag, target).await? {
                Some(settled) => Self::Redirect(settled, rules),
                None => Self::NoUrl(target),
            },
            Content::Studio { blocks, theme } => Self::Page(experience, blocks, theme),
        })
    }

    /// Whether its answer contains a rolling key.
    pub(super) const fn takes_a_key(&self) -> bool {
        matches!(self, Self::Redirect(..) | Self::Page(..))
    }

    /// The group that a client is in, if the experience treats groups of visitors differently.
    pub(super) fn group(&self, tag: &CachedTag, client: ClientId) -> Option<u8> {
        let splits = match self {
            Self::Redirect(_, rules) => rules.iter().flat_map(|rule| &rule.when).any(When::splits),
            Self::Page(experience, ..) => experience.content.splits(),
            Self::NotSetUp | Self::NoUrl(_) | Self::Archived => false,
        };
        let experience = tag.experience().filter(|_| splits)?;
        Some(client.group(experience.version.experience_id))
    }

    /// The macros for want of whose values it leads nowhere.
    pub(super) fn missing(&self) -> Vec<Macro> {
        match self {
            Self::NoUrl(target) => target.macros().cloned().collect(),
            _ => Vec::new(),
        }
    }
}

/// A target as it is for `tag`. `None` if it gives no URL.
pub(super) async fn settled<'a>(
    service: &Service,
    tag: &CachedTag,
    target: &'a Target,
) -> Result<Option<Settled<'a>>, StorageError> {
    let uses = |f: &dyn Fn(&Macro) -> bool| target.is_whole() && target.uses(f);
    // Only what the URL itself depends on is read here: for most targets nothing.
    let scope = MacroValues::with(service, tag, uses, None, None).await?;
    Ok(target.settled(&scope))
}
