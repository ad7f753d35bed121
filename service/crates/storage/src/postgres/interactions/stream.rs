//! Taps in the order of their commits.

use std::sync::LazyLock;

use crate::interactions::row::{COLUMNS, HAPPENING_COLUMNS, happening};
use crate::postgres::{PostgresStorage, row};
use crate::{CommitPosition, StorageError};
use domain::webhook::TapHappening;

/// Settled taps. The query only searches partitions that can have such rows: an id is reserved at
/// most a minute before its tap, and an hour is 3,600 seconds of ids.
static AFTER: LazyLock<String> = LazyLock::new(|| after("i.seq < (SELECT settled_before())"));
/// All taps, including those before which further ones may still appear.
static UNSETTLED: LazyLock<String> = LazyLock::new(|| after("TRUE"));

fn after(settled: &str) -> String {
    format!(
        "SELECT {COLUMNS}, i.seq, {HAPPENING_COLUMNS}
         FROM interactions i LEFT JOIN tags t ON t.id = i.tag_id
         WHERE (i.seq, i.id) > ($1, $2) AND i.id > $2 - (3600::BIGINT << 21) AND {settled}
         ORDER BY i.seq, i.id LIMIT $3"
    )
}

impl PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn stream_taps(
        &self,
        after: CommitPosition,
        limit: usize,
        settled: bool,
    ) -> Result<Vec<TapHappening>, StorageError> {
        let session = self.session().await?;
        let sql = if settled { &AFTER } else { &UNSETTLED };
        let rows = session
            .rows(sql, &[&after.seq, &after.id, &row::limit(limit)])
            .await?;
        rows.iter().map(happening).collect()
    }
}
