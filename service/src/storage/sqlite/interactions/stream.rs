//! Taps in the order of their commits.

use std::sync::LazyLock;

use async_trait::async_trait;
use rusqlite::Connection;

use crate::inlay::Uid;
use crate::interaction::TagName;
use crate::storage::sqlite::{SqliteStorage, row};
use crate::storage::{Place, StorageError, TapStream};
use crate::webhook::TapHappening;

static AFTER: LazyLock<String> = LazyLock::new(|| {
    let columns = row::INTERACTION_COLUMNS;
    format!(
        "SELECT {columns}, t.slug, t.name, (SELECT n.uid FROM inlays n WHERE n.id = i.inlay_id),
             (SELECT p.tamper FROM interactions p WHERE p.id = i.previous)
         FROM interactions i LEFT JOIN tags t ON t.id = i.tag_id
         WHERE i.id > ?1 ORDER BY i.id LIMIT ?2"
    )
});

#[async_trait]
impl TapStream for SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn stream_taps(
        &self,
        after: Place,
        limit: usize,
    ) -> Result<Vec<TapHappening>, StorageError> {
        self.read_long(move |connection| read(connection, after, limit))
            .await
    }
}

fn read(
    connection: &Connection,
    after: Place,
    limit: usize,
) -> Result<Vec<TapHappening>, StorageError> {
    const THEN: usize = row::AFTER_INTERACTION;
    let mut select = connection.prepare_cached(&AFTER)?;
    let mut rows = select.query((after.seq, row::limit(limit)))?;
    let mut taps = Vec::new();
    while let Some(found) = rows.next()? {
        let interaction = row::interaction(found)?;
        let uid: Option<[u8; 7]> = found.get(THEN + 2)?;
        taps.push(TapHappening {
            // The writer commits one after the other.
            place: Place {
                seq: interaction.id.0,
                id: 0,
            },
            tag: match interaction.tag_id {
                Some(tag_id) => Some(TagName {
                    tag_id,
                    slug: found.get(THEN)?,
                    tag_name: found.get(THEN + 1)?,
                }),
                None => None,
            },
            uid: uid.map(Uid::from_bytes),
            tamper_before: row::tamper(found.get(THEN + 3)?)?,
            interaction,
        });
    }
    Ok(taps)
}
