//! The taps of each share of the visitors of an experience.

use serde::Serialize;
use utoipa::ToSchema;

use super::view::Compared;
use crate::error::ApiError;
use app::service::Service;
use domain::id::ExperienceId;
use domain::interaction::VISITOR_GROUPS;
use domain::report::{Dimension, Report};

/// The taps of one share of the visitors of an experience.
#[derive(Serialize, ToSchema)]
pub(crate) struct SplitCount {
    /// The first visitor group of the share.
    from: u8,
    /// The group after the last one. The difference is the share in hundredths.
    until: u8,
    #[serde(flatten)]
    compared: Compared,
}

/// The taps by the visitor groups that the published version of an experience distinguishes.
pub(super) async fn counts(
    service: &Service,
    id: ExperienceId,
    report: &Report,
) -> Result<Vec<SplitCount>, ApiError> {
    // An experience out of the caller's reach counts as not found.
    if service.storage.experience(id).await?.is_none() {
        return Ok(Vec::new());
    }
    let published = service.storage.published_now(id).await?;
    let mut arms = published.map_or_else(Default::default, |published| published.content.split());
    if arms.is_empty() {
        return Ok(Vec::new());
    }
    // Visitors without a condition get the remaining groups: one range for each gap.
    let mut next = 0;
    for (from, until) in arms.clone() {
        if from > next {
            arms.insert((next, from));
        }
        next = next.max(until);
    }
    if next < VISITOR_GROUPS {
        arms.insert((next, VISITOR_GROUPS));
    }
    let counts = arms.into_iter().map(|(from, until)| {
        let is_of = |group: u8| (from..until).contains(&group);
        let sum = report.sum(|dimension, value| {
            dimension == Dimension::Group && value.parse().is_ok_and(is_of)
        });
        SplitCount {
            from,
            until,
            compared: sum.into(),
        }
    });
    Ok(counts.collect())
}
