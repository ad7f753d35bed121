//! Several nodes on one PostgreSQL database: the real binary, over real HTTP.
//!
//! | Module | Subject |
//! |---|---|
//! | `nodes` | another node continues the work of one; of many concurrent requests, one wins |
//! | `balancer` | the load balancer configuration for operators, in front of two nodes |
//! | `phones` | phones of staff that are paired and work over two nodes |
//! | `outages` | the database crashes, closes connections, hangs, or is unreachable |
//! | `load` | visitors and owners' servers at work, and a journal of acknowledged requests |
//! | `restores` | a copy by `pg_dump` gets a new encoding root, and repeats no key generation |
//! | `starts` | a node that is killed while it creates the schema, or replaces its functions |
//! | `network` | a network between the nodes and their database, which can be cut |

pub(crate) mod balancer;
mod caches;
pub(crate) mod load;
mod network;
mod nodes;
mod outages;
mod phones;
mod restores;
mod starts;

use tapdesk_tests::{Launch, ServiceProcess, TestDatabase};

/// Offsets of the nodes' clocks in milliseconds: both are wrong, ten minutes apart.
const SKEWS: [&str; 2] = ["-300000", "300000"];

/// A node that has the same wrapping key as all others, and no rate limit, so that each refused
/// request gets its own status.
fn node(database: &TestDatabase) -> Launch {
    let launch = Launch::on_sqlite(env!("CARGO_BIN_EXE_tapdesk-service")).on(database);
    launch
        .with_wrapping_key()
        .env("PGPASSWORD", database.password())
        .env("TAPDESK_RATE_LIMIT", "off")
        .env("TAPDESK_TEST_CLOCK", "1")
}

/// Two nodes on `database` with different clocks.
pub(crate) async fn two(database: &TestDatabase) -> [ServiceProcess; 2] {
    let [one, other] = SKEWS.map(|skew| node(database).env("TAPDESK_TEST_SKEW", skew));
    [one.start().await, other.start().await]
}
