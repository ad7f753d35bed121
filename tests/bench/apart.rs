//! The comparison for commit grouping: each tap is its own transaction, over as many connections as
//! a node has.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use tokio::task::JoinSet;
use tokio_postgres::Client;

use crate::CONNECTIONS;
use crate::commits::{TAPS, TURN};
use crate::fixture::Fixture;
use crate::visitors::Visitors;

/// Number of connections to the database.
const CLIENTS: u32 = 16;

/// Records one tap, by the function that a node calls for many.
const RECORD: &str = "SELECT why FROM record_taps(false, $1::SMALLINT, ARRAY[$2::BIGINT], ARRAY[$3::BIGINT],
    ARRAY[$3], ARRAY[1], ARRAY[$4::BIGINT], ARRAY[false], ARRAY[NULL::TEXT], ARRAY[NULL::BIGINT],
    ARRAY[NULL::BYTEA], ARRAY['n'], ARRAY[NULL::BIGINT], ARRAY[NULL::INTEGER], ARRAY[$5::BYTEA], ARRAY[''],
    ARRAY[$6::BYTEA], ARRAY[$7::BYTEA], ARRAY[false], ARRAY[0::BIGINT], ARRAY[NULL::TEXT], ARRAY[NULL::BYTEA],
    ARRAY['ios'], ARRAY['de'], ARRAY[NULL::INTEGER], ARRAY[NULL::BIGINT])";

/// Number of ids in one reservation.
const BLOCK: i64 = 256;

/// Connections that record taps one by one.
pub(crate) struct Apart(Vec<Arc<Client>>);

impl Apart {
    pub(crate) async fn connect(fixture: &Fixture) -> Result<Self> {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push(Arc::new(fixture.look_into().await?));
        }
        Ok(Self(clients))
    }

    /// How many taps are answered per second.
    pub(crate) async fn taps(&self, visitors: &mut Visitors) -> Result<f64> {
        let mut running = JoinSet::new();
        let started = Instant::now();
        for (writer, client) in (0_i16..).zip(&self.0) {
            // Each writer has its own tags, like the tasks of the grouped side.
            let own = u32::from(writer.unsigned_abs()) % CONNECTIONS;
            let taps: Vec<_> = (0..TAPS / 8).map(|_| visitors.tap(own)).collect();
            running.spawn(record(Arc::clone(client), writer, taps, started));
        }
        let mut recorded = 0;
        while let Some(task) = running.join_next().await {
            recorded += task??;
        }
        Ok(f64::from(recorded) / started.elapsed().as_secs_f64())
    }
}

async fn record(
    client: Arc<Client>,
    writer: i16,
    taps: Vec<(u32, u32)>,
    started: Instant,
) -> Result<u32> {
    let statement = client.prepare(RECORD).await?;
    let (mut id, mut end) = (0, 0);
    let mut recorded = 0;
    for (tag, counter) in taps {
        if started.elapsed() > TURN {
            break;
        }
        if id == end {
            id = client
                .query_one("SELECT reserve_interactions()", &[])
                .await?
                .get(0);
            end = id + BLOCK;
        }
        let (tag, counter) = (i64::from(tag), i64::from(counter));
        let bytes = [0x5a_u8; 32];
        let row = client
            .query_one(
                &statement,
                &[
                    &writer,
                    &id,
                    &tag,
                    &counter,
                    &&bytes[..16],
                    &&bytes[..16],
                    &&bytes[..8],
                ],
            )
            .await?;
        anyhow::ensure!(row.get::<_, &str>(0) == "verified", "the tap is verified");
        id += 1;
        recorded += 1;
    }
    Ok(recorded)
}
