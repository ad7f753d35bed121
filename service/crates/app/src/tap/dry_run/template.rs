//! The dry run of a URL at a URL template's address.

use super::{DryRun, MASTER_KEYS_MAX, OTHER_INLAYS_MAX};
use crate::service::{CachedTag, Service, TapTemplate};
use crate::tap::named::Named;
use crate::tap::verify::Occasion;
use crate::tap::{Place, TapError};
use domain::id::TagId;
use domain::interaction::{Refusal, Unchecked, Verdict};
use domain::inventory::{Inlay, SealedMasterKey};
use domain::keyring::WrappedKeys;
use domain::trace::{CodeInlay, Step, StepName, StepVerdict, verdict_steps};
use inlay::Uid;
use inlay::diagnose::{Finding, KnownChip, KnownMaster, Relation, explain};
use inlay::template::{Addressed, Field, Filled, Lookup, MalformedCode, Request};
use storage::{InlayFilter, StorageError, TagKey};

/// Decides a tap of the URL; `None` if no URL template matches it.
pub(super) async fn dry_run(service: &Service, url: &str) -> Result<Option<DryRun>, TapError> {
    let Some(request) = Request::of_url(url) else {
        return Ok(None);
    };
    // Reads the database instead of the cache, so that a change made a moment ago already counts.
    let matched = service.templates.read().await?.find(&request);
    let Some(mut place) = Place::at_template(matched, request.path) else {
        return Ok(None);
    };
    let named = Named::by(service, Occasion::DryRun, &mut place).await?;
    let Place::Template {
        template,
        addressed,
        ..
    } = &place
    else {
        return Ok(None);
    };
    let mut run = DryRun {
        tag_id: None,
        inlay_id: None,
        uid: None,
        verdict: None,
        steps: Vec::new(),
        findings: Vec::new(),
        is_static: matches!(addressed.code, Ok(None)),
        url_template_id: Some(template.id),
    };
    let named = match named {
        Named::Nobody => None,
        // A chip on no tag is not within the reach of a limited caller.
        Named::NoTag(..) | Named::Unlisted(_) if service.storage.is_limited() => None,
        Named::NoTag(inlay, checked) => {
            let (verdict, inlay_id) = super::foreseen(service, checked.claim).await?;
            let maker = CodeInlay {
                uid: inlay.uid,
                mac_from: None,
            };
            run.inlay_id = inlay_id;
            run.uid = Some(inlay.uid);
            run.verdict = Some(verdict);
            run.steps = verdict_steps(None, verdict, Some(maker)).into();
            run.findings = vec![Finding::OnNoTag { uid: inlay.uid }];
            return Ok(Some(run));
        }
        Named::Unlisted(code) => {
            run.uid = Some(code.uid);
            run.steps = unlisted(code.uid).into();
            run.findings = vec![Finding::Unlisted { uid: code.uid }];
            return Ok(Some(run));
        }
        Named::Tag(tag, code) => {
            // By the slug, if there is one, because the chip wrote the tag's own spelling of it.
            let key = place.slug().map_or(TagKey::Id(tag.id()), TagKey::Slug);
            let tag = super::within_reach(service, key).await?;
            tag.map(|tag| (tag, code))
        }
    };
    let Some((tag, code)) = named else {
        let why = match template.template.settings().lookup {
            Some(Lookup::Unverified) => "no inlay of a tag has the UID",
            None => "no tag has the slug, or none is named by an authentic code",
        };
        run.steps = unnamed(why).into();
        run.explain(service, template, addressed, None).await?;
        return Ok(Some(run));
    };
    let checked = code.check(service, Occasion::DryRun, &place, request.query, &tag)?;
    let (verdict, inlay_id) = super::foreseen(service, checked.claim).await?;
    let mut inlays = tag.of_templates()?.iter();
    let maker = inlays.find(|inlay| Some(inlay.id) == inlay_id);
    let uid = maker.map(|inlay| inlay.uid);
    let inlay = uid.map(|uid| CodeInlay {
        uid,
        mac_from: None,
    });
    let of_code = matches!(
        verdict,
        Verdict::NotVerified(
            Refusal::UnknownInlay { .. } | Refusal::WrongMac { .. } | Refusal::Malformed
        ) | Verdict::NotChecked(Unchecked::OtherUid { .. } | Unchecked::SameCode)
    );
    run.tag_id = Some(tag.id());
    run.inlay_id = inlay_id;
    run.uid = uid.or(verdict.other_uid());
    run.verdict = Some(verdict);
    run.steps = verdict_steps(Some(tag.slug()), verdict, inlay).into();
    if of_code {
        run.explain(service, template, addressed, Some(&tag))
            .await?;
    }
    Ok(Some(run))
}

/// The steps of a URL that names no tag.
fn unnamed(why: &str) -> [Step; 3] {
    let there = "no tag to check it for";
    [
        Step::new(StepName::Url, StepVerdict::Failed, why),
        Step::new(StepName::Mac, StepVerdict::NotChecked, there),
        Step::new(StepName::Counter, StepVerdict::NotChecked, there),
    ]
}

/// The steps of an authentic code of a chip that is no inlay.
fn unlisted(uid: Uid) -> [Step; 3] {
    let listed = format!("the chip {uid} is no inlay");
    let made = "made with the keys of the URL template";
    let counter = "the counter is kept with the unlisted chip";
    [
        Step::new(StepName::Url, StepVerdict::Failed, listed),
        Step::new(StepName::Mac, StepVerdict::Ok, made),
        Step::new(StepName::Counter, StepVerdict::NotChecked, counter),
    ]
}

impl DryRun {
    /// Explains why the code does not verify.
    async fn explain(
        &mut self,
        service: &Service,
        template: &TapTemplate,
        addressed: &Addressed,
        tag: Option<&CachedTag>,
    ) -> Result<(), TapError> {
        let code = match &addressed.code {
            Ok(Some(code)) => code.clone(),
            Ok(None) => return Ok(()),
            Err(malformed) => {
                self.malformed(malformed);
                return Ok(());
            }
        };
        let inlays = inlays(service, template, &code, tag.map(|tag| tag.id())).await?;
        let (ids, chips): (Vec<_>, Vec<_>) = inlays.into_iter().unzip();
        let masters = masters(service).await?;
        let of = template.template.clone();
        let own = tag.and_then(|tag| tag.spellings().next().map(str::to_owned));
        let slug = addressed.slug.clone().map(|sent| own.unwrap_or(sent));
        // With the keys of a limited caller's tags, only these tags are known.
        let opened = if service.storage.is_limited() {
            None
        } else {
            let mut opened = of.open(&code, template.keys()?);
            opened.pop().map(|(_, mirrored)| mirrored)
        };
        let search = move || {
            let place = (&of, slug.as_deref());
            let (maker, findings) = explain(place, &code, opened, &chips, &masters);
            (maker.map(|index| (index, chips[index].uid)), findings, code)
        };
        // Many keys need many calculations, so they run on a separate thread.
        let (maker, findings, code) = tokio::task::spawn_blocking(search)
            .await
            .map_err(|error| StorageError::Failed(error.to_string()))?;
        self.findings = findings;
        let named = opened.and_then(|opened| opened.uid);
        let uid = maker.map(|(_, uid)| uid).or(code.uid()).or(named);
        self.uid = self.uid.or(uid);
        self.inlay_id = self.inlay_id.or(maker.map(|(index, _)| ids[index]));
        Ok(())
    }

    fn malformed(&mut self, why: &MalformedCode) {
        self.findings = vec![Finding::MalformedByTemplate(why.clone())];
    }
}

type Known = (domain::id::InlayId, KnownChip);

/// The inlays that could have made a code: the one that it names in clear, or else all of the
/// template.
async fn inlays(
    service: &Service,
    template: &TapTemplate,
    code: &Filled,
    tag: Option<TagId>,
) -> Result<Vec<Known>, TapError> {
    let in_clear = !template.template.has(Field::Picc);
    let named: Option<Uid> = code.uid().filter(|_| in_clear);
    let filter = match (named, tag) {
        (Some(uid), _) => InlayFilter {
            uid: Some(uid),
            ..InlayFilter::default()
        },
        // The code mirrors only a counter, so only the tag's inlay can have made it.
        (None, Some(tag)) if in_clear => InlayFilter {
            tag_id: Some(tag),
            ..InlayFilter::default()
        },
        (None, _) => InlayFilter {
            url_template_id: Some(template.id),
            ..InlayFilter::default()
        },
    };
    let found = service.storage.inlays(filter, None, OTHER_INLAYS_MAX);
    let masters = sealed_masters(service).await?;
    let mut known = Vec::new();
    for inlay in found.await? {
        let keys = wrapped(&inlay, &masters);
        let technology = inlay.fields.technology;
        if keys.is_none() && technology.rolls() {
            continue;
        }
        let keyring = &service.keyring;
        let keys = keyring.inlay_keys(keys.as_ref(), inlay.uid, technology)?;
        let is = if inlay.fields.url_template_id != Some(template.id) {
            Relation::OfOtherTemplate
        } else if tag.is_some() && inlay.fields.tag_id != tag {
            Relation::OfOtherTag
        } else {
            Relation::OfPlace
        };
        let uid = inlay.uid;
        known.push((inlay.id, KnownChip { uid, keys, is }));
    }
    Ok(known)
}

fn wrapped(inlay: &Inlay, masters: &[SealedMasterKey]) -> Option<WrappedKeys> {
    let keys = inlay.fields.keys.as_ref()?;
    let master = masters
        .iter()
        .find(|master| Some(master.id) == keys.master_key_id());
    keys.wrapped(master)
}

async fn sealed_masters(service: &Service) -> Result<Vec<SealedMasterKey>, StorageError> {
    service.storage.master_keys(None, MASTER_KEYS_MAX).await
}

/// The master keys whose derivation is fast enough to be tried; none for a limited caller.
async fn masters(service: &Service) -> Result<Vec<KnownMaster>, StorageError> {
    if service.storage.is_limited() {
        return Ok(Vec::new());
    }
    let sealed = sealed_masters(service).await?.into_iter();
    let open = sealed.filter_map(|master| {
        let fields = master.fields;
        let secret = service.keyring.master_secret(&fields.key.wrapped).ok()?;
        (!fields.derivation.is_slow()).then_some(KnownMaster {
            name: fields.name.into(),
            secret,
            derivation: fields.derivation,
        })
    });
    Ok(open.collect())
}
