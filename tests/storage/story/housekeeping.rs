//! Rows that housekeeping deletes, and rows that it keeps.

use futures_util::future::{join, join_all};
use serde_json::json;
use tapdesk_service::clock::{Millis, Timestamp};
use tapdesk_service::experience::ImageType;
use tapdesk_service::interaction::{NoteEdit, PhotoEdit};

use crate::storage::backend::{Backend, DAY, Database, LIFETIME, START, Tap, Tapped};

/// A time before every interaction, so that none is too old.
const EVER: Timestamp = Timestamp::from_millis(0);

pub(crate) async fn a_key_is_kept_as_long_as_it_lives<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    db.advance(LIFETIME - 1);
    let younger = db.tap(Tap::of(tag)).await;
    assert!(!db.sweep(EVER).await.unwrap().more);
    assert!(db.issued_key(tapped.id).await.unwrap().is_some());

    db.advance(1);
    assert!(!db.sweep(EVER).await.unwrap().more);
    assert!(db.issued_key(tapped.id).await.unwrap().is_none());
    assert!(db.issued_key(younger.id).await.unwrap().is_some());
}

pub(crate) async fn interactions_before_the_given_moment_go_and_nothing_else<B: Backend>(
    db: Database<B>,
) {
    const WEEK: i64 = 7 * DAY;
    let tag = db.tag(json!({"variables": {"registered": "no"}})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let older = db.tap(Tap::code(tag, inlay, 1)).await;
    db.advance(3 * WEEK);
    let newer = db.tap(Tap::code(tag, inlay, 2)).await;
    let before = db.storage().tag(tag).await.unwrap();

    // Up to a week late is acceptable.
    while db
        .sweep(START.plus(Millis::new(2 * WEEK)))
        .await
        .unwrap()
        .more
    {}
    assert!(db.interaction(older.id).await.unwrap().is_none());
    assert!(db.interaction(newer.id).await.unwrap().is_some());
    assert!(db.issued_key(newer.id).await.unwrap().is_some());

    db.advance(400 * DAY);
    while db.sweep(db.now()).await.unwrap().more {}
    assert!(db.interaction(newer.id).await.unwrap().is_none());
    assert_eq!(db.storage().tag(tag).await.unwrap(), before);
    assert_eq!(db.inlay(inlay).await.unwrap().unwrap().last_counter, 2);
    assert!(!db.tap(Tap::code(tag, inlay, 2)).await.verified());
}

pub(crate) async fn what_is_due_goes_in_rounds_until_nothing_is_left<B: Backend>(db: Database<B>) {
    const TAPS: usize = 4_500;
    let tag = db.tag(json!({})).await;
    let taps = join_all((0..TAPS).map(|_| db.tap(Tap::of(tag)))).await;
    db.advance(LIFETIME);
    let mut rounds = 1;
    while db.sweep(db.now()).await.unwrap().more {
        rounds += 1;
        assert!(rounds <= TAPS, "it comes to an end");
    }
    for tapped in taps {
        assert!(db.issued_key(tapped.id).await.unwrap().is_none());
    }
}

/// Taps wait for a round, so it is as short for one tag with all visits as for many tags.
pub(crate) async fn old_visitors_of_one_tag_are_forgotten_a_bounded_number_in_a_round<
    B: Backend,
>(
    mut db: Database<B>,
) {
    const VISITORS: u16 = 4_500;
    const ROUND: u64 = 2_000;
    let tag = db.tag(json!({})).await;
    let visitor = |number| Tap::of(tag).by(number);
    join_all((0..VISITORS).map(|number| db.tap(visitor(number)))).await;
    // Data that is only in memory becomes rows.
    db.reopen().await;
    db.advance(DAY);
    // Checked before they are old, and again afterwards.
    for _ in 0..4 {
        assert_eq!(db.sweep(EVER).await.unwrap().visits, 0);
    }
    db.tap(visitor(0)).await;
    db.advance(29 * DAY + 1);
    let (mut forgotten, mut rounds) = (0_u64, 0);
    while forgotten < u64::from(VISITORS) - 1 {
        let swept = db.sweep(EVER).await.unwrap();
        assert!(swept.visits <= ROUND, "{} in one round", swept.visits);
        forgotten += swept.visits;
        rounds += 1;
        assert!(rounds < 10, "{forgotten} are forgotten");
    }
    let again = db.tap(visitor(0)).await;
    assert!(again.recorded.returning.month, "who came later is known");
    let again = db.tap(visitor(1)).await;
    assert!(!again.recorded.returning.month, "who did not is not");
}

pub(crate) async fn a_trace_tells_each_read_once_while_reads_are_stored<B: Backend>(
    db: Database<B>,
) {
    let tag = db.tag(json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    for noted in 1..=100 {
        db.note_payload_read(tapped.id, db.now());
        let looks = async {
            let mut seen = Vec::new();
            for _ in 0..8 {
                let traced = db.interaction(tapped.id).await.unwrap().unwrap();
                seen.push(traced.payload_reads.map(|shown| shown.reads));
                tokio::task::yield_now().await;
            }
            seen
        };
        let (swept, seen) = join(db.sweep(EVER), looks).await;
        swept.unwrap();
        assert_eq!(seen, vec![Some(noted); 8]);
    }
}

pub(crate) async fn a_note_of_staff_goes_with_its_interaction<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let tapped = db.tap(Tap::of(tag)).await;
    let edit = |note: &str, photo: PhotoEdit| NoteEdit {
        phone: "Bench".to_owned(),
        note: note.to_owned(),
        photo,
    };
    let note = async || {
        let traced = db.interaction(tapped.id).await.unwrap();
        traced.and_then(|traced| traced.staff_note)
    };
    let photo = PhotoEdit::Set(ImageType::Png, b"a photo".to_vec());
    let set = async |edit| db.set_staff_note(tapped.id, edit).await.unwrap();
    assert_eq!(set(edit("torn", photo)).await, Some(()));
    assert_eq!(set(edit("glued", PhotoEdit::Keep)).await, Some(()));
    let stored = note().await.unwrap();
    assert_eq!((&*stored.note, &*stored.phone), ("glued", "Bench"));
    let (photo, bytes) = db.staff_photo(tapped.id).await.unwrap().unwrap();
    assert_eq!(stored.photo, Some(photo));
    assert_eq!(bytes, b"a photo");
    let notes = db.staff_notes(vec![tapped.id]).await.unwrap();
    assert_eq!(notes.get(&tapped.id), Some(&stored));

    assert_eq!(set(edit("", PhotoEdit::Remove)).await, Some(()));
    assert_eq!(note().await, None);
    assert_eq!(set(edit("late", PhotoEdit::Keep)).await, Some(()));
    db.advance(400 * DAY);
    while db.sweep(db.now()).await.unwrap().more {}
    let notes = db.staff_notes(vec![tapped.id]).await.unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(set(edit("too late", PhotoEdit::Keep)).await, None);
}

/// Records this number of taps like `tap`, some hundred at a time.
async fn many<B: Backend>(db: &Database<B>, taps: usize, tap: Tap) -> Vec<Tapped> {
    let mut done = Vec::with_capacity(taps);
    while done.len() < taps {
        let lot = (taps - done.len()).min(500);
        done.extend(join_all((0..lot).map(|_| db.tap(tap))).await);
    }
    done
}

/// There are three kinds of ids: dated ahead by simulated time, due, and young.
pub(crate) async fn what_is_dated_ahead_holds_up_nothing_that_is_due<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let twin = db.simulated_tag(json!({"slug": "my-twin"})).await;
    many(&db, 2_100, Tap::of(twin).simulated(800 * DAY)).await;
    let due = many(&db, 2_500, Tap::of(tag)).await;
    db.advance(400 * DAY);
    let young = db.tap(Tap::of(tag)).await;
    while db
        .sweep(db.now().minus(Millis::new(DAY)))
        .await
        .unwrap()
        .more
    {}
    for tapped in [due[0], due[1_250], due[2_499]] {
        assert!(db.interaction(tapped.id).await.unwrap().is_none());
    }
    assert!(db.interaction(young.id).await.unwrap().is_some());
    assert!(db.issued_key(young.id).await.unwrap().is_some());
}

/// The wall clock was wrong for a while, and was then corrected.
pub(crate) async fn a_clock_that_was_ahead_holds_up_nothing_that_is_due<B: Backend>(
    mut db: Database<B>,
) {
    let tag = db.tag(json!({})).await;
    db.advance(800 * DAY);
    let ahead = many(&db, 2_100, Tap::of(tag)).await;
    db.reopen_at(START).await;
    let due = many(&db, 10, Tap::of(tag)).await;
    db.advance(400 * DAY);
    while db
        .sweep(db.now().minus(Millis::new(30 * DAY)))
        .await
        .unwrap()
        .more
    {}
    for tapped in &due {
        assert!(db.interaction(tapped.id).await.unwrap().is_none());
    }
    assert!(db.interaction(ahead[0].id).await.unwrap().is_some());

    // The highest ids are deleted, and none of them is used again.
    db.reopen().await;
    assert!(db.tap(Tap::of(tag)).await.id > due[9].id);
}

pub(crate) async fn taps_go_on_while_a_full_history_is_removed<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let due = many(&db, 6_000, Tap::of(tag)).await;
    db.advance(400 * DAY);
    let keep_since = db.now().minus(Millis::new(30 * DAY));
    let removing = async { while db.sweep(keep_since).await.unwrap().more {} };
    let ((), young) = tokio::join!(removing, many(&db, 1_000, Tap::of(tag)));
    assert!(
        !db.sweep(keep_since).await.unwrap().more,
        "nothing is left to do"
    );
    for tapped in due.iter().step_by(500) {
        assert!(db.interaction(tapped.id).await.unwrap().is_none());
    }
    for tapped in young.iter().step_by(100) {
        assert!(db.interaction(tapped.id).await.unwrap().is_some());
    }
    let tag = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!(tag.scan_count, 7_000);
}

/// The tap after a read can come years later: until that tap is deleted, the read must not count as
/// missing.
pub(crate) async fn a_read_of_this_application_goes_after_the_tap_beyond_it<B: Backend>(
    db: Database<B>,
) {
    const RETENTION: i64 = 30 * DAY;
    let tag = db.tag(json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let missed = async |tap: &Tapped| {
        let kept = db.interaction(tap.id).await.unwrap().unwrap();
        kept.interaction.verdict.missed_reads()
    };
    let prune = async || {
        let keep_since = db.now().minus(Millis::new(RETENTION));
        while db.prune_own_reads(keep_since).await.unwrap() {}
    };
    for counter in [1, 2, 5] {
        db.note_own_read(inlay, counter).await.unwrap();
    }
    db.advance(RETENTION + 1);
    prune().await;
    let first = db.tap(Tap::code(tag, inlay, 3)).await;
    // On SQLite, the effects of a tap are written later.
    db.backend().fold().await;
    for _ in 0..2 {
        db.advance(RETENTION / 2 + 1);
        prune().await;
        assert_eq!(missed(&first).await, 0);
    }
    db.advance(RETENTION + 1);
    prune().await;
    assert_eq!(missed(&first).await, 2, "its reads are removed");
    let second = db.tap(Tap::code(tag, inlay, 6)).await;
    assert_eq!(missed(&second).await, 1, "the read with counter 5 is kept");
}
