//! Taps in the order of their commits.

use std::sync::LazyLock;

use rusqlite::Connection;

use crate::interactions::row::{COLUMNS, HAPPENING_COLUMNS, happening};
use crate::sqlite::{SqliteStorage, row};
use crate::{CommitPosition, StorageError};
use domain::webhook::TapHappening;

static AFTER: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS}, i.id, {HAPPENING_COLUMNS}
         FROM interactions i LEFT JOIN tags t ON t.id = i.tag_id
         WHERE i.id > ?1 ORDER BY i.id LIMIT ?2"
    )
});

impl SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn stream_taps(
        &self,
        after: CommitPosition,
        limit: usize,
        _settled: bool,
    ) -> Result<Vec<TapHappening>, StorageError> {
        self.read_long(move |connection| read(connection, after, limit))
            .await
    }
}

fn read(
    connection: &Connection,
    after: CommitPosition,
    limit: usize,
) -> Result<Vec<TapHappening>, StorageError> {
    let mut select = connection.prepare_cached(&AFTER)?;
    let mut rows = select.query((after.seq, row::limit(limit)))?;
    let mut taps = Vec::new();
    while let Some(found) = rows.next()? {
        let mut tap = happening(found)?;
        // The writer commits one tap after the other, so `seq` is enough to identify the place.
        tap.place.id = 0;
        taps.push(tap);
    }
    Ok(taps)
}
