//! The dry run of a URL at a URL template's address.

use super::{DryRun, MASTER_KEYS_MAX, OTHER_INLAYS_MAX};
use crate::service::{CachedTag, Service, TapTemplate};
use crate::tap::named::Named;
use crate::tap::verify::Occasion;
use crate::tap::{Place, TapError};
use domain::id::{MasterKeyId, TagId};
use domain::interaction::{Refusal, Verdict};
use domain::inventory::{Inlay, SealedKeys, SealedMasterKey};
use domain::keyring::WrappedKeys;
use domain::trace::{CodeInlay, Step, StepName, StepVerdict, verdict_steps};
use inlay::Uid;
use inlay::diagnose::{Finding, KnownChip, KnownMaster, Relation, explain};
use inlay::template::{Addressed, Field, Filled, MalformedCode, Request};
use storage::{InlayFilter, StorageError, TagKey};

/// Decides a tap of the URL; `None` if no URL template matches it.
pub(super) async fn dry_run(service: &Service, url: &str) -> Result<Option<DryRun>, TapError> {
    let Some(request) = Request::of_url(url) else {
        return Ok(None);
    };
    // Reads the database instead of the cache, so that a change made a moment ago already counts.
    let Some((template, addressed)) = service.templates.read().await?.find(&request) else {
        return Ok(None);
    };
    let place = Place::Template {
        template: template.clone(),
        addressed: Box::new(addressed.clone()),
        path: request.path.to_owned(),
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
    let named = match Named::by(service, Occasion::DryRun, &place).await? {
        Named::Nobody => None,
        // An inlay on no tag is not within the reach of a limited caller.
        Named::NoTag(..) if service.storage.is_limited() => None,
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
        Named::Tag(tag, code) => {
            let tag = super::within_reach(service, TagKey::Id(tag.id())).await?;
            tag.map(|tag| (tag, code))
        }
    };
    let Some((tag, code)) = named else {
        run.steps = unnamed("no tag has the slug, or none is named by an authentic code").into();
        run.explain(service, &template, &addressed, None).await?;
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
    let (refused, of_code) = match verdict {
        Verdict::NotVerified(Refusal::UnknownInlay { uid }) => (uid, true),
        Verdict::NotVerified(Refusal::WrongMac { .. } | Refusal::Malformed) => (None, true),
        _ => (None, false),
    };
    run.tag_id = Some(tag.id());
    run.inlay_id = inlay_id;
    run.uid = uid.or(refused);
    run.verdict = Some(verdict);
    run.steps = verdict_steps(Some(tag.slug()), verdict, inlay).into();
    if of_code {
        run.explain(service, &template, &addressed, Some(&tag))
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
        let (of, slug) = (template.template.clone(), addressed.slug.clone());
        let search = move || {
            let (maker, findings) = explain(&of, slug.as_deref(), &code, &chips, &masters);
            (maker.map(|index| (index, chips[index].uid)), findings, code)
        };
        // Many keys need many calculations, so they run on a separate thread.
        let (maker, findings, code) = tokio::task::spawn_blocking(search)
            .await
            .map_err(|error| StorageError::Failed(error.to_string()))?;
        self.findings = findings;
        self.uid = self.uid.or(maker.map(|(_, uid)| uid)).or(code.uid());
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
        let Some(keys) = wrapped(&inlay, &masters) else {
            continue;
        };
        let technology = inlay.fields.technology;
        let keys = service
            .keyring
            .inlay_keys(Some(&keys), inlay.uid, technology)?;
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
    let master = |id: MasterKeyId| masters.iter().find(|master| master.id == id);
    Some(match inlay.fields.keys.as_ref()? {
        SealedKeys::Own { meta, file } => WrappedKeys::Own {
            meta: meta.as_ref().map(|key| key.wrapped.clone()),
            file: file.wrapped.clone(),
        },
        SealedKeys::Diversified {
            kept: Some(kept), ..
        } => WrappedKeys::Own {
            meta: Some(kept.meta.clone()),
            file: kept.file.clone(),
        },
        SealedKeys::Diversified { master_key_id, .. } => master(*master_key_id)?.wrapped_keys(),
    })
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
