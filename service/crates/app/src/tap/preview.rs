//! A preview: the result of a tap, shown to an owner before the first tap. Nothing is verified,
//! recorded or issued, and no cache is read.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answer::{language, location, nonce};
use super::destination::settled;
use super::values::taps_to_count;
use super::{Facts, MacroValues, TapError, UrlCode};
use crate::service::{CachedTag, Service};
use crate::studio::{PageKey, StudioPage};
use domain::experience::{Content, ContentFields, Scheme, Theme};
use domain::id::{ExperienceId, GroupId, TagId};
use domain::interaction::{Refusal, Tech, Unchecked, Verdict, VerificationState};
use domain::strict_json;
use domain::tag::{Properties, Tag, TagFields};
use domain::visitor::{Languages, OperatingSystem, Visitor};
use inlay::assessment::Tamper;
use storage::{StorageError, TagKey};

/// Shown in place of a rolling key.
const KEY_PLACEHOLDER: &str = "ROLLING_KEY";

/// The tap to preview.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewedTap {
    /// The tag whose properties the macros get. Its own experience may be another one. Either a tag
    /// or a `sample` is given.
    #[serde(default)]
    pub tag_id: Option<TagId>,
    /// The properties that the macros get if there is no tag yet. Nothing is stored.
    #[serde(default, deserialize_with = "strict_json::option")]
    pub sample: Option<TagFields>,
    /// Values of variables, in place of the tag's present ones.
    #[serde(default)]
    pub variables: Properties,
    /// Number of the tag's taps, including this one; by default its present number, or 1 for a
    /// sample.
    #[serde(default)]
    pub scan_count: Option<u64>,
    /// The group that the tag is in, in place of its present one.
    #[serde(default)]
    pub group_id: Option<GroupId>,
    /// The verdict of verification.
    pub verification: VerificationState,
    /// The state of the inlay's tamper loop; by default the inlay has no loop.
    #[serde(default)]
    pub tamper: Option<Tamper>,
    /// The visitor's language, such as `de` or `pt-BR`; by default the tag's.
    #[serde(default)]
    pub language: Option<String>,
    /// The visitor's country, two letters; by default the configured one.
    #[serde(default)]
    #[schema(max_length = 2)]
    pub country: Option<String>,
    /// The way of scanning; by default derived from the verdict and the tag.
    #[serde(default)]
    pub technology: Option<Tech>,
    /// The visitor's group, 0 to 99; by default 0.
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
    #[serde(default, deserialize_with = "strict_json::option")]
    pub content: Option<ContentFields>,
}

/// The result of a tap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Preview {
    /// A redirect to the owner's page.
    Redirect {
        /// The final URL, with `ROLLING_KEY` in place of a rolling key. `null` if the target is a
        /// single macro that gives no URL for this tag.
        location: Option<String>,
    },
    /// A page of the service.
    Studio {
        /// The page as its visitor would get it, with `ROLLING_KEY` in its forms. Each element of a
        /// block has its path in `data-block`, such as `2.otherwise.0`.
        html: String,
    },
}

/// The result of a tap if the experience published `content`. `None` if there is no such tag.
pub async fn preview(
    service: &Service,
    experience: ExperienceId,
    content: &Content,
    tap: PreviewedTap,
) -> Result<Option<Preview>, TapError> {
    let Some(mut tag) = previewed_tag(service, &tap).await? else {
        return Ok(None);
    };
    if let Some(group) = tap.group_id {
        tag = tag.in_group(service.storage.lineage(group).await?);
    }
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
        id: None,
        at,
        verdict,
        tech: tap.technology.unwrap_or(tech),
        tamper: tap.tamper,
        country: country.unwrap_or_else(|| service.settings().default_country.clone()),
        group: Some(tap.visitor_group.unwrap_or_default()),
        inlay: None,
        passed: Vec::new(),
    });
    let visitor = Visitor {
        languages: Languages::of(tap.language.as_deref().unwrap_or_default()),
        operating_system: tap.operating_system.unwrap_or_default(),
    };
    let rk = Some(KEY_PLACEHOLDER);
    Ok(Some(match content {
        Content::Redirect { target, rules, .. } => {
            let location = match settled(service, &tag, target).await? {
                Some(target) => {
                    let target = (&target, &**rules);
                    let (found, _) = location(service, &tag, target, &visitor, facts, rk).await?;
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
                names_blocks: true,
                nonce: &nonce(&*service.entropy),
            };
            Preview::Studio {
                html: page.to_html(&scope, &service.media)?,
            }
        }
    }))
}

/// The tag of a preview. `None` if there is no such tag.
async fn previewed_tag(
    service: &Service,
    tap: &PreviewedTap,
) -> Result<Option<CachedTag>, StorageError> {
    let Some(id) = tap.tag_id else {
        return match tap.sample.clone() {
            Some(fields) => service.tags.sample(sample(fields, tap)).await.map(Some),
            None => Ok(None),
        };
    };
    let Some(tag) = service.tags.read(TagKey::Id(id)).await? else {
        return Ok(None);
    };
    if tap.variables.0.is_empty() && tap.scan_count.is_none() {
        return Ok(Some(tag));
    }
    let Some(mut shown) = service.storage.tag(id).await? else {
        return Ok(None);
    };
    shown.fields.variables.0.extend(tap.variables.0.clone());
    shown.scan_count = match tap.scan_count {
        Some(count) => count,
        None => taps_to_count(service, &shown).await?,
    };
    Ok(Some(tag.showing(shown)))
}

/// A tag that is not stored.
fn sample(mut fields: TagFields, tap: &PreviewedTap) -> Tag {
    fields.variables.0.extend(tap.variables.0.clone());
    Tag {
        scan_count: tap.scan_count.unwrap_or(1),
        ..Tag::unborn(fields)
    }
}
