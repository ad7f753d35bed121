//! The tag or inlay that a tap's URL names. With a slug it is the tag. Without one, only an
//! authentic code names an inlay: UIDs are nearly sequential, and a guesser must learn nothing. The
//! owner can allow that a UID without a MAC names one, too: other chips cannot be found at all.

#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;

use super::verify::{Checked, Occasion, authentic, check};
use super::{Place, TapError};
use crate::service::{
    CachedTag, ChipCode, FoundInlay, NotDerived, OpenedInlay, Service, TapTemplate,
};
use domain::id::TagId;
use domain::keyring::KeyringError;
use inlay::Uid;
use inlay::assessment::{Assessment, Authenticity};
use inlay::key::{AesKey, InlayKeys, Keys, Sic43ntKey};
use inlay::technology::Family;
use inlay::technology::ntag424::Mirrored;
use inlay::template::{Field, Filled, Template};
use storage::{StorageError, TagKey};

/// The tag or inlay that a tap's URL names.
pub(super) enum Named {
    /// No tag and no inlay.
    Nobody,
    /// An inlay that is on no tag, and the verdict on its code.
    NoTag(OpenedInlay, Checked),
    /// A chip that is no inlay, although the keys of the URL template make its codes.
    Unlisted(ChipCode),
    /// A tag, and the code in its URL.
    Tag(CachedTag, TagCode),
}

/// The code in the URL of a tag. Using it up is the only way to its result, so that a tap checks
/// its code once.
pub(super) enum TagCode {
    /// The code named the tag, so it is checked already.
    Checked(Checked),
    /// The slug names the tag. A repeated answer needs no check.
    Unchecked,
}

impl TagCode {
    /// The result of the check, for the code at `place`.
    pub(super) fn check(
        self,
        service: &Service,
        occasion: Occasion,
        place: &Place,
        query: &str,
        tag: &CachedTag,
    ) -> Result<Checked, KeyringError> {
        match self {
            Self::Checked(checked) => Ok(checked),
            Self::Unchecked => check(service, occasion, place, query, tag),
        }
    }
}

impl Named {
    /// Finds the tag or inlay with the present configuration. Of several templates `place` keeps
    /// the one whose inlay made the code, or else the first one that names a tag.
    pub(super) async fn by(
        service: &Service,
        occasion: Occasion,
        place: &mut Place,
    ) -> Result<Self, TapError> {
        let named = if place.is_shared() {
            Box::pin(Self::by_any(service, occasion, place)).await?
        } else {
            Self::at(service, occasion, place).await?
        };
        let is_unknown = matches!(named, Self::Nobody) && place.slug().is_none();
        if is_unknown && occasion == Occasion::Visit {
            service.metrics.unknown_code();
        }
        Ok(named)
    }

    /// Asks each template in turn. A code that is no inlay's is tried with all of them, so that its
    /// work does not depend on the UID.
    async fn by_any(
        service: &Service,
        occasion: Occasion,
        place: &mut Place,
    ) -> Result<Self, TapError> {
        let mut first = None;
        for one in place.each() {
            let named = match Self::at(service, occasion, &one).await? {
                Self::Nobody => continue,
                Self::Tag(tag, TagCode::Unchecked) => {
                    let checked = check(service, occasion, &one, "", &tag)?;
                    let is_certain = checked.claim.inlay_id().is_some();
                    let named = Self::Tag(tag, TagCode::Checked(checked));
                    if !is_certain {
                        first.get_or_insert((one, named));
                        continue;
                    }
                    named
                }
                // With another template, the chip may be an inlay.
                named @ Self::Unlisted(_) => {
                    first.get_or_insert((one, named));
                    continue;
                }
                named => named,
            };
            *place = one;
            return Ok(named);
        }
        Ok(match first {
            Some((one, named)) => {
                *place = one;
                named
            }
            None => Self::Nobody,
        })
    }

    /// The same at a place of which one template names the tag.
    async fn at(service: &Service, occasion: Occasion, place: &Place) -> Result<Self, TapError> {
        if let Some(slug) = place.slug() {
            let tag = service.tags.get(TagKey::Slug(slug)).await?;
            return Ok(tag.map_or(Self::Nobody, |tag| Self::Tag(tag, TagCode::Unchecked)));
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
            return Ok(Self::Nobody);
        };
        // Boxed, so that the futures of taps with a slug stay small.
        let made = Box::pin(made_by(service, occasion, template, code)).await?;
        let (inlay, assessment, unlisted) = made;
        let Some(inlay) = inlay.filter(|_| names(template, &assessment)) else {
            return Ok(unlisted.map_or(Self::Nobody, Self::Unlisted));
        };
        let Some(tag) = inlay.tag_id else {
            let checked = authentic(None, &inlay, assessment);
            return Ok(Self::NoTag(inlay, checked));
        };
        Ok(match service.tags.get(TagKey::Id(tag)).await? {
            Some(tag) => {
                let checked = authentic(Some(&tag), &inlay, assessment);
                Self::Tag(tag, TagCode::Checked(checked))
            }
            None => Self::Nobody,
        })
    }
}

/// The inlay that a code names, and whether that inlay made it; or else the chip that is no inlay
/// and made it. A code without a valid MAC takes the same work, whether its UID belongs to an inlay
/// or not: the same number of database queries, opened keys and MACs.
async fn made_by(
    service: &Service,
    occasion: Occasion,
    template: &Arc<TapTemplate>,
    code: &Filled,
) -> Result<(Option<OpenedInlay>, Assessment, Option<ChipCode>), TapError> {
    // Checked before any lookup: an error for inlays whose keys cannot be opened would reveal which
    // UIDs exist.
    service.keyring.check_open()?;
    let of = &template.template;
    let mut search = Search::default();
    let mut opened = Vec::new();
    let (inlay, assessment) = if of.has(Field::Uid) {
        let uid = code.uid().unwrap_or(Uid::from_bytes([0; 7]));
        let inlay = search.inlay(service, template, uid).await?;
        let assessment = match &inlay {
            Some(inlay) => super::verify::guarded(service, occasion, (of, None), code, inlay),
            None => unmade(service, occasion, of, code, uid),
        };
        (inlay, assessment)
    } else {
        opened = of.open(code, template.keys()?);
        search.wanted = opened.len().max(1);
        named_by(service, &mut search, template, code, &opened).await?
    };
    let mut unlisted = None;
    if !names(template, &assessment) {
        // Looked for even if the UID is that of an inlay, so that the work stays the same.
        unlisted = Box::pin(maker(service, template, code, opened)).await?;
        unlisted = unlisted.filter(|_| inlay.is_none());
        search.end(service).await?;
        // The next code then finds the tag in the cache. The answer to this one does not wait for
        // it.
        if let Some(tag) = search.cold {
            let tags = Arc::clone(&service.tags);
            tokio::spawn(async move { tags.get(TagKey::Id(tag)).await.map(drop) });
        }
    }
    Ok((inlay, assessment, unlisted))
}

/// The chip that the template's own keys find to be the maker of a code.
async fn maker(
    service: &Service,
    template: &Arc<TapTemplate>,
    code: &Filled,
    opened: Vec<(usize, Mirrored)>,
) -> Result<Option<ChipCode>, TapError> {
    let keys = template.chip_keys()?;
    if keys.is_empty() {
        return Ok(None);
    }
    if !keys.is_slow() {
        return Ok(keys.maker(&template.template, code, &opened));
    }
    let (template, code) = (Arc::clone(template), code.clone());
    let search = move || {
        let keys = template.chip_keys()?;
        Ok::<_, KeyringError>(keys.maker(&template.template, &code, &opened))
    };
    let found = service.derivations.run(search).await;
    let (outcome, found) = match found {
        Ok(found) => ("done", found.map_err(TapError::from)),
        Err(NotDerived::Busy) => ("refused", Err(TapError::Busy)),
        Err(NotDerived::Panicked) => ("failed", Err(StorageError::Panicked.into())),
    };
    service.metrics.slow_derivation(outcome);
    found
}

/// Whether the code names its inlay: only an authentic one does, unless the owner allowed that a UID
/// without a MAC does, too.
fn names(template: &TapTemplate, assessment: &Assessment) -> bool {
    match assessment.authenticity {
        Authenticity::Authentic => true,
        Authenticity::NotCheckable => template.template.settings().lookup.is_some(),
        Authenticity::NotAuthentic(_) => false,
    }
}

/// The inlay that one of the `opened` PICC data names, and whether it made the code.
async fn named_by(
    service: &Service,
    search: &mut Search,
    template: &TapTemplate,
    code: &Filled,
    opened: &[(usize, Mirrored)],
) -> Result<(Option<OpenedInlay>, Assessment), TapError> {
    let of = &template.template;
    for (_, mirrored) in opened {
        let Some(uid) = mirrored.uid else { continue };
        let Some(inlay) = search.inlay(service, template, uid).await? else {
            continue;
        };
        if let InlayKeys::Aes(keys) = &inlay.keys {
            let named = Some((inlay.uid, &keys.file));
            let assessment = of.check_opened(None, code, Some(*mirrored), named);
            return Ok((Some(inlay), assessment));
        }
    }
    Ok((None, of.check_opened(None, code, None, None)))
}

/// Checks a code of an unknown inlay, with the same work as [`guarded`](super::verify::guarded).
fn unmade(
    service: &Service,
    occasion: Occasion,
    of: &Template,
    code: &Filled,
    uid: Uid,
) -> Assessment {
    let assessment = of.check(None, code, uid, &nobody(of));
    if of.settings().technology.is_guessable() {
        let (tally, now) = (&service.guesses_at_nobody, service.clock.now());
        std::hint::black_box(tally.is_reached(uid, now));
        if occasion == Occasion::Visit {
            tally.note(uid, now);
        }
    }
    assessment
}

/// Looks up the inlays that a code names, and counts the queries.
struct Search {
    /// How many queries a code of an unknown inlay takes.
    wanted: usize,
    /// How many queries were made.
    asked: usize,
    /// The tag of an inlay that was found in the database, because the tag was not in the cache.
    cold: Option<TagId>,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            wanted: 1,
            asked: 0,
            cold: None,
        }
    }
}

impl Search {
    /// The inlay with this UID, if it is of the template. If only its own keys cannot be opened, it
    /// is treated as unknown: another answer would reveal that it exists.
    async fn inlay(
        &mut self,
        service: &Service,
        template: &TapTemplate,
        uid: Uid,
    ) -> Result<Option<OpenedInlay>, TapError> {
        let found = service.tags.inlay(uid).await?;
        self.asked += usize::from(!matches!(found, FoundInlay::AtHand(_)));
        let inlay = match found {
            FoundInlay::Unknown => None,
            FoundInlay::AtHand(inlay) => Some(inlay),
            FoundInlay::Stored(Ok(inlay)) => {
                self.cold = inlay.tag_id;
                Some(inlay)
            }
            FoundInlay::Stored(Err(error @ KeyringError::OtherKey)) => {
                tracing::error!(template = %template.id, "a tap was answered as one of no inlay: {error}");
                None
            }
            FoundInlay::Stored(Err(error)) => return Err(error.into()),
        };
        Ok(inlay.filter(|inlay| inlay.url_template_id == template.id))
    }

    /// Makes the missing queries, so that their number is the same as for an unknown UID.
    async fn end(&self, service: &Service) -> Result<(), StorageError> {
        for _ in self.asked..self.wanted {
            service.tags.look_for_nobody().await?;
        }
        Ok(())
    }
}

/// Keys that no inlay has, of the kind that the template's chips have.
fn nobody(template: &Template) -> InlayKeys {
    match template.settings().technology.family() {
        Family::Sic43Nt => InlayKeys::Rolling(Sic43ntKey::from_bytes([0; 10])),
        Family::Ntag21x => InlayKeys::None,
        Family::Ntag424 | Family::Ntag22x | Family::Sic43S1 => InlayKeys::Aes(Keys {
            meta: None,
            file: AesKey::FACTORY,
        }),
    }
}
