//! The report of a period that is over.

use std::collections::BTreeMap;

use super::chart::{Chart, bars};
use super::page::{Page, PageTable};
use crate::service::Service;
use domain::clock::Timestamp;
use domain::interaction::{Reason, TagName, VerificationState};
use domain::notification::NotificationFields;
use domain::plural::counted;
use domain::report::{Count, Dimension, EndedPeriod, Report, ReportRange};
use domain::world::World;
use storage::{CLIENTS_KEPT, StorageError};

/// Rows of a table. A mail is read on a phone, and the screens have the rest.
const ROWS: usize = 10;

/// The report of a period.
pub(super) struct PeriodPage {
    pub(super) page: Page,
    /// Whether all taps of the period are counted.
    pub(super) is_complete: bool,
}

/// The report of a period. `host` names the service.
pub(super) async fn page(
    service: &Service,
    fields: &NotificationFields,
    period: EndedPeriod,
    host: &str,
    now: Timestamp,
) -> Result<PeriodPage, StorageError> {
    let EndedPeriod { buckets, name, .. } = period;
    let range = ReportRange {
        buckets,
        experience: None,
        group: fields.group_id,
        tag: None,
        world: World::Real,
        clients_since: now.minus(CLIENTS_KEPT),
    };
    let report = service.storage.report(range.clone()).await?;
    let previews = service.report_previews(&range).await?;
    let group = match fields.group_id {
        Some(id) => service.storage.group(id).await?,
        None => None,
    };
    let of_group = match (fields.group_id, group) {
        (_, Some(group)) => format!(" of {}", group.fields.name),
        (Some(_), None) => " of a deleted group".to_owned(),
        (None, None) => String::new(),
    };
    let title = format!("Report{of_group}: {name}");
    let (taps, _) = report.totals();
    let page = Page {
        subject: format!("Tapdesk: {}{of_group}, {name}", counted(taps.taps, "tap")),
        title,
        lines: sums(&range, &report, previews.as_ref()),
        chart: chart(&range, &report),
        tables: tables(&range, &report),
        foot: format!(
            "Sent by Tapdesk at {host}. Days begin at midnight of {}.",
            range.buckets.time_zone().name()
        ),
    };
    Ok(PeriodPage {
        page,
        is_complete: report.complete,
    })
}

/// The sums of the period, in words. `previews` has those of each hour, if they are known.
fn sums(
    range: &ReportRange,
    report: &Report,
    previews: Option<&BTreeMap<i64, u64>>,
) -> Vec<String> {
    let (now, before) = report.totals();
    let mut lines = vec![
        format!("Taps: {} (before: {})", now.taps, before.taps),
        format!(
            "Updates by visitors: {} (before: {})",
            now.updates, before.updates
        ),
        format!(
            "Forms sent: {} (before: {})",
            now.submissions, before.submissions
        ),
    ];
    let visitors = &report.visitors;
    if let Some(total) = visitors.total {
        let known = |before: u64| format!(" (before: {before})");
        let before = visitors.before.map_or_else(String::new, known);
        lines.insert(1, format!("Visitors: {total}{before}"));
    }
    for verdict in VerificationState::ALL {
        let is_of = |reason: Reason| reason.verification() == verdict;
        let (now, before) = report.sum(|dimension, value| {
            dimension == Dimension::Reason && Reason::from_name(value).is_some_and(is_of)
        });
        let words = match verdict {
            VerificationState::Verified => "Verified",
            VerificationState::NotVerified => "Not verified",
            VerificationState::NotChecked => "Not checked",
        };
        lines.push(format!("{words}: {} (before: {})", now.taps, before.taps));
    }
    if let Some(previews) = previews {
        let sum = |before: bool| {
            let (first, end) = range.hours(before);
            let hours = previews.range(first..end);
            hours.map(|(_, previews)| previews).sum::<u64>()
        };
        let (now, before) = (sum(false), sum(true));
        lines.push(format!("Previews by programs: {now} (before: {before})"));
    }
    if !report.complete {
        lines.push("Older taps are still being counted: the numbers may rise.".to_owned());
    }
    lines
}

/// The results of each bucket, by its name.
fn buckets(range: &ReportRange, report: &Report) -> Vec<(String, Count)> {
    let hours = range.buckets.hours().enumerate();
    let named = hours.map(|(bucket, (first, _))| {
        let count = report.buckets.get(&bucket).copied().unwrap_or_default();
        (range.buckets.name(first), count)
    });
    named.collect()
}

fn chart(range: &ReportRange, report: &Report) -> Option<Chart> {
    let buckets = buckets(range, report);
    let values: Vec<u64> = buckets.iter().map(|(_, count)| count.taps).collect();
    let (name, most) = buckets.iter().max_by_key(|(_, count)| count.taps)?;
    Some(Chart {
        png: bars(&values)?,
        alt: format!(
            "Taps from {} to {}. Most of them, {}, in {name}.",
            buckets.first()?.0,
            buckets.last()?.0,
            most.taps
        ),
    })
}

/// A tag by its name and slug; many tags of a batch share a name.
fn named(tag: &TagName) -> String {
    let TagName { slug, tag_name, .. } = tag;
    if tag_name.is_empty() {
        slug.clone()
    } else {
        format!("{tag_name} ({slug})")
    }
}

fn tables(range: &ReportRange, report: &Report) -> Vec<PageTable> {
    let cells = |count: &Count| {
        let Count {
            taps,
            updates,
            submissions,
        } = count;
        [taps, updates, submissions].map(u64::to_string)
    };
    let row = |name: &str, count: &Count| {
        let mut row = vec![name.to_owned()];
        row.extend(cells(count));
        row
    };
    let head = |first: &'static str| vec![first, "Taps", "Updates", "Forms"];
    let series = buckets(range, report);
    let series = series.iter().map(|(name, count)| row(name, count));
    let groups = report.groups.iter().take(ROWS);
    let groups = groups.map(|group| row(&group.name, &group.counts.0));
    let tags = report.tags.iter().flatten().take(ROWS);
    let tags = tags.map(|tag| row(&named(&tag.tag), &tag.count));
    let mut tables = vec![
        PageTable {
            title: "Series",
            head: head("From"),
            rows: series.collect(),
        },
        PageTable {
            title: "Groups",
            head: head("Group"),
            rows: groups.collect(),
        },
        PageTable {
            title: "Most tapped tags",
            head: head("Tag"),
            rows: tags.collect(),
        },
    ];
    tables.retain(|table| !table.rows.is_empty());
    tables
}
