//! The history in weekly partitions, and the effect on counters.

use serde_json::json;
use tapdesk_service::clock::Millis;
use tapdesk_service::entropy::{Entropy as _, SeededEntropy};
use tapdesk_service::id::InlayId;
use tapdesk_service::inlay::counter::{Acceptance, CounterState};
use tapdesk_service::interaction::{Refusal, Verdict};
use tapdesk_service::storage::InteractionFilter;
use tokio_postgres::SimpleQueryMessage;

use super::Postgres;
use crate::storage::backend::{DAY, Database, LIFETIME, MINUTE, START, Tap};

async fn texts(db: &Database<Postgres>, sql: &str) -> Vec<String> {
    let client = db.backend().look_into().await;
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

const PARTITIONS: &str =
    "SELECT relname::TEXT FROM pg_class WHERE relname ~ '^interactions_[0-9_]+$' ORDER BY 1";

#[tokio::test]
async fn a_week_of_the_history_is_dropped_when_all_of_it_is_due() {
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    // 2026-01-01 belongs to the week of 2025-12-31.
    let first = db.tap(Tap::of(tag)).await;
    db.note_payload_read(first.id, db.now());
    db.advance(8 * DAY);
    let second = db.tap(Tap::of(tag)).await;
    let weeks = ["interactions_2025_12_31", "interactions_2026_01_07"];
    assert_eq!(texts(&db, PARTITIONS).await, weeks);

    db.sweep(START.plus(Millis::new(5 * DAY))).await.unwrap();
    assert_eq!(texts(&db, PARTITIONS).await, weeks);
    while db
        .sweep(START.plus(Millis::new(7 * DAY)))
        .await
        .unwrap()
        .more
    {}
    assert_eq!(texts(&db, PARTITIONS).await, weeks[1..]);
    assert!(db.interaction(first.id).await.unwrap().is_none());
    assert!(db.interaction(second.id).await.unwrap().is_some());
    let reads = texts(&db, "SELECT interaction_id::TEXT FROM payload_reads").await;
    assert!(reads.is_empty(), "{reads:?}");
}

#[tokio::test]
async fn a_lookup_by_id_touches_one_week() {
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    let first = db.tap(Tap::of(tag)).await;
    for _ in 0..3 {
        db.advance(7 * DAY);
        db.tap(Tap::of(tag)).await;
    }
    assert_eq!(texts(&db, PARTITIONS).await.len(), 4);
    let plan = format!(
        "EXPLAIN SELECT FROM interactions i LEFT JOIN updates u ON u.interaction_id = i.id
         WHERE i.id = {}",
        first.id
    );
    let plan = texts(&db, &plan).await.join("\n");
    assert!(plan.contains("interactions_2025_12_31"), "{plan}");
    assert!(!plan.contains("interactions_2026"), "{plan}");
}

/// Each piece of the history is counted by itself, so a piece must not read all that come after it.
#[tokio::test]
async fn counting_reads_the_taps_that_it_counts_and_no_others() {
    const WEEKS: i64 = 3;
    const COUNTED: i64 = 10;
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    for _ in 0..WEEKS {
        db.tap(Tap::of(tag)).await;
        db.advance(7 * DAY);
    }
    let client = db.backend().look_into().await;
    // The planner takes the weeks for small, as it does when many taps came since it last looked.
    client.batch_execute("ANALYZE interactions").await.unwrap();
    let more = "INSERT INTO interactions (id, at, tag_id, returning_month, returning_day, key_issued, simulated,
            reason, tech, country)
        SELECT id + n, at, tag_id, FALSE, FALSE, FALSE, simulated, reason, tech, country
        FROM interactions, generate_series(1, 2000) AS n";
    client.execute(more, &[]).await.unwrap();
    let ids = async |client: &tokio_postgres::Client, sql: &str| -> Vec<i64> {
        let rows = client.query(sql, &[&COUNTED]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    };
    let all = "SELECT id FROM interactions ORDER BY seq, id LIMIT $1::BIGINT";
    let expected = ids(&client, all).await;

    // A connection of its own, because a connection counts all that it has read so far.
    let counting = db.backend().look_into().await;
    let first = "SELECT id FROM taps_after(-1, 0, $1, FALSE)";
    assert_eq!(ids(&counting, first).await, expected);
    let read = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::BIGINT FROM pg_stat_xact_user_tables
        WHERE relname ~ '^interactions_'";
    let read: i64 = counting.query_one(read, &[]).await.unwrap().get(0);
    assert!(read <= COUNTED + WEEKS, "{read} rows for {COUNTED}");
}

/// Keys expire behind all taps, and in minutes without any.
#[tokio::test]
async fn expiring_aged_keys_reads_those_that_became_too_old_and_no_others() {
    const MORE: i64 = 19_999;
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    let first = db.tap(Tap::of(tag)).await;
    let more = "INSERT INTO interactions (id, at, tag_id, returning_month, returning_day, key_issued, simulated,
            reason, tech, country)
        SELECT id + n, at + n / 2, tag_id, FALSE, FALSE, FALSE, simulated, reason, tech, country
        FROM interactions, generate_series(1, $1::BIGINT) AS n WHERE id = $2";
    let expire = async |most: i64| -> (i64, i64) {
        // A query of the node brings its time to the database.
        db.interaction(first.id).await.unwrap();
        // A connection counts all that it has read so far.
        let client = db.backend().look_into().await;
        // After some calls, a connection plans for any times.
        let generic = "SET plan_cache_mode = force_generic_plan";
        client.batch_execute(generic).await.unwrap();
        let call = "SELECT expire_aged_keys($1)";
        client.execute(call, &[&most]).await.unwrap();
        let looked = "SELECT (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::BIGINT
                FROM pg_stat_xact_user_tables WHERE relname ~ '^interactions_'),
            coalesce((SELECT up_to FROM expired_keys), 0)";
        let looked = client.query_one(looked, &[]).await.unwrap();
        (looked.get(0), looked.get(1))
    };
    db.advance(LIFETIME + MINUTE);
    assert_eq!(expire(30_000).await, (1, first.id.get()));

    let second = db.tap(Tap::of(tag)).await;
    let client = db.backend().look_into().await;
    client
        .execute(more, &[&MORE, &second.id.get()])
        .await
        .unwrap();
    client.batch_execute("ANALYZE interactions").await.unwrap();
    // Nothing became too old since then, and twenty thousand taps are younger.
    assert_eq!(expire(30_000).await, (0, first.id.get()));
    db.advance(MINUTE);
    assert_eq!(expire(30_000).await, (0, first.id.get()));

    // A piece ends with all taps of a millisecond, of which each has two.
    db.advance(LIFETIME + MINUTE);
    let (read, up_to) = expire(3).await;
    assert_eq!(up_to, second.id.get() + 3);
    assert!(read <= 6, "{read} rows");
    let last = second.id.get() + MORE;
    assert_eq!(expire(30_000).await, (MORE - 3, last));
    assert_eq!(expire(30_000).await, (0, last));
}

/// A payload's interaction may be in any week: its query plan is kept, and does not look at all
/// weeks each time.
#[tokio::test]
async fn a_key_is_looked_up_by_a_plan_that_is_kept() {
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    let mut taps = Vec::new();
    for _ in 0..3 {
        taps.push(db.tap(Tap::of(tag)).await);
        db.advance(7 * DAY);
    }
    let client = db.backend().look_into().await;
    client
        .batch_execute(
            "PREPARE looks(BIGINT) AS SELECT i.id = $1 FROM interaction_of($1) i
                 LEFT JOIN updates u ON u.interaction_id = i.id",
        )
        .await
        .unwrap();
    for tap in taps.iter().cycle().take(12) {
        let look = format!("EXECUTE looks({})", tap.id);
        let found = client.simple_query(&look).await.unwrap();
        let found = found.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        assert_eq!(found.collect::<Vec<_>>(), ["t"]);
    }
    // The first five plans are for the specific id; from then on the planner uses a generic plan.
    let planned = "SELECT format('%s %s', custom_plans, generic_plans) FROM pg_prepared_statements WHERE name = 'looks'";
    let planned = client.query_one(planned, &[]).await.unwrap();
    assert_eq!(planned.get::<_, String>(0), "5 7");
    // Within the function there is no choice.
    let settings = "SELECT unnest(proconfig) FROM pg_proc WHERE proname = 'interaction_of'";
    assert_eq!(
        texts(&db, settings).await,
        ["plan_cache_mode=force_generic_plan"]
    );
    let nothing = "SELECT id::TEXT FROM interaction_of(1)";
    assert!(texts(&db, nothing).await.is_empty());
}

/// The ids of moved interactions do not follow time, and their weeks are not partitions.
#[tokio::test]
async fn a_moved_history_is_found_by_time_and_goes_when_it_is_due() {
    const MOVED: i64 = 25_000;
    const A_DAY: i64 = DAY / MINUTE;
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    let client = db.backend().look_into().await;
    let at = |id: i64| START.plus(Millis::new((id - MOVED) * MINUTE));
    // Every seventh is simulated, and dated a year ahead.
    let moved = format!(
        "SELECT receive_history({MOVED});
         INSERT INTO interactions SELECT id, {} + id * {MINUTE} + CASE WHEN id % 7 = 0 THEN {YEAR} ELSE 0 END, {tag},
             NULL, NULL, NULL, NULL, NULL, NULL, false, false, false, id % 7 = 0, 'static', 'u', '', NULL, NULL
         FROM generate_series(1, {MOVED}) id;
         SELECT date_history()",
        at(0).millis(),
        YEAR = 365 * DAY,
    );
    client.batch_execute(&moved).await.unwrap();
    db.advance(MINUTE);
    let native = db.tap(Tap::of(tag)).await;
    assert!(native.id.get() > MOVED);

    for first in [1, 2, 9_998, 9_999, 10_000, 10_003, 20_001, MOVED - 1, MOVED] {
        let bound = format!("SELECT history_since({})", at(first).millis());
        let bound: i64 = client.query_one(&bound, &[]).await.unwrap().get(0);
        assert!(bound <= first, "{first} is missed from {bound} on");
        assert!(first - bound <= A_DAY, "{first} is far from {bound}");
    }
    let filter = |since| InteractionFilter {
        since: Some(since),
        ..InteractionFilter::default()
    };
    let since = at(MOVED - 7);
    let found = db
        .interactions(filter(since), None, 50)
        .await
        .unwrap()
        .found;
    assert_eq!(
        found.len(),
        8,
        "seven real ones of eight, and the native one"
    );

    let due = 12_345;
    while db.sweep(at(due)).await.unwrap().more {}
    let left = "SELECT min(id)::TEXT FROM interactions_moved WHERE NOT simulated";
    let left: i64 = texts(&db, left).await[0].parse().unwrap();
    assert!((due..=due + 1).contains(&left), "{left}");
    let left = "SELECT count(*)::TEXT FROM interactions_moved WHERE simulated";
    let left: i64 = texts(&db, left).await[0].parse().unwrap();
    assert_eq!(left, MOVED / 7, "they are dated a year ahead");
    assert!(db.interaction(native.id).await.unwrap().is_some());
}

/// The first row is one that SQLite's clock dated a year ahead.
#[tokio::test]
async fn a_moved_row_dated_ahead_holds_up_neither_rows_nor_traces() {
    const MOVED: i64 = 5_000;
    let db = Database::<Postgres>::create().await;
    let client = db.backend().look_into().await;
    let at = |id: i64| START.plus(Millis::new((id - MOVED) * MINUTE));
    let moved = format!(
        "SELECT receive_history({MOVED});
         INSERT INTO interactions SELECT id, {} + id * {MINUTE} + CASE WHEN id = 1 THEN {YEAR} ELSE 0 END, 1,
             NULL, NULL, NULL, NULL, NULL, NULL, false, false, false, false, 'static', 'u', '', NULL, NULL
         FROM generate_series(1, {MOVED}) id;
         INSERT INTO updates SELECT id, at, '[]' FROM interactions;
         INSERT INTO payload_reads SELECT id, at, 1 FROM interactions;
         SELECT date_history()",
        at(0).millis(),
        YEAR = 365 * DAY,
    );
    client.batch_execute(&moved).await.unwrap();
    let due = 4_001;
    while db.sweep(at(due)).await.unwrap().more {}
    for (table, id) in [
        ("interactions", "id"),
        ("updates", "interaction_id"),
        ("payload_reads", "interaction_id"),
    ] {
        let left = format!("SELECT {id}::TEXT FROM {table} ORDER BY {id}");
        let left = texts(&db, &left).await;
        assert_eq!(left.len(), 1_001, "{table}");
        assert_eq!(left[..2], ["1", "4001"], "{table}");
    }
}

#[tokio::test]
async fn visitors_go_after_30_days_and_the_count_of_all_stays() {
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    db.tap(Tap::of(tag).by(1)).await;
    db.advance(1);
    db.tap(Tap::of(tag).by(2)).await;
    let visits = "SELECT client::TEXT FROM visits";
    assert_eq!(texts(&db, visits).await.len(), 3, "two, and everyone");
    for (passed, left) in [(30 * DAY - 1, 3), (1, 2), (1, 1)] {
        db.advance(passed);
        db.sweep(START).await.unwrap();
        assert_eq!(
            texts(&db, visits).await.len(),
            left,
            "after {passed} ms more"
        );
    }
    let tag = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!(tag.scan_count, 2);
}

/// The hash stays with the interaction: to expire keys, only one mark is written.
#[tokio::test]
async fn a_key_that_was_seen_to_expire_stays_expired() {
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    let old = db.tap(Tap::of(tag)).await;
    db.advance(LIFETIME);
    let alive = db.tap(Tap::of(tag)).await;
    db.sweep(START.minus(Millis::new(DAY))).await.unwrap();
    let marks = "SELECT up_to::TEXT FROM expired_keys";
    assert_eq!(texts(&db, marks).await, [old.id.to_string()]);
    assert!(db.issued_key(old.id).await.unwrap().is_none());
    assert!(db.issued_key(alive.id).await.unwrap().is_some());
    let kept = "SELECT id::TEXT FROM interactions WHERE key_hash IS NOT NULL ORDER BY id";
    let both = [old.id.to_string(), alive.id.to_string()];
    assert_eq!(texts(&db, kept).await, both);
}

/// The database judges counters by the same rules as the domain.
#[tokio::test]
async fn a_counter_is_judged_as_the_domain_judges_it() {
    let db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    let client = db.backend().look_into().await;
    client
        .batch_execute(
            "INSERT INTO counters (inlay_id, key_version, last, seen) VALUES (1, 1, 0, 0)",
        )
        .await
        .unwrap();
    let dice = SeededEntropy::new(1);
    let roll = |below: u32| {
        let mut bytes = [0; 4];
        dice.fill(&mut bytes);
        u32::from_le_bytes(bytes) % below
    };
    let mut state = CounterState::default();
    for _ in 0..600 {
        let counter = match roll(10) {
            0..=3 => state.last + 1 + roll(4),
            4 => state.last + 50 + roll(30),
            5 => 0x00FF_FFFF + roll(3).saturating_sub(1) * 1_000,
            _ => state.last.saturating_sub(roll(90)),
        };
        // The highest counter is checked, but not used.
        let counter = if counter == 0x00FF_FFFF { 0 } else { counter };
        let tapped = db.tap(Tap::code(tag, InlayId::new(1), counter)).await;
        let expected = match state.accept(counter) {
            Acceptance::Accepted {
                state: next,
                previous,
            } => {
                state = next;
                Verdict::Verified { counter, previous }
            }
            Acceptance::Replayed { last } => {
                Verdict::NotVerified(Refusal::Replayed { counter, last })
            }
            Acceptance::OutOfOrder { last } => {
                Verdict::NotVerified(Refusal::OutOfOrder { counter, last })
            }
        };
        assert_eq!(tapped.verdict(), expected);
    }
}

/// `present()` that counts its calls in a sequence.
const ASKED: &str = "CREATE SEQUENCE asked;
    ALTER FUNCTION present() RENAME TO told;
    CREATE FUNCTION present() RETURNS BIGINT LANGUAGE sql VOLATILE AS 'SELECT nextval(''asked'') * 0 + told()'";

/// More copies of the existing interaction.
const MORE: &str = "INSERT INTO interactions
    SELECT (jsonb_populate_record(i, jsonb_build_object('id', i.id + n, 'seq', 0))).*
    FROM interactions i, generate_series(1, 3000) AS n";

#[tokio::test]
async fn a_start_does_not_ask_the_clock_for_each_interaction() {
    let mut db = Database::<Postgres>::create().await;
    let tag = db.tag(json!({})).await;
    db.tap(Tap::of(tag)).await;
    let client = db.backend().look_into().await;
    client.batch_execute(ASKED).await.unwrap();
    assert_eq!(client.execute(MORE, &[]).await.unwrap(), 3_000);
    db.reopen().await;
    let asked = client.query_one("SELECT last_value FROM asked", &[]).await;
    let asked: i64 = asked.unwrap().get(0);
    assert!((1..1_000).contains(&asked), "asked {asked} times");
}
