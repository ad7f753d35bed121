//! The destination of a tap. It is decided before the tap is recorded, so that no key is issued
//! that no answer contains.

use super::MacroValues;
use crate::service::{CachedTag, Service};
use domain::experience::{Block, Content, PublishedExperience, Rule, Theme, When};
use domain::interaction::Client;
use domain::macros::{Macro, Settled, Target};
use domain::tag::Status;
use storage::StorageError;

/// The destination of a tap.
pub(super) enum Destination<'a> {
    /// The tag has no published experience, or it is recalled and the recall has none.
    NotSetUp,
    /// The experience's target is a single macro that gives no URL for this tag.
    NoUrl(&'a Target),
    /// The tag is no longer in use.
    Archived,
    /// A redirect to the target of the first rule that applies and has a URL, or else to this one.
    /// The last part says whether the visitor's parameters are appended.
    Redirect(Settled<'a>, &'a [Rule], bool),
    /// A page of the service.
    Page(&'a PublishedExperience, &'a [Block], &'a Theme),
}

impl<'a> Destination<'a> {
    /// The destination of a tap of `tag`, now.
    pub(super) async fn of(
        service: &Service,
        tag: &'a CachedTag,
    ) -> Result<Destination<'a>, StorageError> {
        match (tag.switches.status, tag.experience()) {
            // A recall is for everybody who still holds the goods.
            (Status::Archived, _) if !tag.is_recalled() => Ok(Self::Archived),
            (_, None) => Ok(Self::NotSetUp),
            (_, Some(experience)) => Self::within(service, tag, experience).await,
        }
    }

    /// The destination of a tap of `tag` with a given version of an experience.
    pub(super) async fn within(
        service: &Service,
        tag: &CachedTag,
        experience: &'a PublishedExperience,
    ) -> Result<Destination<'a>, StorageError> {
        Ok(match &*experience.content {
            Content::Redirect {
                target,
                rules,
                pass_query,
            } => match settled(service, tag, target).await? {
                Some(settled) => Self::Redirect(settled, rules, *pass_query),
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
    pub(super) fn group(&self, tag: &CachedTag, client: Client) -> Option<u8> {
        let splits = match self {
            Self::Redirect(_, rules, _) => {
                rules.iter().flat_map(|rule| &rule.when).any(When::splits)
            }
            Self::Page(experience, ..) => experience.content.splits(),
            Self::NotSetUp | Self::NoUrl(_) | Self::Archived => false,
        };
        let experience = tag.experience().filter(|_| splits)?;
        Some(client.group(experience.version.experience_id))
    }

    /// The macros without whose values there is no destination.
    pub(super) fn missing(&self) -> Vec<Macro> {
        match self {
            Self::NoUrl(target) => target.macros().cloned().collect(),
            _ => Vec::new(),
        }
    }
}

/// A target with the values for `tag`. `None` if it gives no URL.
pub(super) async fn settled<'a>(
    service: &Service,
    tag: &CachedTag,
    target: &'a Target,
) -> Result<Option<Settled<'a>>, StorageError> {
    let uses = |f: &dyn Fn(&Macro) -> bool| target.is_whole() && target.uses(f);
    // Reads only the values that decide the URL itself: for most targets none.
    let scope = MacroValues::with(service, tag, uses, None, None).await?;
    Ok(target.settled(&scope))
}
