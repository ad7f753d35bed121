//! Keeps the tags ordered by their taps, for lists.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::SqliteStorage;
use super::fold::{Folded, Visit, Visitor};
use super::search;
use crate::StorageError;
use crate::interactions::tag_of;
use crate::shared::tags::{Ranking, Taps};
use domain::clock::{Stopwatch, Timestamp};
use domain::id::TagId;

/// Most tags for which the database sorts a list itself: that takes a few milliseconds.
const FEW_TAGS: i64 = 2_000;
/// Most new taps that are processed while a caller waits: that takes a few milliseconds.
const FEW_TAPS: usize = 2_000;
/// New taps above which all counts are read again.
const MANY_TAPS: usize = 500_000;
/// Age from which the order is rebuilt in the background while it stays in use.
const AGING: Duration = Duration::from_secs(10);
/// Age from which no caller gets the order. With the time for rebuilding, it stays below 30 s.
const OLD: Duration = Duration::from_secs(25);

/// The orders; empty until a list needs them.
#[derive(Clone, Default)]
pub(super) struct Rankings {
    kept: Arc<Mutex<Option<Kept>>>,
    /// Whether the orders are being rebuilt in the background.
    renewing: Arc<AtomicBool>,
}

#[derive(Clone)]
struct Kept {
    ranking: Arc<Ranking>,
    made: Stopwatch,
    /// The last interaction that the order certainly contains; 0 before the first.
    last: i64,
}

fn last_tap(connection: &Connection) -> Result<i64, StorageError> {
    let mut last = connection.prepare_cached("SELECT coalesce(max(id), 0) FROM interactions")?;
    Ok(last.query_row([], |row| row.get(0))?)
}

impl Rankings {
    fn kept(&self) -> Option<Kept> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone()
    }

    fn keep(&self, kept: &Kept) {
        let mut place = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(kept.clone());
    }

    /// The order for a list, and whether it should be rebuilt; `None` if there are few tags.
    fn get(
        &self,
        connection: &Connection,
        folded: &Folded,
    ) -> Result<Option<(Arc<Ranking>, bool)>, StorageError> {
        let newest = search::newest(connection)?;
        if newest <= FEW_TAGS {
            return Ok(None);
        }
        if let Some(kept) = self.kept() {
            let since = tapped_since(connection, kept.last, FEW_TAPS)?;
            let age = kept.made.elapsed();
            match since {
                None if age < OLD => return Ok(Some((kept.ranking, age >= AGING))),
                Some(tags) if tags.is_empty() && kept.ranking.newest() == newest => {
                    return Ok(Some((kept.ranking, false)));
                }
                _ => {}
            }
        }
        Ok(Some((self.renew(connection, folded)?, false)))
    }

    /// Rebuilds the order as of now.
    fn renew(
        &self,
        connection: &Connection,
        folded: &Folded,
    ) -> Result<Arc<Ranking>, StorageError> {
        let made = Stopwatch::start();
        // Read this first: taps that come during the rebuild are processed the next time.
        let last = last_tap(connection)?;
        let newest = search::newest(connection)?;
        let before = self.kept();
        let since = match &before {
            Some(kept) => tapped_since(connection, kept.last, MANY_TAPS)?,
            None => None,
        };
        let ranking = match (before, since) {
            (Some(kept), Some(tags)) => {
                let changed = taps_of(connection, folded, tags)?;
                kept.ranking.with(&changed, newest)
            }
            _ => Ranking::new(&all_taps(connection, folded)?, newest),
        };
        let ranking = Arc::new(ranking);
        self.keep(&Kept {
            ranking: Arc::clone(&ranking),
            made,
            last,
        });
        Ok(ranking)
    }
}

impl SqliteStorage {
    /// Tags ordered by their taps; `None` if there are few tags.
    pub(crate) async fn rank(&self) -> Result<Option<Arc<Ranking>>, StorageError> {
        let (rankings, folded) = (self.rankings.clone(), self.writer.folded().clone());
        let got = self.read_long(move |connection| rankings.get(connection, &folded));
        let Some((ranking, ages)) = got.await? else {
            return Ok(None);
        };
        if ages && !self.rankings.renewing.swap(true, Ordering::AcqRel) {
            let (rankings, folded) = (self.rankings.clone(), self.writer.folded().clone());
            let readers = self.readers.clone();
            // If it fails, the next list rebuilds the order.
            tokio::task::spawn_blocking(move || {
                let renewed = readers.with(|connection| rankings.renew(connection, &folded));
                rankings.renewing.store(false, Ordering::Release);
                renewed
            });
        }
        Ok(Some(ranking))
    }
}

/// The tags of interactions after `last`; `None` if there are more than `limit` interactions.
fn tapped_since(
    connection: &Connection,
    last: i64,
    limit: usize,
) -> Result<Option<Vec<TagId>>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT tag_id FROM interactions WHERE id > ?1 AND tag_id IS NOT NULL ORDER BY id LIMIT ?2",
    )?;
    let asked = i64::try_from(limit + 1).unwrap_or(i64::MAX);
    let tags = statement.query_map((last, asked), |row| row.get(0).map(tag_of))?;
    let tags = tags.collect::<Result<Vec<_>, _>>()?;
    if tags.len() > limit {
        return Ok(None);
    }
    let mut tags: Vec<_> = tags.into_iter().flatten().collect();
    tags.sort_unstable();
    tags.dedup();
    Ok(Some(tags))
}

/// The newest counts of these tags.
fn taps_of(
    connection: &Connection,
    folded: &Folded,
    tags: Vec<TagId>,
) -> Result<HashMap<TagId, Taps>, StorageError> {
    let mut statement = connection
        .prepare_cached("SELECT scans, last_at FROM visits WHERE tag_id = ?1 AND client = x''")?;
    let mut tests =
        connection.prepare_cached("SELECT count(*) FROM test_taps WHERE tag_id = ?1")?;
    let mut found = HashMap::with_capacity(tags.len());
    for tag in tags {
        let (scans, last_at): Taps =
            if let Some(visit) = folded.get::<Visit>(Visitor::everyone(Some(tag))) {
                (visit.scans, visit.last_at)
            } else {
                let mut rows = statement.query([tag.get()])?;
                let Some(row) = rows.next()? else {
                    continue;
                };
                (row.get(0)?, Timestamp::from_millis(row.get(1)?))
            };
        let tests: u64 = tests.query_row([tag.get()], |row| row.get(0))?;
        found.insert(tag, (scans.saturating_sub(tests), last_at));
    }
    Ok(found)
}

/// How many taps of each tag were test taps, which visitors did not make.
fn all_tests(connection: &Connection) -> Result<HashMap<TagId, u64>, StorageError> {
    let mut statement =
        connection.prepare_cached("SELECT tag_id, count(*) FROM test_taps GROUP BY tag_id")?;
    let mut rows = statement.query([])?;
    let mut tests = HashMap::new();
    while let Some(row) = rows.next()? {
        if let Some(tag) = tag_of(row.get(0)?) {
            tests.insert(tag, row.get(1)?);
        }
    }
    Ok(tests)
}

/// The newest counts of all tags that were ever tapped.
fn all_taps(connection: &Connection, folded: &Folded) -> Result<Vec<(TagId, Taps)>, StorageError> {
    let newer: HashMap<_, _> = folded.everyone().into_iter().collect();
    let newer_of = |tag| newer.get(&tag).map(|visit| (visit.scans, visit.last_at));
    let mut statement = connection
        .prepare_cached("SELECT tag_id, scans, last_at FROM visits WHERE client = x''")?;
    let mut rows = statement.query([])?;
    let (mut taps, mut seen) = (Vec::new(), HashSet::new());
    while let Some(row) = rows.next()? {
        let Some(tag) = tag_of(row.get(0)?) else {
            continue;
        };
        let stored = (row.get(1)?, Timestamp::from_millis(row.get(2)?));
        if let Some(newer) = newer_of(tag) {
            seen.insert(tag);
            taps.push((tag, newer));
        } else {
            taps.push((tag, stored));
        }
    }
    let without_rows = newer.keys().filter(|tag| !seen.contains(tag));
    taps.extend(without_rows.filter_map(|tag| Some((*tag, newer_of(*tag)?))));
    let tests = all_tests(connection)?;
    for (tag, (scans, _)) in &mut taps {
        *scans = scans.saturating_sub(tests.get(tag).copied().unwrap_or_default());
    }
    Ok(taps)
}
