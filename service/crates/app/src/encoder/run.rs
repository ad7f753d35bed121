//! The next tag of a run.

use serde_json::json;

use super::{EncodeError, FormOptions, PlacedChip, Started, TRIES, form};
use crate::service::Service;
use domain::field_error::FieldError;
use domain::id::EncodingRunId;
use domain::tag::{Slug, TagFields};
use encoding::run::{RunNext, RunPlan};
use encoding::{Goal, Plan};
use inlay::Uid;
use storage::{Conflict, Invalid, KeptPlace, RunTag, StorageError};

/// Begins or resumes the encoding of a chip in a run. The run decides its tag and how it is
/// written.
///
/// The commit of the encoding reserves the tag. Two desks may see the same next tag: the later
/// request looks again.
pub async fn start_in_run(
    service: &Service,
    run: EncodingRunId,
    uid: Uid,
    options: &FormOptions,
) -> Result<Started, EncodeError> {
    for _ in 0..TRIES {
        let found = service.storage.run_place(run, uid).await?;
        let (run, place) = found.ok_or(EncodeError::NotFound("encoding run"))?;
        let options = options_of(&run.plan, options);
        form::check_address(service, &options).await?;
        let new = if place.tag_id.is_none() {
            let slug = Slug::generate(&*service.entropy);
            let new = tag(&run.plan, place.position, &slug);
            Some(new.map_err(StorageError::from)?)
        } else {
            None
        };
        let placed = PlacedChip {
            uid,
            goal: place.tag_id.map_or(Goal::NewTag, Goal::Tag),
            run_id: Some(run.id),
            place: Some(KeptPlace { place, new }),
            options,
        };
        if let Some(started) = super::try_start(service, &placed).await? {
            return Ok(started);
        }
    }
    Err(EncodeError::Raced)
}

/// Checks that chips can be written according to a plan, before the first one is encoded.
pub async fn check_plan(
    service: &Service,
    plan: &RunPlan,
    allow_unproved_address: bool,
) -> Result<(), EncodeError> {
    plan.validate()?;
    let options = FormOptions {
        allow_unproved_address,
        ..FormOptions::default()
    };
    let options = options_of(plan, &options);
    let slug = Slug::generate(&*service.entropy).to_string();
    let form = form::of_slug(service, slug, &options).await?;
    if let Err(why) = Plan::new(&form) {
        let field = match plan.url_template_id {
            Some(_) => "url_template_id",
            None => "plan",
        };
        return Err(FieldError::of(field, why.to_string()).into());
    }
    if let (Some(id), Some(_)) = (plan.experience_id, &plan.pattern)
        && service.storage.experience(id).await?.is_none()
    {
        let (noun, id) = ("experience", id.get());
        return Err(StorageError::from(Conflict::Missing { noun, id }).into());
    }
    form::check_address(service, &options).await
}

/// The options that a plan sets; the others come from `options`.
pub(super) fn options_of(plan: &RunPlan, options: &FormOptions) -> FormOptions {
    FormOptions {
        url_template_id: plan.url_template_id,
        mirror: plan.mirror,
        mac_from: plan.mac_from,
        technology: plan.technology,
        lock: plan.lock,
        write_password: plan.write_password,
        lrp: plan.lrp,
        own_keys: plan.own_keys,
        ..options.clone()
    }
}

/// Skips the next tag of a run, and returns the tag after it.
pub async fn skip_of_run(
    service: &Service,
    run: EncodingRunId,
) -> Result<Option<RunNext>, EncodeError> {
    let skipped = service.storage.skip_run_tag(run, maker(service));
    skipped.await?.ok_or(EncodeError::NotFound("encoding run"))
}

/// Makes the tags of a run that creates them.
fn maker(service: &Service) -> RunTag {
    let slug = Slug::generate(&*service.entropy);
    Box::new(move |plan: &RunPlan, position| tag(plan, position, &slug))
}

/// The tag for a position of a run that creates its tags.
fn tag(plan: &RunPlan, position: u32, slug: &Slug) -> Result<TagFields, Conflict> {
    let refused = || {
        let why = "The run has no pattern for tags.";
        Conflict::from(Invalid::from(FieldError::of("pattern", why)))
    };
    let name = plan.tag_name(position).ok_or_else(refused)?;
    let tag = json!({"name": name, "slug": slug.as_str(), "experience_id": plan.experience_id});
    serde_json::from_value(tag).map_err(|_| refused())
}
