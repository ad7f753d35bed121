//! Visitors and tags of a report. No count has them: a count of each tag would cost every tap a row,
//! and different visitors cannot be added up. So they are read from the interactions, if the period
//! has few enough. Each of these is read once: a statement for each bucket, or one that counts
//! different clients, takes several times as long.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::IS_TEST;
use crate::StorageError;
use crate::shared::{Query, callers, groups};
use crate::value::{Value, values};
use domain::id::TagId;
use domain::interaction::TagName;
use domain::report::{Count, CountSpan, ReportRange, TagResults, Visitors};

/// Most taps of a period whose interactions are read. It takes about a quarter of a second.
const TAPS_MAX: usize = 200_000;
/// Most tags of a report, those with most taps: more than anybody reads.
const TAGS_MAX: usize = 100;
/// Number of parts in which a period is read, because the rows of a read are all in memory.
const PARTS: i64 = 16;

/// The visitors of a report, and its most tapped tags. `counted` are the results of its buckets.
pub(super) async fn visitors_and_tags(
    db: &mut dyn Query,
    range: &ReportRange,
    counted: &BTreeMap<usize, Count>,
) -> Result<(Visitors, Option<Vec<TagResults>>), StorageError> {
    let period = range.hours(false);
    let known_since = known_since(range);
    let few = are_few_since(db, range, counted, period.0).await?;
    let since = if few { period.0 } else { known_since };
    if !few && (since == period.0 || !are_few_since(db, range, counted, since).await?) {
        return Ok((Visitors::default(), None));
    }
    let seen = Taps::read(db, range, (since, period.1)).await?;
    let is_whole = few && known_since == period.0;
    let before = range.hours(true);
    let is_before_known = is_known(range, before.0);
    let visitors = Visitors {
        buckets: seen.visitors_by_bucket(range, known_since),
        total: is_whole.then(|| seen.visitors()),
        before: if is_before_known && are_few(db, before).await? {
            Some(different(db, range, before).await?)
        } else {
            None
        },
    };
    let tags = if few {
        Some(seen.tags(db, is_whole).await?)
    } else {
        None
    };
    Ok((visitors, tags))
}

/// The first hour of the first bucket of which clients are known; the end of the period if there is
/// none.
fn known_since(range: &ReportRange) -> i64 {
    let mut buckets = range.buckets.hours();
    let known = buckets.find(|(first, _)| is_known(range, *first));
    known.map_or(range.buckets.end(), |(first, _)| first)
}

/// Whether clients are known from the beginning of an hour on.
fn is_known(range: &ReportRange, hour: i64) -> bool {
    CountSpan::Hour.begin(hour) >= range.clients_since
}

/// Whether the period has few enough interactions from an hour on. The report's own counts, which are
/// some of them, decide without a look if they are too many.
async fn are_few_since(
    db: &mut dyn Query,
    range: &ReportRange,
    counted: &BTreeMap<usize, Count>,
    since: i64,
) -> Result<bool, StorageError> {
    let buckets = range.buckets.hours().enumerate();
    let later = buckets.filter(|(_, (first, _))| *first >= since);
    let taps = later.filter_map(|(bucket, _)| Some(counted.get(&bucket)?.taps));
    Ok(taps.sum::<u64>() <= TAPS_MAX as u64 && are_few(db, (since, range.buckets.end())).await?)
}

/// Whether a time has few enough interactions, whomever they are of.
async fn are_few(db: &mut dyn Query, hours: (i64, i64)) -> Result<bool, StorageError> {
    let (first, end) = moments(hours);
    let sql = "SELECT count(*) FROM (
             SELECT 1 AS one FROM interactions i WHERE i.at >= ?1 AND i.at < ?2 LIMIT ?3) found";
    let most = Value::limit(TAPS_MAX + 1);
    let found = db.count(sql, &values![first, end, most]).await?;
    Ok(found <= TAPS_MAX as u64)
}

/// The milliseconds at which hours begin.
pub(super) fn moments((first, end): (i64, i64)) -> (i64, i64) {
    let at = |hour| CountSpan::Hour.begin(hour).millis();
    (at(first), at(end))
}

/// The number of different visitors in these hours.
async fn different(
    db: &mut dyn Query,
    range: &ReportRange,
    hours: (i64, i64),
) -> Result<u64, StorageError> {
    let mut clients = HashSet::<[u8; 16]>::new();
    for part in parts(hours) {
        let (conditions, values) = conditions(db, range, part);
        let sql = format!(
            "SELECT i.client FROM interactions i WHERE {conditions} AND i.client IS NOT NULL"
        );
        for mut row in db.query(&sql, &values).await? {
            clients.insert(row.take()?);
        }
    }
    Ok(clients.len() as u64)
}

/// The parts of a period, of about as many hours.
fn parts((first, end): (i64, i64)) -> impl Iterator<Item = (i64, i64)> {
    let bound = move |part| first + (end - first) * part / PARTS;
    let parts = (0..PARTS).map(move |part| (bound(part), bound(part + 1)));
    parts.filter(|(first, end)| first < end)
}

/// The conditions for interactions `i` of the report in these hours, and their values. The group of
/// a tag is the one that it is in now.
pub(super) fn conditions(
    db: &dyn Query,
    range: &ReportRange,
    hours: (i64, i64),
) -> (String, Vec<Value<'static>>) {
    let (first, end) = moments(hours);
    let mut values = values![first, end].to_vec();
    let mut sql = format!("i.at >= ?1 AND i.at < ?2 AND NOT {IS_TEST}");
    let chosen = [
        ("i.simulated", range.world.simulated().map(Value::from)),
        ("i.experience_id", range.experience.map(Value::from)),
        ("i.tag_id", range.tag.map(Value::from)),
    ];
    for (column, value) in chosen {
        if let Some(value) = value {
            values.push(value);
            sql = format!("{sql} AND {column} = ?{}", values.len());
        }
    }
    if let Some(group) = range.group {
        values.push(group.into());
        let group = format!("?{}", values.len());
        let is_in = groups::tag_is_in(db.dialect(), "i.tag_id", &group);
        sql = format!("{sql} AND {is_in}");
    }
    sql += &callers::taps(db.reach(), "i.experience_id", "i.tag_id");
    (sql, values)
}

/// The taps of a period.
#[derive(Default)]
struct Taps {
    /// The taps of each tag, and their results.
    counts: HashMap<TagId, Count>,
    /// In the order of clients, each once for a bucket.
    visits: Vec<Visit>,
}

/// A client's taps in a bucket.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    client: [u8; 16],
    bucket: usize,
    /// The only one of the client, because it differs from tag to tag. `None`: the code was of no tag.
    tag: Option<TagId>,
}

impl Taps {
    /// Reads the taps of the report in these hours.
    async fn read(
        db: &mut dyn Query,
        range: &ReportRange,
        hours: (i64, i64),
    ) -> Result<Self, StorageError> {
        let mut taps = Self::default();
        for part in parts(hours) {
            taps.add(db, range, part).await?;
        }
        taps.visits.sort_unstable();
        taps.visits.dedup();
        Ok(taps)
    }

    /// Adds the taps of these hours, with each visit as often as it has taps.
    async fn add(
        &mut self,
        db: &mut dyn Query,
        range: &ReportRange,
        hours: (i64, i64),
    ) -> Result<(), StorageError> {
        let (conditions, values) = conditions(db, range, hours);
        let sql = format!(
            "SELECT i.at / 3600000, nullif(i.tag_id, 0), i.client, u.interaction_id IS NOT NULL,
                 s.interaction_id IS NOT NULL
             FROM interactions i LEFT JOIN updates u ON u.interaction_id = i.id
             LEFT JOIN submissions s ON s.interaction_id = i.id AND s.refused IS NULL
             WHERE {conditions}"
        );
        for mut row in db.query(&sql, &values).await? {
            let bucket = range.buckets.of(row.take()?);
            let tag = row.take()?;
            let client = row.take()?;
            let (updated, submitted): (bool, bool) = (row.take()?, row.take()?);
            if let Some(tag) = tag {
                *self.counts.entry(tag).or_default() += Count {
                    taps: 1,
                    updates: updated.into(),
                    submissions: submitted.into(),
                };
            }
            if let (Some(bucket), Some(client)) = (bucket, client) {
                self.visits.push(Visit {
                    client,
                    bucket,
                    tag,
                });
            }
        }
        Ok(())
    }

    /// The visits of each visitor.
    fn by_visitor(&self) -> impl Iterator<Item = &[Visit]> {
        self.visits.chunk_by(|one, next| one.client == next.client)
    }

    /// The number of different visitors.
    fn visitors(&self) -> u64 {
        self.by_visitor().count() as u64
    }

    /// The number of different visitors in each bucket that begins at this hour or later.
    fn visitors_by_bucket(&self, range: &ReportRange, since: i64) -> BTreeMap<usize, u64> {
        let buckets = range.buckets.hours().enumerate();
        let known = buckets.filter(|(_, (first, _))| *first >= since);
        let mut numbers: BTreeMap<_, _> = known.map(|(bucket, _)| (bucket, 0)).collect();
        for visit in &self.visits {
            if let Some(number) = numbers.get_mut(&visit.bucket) {
                *number += 1;
            }
        }
        numbers
    }

    /// The most tapped tags.
    async fn tags(
        &self,
        db: &mut dyn Query,
        with_visitors: bool,
    ) -> Result<Vec<TagResults>, StorageError> {
        let mut found: Vec<_> = self.counts.iter().collect();
        found.sort_unstable_by_key(|(tag, count)| (Reverse(count.taps), **tag));
        found.truncate(TAGS_MAX);
        let mut visitors = HashMap::<_, u64>::new();
        for visits in self.by_visitor() {
            *visitors.entry(visits[0].tag).or_default() += 1;
        }
        let mut names = names(db, found.iter().map(|(tag, _)| **tag)).await?;
        // A tag that is now out of reach, or no longer there, has no name to show.
        let tags = found.into_iter().filter_map(|(tag, count)| {
            let of_tag = visitors.get(&Some(*tag)).copied().unwrap_or_default();
            Some(TagResults {
                tag: names.remove(tag)?,
                count: *count,
                visitors: with_visitors.then_some(of_tag),
            })
        });
        Ok(tags.collect())
    }
}

/// The names of the tags within reach.
async fn names(
    db: &mut dyn Query,
    tags: impl Iterator<Item = TagId>,
) -> Result<HashMap<TagId, TagName>, StorageError> {
    let reached = callers::tags(db.reach(), "");
    let sql = format!("SELECT id, slug, name FROM tags WHERE id IN ids(?1){reached}");
    let found = db.query(&sql, &[Value::list(tags)]).await?.into_iter();
    let found = found.map(|mut row| {
        let tag_id = row.take()?;
        let name = TagName {
            tag_id,
            slug: row.take()?,
            tag_name: row.take()?,
        };
        Ok((tag_id, name))
    });
    found.collect()
}
