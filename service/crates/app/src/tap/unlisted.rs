//! A tap of a chip that is no inlay, although the keys of a URL template make its codes. The
//! template decides the answer; in any case, the counter of the code is kept.

use super::answer::{Given, HeldKey, TapAnswer};
use super::destination::Destination;
use super::values::Facts;
use super::{Checked, Place, Tap, TapError, Tapped, answered, note};
use crate::service::{ChipCode, Service, TapTemplate, tag_of_chip, unmarked};
use domain::interaction::{
    Claim, CounterRule, KnownAt, NewInteraction, NewKey, Recorded, Refusal, Tech, Traits, Verdict,
};
use domain::inventory::{NewInlay, UnlistedMode};
use domain::rolling_key::{KeySeed, LIFETIME};
use domain::tag::TagFields;
use storage::{CreatedByTap, StorageError, TagKey, UnlistedOutcome, UnlistedTap};

/// Handles a tap of the chip that made `code`.
pub(super) async fn tap(
    service: &Service,
    tap: Tap<'_>,
    code: ChipCode,
    may_repeat: bool,
) -> Result<Tapped, TapError> {
    let Place::Template { template, .. } = tap.place.clone() else {
        return Ok(Tapped::unrecorded(TapAnswer::NoSuchTag));
    };
    let known = UnlistedTap {
        uid: code.uid,
        technology: template.template.settings().technology,
        url_template_id: template.id,
        keys: code.keys.prints(),
        counter: code.counter,
    };
    let creation = match template.unlisted {
        UnlistedMode::Create => Some(Creation::of(service, &tap, &template, &code).await?),
        UnlistedMode::Refuse | UnlistedMode::Page => None,
    };
    let created = creation.as_ref().map(|creation| creation.by(&tap));
    let outcome = match service.storage.unlisted_tap(known, created).await {
        // Nothing is stored, and the page stays the same.
        Err(StorageError::Full) => UnlistedOutcome::Kept,
        outcome => outcome?,
    };
    let counted = match &outcome {
        // Another tap, or its owner, was faster: the chip is an inlay now. Once is enough, because
        // an inlay whose own keys cannot be opened is found as little the second time.
        UnlistedOutcome::Listed { here: true } if may_repeat => {
            return super::attempt(service, tap, false).await;
        }
        UnlistedOutcome::Listed { .. } | UnlistedOutcome::Simulated => {
            service.metrics.unknown_code();
            return Ok(Tapped::unrecorded(TapAnswer::NoSuchTag));
        }
        UnlistedOutcome::Created(..) => "created",
        UnlistedOutcome::Limited => "limited",
        UnlistedOutcome::Kept if template.unlisted == UnlistedMode::Refuse => "refused",
        UnlistedOutcome::Kept => "page",
    };
    service.metrics.unlisted_tap(counted);
    if let (UnlistedOutcome::Created(tag, recorded), Some(creation)) = (outcome, creation) {
        let tag = service.tags.get(TagKey::Id(tag)).await?;
        return match tag {
            Some(tag) => creation.answer(service, tap, &tag, recorded, code).await,
            // It was deleted a moment later.
            None => Ok(Tapped::unrecorded(TapAnswer::NoSuchTag)),
        };
    }
    if template.unlisted == UnlistedMode::Refuse {
        return Ok(Tapped::unrecorded(TapAnswer::NoSuchTag));
    }
    let at = KnownAt::Chip(code.uid);
    super::without_a_tag(service, tap, at, false, checked(&code)).await
}

/// The answer that a tap of such a chip would get, if nothing is created.
pub(super) fn shown(place: &Place) -> TapAnswer {
    match place {
        Place::Template { template, .. } if template.unlisted != UnlistedMode::Refuse => {
            TapAnswer::NoTag
        }
        _ => TapAnswer::NoSuchTag,
    }
}

/// The code, as one that no inlay made. A commit that creates the inlay replaces the claim.
fn checked(code: &ChipCode) -> Checked {
    let uid = Some(code.uid);
    Checked {
        claim: Claim::Decided(Verdict::NotVerified(Refusal::UnknownInlay { uid })),
        tech: Tech::Nfc,
        tamper: code.tamper,
        file_data: code.file_data.clone(),
    }
}

/// The parts of a tap that creates its tag, before the commit.
struct Creation {
    tag: TagFields,
    inlay: NewInlay,
    seed: Option<KeySeed>,
    /// The tap, as one of any tag.
    tap: NewInteraction,
}

impl Creation {
    async fn of(
        service: &Service,
        tap: &Tap<'_>,
        template: &TapTemplate,
        code: &ChipCode,
    ) -> Result<Self, TapError> {
        let (uid, entropy) = (code.uid, &*service.entropy);
        let inlay = template.new_inlay(uid, &code.keys, &service.keyring, entropy)?;
        let tag = tag_of_chip(uid, template.place, entropy);
        // The experience decides before the commit whether the tap gets a key.
        let sample = service.tags.unborn(&tag).await?;
        let destination = Destination::of(service, &sample).await?;
        let takes_a_key = destination.takes_a_key() && !tap.is_staff();
        let seed = takes_a_key.then(|| KeySeed::draw(entropy));
        // The commit replaces the claim and the place.
        let at = KnownAt::Chip(uid);
        let interaction = super::interaction(service, tap, at, false, checked(code));
        let query = unmarked(tap.query).0;
        Ok(Self {
            tap: NewInteraction {
                experience: sample.experience().map(|experience| experience.version),
                recalled_by: sample.recalled_by(),
                key: seed.as_ref().map(|seed| NewKey {
                    hash: seed.hash(),
                    url_digest: tap.place.digest(query),
                }),
                traits: Traits {
                    group: destination.group(&sample, tap.client),
                    ..interaction.traits.clone()
                },
                first_at_template: (!template.was_tapped()).then_some(template.id),
                ..interaction
            },
            tag,
            inlay,
            seed,
        })
    }

    fn by(&self, tap: &Tap<'_>) -> CreatedByTap {
        let (interaction, client) = (self.tap.clone(), tap.client);
        CreatedByTap {
            tag: self.tag.clone(),
            inlay: self.inlay.clone(),
            tap: Box::new(move |new, counter| NewInteraction {
                tag_id: Some(new.tag),
                client: client.at(KnownAt::Tag(new.tag)),
                claim: Claim::Counter {
                    inlay_id: new.inlay,
                    key_version: new.key_version,
                    counter,
                    rule: CounterRule::Proof,
                },
                ..interaction.clone()
            }),
        }
    }

    async fn answer(
        self,
        service: &Service,
        tap: Tap<'_>,
        tag: &crate::service::CachedTag,
        recorded: Recorded,
        code: ChipCode,
    ) -> Result<Tapped, TapError> {
        note(service, tag, tap.origin, self.seed.is_some(), &recorded);
        if self.tap.first_at_template.is_some() {
            tap.place.note_real_tap();
        }
        let facts = Facts {
            id: Some(recorded.id),
            at: recorded.at,
            verdict: recorded.verdict,
            tech: Tech::Nfc,
            tamper: code.tamper,
            country: tap.country,
            group: self.tap.traits.group,
            inlay: tag.of_template(code.uid).map(|inlay| inlay.id),
            passed: tap.place.passed(unmarked(tap.query).0),
        };
        let held = self.seed.map(|seed| HeldKey {
            key: service.key_mask.key(&seed, recorded.id),
            max_age: LIFETIME.whole_seconds(),
            cookie: tap.place.cookie(unmarked(tap.query).0),
        });
        let destination = Destination::of(service, tag).await?;
        let given = Given::new(tap.visitor, Some(facts), held);
        let answer = answered(service, tag, destination, given, recorded.id).await?;
        Ok(Tapped {
            answer,
            recorded: Some((recorded.id, recorded.verdict)),
            proves_address: false,
        })
    }
}
