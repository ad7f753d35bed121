//! Visitors and tags of a report. No count has them: a count of each tag would cost every tap a row,
//! and different visitors cannot be added up. So they are read from the interactions, if the period
//! has few enough.

use std::collections::HashMap;

use super::IS_TEST;
use super::read::count;
use crate::StorageError;
use crate::shared::{Query, Question, callers, groups};
use crate::value::{Value, values};
use domain::id::TagId;
use domain::interaction::TagName;
use domain::report::{CountSpan, ReportRange, TagResults, Visitors};

/// Most taps of a period whose interactions are read. It takes about half a second.
const TAPS_MAX: usize = 200_000;
/// Most tags of a report, those with most taps: more than anybody reads.
const TAGS_MAX: usize = 100;
/// Questions that a database gets at once.
const QUESTIONS: usize = 100;

/// The visitors of a report, and its most tapped tags.
pub(super) async fn visitors_and_tags(
    db: &mut dyn Query,
    range: &ReportRange,
) -> Result<(Visitors, Option<Vec<TagResults>>), StorageError> {
    let few = are_few(db, range.hours(false)).await?;
    let visitors = visitors(db, range, few).await?;
    let tags = if few {
        Some(tags(db, range, visitors.total.is_some()).await?)
    } else {
        None
    };
    Ok((visitors, tags))
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

/// `few` is whether the whole period has few enough interactions; then each part of it has, too.
async fn visitors(
    db: &mut dyn Query,
    range: &ReportRange,
    few: bool,
) -> Result<Visitors, StorageError> {
    let mut visitors = Visitors::default();
    let are_known = |hour| CountSpan::Hour.begin(hour) >= range.clients_since;
    let buckets = range.buckets.hours().enumerate();
    let known: Vec<_> = buckets
        .filter(|(_, (first, _))| are_known(*first))
        .collect();
    let (Some((_, (first, _))), (begin, end)) = (known.first(), range.hours(false)) else {
        return Ok(visitors);
    };
    let is_part = *first > begin;
    if !(few || is_part && are_few(db, (*first, end)).await?) {
        return Ok(visitors);
    }
    let mut asked: Vec<_> = known.iter().map(|(_, hours)| *hours).collect();
    if are_known(begin) {
        asked.push((begin, end));
    }
    let mut numbers = different(db, range, &asked).await?.into_iter();
    visitors.buckets = known
        .iter()
        .map(|(bucket, _)| *bucket)
        .zip(&mut numbers)
        .collect();
    visitors.total = numbers.next();
    let before = range.hours(true);
    if are_known(before.0) && are_few(db, before).await? {
        visitors.before = different(db, range, &[before]).await?.pop();
    }
    Ok(visitors)
}

/// The number of different visitors in each of these times. A client differs from tag to tag.
async fn different(
    db: &mut dyn Query,
    range: &ReportRange,
    times: &[(i64, i64)],
) -> Result<Vec<u64>, StorageError> {
    let mut numbers = Vec::with_capacity(times.len());
    for times in times.chunks(QUESTIONS) {
        let asked: Vec<_> = times
            .iter()
            .map(|hours| conditions(db, range, *hours))
            .collect();
        let asked: Vec<_> = asked
            .into_iter()
            .map(|(conditions, values)| {
                let sql = format!(
                    "SELECT count(DISTINCT i.client) FROM interactions i WHERE {conditions}"
                );
                (sql, values)
            })
            .collect();
        let questions: Vec<Question<'_>> = asked
            .iter()
            .map(|(sql, values)| (sql.as_str(), values.as_slice()))
            .collect();
        for rows in db.query_all(&questions).await? {
            for mut row in rows {
                numbers.push(row.take()?);
            }
        }
    }
    Ok(numbers)
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

/// The most tapped tags of the period.
async fn tags(
    db: &mut dyn Query,
    range: &ReportRange,
    with_visitors: bool,
) -> Result<Vec<TagResults>, StorageError> {
    let (conditions, mut values) = conditions(db, range, range.hours(false));
    values.push(Value::limit(TAGS_MAX));
    let sql = format!(
        "SELECT i.tag_id, count(*), count(u.interaction_id), count(s.interaction_id), count(DISTINCT i.client)
         FROM interactions i LEFT JOIN updates u ON u.interaction_id = i.id
         LEFT JOIN submissions s ON s.interaction_id = i.id AND s.refused IS NULL
         WHERE {conditions} AND i.tag_id <> 0 GROUP BY i.tag_id ORDER BY 2 DESC, 1 LIMIT ?{}",
        values.len()
    );
    let mut found = Vec::new();
    for mut row in db.query(&sql, &values).await? {
        let tag: TagId = row.take()?;
        let count = count(&mut row)?;
        let visitors: u64 = row.take()?;
        found.push((tag, count, visitors));
    }
    let reached = callers::tags(db.reach(), "");
    let sql = format!("SELECT id, slug, name FROM tags WHERE id IN ids(?1){reached}");
    let ids = Value::list(found.iter().map(|(tag, ..)| tag));
    let mut names = HashMap::new();
    for mut row in db.query(&sql, &[ids]).await? {
        let tag_id: TagId = row.take()?;
        let name = TagName {
            tag_id,
            slug: row.take()?,
            tag_name: row.take()?,
        };
        names.insert(tag_id, name);
    }
    // A tag that is now out of reach, or no longer there, has no name to show.
    let tags = found.into_iter().filter_map(|(tag, count, visitors)| {
        Some(TagResults {
            tag: names.remove(&tag)?,
            count,
            visitors: with_visitors.then_some(visitors),
        })
    });
    Ok(tags.collect())
}
