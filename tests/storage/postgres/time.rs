//! The time of a database that follows the clock of a test.

use std::sync::Arc;

use tapdesk_service::clock::{Clock, ManualClock, Millis};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::storage::postgres::{Address, PostgresStorage, Time};
use tapdesk_tests::TestDatabase;

use crate::storage::backend::{Opened, START};

async fn node(database: &TestDatabase, clock: &Arc<ManualClock>) -> Opened {
    let address = Address::parse(&database.url(), |_| None).unwrap();
    let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
    let storage = PostgresStorage::open(address, clock, Time::Standing, &OsEntropy);
    storage.await.unwrap().into()
}

/// Each connection sets the time before its operation. On a busy machine the statement of one can
/// run after that of another, whose time is later. Here another node has the later time.
#[tokio::test]
async fn a_time_that_arrives_late_does_not_set_the_clock_back() {
    let database = TestDatabase::create().await;
    let clock = Arc::new(ManualClock::new(START));
    let later = Arc::new(ManualClock::new(START));
    let node_behind = node(&database, &clock).await;
    let node_ahead = node(&database, &later).await;
    later.advance(Millis::minutes(60));
    assert_eq!(node_ahead.now().await.unwrap(), later.now());
    clock.advance(Millis::seconds(1));
    assert_eq!(node_behind.now().await.unwrap(), later.now());
    clock.advance(Millis::minutes(60));
    assert_eq!(node_behind.now().await.unwrap(), clock.now());
}
