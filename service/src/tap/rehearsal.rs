//! What a tap would lead to, shown to an owner before anybody taps. Nothing is
//! verified, recorded or issued, and no cache is read.

use serde::Serialize;
use utoipa::ToSchema;

use super::{CachedTag, Facts, Presented, Scope, now_for, texts};
use crate::experience::Content;
use crate::id::{InteractionId, TagId};
use crate::interaction::{Refusal, Tech, Unchecked, Verdict, Verification};
use crate::service::Service;
use crate::storage::{StorageError, TagKey};

/// Stands where a rolling key would.
pub const KEY_PLACEHOLDER: &str = "ROLLING_KEY";

/// What a tap would lead to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Rehearsal {
    /// On to the owner's page.
    Redirect {
        /// The final URL, with `ROLLING_KEY` where a rolling key would stand.
        /// `null` where the target is one macro that gives no URL for this tag.
        location: Option<String>,
    },
    /// A page of the service.
    Studio {
        /// Its texts, macros expanded.
        texts: Vec<String>,
    },
}

/// What a tap of `tag` would lead to if its experience published `content` and
/// verification came to `outcome`. `None` where there is no such tag.
pub async fn rehearse(
    service: &Service,
    tag: TagId,
    content: &Content,
    outcome: Verification,
) -> Result<Option<Rehearsal>, StorageError> {
    let Some(tag) = service.storage.tag_tap(TagKey::Id(tag)).await? else {
        return Ok(None);
    };
    let tag = CachedTag::new(tag, &service.keyring);
    let (verdict, tech) = match outcome {
        Verification::Verified => (
            Verdict::Verified {
                counter: 1,
                previous: 0,
            },
            Tech::Nfc,
        ),
        Verification::NotVerified => (Verdict::NotVerified(Refusal::Malformed), Tech::Nfc),
        Verification::NotChecked => (
            Verdict::NotChecked(Unchecked::NoCode),
            tag.tech(&Presented::Nothing),
        ),
    };
    let facts = Some(Facts {
        id: InteractionId(0),
        at: now_for(service, tag.simulated()).await?,
        verdict,
        tech,
        country: service.settings().default_country.clone(),
    });
    let rk = Some(KEY_PLACEHOLDER);
    Ok(Some(match content {
        Content::Redirect { target } => {
            let scope = Scope::for_target(service, &tag, target, facts, rk).await?;
            Rehearsal::Redirect {
                location: target.expand(&scope, rk),
            }
        }
        Content::Studio { blocks } => Rehearsal::Studio {
            texts: texts(blocks, &Scope::full(service, &tag, facts, rk).await?),
        },
    }))
}
