//! Checks that the database accepts writes, by taking the locks of a write.

use std::sync::LazyLock;

use super::node::Node;
use super::row::column;
use crate::StorageError;
use crate::catalogue::moved;

/// Takes a write lock on every table, and changes nothing. It waits up to a second for each lock,
/// longer than this program's own housekeeping holds any.
static LOCKS: LazyLock<String> = LazyLock::new(|| {
    let tables: Vec<_> = moved().map(|table| table.name).collect();
    format!(
        "BEGIN; SET LOCAL lock_timeout = '1s';
         LOCK TABLE {} IN ROW EXCLUSIVE MODE; ROLLBACK",
        tables.join(", ")
    )
});

impl Node {
    /// Checks that this node can write. A caller may stop waiting at any time.
    pub(super) async fn probe(&self) -> Result<(), StorageError> {
        let session = self.session().await?;
        // A cancelled probe leaves its connection in the middle of a query or a transaction, so the
        // connection is only kept after the last answer.
        session.give_up();
        let taken = "SELECT current_setting('transaction_read_only')";
        let taken = session.one(taken, &[]).await?;
        if column::<&str>(&taken, 0)? != "off" {
            return Err(StorageError::Unavailable(
                "it is read-only, and takes no writes".to_owned(),
            ));
        }
        session.batch(&LOCKS).await?;
        session.keep();
        Ok(())
    }
}
