//! A report of one tag. No count is kept of each tag, so it counts the tag's interactions.

use std::collections::HashSet;

use super::{read, test_taps};
use crate::shared::Query;
use crate::value::{Value, values};
use crate::{Access, InteractionFilter, StorageError};
use domain::id::{InteractionId, TagId};
use domain::interaction::Interaction;
use domain::report::{Count, CountSpan, CountedTap, Report, ReportRange};

/// Taps that are counted at once.
const AT_ONCE: usize = 4_000;
/// How often. A report of more taps says that it is not complete.
const TIMES: usize = 5;

impl Access {
    pub(super) async fn report_of_tag(
        &self,
        range: &ReportRange,
        tag: TagId,
    ) -> Result<Report, StorageError> {
        let moment = |hour| Some(CountSpan::Hour.begin(hour));
        let filter = InteractionFilter {
            tag_id: Some(tag),
            experience_id: range.experience,
            group_id: range.group,
            since: moment(range.buckets.before()),
            until: moment(range.buckets.end()),
            world: range.world,
            ..InteractionFilter::default()
        };
        let mut report = Report::default();
        let mut from = None;
        for _ in 0..TIMES {
            let taps = self.interactions(filter, from, AT_ONCE).await?;
            let counted = taps.found.iter().map(|(tap, _)| tap);
            // Test taps are counted separately.
            let counted = counted.filter(|tap| tap.origin.stored().is_none());
            self.add_taps(range, &counted.collect::<Vec<_>>(), &mut report)
                .await?;
            from = taps.next;
            if from.is_none() {
                report.complete = true;
                break;
            }
        }
        let arguments = (range.clone(), read::experiences(&report));
        (report.test_taps, report.names) = self
            .read("report_of_tag", arguments, |db, (range, experiences)| {
                Box::pin(async move {
                    let tests = test_taps::counts(db, range).await?;
                    Ok((tests, read::names(db, experiences).await?))
                })
            })
            .await?;
        Ok(report)
    }

    async fn add_taps(
        &self,
        range: &ReportRange,
        taps: &[&Interaction],
        report: &mut Report,
    ) -> Result<(), StorageError> {
        let ids: Vec<_> = taps.iter().map(|tap| tap.id).collect();
        let (updated, submitted) = self
            .read("results_of_taps", ids, |db, ids| {
                Box::pin(async move {
                    let updates =
                        "SELECT interaction_id FROM updates WHERE interaction_id IN ids(?1)";
                    let submissions = "SELECT interaction_id FROM submissions \
                         WHERE interaction_id IN ids(?1) AND refused IS NULL";
                    Ok((
                        found(db, updates, ids).await?,
                        found(db, submissions, ids).await?,
                    ))
                })
            })
            .await?;
        for tap in taps {
            let count = Count {
                taps: 1,
                updates: u64::from(updated.contains(&tap.id)),
                submissions: u64::from(submitted.contains(&tap.id)),
            };
            report.add_tap(range, &counted(tap), count);
        }
        Ok(())
    }
}

async fn found(
    db: &mut dyn Query,
    sql: &str,
    taps: &[InteractionId],
) -> Result<HashSet<InteractionId>, StorageError> {
    let found = db.query(sql, &values![Value::list(taps)]).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

fn counted(tap: &Interaction) -> CountedTap {
    CountedTap {
        at: CountSpan::Hour.begin(CountSpan::Hour.of(tap.at)),
        experience: tap.experience.map(|version| version.experience_id),
        tag_group: None,
        tech: tap.tech,
        reason: tap.verdict.reason(),
        country: tap.country.clone(),
        traits: tap.traits.clone(),
        simulated: tap.simulated,
    }
}
