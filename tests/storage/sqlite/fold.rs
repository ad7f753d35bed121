//! The effects of taps are written later: they are exact at any read, wherever the fold is
//! interrupted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::future::join_all;
use rusqlite::Connection;
use serde_json::json;
use tapdesk_service::clock::Millis;
use tapdesk_service::entropy::{Entropy as _, SeededEntropy};
use tapdesk_service::id::{InlayId, TagId};
use tapdesk_service::inventory::InlayFields;
use tapdesk_service::storage::{TagFilter, TagList, TagOrder};
use tapdesk_service::world::World;

use super::Sqlite;
use crate::storage::backend::{Backend as _, DAY, Database, START, Tap, keys, tag_fields};

/// Tags with one inlay each, in the order of their numbers from 0.
async fn bottles(db: &Database<Sqlite>, count: u8) -> Vec<(TagId, InlayId)> {
    let mut bottles = Vec::new();
    for number in 0..count {
        let tag = db.tag(json!({"slug": format!("bottle-{number}")})).await;
        bottles.push((tag, db.inlay_on(tag, number).await));
    }
    bottles
}

/// A recount of the history in the file: scans and last taps of tags, highest counters of inlays,
/// taps per hour.
#[derive(Debug, PartialEq)]
struct Recount {
    tags: BTreeMap<i64, (u64, i64)>,
    inlays: BTreeMap<i64, u32>,
    taps: u64,
}

fn recount(file: &Connection) -> Recount {
    let mut tags = file
        .prepare("SELECT tag_id, count(*), max(at) FROM interactions GROUP BY 1")
        .unwrap();
    let tags = tags.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))));
    let mut inlays = file
        .prepare(
            "SELECT inlay_id, max(counter) FROM interactions WHERE reason = 'verified' GROUP BY 1",
        )
        .unwrap();
    let inlays = inlays.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let count = "SELECT count(*) FROM interactions";
    Recount {
        tags: tags.unwrap().map(Result::unwrap).collect(),
        inlays: inlays.unwrap().map(Result::unwrap).collect(),
        taps: file.query_row(count, [], |row| row.get(0)).unwrap(),
    }
}

/// The same values, as the storage returns them.
async fn shown(db: &Database<Sqlite>, bottles: &[(TagId, InlayId)]) -> Recount {
    let (mut tags, mut inlays) = (BTreeMap::new(), BTreeMap::new());
    for (tag, inlay) in bottles {
        let tag = db.storage().tag(*tag).await.unwrap().unwrap();
        if let Some(last) = tag.last_scan_at {
            tags.insert(tag.id.get(), (tag.scan_count, last.millis()));
        }
        let inlay = db.inlay(*inlay).await.unwrap().unwrap();
        if inlay.last_counter > 0 {
            inlays.insert(inlay.id.get(), inlay.last_counter);
        }
    }
    let overview = db.overview(
        START.minus(Millis::new(DAY)),
        START.plus(Millis::new(DAY)),
        World::Both,
    );
    let counts = overview.await.unwrap().counts.into_iter();
    Recount {
        tags,
        inlays,
        taps: counts.map(|(_, _, taps)| taps).sum(),
    }
}

#[tokio::test]
async fn a_fold_that_is_cut_off_after_any_row_is_exact() {
    let mut db = Database::<Sqlite>::create().await;
    let bottles = bottles(&db, 3).await;
    let mut counter = 0;
    for cut in 0.. {
        for (client, (tag, inlay)) in (1..).zip(&bottles) {
            db.advance(60_000 * 7);
            counter += 1;
            db.tap(Tap::code(*tag, *inlay, counter).by(client)).await;
            db.tap(Tap::of(*tag)).await;
        }
        let mut more = true;
        for row in 0..cut {
            more = db.backend().fold().await;
            // Taps are recorded between any two rows of the import, too.
            let (tag, inlay) = bottles[row % bottles.len()];
            counter += 1;
            db.tap(Tap::code(tag, inlay, counter).by(9)).await;
        }
        let history = recount(&db.backend().look_into());
        assert_eq!(shown(&db, &bottles).await, history, "after {cut} rows");
        db.crash().await;
        assert_eq!(
            shown(&db, &bottles).await,
            history,
            "cut off after {cut} rows"
        );
        let (tag, inlay) = bottles[0];
        for counter in [1, history.inlays[&inlay.get()]] {
            let again = db.tap(Tap::code(tag, inlay, counter)).await;
            assert!(!again.verified(), "a code is accepted twice");
        }
        while db.backend().fold().await {}
        if !more {
            assert!(cut > 10, "a fold has more than {cut} rows");
            break;
        }
    }
    db.reopen().await;
    let history = recount(&db.backend().look_into());
    assert_eq!(shown(&db, &bottles).await, history);
}

/// A reader sees each acknowledged tap exactly once, while folds run all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_are_exact_at_any_read_while_taps_are_folded() {
    let db = Database::<Sqlite>::create().await;
    let bottles = bottles(&db, 4).await;
    let storage = (*db).clone();
    let (sent, acknowledged) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (reads, done) = (
        Arc::new(AtomicU64::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let (tag, inlay) = bottles[0];
    let reader = tokio::spawn({
        let (sent, acknowledged) = (Arc::clone(&sent), Arc::clone(&acknowledged));
        let (reads, done) = (Arc::clone(&reads), Arc::clone(&done));
        async move {
            while !done.load(Ordering::SeqCst) {
                let before = acknowledged.load(Ordering::SeqCst);
                let scans = storage.tag(tag).await.unwrap().unwrap().scan_count;
                let counter = storage.inlay(inlay).await.unwrap().unwrap().last_counter;
                let overview = storage.overview(
                    START.minus(Millis::new(DAY)),
                    START.plus(Millis::new(DAY)),
                    World::Both,
                );
                let counts = overview.await.unwrap().counts.into_iter();
                let taps: u64 = counts.map(|(_, _, taps)| taps).sum();
                let after = sent.load(Ordering::SeqCst);
                for seen in [scans, counter.into(), taps] {
                    assert!((before..=after).contains(&seen), "{before} {seen} {after}");
                }
                reads.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    // Wait for the reader's reads, even if a busy machine schedules it rarely.
    let looked = || reads.load(Ordering::SeqCst) > 10 || reader.is_finished();
    let mut number = 0;
    while number < tapdesk_tests::cases(300) || !looked() {
        number += 1;
        sent.fetch_add(1, Ordering::SeqCst);
        assert!(db.tap(Tap::code(tag, inlay, number)).await.verified());
        acknowledged.fetch_add(1, Ordering::SeqCst);
        db.backend().fold().await;
    }
    done.store(true, Ordering::SeqCst);
    reader.await.unwrap();
    assert!(reads.load(Ordering::SeqCst) > 10);
}

#[tokio::test]
async fn a_list_by_taps_has_every_tag_once_though_taps_come_between_its_pages() {
    let db = Database::<Sqlite>::create().await;
    let dice = SeededEntropy::new(7);
    let fields = (0..60).map(|number| tag_fields(json!({"slug": format!("bottle-{number}")})));
    let tags = db.insert_tags(fields.collect(), false).await.unwrap();
    let tags: Vec<TagId> = tags.into_iter().map(Result::unwrap).collect();
    let tap_some = async || {
        let mut bytes = [0; 40];
        dice.fill(&mut bytes);
        join_all(bytes.map(|byte| db.tap(Tap::of(tags[usize::from(byte) % tags.len()])))).await;
    };
    tap_some().await;
    while db.backend().fold().await {}
    for order in [
        TagOrder::Scans,
        TagOrder::ScansDescending,
        TagOrder::LastScan,
    ] {
        let mut list = TagList {
            filter: TagFilter::default(),
            order,
            after: None,
            limit: 7,
        };
        let mut listed = Vec::new();
        loop {
            let page = db.tags(list.clone()).await.unwrap();
            let Some((_, place)) = page.last() else {
                break;
            };
            list.after = Some(place.clone());
            for (tag, _) in page {
                let now = db.storage().tag(tag.id).await.unwrap().unwrap();
                assert_eq!(tag.scan_count, now.scan_count, "counts are the newest");
                listed.push(tag.id);
            }
            tap_some().await;
        }
        listed.sort_unstable();
        assert_eq!(listed, tags, "{order:?}");
        while db.backend().fold().await {}
    }
}

/// Replaced keys find the counter of earlier taps, even if it was only in memory. No code of the
/// former keys changes the new counter, even if it was folded late.
#[tokio::test]
async fn a_counter_in_memory_alone_is_kept_for_its_keys() {
    let mut db = Database::<Sqlite>::create().await;
    let bottles = bottles(&db, 1).await;
    let (tag, inlay) = bottles[0];
    let replace = async |db: &Database<Sqlite>, number| {
        let edit = move |mut fields: InlayFields| {
            fields.keys = Some(keys(number));
            Ok(fields)
        };
        db.edit_inlay(inlay, Box::new(edit)).await.unwrap();
    };
    db.tap(Tap::code(tag, inlay, 50)).await;
    replace(&db, 7).await;
    assert_eq!(db.inlay(inlay).await.unwrap().unwrap().last_counter, 0);
    db.tap(Tap::of(tag).with_code(inlay, 2, 3)).await;
    db.crash().await;
    assert_eq!(db.inlay(inlay).await.unwrap().unwrap().last_counter, 3);
    replace(&db, 0).await;
    db.crash().await;
    assert_eq!(db.inlay(inlay).await.unwrap().unwrap().last_counter, 50);
    assert!(
        !db.tap(Tap::of(tag).with_code(inlay, 3, 50))
            .await
            .verified()
    );
    assert!(
        db.tap(Tap::of(tag).with_code(inlay, 3, 51))
            .await
            .verified()
    );
}

/// Erased visitors stay unknown, whether or not they had been folded.
#[tokio::test]
async fn a_visitor_who_is_erased_before_the_fold_is_unknown() {
    let mut db = Database::<Sqlite>::create().await;
    let (tag, other) = (
        db.tag(json!({})).await,
        db.tag(json!({"slug": "another"})).await,
    );
    for tag in [tag, other] {
        db.tap(Tap::of(tag)).await;
        db.tap(Tap::of(tag).by(2)).await;
    }
    assert_eq!(db.erase_visitors(Some(tag)).await.unwrap(), Some(false));
    let mut from = None;
    loop {
        from = db.erase_history(Some(tag), from).await.unwrap();
        if from.is_none() {
            break;
        }
    }
    db.crash().await;
    assert!(!db.tap(Tap::of(tag)).await.recorded.returning.month);
    assert!(db.tap(Tap::of(other)).await.recorded.returning.month);
    let tag = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!(tag.scan_count, 3, "its counts stay");
}
