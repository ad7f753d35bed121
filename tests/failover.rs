//! Three PostgreSQL servers under Patroni and etcd behind a proxy, configured by
//! `service/deploy/failover`. The machine of the primary dies under load: no acknowledged write is
//! lost, nothing is done twice, and writes continue.

mod site;

use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_tests::{length, within_attempts};

use crate::postgres::load::Load;
use crate::postgres::two;
use site::Site;

/// The longest time without writes, in milliseconds: the others have to notice the primary's death
/// (15 s at most), elect a new one, and be found.
const UNTIL_WRITES: i64 = 30_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_dies_under_load_is_replaced_and_nothing_acknowledged_is_lost() {
    let mut site = Site::start().await;
    let database = site.create_database().await;
    let nodes = two(&database).await;
    let clock = SystemClock::start();
    for _ in 0..length(1, 10) {
        // A busy machine may delay the election.
        within_attempts(5, async || {
            let load = Load::start(&nodes).await;
            load.goes_on(5).await;
            let dead = site.kill_primary().await;
            let died = clock.now();
            load.is_refused().await;
            load.goes_on(1).await;
            let took = clock.now().since(died).get();
            println!("writes went on after {took} ms");
            site.bring_back(dead).await;
            load.check(&nodes[0], &database).await;
            (took < UNTIL_WRITES).then_some(()).ok_or(took)
        })
        .await;
    }
}
