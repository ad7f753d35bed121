//! A preview: what a tap would lead to, shown to an owner before anybody taps. Nothing is
//! verified, recorded or issued, and no cache is read.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answer::{language, location, nonce};
use super::destination::settled;
use super::{Facts, MacroValues, TapError, UrlCode};
use crate::experience::{Content, ContentFields, Scheme, Theme};
use crate::id::{ExperienceId, InteractionId, TagId};
use crate::inlay::assessment::Tamper;
use crate::interaction::{Refusal, Tech, Unchecked, Verdict, VerificationState};
use crate::object;
use crate::service::Service;
use crate::storage::TagKey;
use crate::studio::{PageKey, StudioPage};
use crate::visitor::{OperatingSystem, Visitor};

/// Stands where a rolling key would.
const KEY_PLACEHOLDER: &str = "ROLLING_KEY";

/// The tap to preview.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreviewedTap {
    /// The tag whose properties the macros get. It need not lead to this experience.
    pub tag_id: TagId,
    /// The verdict of verification.
    pub verification: VerificationState,
    /// The state of the inlay's tamper loop; by default the inlay has none.
    #[serde(default)]
    pub tamper: Option<Tamper>,
    /// The visitor's language, such as `de` or `pt-BR`; by default the tag's.
    #[serde(default)]
    pub language: Option<String>,
    /// The visitor's country, two letters; by default the configured one.
    #[serde(default)]
    #[schema(max_length = 2)]
    pub country: Option<String>,
    /// How the visitor came; by default as follows from the verdict and the tag.
    #[serde(default)]
    pub technology: Option<Tech>,
    /// Which of a hundred groups, from 0, the visitor is in; by default the first.
    #[serde(default)]
    #[schema(maximum = 99)]
    pub visitor_group: Option<u8>,
    /// The operating system of the visitor's device.
    #[serde(default)]
    pub operating_system: Option<OperatingSystem>,
    /// Whether the visitor's device shows pages light or dark; by default `auto`.
    #[serde(default)]
    pub scheme: Option<Scheme>,
    /// A content to preview instead of the draft.
    #[serde(default, deserialize_with = "object::option")]
    pub content: Option<ContentFields>,
}

/// The result of a tap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Preview {
    /// A redirect to the owner's page.
    Redirect {
        /// The final URL, with `ROLLING_KEY` where a rolling key would stand.
        /// `null` if the target is one macro that gives no URL for this tag.
        location: Option<String>,
    },
    /// A page of the service.
    Studio {
        /// The page as its visitor would get it, with `ROLLING_KEY` in its forms.
        html: String,
    },
}

/// What a tap would lead to if the experience published `content`. `None` if
/// there is no such tag.
pub(crate) async fn preview(
    service: &Service,
    experience: ExperienceId,
    content: &Content,
    tap: PreviewedTap,
) -> Result<Option<Preview>, TapError> {
    let Some(tag) = service.tags.read(TagKey::Id(tap.tag_id)).await? else {
        return Ok(None);
    };
    let (verdict, tech) = match tap.verification {
        VerificationState::Verified => (
            Verdict::Verified {
                counter: 1,
                previous: 0,
            },
            Tech::Nfc,
        ),
        VerificationState::NotVerified => (Verdict::NotVerified(Refusal::Malformed), Tech::Nfc),
        VerificationState::NotChecked => (
            Verdict::NotChecked(Unchecked::NoCode),
            UrlCode::Nothing.tech(&tag),
        ),
    };
    let at = service.now_in(tag.simulated()).await?;
    let country = tap.country;
    let facts = Some(Facts {
        id: InteractionId(0),
        at,
        verdict,
        tech: tap.technology.unwrap_or(tech),
        tamper: tap.tamper,
        country: country.unwrap_or_else(|| service.settings().default_country.clone()),
        group: Some(tap.visitor_group.unwrap_or_default()),
    });
    let visitor = Visitor {
        languages: tap.language.into_iter().collect(),
        operating_system: tap.operating_system.unwrap_or_default(),
    };
    let rk = Some(KEY_PLACEHOLDER);
    Ok(Some(match content {
        Content::Redirect { target, rules } => {
            let location = match settled(service, &tag, target).await? {
                Some(target) => {
                    let target = (&target, &**rules);
                    let found = location(service, &tag, target, &visitor, facts, rk).await?;
                    Some(found.url)
                }
                None => None,
            };
            Preview::Redirect { location }
        }
        Content::Studio { blocks, theme } => {
            let scope = MacroValues::full(service, &tag, facts, rk).await?;
            let language = language(&visitor, &content.languages(), &tag);
            let theme = Theme {
                scheme: match theme.scheme {
                    Scheme::Auto => tap.scheme.unwrap_or_default(),
                    chosen => chosen,
                },
                ..theme.clone()
            };
            let page = StudioPage {
                blocks,
                theme: &theme,
                experience,
                title: tag.shown_title(),
                context: &scope.context(&visitor, &language, at),
                rk,
                key: PageKey::Live {
                    base64: KEY_PLACEHOLDER.to_owned(),
                    millis: 0,
                },
                outcome: None,
                sent: &[],
                entered: &[],
                nonce: &nonce(&*service.entropy),
            };
            Preview::Studio {
                html: page.to_html(&scope, &service.media)?,
            }
        }
    }))
}
