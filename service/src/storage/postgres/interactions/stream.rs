//! Taps in the order of their commits.

use std::sync::LazyLock;

use async_trait::async_trait;

use crate::inlay::Uid;
use crate::interaction::TagName;
use crate::storage::postgres::PostgresStorage;
use crate::storage::postgres::row::{self, column};
use crate::storage::{Place, StorageError, TapStream};
use crate::webhook::TapHappening;

/// Only partitions that can have such rows are looked into: an id is reserved at most a minute
/// before its tap, and an hour is 3,600 seconds of ids.
static AFTER: LazyLock<String> = LazyLock::new(|| {
    let columns = row::INTERACTION_COLUMNS;
    format!(
        "SELECT {columns}, i.seq, t.slug, t.name, (SELECT n.uid FROM inlays n WHERE n.id = i.inlay_id),
             (SELECT p.tamper FROM interactions p WHERE p.id = i.previous)
         FROM interactions i LEFT JOIN tags t ON t.id = i.tag_id
         WHERE (i.seq, i.id) > ($1, $2) AND i.id > $2 - (3600::BIGINT << 21) AND i.seq < (SELECT told_before())
         ORDER BY i.seq, i.id LIMIT $3"
    )
});

#[async_trait]
impl TapStream for PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn stream_taps(
        &self,
        after: Place,
        limit: usize,
    ) -> Result<Vec<TapHappening>, StorageError> {
        const THEN: usize = row::AFTER_INTERACTION;
        let session = self.session().await?;
        let rows = session
            .rows(&AFTER, &[&after.seq, &after.id, &row::limit(limit)])
            .await?;
        let taps = rows.iter().map(|found| {
            let interaction = row::interaction(found)?;
            let uid: Option<[u8; 7]> = row::optional_bytes(found, THEN + 3)?;
            Ok(TapHappening {
                place: Place {
                    seq: column(found, THEN)?,
                    id: interaction.id.0,
                },
                tag: match interaction.tag_id {
                    Some(tag_id) => Some(TagName {
                        tag_id,
                        slug: column(found, THEN + 1)?,
                        tag_name: column(found, THEN + 2)?,
                    }),
                    None => None,
                },
                uid: uid.map(Uid::from_bytes),
                tamper_before: row::tamper(column(found, THEN + 4)?)?,
                interaction,
            })
        });
        taps.collect()
    }
}
