//! If an answer is lost, it is unknown whether the commit happened. The node finds out: no
//! acknowledged write is lost, and nothing is done twice.

use serde_json::json;
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::id::{InlayId, TagId};
use tapdesk_service::interaction::{NewInteraction, TapOrigin, Verdict};
use tapdesk_service::rolling_key::KeyHash;
use tapdesk_service::storage::Event;
use tapdesk_service::storage::postgres::{Address, PostgresStorage, Time};
use tapdesk_service::storage::{StorageError, Updated};
use tapdesk_tests::postgres::Cluster;
use tapdesk_tests::{TestDatabase, eventually};
use tokio_postgres::Client;

use super::clock;
use super::proxy::{Loses, Proxy};
use crate::storage::backend::{Opened, Tap, Tapped, tag_fields};

/// A node that reaches its database through a proxy, and a direct connection.
struct Node {
    storage: Opened,
    proxy: Proxy,
    database: Client,
}

impl Node {
    async fn start() -> Self {
        let database = TestDatabase::create().await;
        let proxy = Proxy::to(Cluster::shared().port()).await;
        let url = database.url_at(proxy.port());
        let address = Address::parse(&url, |_| None).unwrap();
        let storage = PostgresStorage::open(address, clock(), Time::Its, &OsEntropy);
        Self {
            storage: storage.await.unwrap().into(),
            proxy,
            database: database.look_into().await,
        }
    }

    /// A tag with a variable, and an inlay's counter. Experience and inlay contain nothing else.
    async fn tag(&self) -> (TagId, InlayId) {
        self.database
            .batch_execute(
                "INSERT INTO experiences (id, name, folded, kind, draft, created_at, updated_at)
                     VALUES (1, '', '', 'redirect', '{}', 0, 0);
                 INSERT INTO counters (inlay_id, key_version, last, seen) VALUES (1, 1, 0, 0);",
            )
            .await
            .unwrap();
        let fields = tag_fields(json!({"experience_id": 1, "variables": {"registered": "no"}}));
        let tags = self.storage.insert_tags(vec![fields], false).await.unwrap();
        (*tags[0].as_ref().unwrap(), InlayId::new(1))
    }

    async fn count(&self, what: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {what}");
        self.database.query_one(&sql, &[]).await.unwrap().get(0)
    }

    /// Waits until the query `what` finds a row in the database.
    async fn until_there_is(&self, what: &str) {
        eventually(what, || async {
            (self.count(what).await > 0).then_some(())
        })
        .await;
    }
}

fn tap(tag: TagId, inlay: InlayId, counter: u32) -> NewInteraction {
    let hash = KeyHash(tapdesk_service::entropy::bytes(&OsEntropy));
    Tap::code(tag, inlay, counter).interaction(hash)
}

const ACCEPTED: Verdict = Verdict::Verified {
    counter: 1,
    previous: 0,
};

#[tokio::test]
async fn a_tap_whose_answer_is_lost_is_recorded_once_and_answered() {
    let node = Node::start().await;
    let (tag, inlay) = node.tag().await;
    let mut tap = tap(tag, inlay, 1);
    tap.origin = TapOrigin::Reader;
    let mut events = node.storage.events();

    let KeyHash(hash) = tap.key.as_ref().unwrap().hash;
    node.proxy.lose(Loses::AnswersTo(hash.to_vec()));
    let storage = node.storage.clone();
    let recording = tokio::spawn(async move { storage.record_tap(tap).await });
    node.until_there_is("interactions").await;
    node.proxy.lose(Loses::Nothing);
    let recorded = recording.await.unwrap().unwrap();

    assert_eq!(recorded.verdict, ACCEPTED);
    assert_eq!(node.count("interactions").await, 1);
    assert_eq!(node.count("test_taps").await, 1);
    let tag = node.storage.tag(tag).await.unwrap().unwrap();
    assert_eq!(tag.scan_count, 1);
    let received = events.try_recv().unwrap();
    assert!(matches!(*received, Event::Interaction { .. }));
    assert!(events.try_recv().is_err(), "it is told once");
}

#[tokio::test]
async fn an_update_whose_answer_is_lost_is_done_once_and_answered() {
    let node = Node::start().await;
    let (tag, inlay) = node.tag().await;
    let tap = tap(tag, inlay, 1);
    let hash = tap.key.as_ref().unwrap().hash;
    let recorded = node.storage.record_tap(tap).await.unwrap();
    let tapped = Tapped {
        id: recorded.id,
        hash,
        recorded,
    };

    node.proxy.lose(Loses::AnswersTo(hash.0.to_vec()));
    let storage = node.storage.clone();
    let updating =
        tokio::spawn(async move { storage.update_variables(tapped.update("yes")).await });
    node.until_there_is("updates").await;
    node.proxy.lose(Loses::Nothing);

    let Updated::Done(changes) = updating.await.unwrap().unwrap() else {
        panic!("it was done");
    };
    assert_eq!(
        (changes[0].old.as_deref(), changes[0].new.as_str()),
        (Some("no"), "yes")
    );
    let again = node.storage.update_variables(tapped.update("again")).await;
    assert!(matches!(again, Ok(Updated::Refused(_))), "{again:?}");
}

#[tokio::test]
async fn a_tap_whose_connection_is_terminated_is_recorded_once() {
    let node = Node::start().await;
    let (tag, inlay) = node.tag().await;
    let tap = tap(tag, inlay, 1);
    node.database
        .batch_execute("BEGIN; SELECT FROM counters FOR UPDATE")
        .await
        .unwrap();
    let storage = node.storage.clone();
    let recording = tokio::spawn(async move { storage.record_tap(tap).await });
    let waiting = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    eventually("the tap waits for the counter", || async {
        let ended = node.database.query(waiting, &[]).await.unwrap();
        (!ended.is_empty()).then_some(())
    })
    .await;
    node.database.batch_execute("COMMIT").await.unwrap();
    let recorded = recording.await.unwrap().unwrap();
    assert_eq!(recorded.verdict, ACCEPTED);
    assert_eq!(node.count("interactions").await, 1);
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_looked_up() {
    let node = Node::start().await;
    let tags = vec![tag_fields(json!({}))];
    node.proxy.lose(Loses::AnswersTo(b"COMMIT".to_vec()));
    let storage = node.storage.clone();
    let inserting = tokio::spawn(async move { storage.insert_tags(tags, false).await });
    node.until_there_is("tags").await;
    node.proxy.lose(Loses::Nothing);
    assert!(inserting.await.unwrap().unwrap()[0].is_ok());
}

#[tokio::test]
async fn a_commit_that_never_arrived_is_not_acknowledged() {
    let node = Node::start().await;
    node.proxy.lose(Loses::Question(b"COMMIT".to_vec()));
    let tags = vec![tag_fields(json!({}))];
    let outcome = node.storage.insert_tags(tags, false).await;
    assert!(
        matches!(outcome, Err(StorageError::Unavailable(_))),
        "{outcome:?}"
    );
    assert_eq!(node.count("tags").await, 0);
}
