//! Whom a tap's URL names. With a slug it is the tag; without one, only an authentic code names
//! an inlay: UIDs are nearly sequential, and whoever guesses one must learn nothing.

use super::verify::{Checked, Occasion, authentic, check};
use super::{Place, TapError};
use crate::inlay::Uid;
use crate::inlay::assessment::Assessment;
use crate::inlay::key::{AesKey, InlayKeys, Keys, RollingKey};
use crate::inlay::technology::Family;
use crate::inlay::template::{Field, Filled, Template};
use crate::keyring::KeyringError;
use crate::service::{CachedTag, OpenedInlay, Service, TapTemplate};
use crate::storage::TagKey;

/// Whom a tap's URL names.
pub(super) enum Named {
    /// No tag.
    Nobody,
    /// An inlay that is on no tag, and the verdict on its code.
    NoTag(OpenedInlay, Checked),
    /// A tag, and its code if it had to be checked to find the tag.
    Tag(CachedTag, Option<Checked>),
}

impl Named {
    /// Finds out, as the configuration is now.
    pub(super) async fn by(
        service: &Service,
        occasion: Occasion,
        place: &Place,
    ) -> Result<Self, TapError> {
        let nobody = || {
            if occasion == Occasion::Visit {
                service.metrics.unknown_code();
            }
            Ok(Self::Nobody)
        };
        if let Some(slug) = place.slug() {
            let tag = service.tags.get(TagKey::Slug(slug)).await?;
            return Ok(tag.map_or(Self::Nobody, |tag| Self::Tag(tag, None)));
        }
        let Place::Template {
            template,
            addressed,
            ..
        } = place
        else {
            return Ok(Self::Nobody);
        };
        let Ok(Some(code)) = &addressed.code else {
            return nobody();
        };
        let (inlay, assessment) = made_by(service, occasion, template, code).await?;
        let Some(inlay) = inlay.filter(|_| assessment.is_authentic()) else {
            return nobody();
        };
        let Some(tag) = inlay.tag_id else {
            let checked = authentic(None, &inlay, assessment);
            return Ok(Self::NoTag(inlay, checked));
        };
        Ok(match service.tags.get(TagKey::Id(tag)).await? {
            Some(tag) => {
                let checked = authentic(Some(&tag), &inlay, assessment);
                Self::Tag(tag, Some(checked))
            }
            None => Self::Nobody,
        })
    }
}

/// The tag that a place names, and the verdict on its code.
pub(super) fn checked(
    service: &Service,
    occasion: Occasion,
    place: &Place,
    query: &str,
    tag: &CachedTag,
    checked: Option<Checked>,
) -> Result<Checked, TapError> {
    match checked {
        Some(checked) => Ok(checked),
        None => Ok(check(service, occasion, place, query, tag)?),
    }
}

/// The inlay that a code names, and whether that inlay made it. The work is the same whether
/// anybody is found or not.
async fn made_by(
    service: &Service,
    occasion: Occasion,
    template: &TapTemplate,
    code: &Filled,
) -> Result<(Option<OpenedInlay>, Assessment), TapError> {
    // Asked before anything is looked up: which inlay has keys that cannot be opened would tell
    // which UIDs there are.
    service.keyring.check_open()?;
    let of = &template.template;
    if of.has(Field::Uid) {
        let uid = code.uid().unwrap_or(Uid::from_bytes([0; 7]));
        let inlay = inlay(service, template, uid).await?;
        let assessment = match &inlay {
            Some(inlay) => super::verify::guarded(service, occasion, (of, None), code, inlay),
            None => of.check(None, code, uid, &nobody(of)),
        };
        return Ok((inlay, assessment));
    }
    let opened = of.open(code, template.keys()?);
    for (_, mirrored) in opened {
        let Some(uid) = mirrored.uid else { continue };
        let Some(inlay) = inlay(service, template, uid).await? else {
            continue;
        };
        if let InlayKeys::Aes(keys) = &inlay.keys {
            let named = Some((inlay.uid, &keys.file));
            let assessment = of.check_opened(None, code, Some(mirrored), named);
            return Ok((Some(inlay), assessment));
        }
    }
    Ok((None, of.check_opened(None, code, None, None)))
}

/// The inlay with this UID, if it is of the template. One whose own keys do not open while the
/// keyring does is as unknown as any other UID: another answer would tell that it exists.
async fn inlay(
    service: &Service,
    template: &TapTemplate,
    uid: Uid,
) -> Result<Option<OpenedInlay>, TapError> {
    let found = match service.tags.inlay(uid).await? {
        Some(Err(error @ KeyringError::OtherKey)) => {
            tracing::error!(template = %template.id, "a tap was answered as one of no inlay: {error}");
            None
        }
        found => found.transpose()?,
    };
    Ok(found.filter(|inlay| inlay.url_template_id == template.id))
}

/// Keys of no inlay, of the kind that the template's chips have.
fn nobody(template: &Template) -> InlayKeys {
    match template.settings().technology.family() {
        Family::Sic43Nt => InlayKeys::Rolling(RollingKey::from_bytes([0; 10])),
        Family::Ntag21x => InlayKeys::None,
        Family::Ntag424 | Family::Ntag22x | Family::Sic43S1 => InlayKeys::Aes(Keys {
            meta: None,
            file: AesKey::FACTORY,
        }),
    }
}
