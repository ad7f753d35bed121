//! A code is accepted once: the compare-and-set is part of recording its tap.

use futures_util::future::{join, join_all};
use serde_json::json;
use tapdesk_service::clock::Timestamp;
use tapdesk_service::id::InlayId;
use tapdesk_service::inlay::counter::{FIRST_MAX, MirrorState};
use tapdesk_service::interaction::{Claim, CounterRule, Refusal, Unchecked, Verdict};
use tapdesk_service::inventory::InlayFields;
use tapdesk_service::storage::{Access, TagKey};

use crate::storage::backend::{Backend, Database, Tap, inlay, keys};

const fn verified(counter: u32, previous: u32) -> Verdict {
    Verdict::Verified { counter, previous }
}

async fn replace_keys(storage: &Access, inlay: InlayId, number: u8) {
    let edit = move |mut fields: InlayFields| {
        fields.keys = Some(keys(number));
        Ok(fields)
    };
    storage.edit_inlay(inlay, Box::new(edit)).await.unwrap();
}

pub(crate) async fn a_code_is_accepted_once_and_only_after_those_before_it<B: Backend>(
    db: Database<B>,
) {
    let tag = db.tag(json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    for (counter, verdict) in [
        (
            0,
            Verdict::NotVerified(Refusal::OutOfOrder {
                counter: 0,
                last: 0,
            }),
        ),
        (1, verified(1, 0)),
        (
            1,
            Verdict::NotVerified(Refusal::Replayed {
                counter: 1,
                last: 1,
            }),
        ),
        (5, verified(5, 1)),
        (
            3,
            Verdict::NotVerified(Refusal::OutOfOrder {
                counter: 3,
                last: 5,
            }),
        ),
        (
            1,
            Verdict::NotVerified(Refusal::Replayed {
                counter: 1,
                last: 5,
            }),
        ),
        (6, verified(6, 5)),
        (0x00FF_FFFF, verified(0x00FF_FFFF, 6)),
    ] {
        assert_eq!(
            db.tap(Tap::code(tag, inlay, counter)).await.verdict(),
            verdict
        );
    }
    let stored = db.inlay(inlay).await.unwrap().unwrap();
    assert_eq!(stored.last_counter, 0x00FF_FFFF);
}

pub(crate) async fn of_many_at_once_with_one_code_one_is_accepted<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let racers = (0..200).map(|_| db.tap(Tap::code(tag, inlay, 7)));
    let taps = join_all(racers).await;
    assert_eq!(taps.iter().filter(|tap| tap.verified()).count(), 1);
}

pub(crate) async fn other_keys_start_anew_and_former_ones_come_back_with_their_counter<
    B: Backend,
>(
    db: Database<B>,
) {
    let tag = db.tag(json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let tap = |version, counter| db.tap(Tap::of(tag).with_code(inlay, version, counter));
    assert_eq!(tap(1, 40).await.verdict(), verified(40, 0));

    replace_keys(db.storage(), inlay, 2).await;
    let late = Verdict::NotVerified(Refusal::KeysReplaced { counter: 41 });
    assert_eq!(tap(1, 41).await.verdict(), late);
    assert_eq!(db.inlay(inlay).await.unwrap().unwrap().last_counter, 0);
    assert_eq!(tap(2, 1).await.verdict(), verified(1, 0));

    replace_keys(db.storage(), inlay, 1).await;
    let spent = Verdict::NotVerified(Refusal::Replayed {
        counter: 40,
        last: 40,
    });
    assert_eq!(tap(3, 40).await.verdict(), spent);
    assert_eq!(tap(3, 41).await.verdict(), verified(41, 40));

    replace_keys(db.storage(), inlay, 1).await;
    assert_eq!(
        tap(3, 42).await.verdict(),
        verified(42, 41),
        "the same keys"
    );
}

pub(crate) async fn keys_that_change_under_taps_make_no_code_good_again<B: Backend>(
    db: Database<B>,
) {
    const ROUNDS: u32 = 10;
    const TAPS: u32 = 15;
    let tag = db.tag(json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    for round in 0..ROUNDS {
        let version = 2 * round + 1;
        let tap = |version, counter| db.tap(Tap::of(tag).with_code(inlay, version, counter));
        let tapping = async {
            let mut spent = None;
            for counter in round * TAPS + 1..=(round + 1) * TAPS {
                if tap(version, counter).await.verified() {
                    spent = Some(counter);
                }
            }
            spent
        };
        let (spent, ()) = join(tapping, replace_keys(db.storage(), inlay, 2)).await;
        replace_keys(db.storage(), inlay, 1).await;
        if let Some(counter) = spent {
            let again = tap(version + 2, counter).await;
            assert!(!again.verified(), "{again:?} in round {round}");
        }
    }
}

pub(crate) async fn a_counter_outlives_its_inlay<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let first = db.inlay_on(tag, 1).await;
    db.tap(Tap::code(tag, first, 10)).await;
    db.delete_inlay(first).await.unwrap().unwrap();

    let again = db.insert_inlay(inlay(1, Some(tag))).await.unwrap().id;
    let bound = db.inlay(again).await.unwrap().unwrap();
    assert_eq!(bound.last_counter, 10);
    let tap = db.tap(Tap::code(tag, again, 10)).await;
    assert!(!tap.verified());
    assert!(db.tap(Tap::code(tag, again, 11)).await.verified());
}

/// The database uses its own rules (`record_taps` in PostgreSQL), and predictions use those of
/// `inlay::counter`: both must agree.
pub(crate) async fn what_is_foreseen_is_what_is_decided_and_moves_nothing<B: Backend>(
    db: Database<B>,
) {
    let tag = db.tag(json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let cases = [
        // The first code, then none, then the same again.
        (1, 0),
        (1, 3),
        (1, 3),
        // A lower counter: one that was never seen, one after new keys, and the next.
        (1, 2),
        (2, 4),
        (1, 4),
        // The limit of the window, and one more.
        (1, 67),
        (1, 4),
        (1, 3),
        (1, 5),
        (1, 131),
        (1, 67),
        (1, 68),
        (1, 66),
        (1, 196),
        (1, 131),
        // The chip's highest counter, and beyond.
        (1, 0x00FF_FFFE),
        (1, 0x0100_0000),
        (1, 0x00FF_FFFF),
        (1, 0x00FF_FFFF),
        (1, 0x00FF_FFC0),
        (1, 0x00FF_FFBF),
        (1, 0),
    ];
    for (version, counter) in cases {
        let foreseen = db
            .dry_run_counter(inlay, version, counter, CounterRule::Proof)
            .await
            .unwrap();
        assert_eq!(
            db.dry_run_counter(inlay, version, counter, CounterRule::Proof)
                .await
                .unwrap(),
            foreseen
        );
        let tap = Tap::of(tag).with_code(inlay, version, counter);
        let decided = db.tap(tap).await.verdict();
        assert_eq!(decided, foreseen, "{counter} under keys {version}");
    }
    let unknown = db
        .dry_run_counter(InlayId::new(99), 1, 1, CounterRule::Proof)
        .await
        .unwrap();
    assert_eq!(unknown.tag_verified(), Some(false));
}

/// The counter of a chip without a MAC, day after day. The database uses its own rules
/// (`record_taps` in PostgreSQL), and a dry run those of `MirrorState`.
pub(crate) async fn a_counter_without_a_mac_is_judged_alike_everywhere<B: Backend>(
    db: Database<B>,
) {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    const FIRST: u32 = 16_177;
    let tag = db.simulated_tag(json!({})).await;
    let inlay = db.insert_inlay(inlay(1, None)).await.unwrap().id;
    let mut state = MirrorState::default();
    let cases = [
        // Day and counter: a forged maximum, and one more than the highest first counter.
        (0, 0x00FF_FFFF),
        (0, FIRST_MAX + 1),
        // None, the first, none, the same again, a lower one.
        (0, 0),
        (0, FIRST),
        (0, 0),
        (0, FIRST),
        (0, FIRST + 4),
        (0, FIRST + 2),
        // The limit of a day, one more, and a forged maximum.
        (0, FIRST + 1_000),
        (0, FIRST + 1_001),
        (0, 0x00FF_FFFF),
        (0, FIRST + 999),
        // A new day starts at zero, also two days later.
        (1, FIRST + 1_001),
        (1, FIRST + 2_000),
        (1, FIRST + 2_001),
        (3, FIRST + 2_001),
        (3, FIRST + 3_002),
        (3, FIRST + 3_000),
        // The previous day, after the clock was set back.
        (2, FIRST + 3_500),
        (2, FIRST + 4_000),
        (2, FIRST + 4_001),
    ];
    let today = db.now().millis().div_euclid(DAY);
    for (day, counter) in cases {
        let expected = if state.jumps(counter, today + day) {
            Unchecked::Jumped {
                counter,
                last: state.last,
            }
        } else {
            Unchecked::NoMac {
                counter: Some(counter),
                last: Some(state.last),
            }
        };
        state = state.show(counter, today + day).unwrap_or(state);
        let mut tap = Tap::of(tag).simulated(day * DAY);
        tap.claim = Claim::Counter {
            inlay_id: inlay,
            key_version: 1,
            counter,
            rule: CounterRule::Mirror,
        };
        let decided = db.tap(tap).await.verdict();
        assert_eq!(
            decided,
            Verdict::NotChecked(expected),
            "{counter} on day {day}"
        );
        let stored = db.inlay(inlay).await.unwrap().unwrap();
        assert_eq!(stored.last_counter, state.last, "{counter} on day {day}");
    }
    let mut other = Tap::of(tag).simulated(0);
    other.claim = Claim::Counter {
        inlay_id: inlay,
        key_version: 2,
        counter: 9_000,
        rule: CounterRule::Mirror,
    };
    let replaced = Verdict::NotVerified(Refusal::KeysReplaced { counter: 9_000 });
    assert_eq!(db.tap(other).await.verdict(), replaced);
}

/// A code that was verified before its inlay was blocked is refused when it is recorded. A code
/// that was tapped during the block never verifies, whatever a crash left of it.
pub(crate) async fn codes_of_a_blocked_inlay_are_spent_and_prove_nothing<B: Backend>(
    mut db: Database<B>,
) {
    let tag = db.tag(json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    assert!(db.tap(Tap::code(tag, inlay, 1)).await.verified());
    let block = async |db: &Database<B>, at: Option<Timestamp>| {
        let edit = move |fields| {
            Ok(InlayFields {
                blocked_at: at,
                ..fields
            })
        };
        db.edit_inlay(inlay, Box::new(edit)).await.unwrap();
        let of_tag = db.tag_tap(TagKey::Id(tag)).await.unwrap().unwrap();
        let [bound] = &of_tag.inlays.rolling[..] else {
            panic!("{of_tag:?}");
        };
        assert_eq!(bound.blocked, at.is_some());
        bound.key_version
    };
    let with = |key_version, counter, rule| {
        let mut tap = Tap::of(tag);
        tap.claim = Claim::Counter {
            inlay_id: inlay,
            key_version,
            counter,
            rule,
        };
        tap
    };
    let now = db.now();
    let blocked = block(&db, Some(now)).await;
    let stored = db.inlay(inlay).await.unwrap().unwrap();
    assert_eq!(stored.fields.blocked_at, Some(now));
    assert_eq!(stored.last_counter, 1);

    let late = Verdict::NotVerified(Refusal::KeysReplaced { counter: 2 });
    let verdict = db.tap(Tap::code(tag, inlay, 2)).await.verdict();
    assert_eq!(verdict, late, "verified by a cache of before");
    for counter in [5, 5, 3, 9] {
        let foreseen = db.dry_run_counter(inlay, blocked, counter, CounterRule::Blocked);
        let refused = Verdict::NotVerified(Refusal::Blocked {
            counter: Some(counter),
        });
        assert_eq!(foreseen.await.unwrap(), refused);
        let tap = db.tap(with(blocked, counter, CounterRule::Blocked)).await;
        assert_eq!(tap.verdict(), refused);
    }
    db.crash().await;
    let stored = db.inlay(inlay).await.unwrap().unwrap();
    assert_eq!(stored.last_counter, 9);

    let unblocked = block(&db, None).await;
    let late = db.tap(with(blocked, 10, CounterRule::Blocked)).await;
    assert_eq!(late.verdict().tag_verified(), Some(false));
    for (counter, verified) in [(9, false), (4, false), (10, true)] {
        let tap = db.tap(with(unblocked, counter, CounterRule::Proof)).await;
        assert_eq!(tap.verified(), verified, "{counter}: {:?}", tap.verdict());
    }
}
