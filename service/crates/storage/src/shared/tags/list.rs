//! Lists of tags, and all other operations that select many tags.

use std::collections::{BTreeSet, HashSet};

use super::ranking::Ranking;
use super::select::Select;
use super::source::Source;
use super::wanted::Wanted;
use super::whole;
use crate::shared::{Query, callers};
use crate::value::{Row, Value, values};
use crate::{StorageError, TagFilter, TagList, TagPlace, TagSelect};
use domain::id::TagId;
use domain::tag::{PropertyClass, PropertyKey, Tag};

/// Most candidates for which a ranking is faster than SQLite's own sorting of all matches.
const RANKED_MAX: usize = 50_000;

/// Ranges of ids in one statement; a power of two, like all numbers of items in statements.
const RANGES: usize = 32;

/// A piece of the list: complete tags, each with its place. Places come from the stored rows, which
/// define the order; the tags' counts may be newer.
pub(super) async fn tags(
    db: &mut dyn Query,
    list: &TagList,
    ranking: Option<&Ranking>,
) -> Result<Vec<(Tag, TagPlace)>, StorageError> {
    let wanted = Wanted::of(db, &list.filter).await?;
    let mut source = Source::of(db, &list.filter, &wanted).await?;
    if let Some(ranking) = ranking
        && !source.has_few(db).await?
        && let Some(tags) = ranked(db, list, &wanted, ranking).await?
    {
        return Ok(tags);
    }
    if list.order.is_by_name() && !source.is_postgres() && !source.has_few(db).await? {
        source = Source::names(&list.filter);
    }
    let (sql, values) = Select::page(list, &wanted, db.reach(), source)?;
    let ids = ids_of(db.query_once(&sql, &values).await?)?;
    let tags = whole::stored(db, &ids).await?.into_iter();
    let tags = tags.map(|(mut tag, _)| {
        let place = list.order.place(&tag);
        whole::count(db, &mut tag);
        (tag, place)
    });
    Ok(tags.collect())
}

/// Like [`tags`], from the next tags of a ranking that match the filter. `None` if too few match.
async fn ranked(
    db: &mut dyn Query,
    list: &TagList,
    wanted: &Wanted,
    ranking: &Ranking,
) -> Result<Option<Vec<(Tag, TagPlace)>>, StorageError> {
    let mut candidates = ranking.tags(list.order, list.after.as_ref());
    let mut places = Vec::with_capacity(list.limit);
    let (mut at_once, mut looked_at) = (2 * list.limit, 0);
    while places.len() < list.limit {
        let some: Vec<_> = candidates.by_ref().take(at_once).collect();
        if some.is_empty() {
            break;
        }
        if looked_at > RANKED_MAX {
            return Ok(None);
        }
        looked_at += some.len();
        at_once *= 2;
        let source = Source::by_id(&list.filter);
        let mut select = Select::new(&list.filter, wanted, db.reach(), source);
        select.only(some.iter().map(|(id, _)| *id));
        let sql = format!("SELECT t.id FROM {}", select.clauses());
        let found = ids_of(db.query_once(&sql, &select.values).await?)?;
        let found: HashSet<_> = found.into_iter().collect();
        places.extend(some.into_iter().filter(|(id, _)| found.contains(id)));
    }
    places.truncate(list.limit);
    let ids: Vec<_> = places.iter().map(|(id, _)| *id).collect();
    let tags = whole::whole(db, &ids).await?.into_iter();
    let places = places.into_iter().map(|(_, place)| place);
    Ok(Some(tags.map(|(tag, _)| tag).zip(places).collect()))
}

/// The selection of all matching tags, in no order.
async fn matching(db: &mut dyn Query, filter: &TagFilter) -> Result<Select, StorageError> {
    let wanted = Wanted::of(db, filter).await?;
    let source = Source::of(db, filter, &wanted).await?;
    Ok(Select::new(filter, &wanted, db.reach(), source))
}

/// The exact number of matching tags.
pub(super) async fn count(db: &mut dyn Query, filter: &TagFilter) -> Result<u64, StorageError> {
    let select = matching(db, filter).await?;
    count_of(db, &select).await
}

/// The exact number of tags of a selection.
pub(super) async fn count_of(db: &mut dyn Query, select: &Select) -> Result<u64, StorageError> {
    let sql = format!("SELECT count(*) FROM {}", select.clauses());
    let found = db.query_once(&sql, &select.values).await?;
    found.into_iter().next().map_or(Ok(0), |mut row| row.take())
}

/// All ids of a selection, in ascending order.
pub(super) async fn ids(
    db: &mut dyn Query,
    select: &TagSelect,
) -> Result<Vec<TagId>, StorageError> {
    match select {
        TagSelect::Filter(filter) => {
            let select = matching(db, filter).await?;
            let (id, clauses) = (select.source.id(), select.clauses());
            let sql = format!("SELECT {id} FROM {clauses} ORDER BY {id}");
            ids_of(db.query_once(&sql, &select.values).await?)
        }
        TagSelect::Ranges { ranges, deleted } => ids_in(db, &disjoint(ranges), *deleted).await,
    }
}

/// The existing ids in ranges that ascend and do not overlap.
async fn ids_in(
    db: &mut dyn Query,
    mut ranges: &[(TagId, TagId)],
    deleted: bool,
) -> Result<Vec<TagId>, StorageError> {
    let null = if deleted { "NOT NULL" } else { "NULL" };
    let mut ids = Vec::new();
    while !ranges.is_empty() {
        let (some, rest) = ranges.split_at(1 << ranges.len().min(RANGES).ilog2());
        ranges = rest;
        let values: Vec<Value<'_>> = some
            .iter()
            .flat_map(|(first, last)| values![*first, *last])
            .collect();
        let within: Vec<_> = (1..=some.len())
            .map(|range| format!("id BETWEEN ?{} AND ?{}", range * 2 - 1, range * 2))
            .collect();
        let within = within.join(" OR ");
        let reached = callers::tags(db.reach(), "");
        let sql = format!(
            "SELECT id FROM tags WHERE deleted_at IS {null} AND ({within}){reached} ORDER BY id"
        );
        ids.extend(ids_of(db.query(&sql, &values).await?)?);
    }
    Ok(ids)
}

/// The same ids as ascending ranges that do not overlap.
fn disjoint(ranges: &[(TagId, TagId)]) -> Vec<(TagId, TagId)> {
    let mut ranges = ranges.to_vec();
    ranges.sort_unstable();
    let mut apart: Vec<(TagId, TagId)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match apart.last_mut() {
            Some((_, end)) if first.get() <= end.get().saturating_add(1) => *end = last.max(*end),
            _ => apart.push((first, last)),
        }
    }
    apart
}

/// The property keys of all matching tags.
pub(super) async fn property_keys(
    db: &mut dyn Query,
    filter: &TagFilter,
) -> Result<BTreeSet<(PropertyClass, PropertyKey)>, StorageError> {
    let select = matching(db, filter).await?;
    let properties = select.with_properties();
    let sql = format!("SELECT DISTINCT p.class, p.key FROM {properties}");
    let found = db.query_once(&sql, &select.values).await?;
    found
        .into_iter()
        .map(|mut row| whole::property_key(&mut row))
        .collect()
}

fn ids_of(rows: Vec<Row>) -> Result<Vec<TagId>, StorageError> {
    rows.into_iter().map(|mut row| row.take()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_are_one() {
        let ranges = |ranges: &[(i64, i64)]| -> Vec<_> {
            let ranges = ranges.iter();
            ranges
                .map(|(first, last)| (TagId::new(*first), TagId::new(*last)))
                .collect()
        };
        let given = ranges(&[(7, 7), (1, 3), (2, 9), (4, 5), (12, 11), (20, 30), (31, 31)]);
        let apart = ranges(&[(1, 9), (12, 11), (20, 31)]);
        assert_eq!(disjoint(&given), apart);
        assert_eq!(disjoint(&[]), []);
    }
}
