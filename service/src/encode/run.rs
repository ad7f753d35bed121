//! The tag that is next in a run.

use serde_json::json;

use super::{EncodeError, FormOptions};
use crate::encoding::Target;
use crate::encoding::run::{RunNext, RunPlan};
use crate::field_error::FieldError;
use crate::id::EncodingRunId;
use crate::inlay::Uid;
use crate::service::Service;
use crate::storage::{Conflict, Invalid, RunTag};
use crate::tag::{Slug, TagFields};

/// What a chip of a run is to become, and how it is written: the run says it.
pub(crate) async fn next_of_run(
    service: &Service,
    run: EncodingRunId,
    uid: Uid,
    options: FormOptions,
) -> Result<(Target, FormOptions), EncodeError> {
    let reserved = service.storage.reserve_run_tag(run, uid, maker(service));
    let reserved = reserved.await?;
    let (run, tag) = reserved.ok_or(EncodeError::NotFound("encoding run"))?;
    let options = options_of(&run.plan, &options);
    Ok((Target::Tag(tag), options))
}

/// How a plan says that chips are written; what it does not say is as in `options`.
pub(super) fn options_of(plan: &RunPlan, options: &FormOptions) -> FormOptions {
    FormOptions {
        url_template_id: plan.url_template_id,
        mirror: plan.mirror,
        mac_from: plan.mac_from,
        technology: plan.technology,
        lock: plan.lock,
        lrp: plan.lrp,
        own_keys: plan.own_keys,
        ..options.clone()
    }
}

/// Passes over the next tag of a run; the one that is next then.
pub(crate) async fn skip_of_run(
    service: &Service,
    run: EncodingRunId,
) -> Result<Option<RunNext>, EncodeError> {
    let skipped = service.storage.skip_run_tag(run, maker(service));
    skipped.await?.ok_or(EncodeError::NotFound("encoding run"))
}

/// Makes tags of a run that creates them.
fn maker(service: &Service) -> RunTag {
    let slug = Slug::generate(&*service.entropy);
    Box::new(move |plan: &RunPlan, position| tag(plan, position, &slug))
}

/// The tag of a position of a run that creates tags as it goes.
fn tag(plan: &RunPlan, position: u32, slug: &Slug) -> Result<TagFields, Conflict> {
    let refused = || {
        let why = "The run has no pattern for tags.";
        Conflict::from(Invalid::from(FieldError::of("pattern", why)))
    };
    let name = plan.tag_name(position).ok_or_else(refused)?;
    let tag = json!({"name": name, "slug": slug.as_str(), "experience_id": plan.experience_id});
    serde_json::from_value(tag).map_err(|_| refused())
}
