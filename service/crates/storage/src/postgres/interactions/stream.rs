//! Taps in the order of their commits.

use std::sync::LazyLock;

use crate::interactions::row::{COLUMNS, HAPPENING_COLUMNS, happening};
use crate::postgres::{PostgresStorage, row};
use crate::{CommitPosition, StorageError};
use domain::webhook::TapHappening;

/// The first taps after a place. Only partitions that can have such rows are searched: an id is
/// reserved at most a minute before its tap, and an hour is 3,600 seconds of ids.
///
/// Each tap's tag is looked up by itself. The planner expects so many taps that it would read all
/// tags.
static AFTER: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS}, i.seq, {HAPPENING_COLUMNS}
         FROM taps_after($1, $2, $3, $4, $2 - (3600::BIGINT << 21)) i
         LEFT JOIN LATERAL (SELECT slug, name FROM tags WHERE id = i.tag_id LIMIT 1) t ON TRUE
         ORDER BY i.seq, i.id"
    )
});

impl PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn stream_taps(
        &self,
        after: CommitPosition,
        limit: usize,
        settled: bool,
    ) -> Result<Vec<TapHappening>, StorageError> {
        let session = self.session().await?;
        let limit = row::limit(limit);
        let rows = session
            .rows(&AFTER, &[&after.seq, &after.id, &limit, &settled])
            .await?;
        rows.iter().map(happening).collect()
    }
}

#[cfg(test)]
mod tests {
    use tapdesk_tests::TestDatabase;
    use tokio_postgres::Client;

    use super::*;

    /// An id in the first week of 2026, and in the weeks after it.
    const FIRST: &str = "(SELECT first_interaction(1767225600000))";

    /// Adds taps of tags `1..=tags` in the hour after `FIRST`, and in each of two further weeks.
    async fn taps(client: &Client, of_each_week: &str, tags: i64) {
        let sql = format!(
            "INSERT INTO interactions (id, at, tag_id, returning_month, returning_day, key_issued, simulated,
                reason, tech, country)
             SELECT {FIRST} + week * week() + n, 0, 1 + n % $1::BIGINT, FALSE, FALSE, FALSE, FALSE, 'no_code', 'n', ''
             FROM generate_series(0, 2) AS week, {of_each_week} AS n"
        );
        client.execute(&sql, &[&tags]).await.unwrap();
    }

    /// With a backlog, reading all the taps and tags for each piece would take longer than the piece.
    #[tokio::test]
    async fn a_piece_reads_its_own_taps_and_their_tags_and_no_others() {
        const PIECE: i64 = 10;
        const TAGS: i64 = 2_000;
        const WEEKS: i64 = 3;
        let database = TestDatabase::create_migrated().await;
        let client = database.look_into().await;
        let weeks = format!(
            "SELECT make_partition({FIRST} + week * week()) FROM generate_series(0, 2) AS week;
             INSERT INTO tags (slug, name, title, description, language_code, status, verifier_enabled,
                updates_require_verified, track_location, has_qr_code, simulated, widget_settings, created_at,
                updated_at, folded)
             SELECT 'bottle-' || i, '', '', '', 'en_US', 'active', TRUE, FALSE, FALSE, FALSE, FALSE, '{{}}', i, i, ''
             FROM generate_series(1, {TAGS}) AS n (i)"
        );
        client.batch_execute(&weeks).await.unwrap();
        taps(&client, "generate_series(1, 5)", TAGS).await;
        // The planner takes the weeks for small, as it does when many taps came since it last looked.
        client.batch_execute("ANALYZE").await.unwrap();
        taps(&client, "generate_series(6, 3000)", TAGS).await;

        let after = format!("SELECT seq, id FROM interactions WHERE id = {FIRST} + week() + 3");
        let after = client.query_one(&after, &[]).await.unwrap();
        let after: (i64, i64) = (after.get(0), after.get(1));

        // A connection of its own, because a connection counts all that it has read so far.
        let client = database.look_into().await;
        let found = client
            .query(AFTER.as_str(), &[&after.0, &after.1, &PIECE, &false])
            .await
            .unwrap();
        let ids = found
            .iter()
            .map(|row| happening(row).unwrap().interaction.id.get() - after.1);
        // Two taps of its commit are left in its week, then come those in the next week.
        assert!(ids.clone().take(2).eq([1, 2]));
        assert_eq!(ids.count(), 10);
        let read = "SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FILTER (WHERE relname = 'tags'), 0)::BIGINT,
                sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FILTER (WHERE relname ~ '^interactions_')::BIGINT
            FROM pg_stat_xact_user_tables";
        let read = client.query_one(read, &[]).await.unwrap();
        let (tags, read_taps): (i64, i64) = (read.get(0), read.get(1));
        assert!(tags <= PIECE, "{tags} tags for {PIECE}");
        assert!(read_taps <= PIECE + WEEKS, "{read_taps} taps for {PIECE}");
    }
}
