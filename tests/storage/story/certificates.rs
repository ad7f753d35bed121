//! Certificates of the service's own domains: who orders them, and when failures raise an alert.

use tapdesk_service::clock::{Millis, Timestamp};
use tapdesk_service::storage::{AttemptEnd, ClaimedDomain};

use crate::storage::backend::{Backend, Database, MINUTE};

const DOMAIN: &str = "tags.example.com";
const DIRECTORY: &str = "https://authority.example/dir";
/// How long a claim lasts.
const LEASE: i64 = 10 * MINUTE;

async fn claim<B: Backend>(db: &Database<B>) -> Option<ClaimedDomain> {
    claim_as(db, false).await
}

async fn claim_as<B: Backend>(db: &Database<B>, is_lost: bool) -> Option<ClaimedDomain> {
    let claimed = db.claim_certificate(DOMAIN.to_owned(), DIRECTORY.to_owned(), is_lost);
    claimed.await.unwrap()
}

/// Ends an attempt, and returns whether that raises an alert. The next one is due in a minute.
async fn end<B: Backend>(
    db: &Database<B>,
    claimed: ClaimedDomain,
    end: impl FnOnce(Timestamp) -> AttemptEnd,
) -> bool {
    let end = end(db.now().plus(Millis::new(MINUTE)));
    let alert = db.end_certificate_attempt(claimed, DIRECTORY.to_owned(), end);
    let alert = alert.await.unwrap();
    db.advance(MINUTE);
    alert.is_some()
}

async fn fails<B: Backend>(db: &Database<B>, claimed: ClaimedDomain) -> bool {
    let why = "No.".to_owned();
    end(db, claimed, |next_at| AttemptEnd::Failed { why, next_at }).await
}

/// Claims the domain, and fails.
async fn next_fails<B: Backend>(db: &Database<B>) -> bool {
    let claimed = claim(db).await.expect("an attempt is due");
    fails(db, claimed).await
}

pub(crate) async fn the_third_failure_is_told_also_if_a_node_ended_in_an_attempt<B: Backend>(
    db: Database<B>,
) {
    let first = claim(&db).await.expect("nobody tried it yet");
    assert!(claim(&db).await.is_none(), "one node tries it");
    assert!(!fails(&db, first).await);
    assert!(!next_fails(&db).await);

    let lost = claim(&db).await.expect("an attempt is due");
    db.advance(LEASE - 1);
    assert!(claim(&db).await.is_none());
    db.advance(1);
    let third = claim(&db).await.expect("its node did not end it");
    assert!(!fails(&db, lost).await, "another node has the domain");
    assert!(fails(&db, third).await);
    assert!(!next_fails(&db).await, "once");
    let states = db.certificate_states().await.unwrap();
    assert_eq!(states[0].error.as_deref(), Some("No."));

    let good = claim(&db).await.expect("an attempt is due");
    let stays = |next_at| AttemptEnd::Stays { next_at };
    assert!(!end(&db, good, stays).await);
    assert_eq!(db.certificate_states().await.unwrap()[0].error, None);
    for told in [false, false, true] {
        assert_eq!(next_fails(&db).await, told);
    }
}

pub(crate) async fn a_challenge_is_answered_until_its_attempt_ends<B: Backend>(db: Database<B>) {
    let claimed = claim(&db).await.expect("nobody tried it yet");
    let [token, answer] = ["To_k-en", "To_k-en.print"].map(str::to_owned);
    db.offer_challenge(claimed.clone(), DIRECTORY.to_owned(), token, answer)
        .await
        .unwrap();
    let answer = async |token: &str| db.challenge_answer(token.to_owned()).await.unwrap();
    assert_eq!(answer("To_k-en").await.as_deref(), Some("To_k-en.print"));
    for other in ["", "to_k-en", "To_k-e", "To%", "To_k-en "] {
        assert_eq!(answer(other).await, None, "{other}");
    }
    fails(&db, claimed).await;
    assert_eq!(answer("To_k-en").await, None);
}

pub(crate) async fn a_certificate_with_a_lost_key_is_replaced_early_and_failures_keep_their_pause<
    B: Backend,
>(
    db: Database<B>,
) {
    let first = claim(&db).await.expect("nobody tried it yet");
    assert!(claim_as(&db, true).await.is_none(), "one node tries it");
    let hours = |count: i64| db.now().plus(Millis::new(60 * MINUTE * count));
    let in_six = hours(6);
    let stays = |_| AttemptEnd::Stays { next_at: in_six };
    end(&db, first, stays).await;
    assert!(claim_as(&db, true).await.is_none(), "it is new");
    db.advance(60 * MINUTE);
    assert!(claim(&db).await.is_none());
    let second = claim_as(&db, true).await.expect("its key is lost");
    fails(&db, second).await;
    let third = claim(&db).await.expect("a minute has passed");
    let in_an_hour = hours(1);
    let why = "No.".to_owned();
    let failed = |_| AttemptEnd::Failed {
        why,
        next_at: in_an_hour,
    };
    end(&db, third, failed).await;
    assert!(claim_as(&db, true).await.is_none(), "it failed just now");
}
