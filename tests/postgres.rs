//! Several nodes on one PostgreSQL database: the real binary, over real HTTP.
//!
//! | Module | Subject |
//! |---|---|
//! | `nodes` | what one node began, another goes on with; of many who race, one wins |
//! | `balancer` | the balancer that is handed to owners, before two nodes |
//! | `outages` | the database crashes, hangs up, hangs, or cannot be reached |
//! | `load` | visitors and owners' servers at work meanwhile, and what they were promised |
//! | `restores` | a copy by `pg_dump` makes a new encoding root, and repeats no generation of keys |
//! | `upgrades` | a node that is killed while it makes or upgrades the schema |
//! | `network` | a network between the nodes and their database, which can be cut |

pub(crate) mod balancer;
pub(crate) mod load;
mod network;
mod nodes;
mod outages;
mod restores;
mod upgrades;

use tapdesk_tests::{Launch, ServiceProcess, TestDatabase};

/// A node's own clock, ten minutes behind the other's: in milliseconds, and both wrong.
const SKEWS: [&str; 2] = ["-300000", "300000"];

/// A node that has the same wrapping key as all others, and shows refusals as
/// they are, not as 429.
fn node(database: &TestDatabase) -> Launch {
    let launch = Launch::on_sqlite(env!("CARGO_BIN_EXE_tapdesk-service")).on(database);
    launch
        .with_wrapping_key()
        .env("PGPASSWORD", database.password())
        .env("TAPDESK_RATE_LIMIT", "off")
        .env("TAPDESK_TEST_CLOCK", "1")
}

/// Two nodes on `database`, whose clocks disagree. The first has made what the second found.
pub(crate) async fn two(database: &TestDatabase) -> [ServiceProcess; 2] {
    let [one, other] = SKEWS.map(|skew| node(database).env("TAPDESK_TEST_SKEW", skew));
    [one.start().await, other.start().await]
}
