//! Ids of interactions, reserved in the database many at a time.

use tokio::sync::Mutex;

use super::node::Node;
use super::row::column;
use crate::StorageError;
use domain::clock::{Millis, Timestamp};
use domain::id::InteractionId;

/// How many ids one reservation returns (`reserve_interactions`).
const BLOCK: i64 = 256;
/// How long a block of ids is used, so that ids rise roughly with time.
const FRESH: Millis = Millis::seconds(10);

/// The unused ids of the last block.
#[derive(Default)]
pub(super) struct Ids(Mutex<Option<Block>>);

struct Block {
    next: i64,
    end: i64,
    reserved_at: Timestamp,
}

impl Node {
    /// An id that no other interaction has, on any node.
    pub(crate) async fn reserve(&self) -> Result<InteractionId, StorageError> {
        let mut kept = self.ids.0.lock().await;
        let now = self.clock.now();
        let usable = kept
            .take()
            .filter(|block| block.next < block.end && now.since(block.reserved_at) < FRESH);
        let mut block = if let Some(block) = usable {
            block
        } else {
            // A tap that gets no id is a failed write that never reaches a lane, so it is counted
            // here.
            let reserved = self.reserve_block(now).await;
            reserved.inspect_err(|error| self.metrics.failed(error))?
        };
        let id = InteractionId::new(block.next);
        block.next += 1;
        *kept = Some(block);
        Ok(id)
    }

    async fn reserve_block(&self, now: Timestamp) -> Result<Block, StorageError> {
        let session = self.session().await?;
        let row = session.one("SELECT reserve_interactions()", &[]).await?;
        let first: i64 = column(&row, 0)?;
        Ok(Block {
            next: first,
            end: first + BLOCK,
            reserved_at: now,
        })
    }
}
