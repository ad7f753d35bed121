//! The tag or inlay that a tap's URL names. With a slug it is the tag. Without one, only an
//! authentic code names an inlay: UIDs are nearly sequential, and a guesser must learn nothing.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::verify::{Checked, Occasion, authentic, check};
use super::{Place, TapError};
use crate::service::{CachedTag, FoundInlay, OpenedInlay, Service, TapTemplate};
use domain::id::TagId;
use domain::keyring::KeyringError;
use inlay::Uid;
use inlay::assessment::Assessment;
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
    /// Finds the tag or inlay with the present configuration.
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
                Self::Tag(tag, TagCode::Checked(checked))
            }
            None => Self::Nobody,
        })
    }
}

/// The inlay that a code names, and whether that inlay made it. A code without a valid MAC takes
/// the same work, whether its UID belongs to an inlay or not: the same number of database queries,
/// opened keys and MACs.
async fn made_by(
    service: &Service,
    occasion: Occasion,
    template: &TapTemplate,
    code: &Filled,
) -> Result<(Option<OpenedInlay>, Assessment), TapError> {
    // Checked before any lookup: an error for inlays whose keys cannot be opened would reveal which
    // UIDs exist.
    service.keyring.check_open()?;
    let of = &template.template;
    let mut search = Search::default();
    let (inlay, assessment) = if of.has(Field::Uid) {
        let uid = code.uid().unwrap_or(Uid::from_bytes([0; 7]));
        let inlay = search.inlay(service, template, uid).await?;
        let assessment = match &inlay {
            Some(inlay) => super::verify::guarded(service, occasion, (of, None), code, inlay),
            None => unmade(service, occasion, of, code, uid),
        };
        (inlay, assessment)
    } else {
        let opened = of.open(code, template.keys()?);
        search.wanted = opened.len().max(1);
        named_by(service, &mut search, template, code, opened).await?
    };
    if !assessment.is_authentic() {
        search.end(service).await?;
        // The next code then finds the tag in the cache. The answer to this one does not wait for
        // it.
        if let Some(tag) = search.cold {
            let tags = Arc::clone(&service.tags);
            tokio::spawn(async move { tags.get(TagKey::Id(tag)).await.map(drop) });
        }
    }
    Ok((inlay, assessment))
}

/// The inlay that one of the `opened` PICC data names, and whether it made the code.
async fn named_by(
    service: &Service,
    search: &mut Search,
    template: &TapTemplate,
    code: &Filled,
    opened: Vec<(usize, Mirrored)>,
) -> Result<(Option<OpenedInlay>, Assessment), TapError> {
    let of = &template.template;
    for (_, mirrored) in opened {
        let Some(uid) = mirrored.uid else { continue };
        let Some(inlay) = search.inlay(service, template, uid).await? else {
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
