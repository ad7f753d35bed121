//! Warnings about a saved tag.

use crate::admin::experiences::{missing_in_tags, written_variables};
pub(super) use crate::admin::warning::headers;
use crate::error::ApiError;
use app::service::Service;
use domain::group::led_to;
use domain::id::ExperienceId;
use domain::tag::{PropertyKey, Tag};

/// Maximum number of variables in a warning. The header with all variables of a form would be too
/// long for some proxies.
const NAMED: usize = 5;

/// Warnings about a tag with a new slug.
pub(super) fn slug(tag: &Tag) -> Vec<String> {
    let former = tag.former_slugs.first().map(|former| {
        let slug = &tag.fields.slug;
        format!(
            "The tag's URL ends in {slug} now. Inlays and prints that end in {former} go on leading here until that \
             former slug is released; then they lead nowhere. Pages and programs that compare the URL see the new one at once."
        )
    });
    let guessable = tag.fields.slug.warning().map(str::to_owned);
    former.into_iter().chain(guessable).collect()
}

/// A warning about an assigned tag: the forms of its page fail if the tag lacks a variable that
/// they write.
pub(super) async fn experience(service: &Service, tag: &Tag) -> Result<Option<String>, ApiError> {
    let fields = &tag.fields;
    let lineage = match (fields.experience_id, fields.group_id) {
        (None, Some(group)) => service.storage.lineage(group).await?,
        _ => None,
    };
    let Some(id) = led_to(fields.experience_id, lineage.as_deref()) else {
        return Ok(None);
    };
    let Some(experience) = service.storage.experience(id).await? else {
        return Ok(None);
    };
    let mut missing = written_variables(service, &experience).await?;
    missing.retain(|key| !tag.fields.variables.0.contains_key(key));
    Ok((!missing.is_empty()).then(|| lacking("the tag lacks", &missing, id)))
}

/// The same for all tags in use that lead to an experience, after some were assigned to it.
pub(super) async fn experience_of_many(
    service: &Service,
    id: ExperienceId,
) -> Result<Option<String>, ApiError> {
    let Some(experience) = service.storage.experience(id).await? else {
        return Ok(None);
    };
    let missing = missing_in_tags(service, &experience).await?;
    let lack = match missing.tags {
        0 => return Ok(None),
        1 => "1 of its tags lacks".to_owned(),
        tags => format!("{tags} of its tags lack"),
    };
    Ok(Some(lacking(&lack, &missing.keys, id)))
}

fn lacking(who_lacks: &str, missing: &[PropertyKey], experience: ExperienceId) -> String {
    let named = missing.iter().take(NAMED).map(PropertyKey::as_str);
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match missing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "The page of this experience writes variables that {who_lacks}: {named}{more}. Its forms fail until they are \
         added, by POST /admin/v1/experiences/{experience}/missing-variables."
    )
}
