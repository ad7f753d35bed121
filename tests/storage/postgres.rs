//! PostgreSQL: the story, and its specific faults.

mod encryption;
mod groups;
mod history;
mod lost_answers;
mod nodes;
mod opening;
mod proxy;
mod time;

use std::sync::Arc;

use tapdesk_service::clock::{Clock, SystemClock};
use tapdesk_service::entropy::{Entropy, OsEntropy};
use tapdesk_service::storage::Storage;
use tapdesk_service::storage::postgres::{Address, PostgresStorage, Time};
use tapdesk_tests::TestDatabase;
use tokio::sync::OnceCell;
use tokio_postgres::Client;

use crate::storage::backend::{Backend, Opened};
use crate::storage::simulation;

mod story {
    story!(crate::storage::postgres::Postgres);
}

#[tokio::test]
async fn whatever_the_order_of_things_the_invariants_hold() {
    for seed in 0..u64::from(tapdesk_tests::cases(simulation::SEEDS / 4)) {
        simulation::run::<Postgres>(seed).await;
    }
}

/// A separate database whose time follows the test's clock. It is created when it is opened first.
pub(super) struct Postgres(OnceCell<TestDatabase>);

impl Postgres {
    /// A direct connection to the database, not the service's.
    pub(super) async fn look_into(&self) -> Client {
        let database = self.0.get().expect("it was opened");
        database.look_into().await
    }
}

impl Backend for Postgres {
    fn new() -> Self {
        Self(OnceCell::new())
    }

    async fn open(&self, clock: Arc<dyn Clock>, entropy: &dyn Entropy) -> Storage {
        let database = self.0.get_or_init(TestDatabase::create_migrated).await;
        let address = Address::parse(&database.url(), |_| None).unwrap();
        let storage = PostgresStorage::open(address, clock, Time::Standing, entropy).await;
        storage.unwrap().into()
    }

    async fn refuse(&self, table: &str, refuses: bool) {
        let sql = if refuses {
            format!(
                "CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS
                     $$ BEGIN RAISE EXCEPTION 'a test refuses it'; END $$;
                 CREATE TRIGGER refused BEFORE INSERT OR UPDATE ON {table}
                     FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
            )
        } else {
            format!("DROP TRIGGER refused ON {table}; DROP FUNCTION refuse")
        };
        self.look_into().await.batch_execute(&sql).await.unwrap();
    }
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::start())
}

/// Opens `database` as a node.
async fn open(database: &TestDatabase, time: Time) -> Opened {
    let address = Address::parse(&database.url(), |_| None).unwrap();
    let storage = PostgresStorage::open(address, clock(), time, &OsEntropy);
    storage.await.unwrap().into()
}
