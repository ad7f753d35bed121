//! The dry run of a URL at a URL template's address.

use super::DryRun;
use crate::inlay::template::Request;
use crate::interaction::{Refusal, Verdict};
use crate::service::Service;
use crate::storage::TagKey;
use crate::tap::named::{self, Named};
use crate::tap::{Place, TapError};
use crate::trace::{CodeInlay, Step, StepName, StepVerdict, verdict_steps};

/// Decides a tap of the URL, if it is one of a template.
pub(super) async fn dry_run(service: &Service, url: &str) -> Result<Option<DryRun>, TapError> {
    let Some(request) = Request::of_url(url) else {
        return Ok(None);
    };
    // Past the cache: what was just configured is in force.
    let Some((template, addressed)) = service.templates.read().await?.find(&request) else {
        return Ok(None);
    };
    let place = Place::Template {
        template,
        addressed: Box::new(addressed),
        path: request.path.to_owned(),
    };
    let (tag, checked) = match Named::by(service, &place).await? {
        Named::Nobody => {
            return Ok(Some(unnamed(
                "no tag has the slug, or none is named by an authentic code",
            )));
        }
        Named::NoTag => {
            return Ok(Some(unnamed(
                "the inlay that made the code is on no tag yet",
            )));
        }
        Named::Tag(tag, checked) => (tag, checked),
    };
    let Some(tag) = service.tags.read(TagKey::Id(tag.id())).await? else {
        return Ok(Some(unnamed("the tag is deleted")));
    };
    let checked = named::checked(service, &place, request.query, &tag, checked)?;
    let (verdict, inlay_id) = super::foreseen(service, checked.claim).await?;
    let mut inlays = tag.of_templates()?.iter();
    let maker = inlays.find(|inlay| Some(inlay.id) == inlay_id);
    let uid = maker.map(|inlay| inlay.uid);
    let inlay = uid.map(|uid| CodeInlay {
        uid,
        mac_from: None,
    });
    let refused = match verdict {
        Verdict::NotVerified(Refusal::UnknownInlay { uid }) => uid,
        _ => None,
    };
    Ok(Some(DryRun {
        tag_id: Some(tag.id()),
        inlay_id,
        uid: uid.or(refused),
        verdict: Some(verdict),
        steps: verdict_steps(tag.slug(), verdict, inlay).into(),
        findings: Vec::new(),
        at_template: true,
    }))
}

/// A URL that names no tag.
fn unnamed(why: &str) -> DryRun {
    let there = "no tag to check it for";
    DryRun {
        tag_id: None,
        inlay_id: None,
        uid: None,
        verdict: None,
        steps: vec![
            Step::new(StepName::Url, StepVerdict::Failed, why),
            Step::new(StepName::Mac, StepVerdict::NotChecked, there),
            Step::new(StepName::Counter, StepVerdict::NotChecked, there),
        ],
        findings: Vec::new(),
        at_template: true,
    }
}
