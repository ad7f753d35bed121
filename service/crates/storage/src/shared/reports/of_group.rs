//! The figures of a group in a period. Its taps come from the counts that reports read, so they are
//! of the group that a tag was in when its tap was counted. All other figures are of the tags that
//! are in the group now.

use std::collections::BTreeMap;

use super::read::{conditions, uncounted};
use super::{BY_GROUP, prune, seen, test_taps};
use crate::interactions::row::last_counter;
use crate::shared::inlays::{EXHAUSTED, FROM};
use crate::shared::{Query, groups};
use crate::value::{Value, values};
use crate::{Access, GroupOverview, Overview, SAMPLE_MAX, StorageError};
use domain::clock::Timestamp;
use domain::id::TagId;
use domain::interaction::{Reason, TagName};
use domain::report::{CountSpan, ReportRange};

/// Tags that the figures name, as those of all groups.
const TOP_TAGS: usize = 10;

/// The operation on the figures of a group.
impl Access {
    /// The figures of the period of `range`, of the tags in its group and in all groups below it.
    pub async fn overview_of_group(
        &self,
        range: ReportRange,
    ) -> Result<GroupOverview, StorageError> {
        self.read_snapshot("overview_of_group", range, |db, range| {
            Box::pin(overview(db, range))
        })
        .await
    }
}

async fn overview(db: &mut dyn Query, range: &ReportRange) -> Result<GroupOverview, StorageError> {
    let mut complete = true;
    let counts = counts(db, range, &mut complete).await?;
    let sample = GroupSample::of(db, range);
    complete &= GroupSample::is_whole(db, range).await?;
    let overview = Overview {
        counts,
        top_tags: sample.top_tags(db).await?,
        counter_gaps: sample.counter_gaps(db).await?,
        unset_tags: sample.unset_tags(db).await?,
        complete,
        factory_keys: inlays(db, range, "i.factory_keys").await?,
        used_up: inlays(db, range, &EXHAUSTED).await?,
        opened_tags: opened_tags(db, range).await?,
    };
    let (test_taps, _) = test_taps::counts(db, range).await?;
    Ok(GroupOverview {
        overview,
        test_taps,
        hours_since: prune::hours_since(db).await?,
    })
}

/// The taps of each hour by reason, including those that are in no stored count. `complete` becomes
/// false if more than a report reads are in none.
async fn counts(
    db: &mut dyn Query,
    range: &ReportRange,
    complete: &mut bool,
) -> Result<Vec<(Timestamp, Reason, u64)>, StorageError> {
    let (first, end) = range.hours(false);
    let (conditions, values) = conditions(db, range, (CountSpan::Hour, first, end));
    let sql = format!(
        "SELECT slot, value, CAST(sum(taps) AS BIGINT) FROM {BY_GROUP}
         WHERE dimension = 'reason' AND {conditions} GROUP BY slot, value"
    );
    let mut counts = BTreeMap::new();
    let mut add = |hour: i64, reason: Reason, taps: u64| {
        // Counts of updates have no taps.
        if taps > 0 {
            let key = (hour, reason.as_str());
            counts.entry(key).or_insert((reason, 0)).1 += taps;
        }
    };
    for mut row in db.query(&sql, &values).await? {
        let hour = row.take()?;
        let reason = row.text("reason", Reason::from_name)?;
        add(hour, reason, row.take()?);
    }
    for (tap, count) in uncounted(db, range, complete).await? {
        let hour = CountSpan::Hour.of(tap.at);
        let is_within = range.is_before(hour) == Some(false);
        if is_within && range.has(tap.simulated, tap.experience) {
            add(hour, tap.reason, count.taps);
        }
    }
    let counts = counts.into_iter();
    let counts =
        counts.map(|((hour, _), (reason, taps))| (CountSpan::Hour.begin(hour), reason, taps));
    Ok(counts.collect())
}

/// The newest interactions `i` of the period, whomever they are of, and the conditions for those of
/// the group.
struct GroupSample {
    newest: String,
    conditions: String,
    values: Vec<Value<'static>>,
}

impl GroupSample {
    fn of(db: &dyn Query, range: &ReportRange) -> Self {
        let (conditions, mut values) = seen::conditions(db, range, range.hours(false));
        values.push(Value::limit(SAMPLE_MAX));
        let newest = format!(
            "(SELECT i.* FROM interactions i WHERE i.at >= ?1 AND i.at < ?2
              ORDER BY i.at DESC LIMIT ?{}) i",
            values.len()
        );
        Self {
            newest,
            conditions,
            values,
        }
    }

    /// Whether the sample has all interactions of the period.
    async fn is_whole(db: &mut dyn Query, range: &ReportRange) -> Result<bool, StorageError> {
        let (first, end) = seen::moments(range.hours(false));
        let sql = "SELECT count(*) FROM (
                 SELECT 1 AS one FROM interactions i WHERE i.at >= ?1 AND i.at < ?2 LIMIT ?3) found";
        let most = Value::limit(SAMPLE_MAX + 1);
        let found = db.count(sql, &values![first, end, most]).await?;
        Ok(found <= SAMPLE_MAX as u64)
    }

    async fn top_tags(&self, db: &mut dyn Query) -> Result<Vec<(TagName, u64)>, StorageError> {
        let Self {
            newest, conditions, ..
        } = self;
        let mut values = self.values.clone();
        values.push(Value::limit(TOP_TAGS));
        let sql = format!(
            "SELECT t.id, t.slug, t.name, top.taps FROM (
                 SELECT i.tag_id, count(*) AS taps FROM {newest} WHERE {conditions} AND i.tag_id <> 0
                 GROUP BY i.tag_id ORDER BY 2 DESC, 1 LIMIT ?{}
             ) top JOIN tags t ON t.id = top.tag_id ORDER BY top.taps DESC, t.id",
            values.len()
        );
        let found = db.query(&sql, &values).await?.into_iter();
        let tags = found.map(|mut row| {
            let tag_id: TagId = row.take()?;
            let name = TagName {
                tag_id,
                slug: row.take()?,
                tag_name: row.take()?,
            };
            Ok((name, row.take()?))
        });
        tags.collect()
    }

    async fn counter_gaps(&self, db: &mut dyn Query) -> Result<u64, StorageError> {
        let Self {
            newest, conditions, ..
        } = self;
        let sql = format!(
            "SELECT count(*) FROM {newest} WHERE {conditions} AND i.reason = 'verified'
                 AND i.counter - ({}) > 1",
            last_counter!()
        );
        db.count(&sql, &self.values).await
    }

    /// Active tags that were tapped without an experience, and still have none.
    async fn unset_tags(&self, db: &mut dyn Query) -> Result<u64, StorageError> {
        let Self {
            newest, conditions, ..
        } = self;
        let led_to = groups::led_to("t.");
        let sql = format!(
            "SELECT count(*) FROM tags t WHERE t.deleted_at IS NULL AND t.status = 'active'
                 AND {led_to} IS NULL AND t.id IN (
                     SELECT i.tag_id FROM {newest} WHERE {conditions} AND i.experience_id IS NULL)"
        );
        db.count(&sql, &self.values).await
    }
}

/// The condition for tags `t` that are in the group and in the world of the report, and its values.
fn of_tags(db: &dyn Query, range: &ReportRange) -> (String, Vec<Value<'static>>) {
    let mut sql = "t.deleted_at IS NULL".to_owned();
    let mut values = Vec::new();
    if let Some(simulated) = range.world.simulated() {
        values.push(simulated.into());
        sql = format!("{sql} AND t.simulated = ?1");
    }
    if let Some(chosen) = groups::chosen(range.group, db.reach()) {
        let is_in = groups::is_in(db.dialect(), "t.group_id", &chosen);
        sql = format!("{sql} AND {is_in}");
    }
    (sql, values)
}

/// How many inlays of these tags fit a condition on a row of [`FROM`].
async fn inlays(
    db: &mut dyn Query,
    range: &ReportRange,
    condition: &str,
) -> Result<u64, StorageError> {
    let (tags, values) = of_tags(db, range);
    let sql = format!(
        "SELECT count(*) FROM {FROM} WHERE {condition} AND i.deleted_at IS NULL
             AND i.tag_id IN (SELECT t.id FROM tags t WHERE {tags})"
    );
    db.count(&sql, &values).await
}

/// How many of these tags had an inlay that reported an open tamper loop.
async fn opened_tags(db: &mut dyn Query, range: &ReportRange) -> Result<u64, StorageError> {
    let (tags, values) = of_tags(db, range);
    let sql =
        format!("SELECT count(*) FROM opened_tags o JOIN tags t ON t.id = o.tag_id WHERE {tags}");
    db.count(&sql, &values).await
}
