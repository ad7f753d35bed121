//! The history of interactions: its SQL.

mod erase;
mod history;
mod overview;
mod stream;

use std::collections::HashMap;

use super::PostgresStorage;
use super::row::{self, column};
use super::session::Session;
use crate::shared::callers;
use crate::{InteractionFilter, Overview, StorageError, Stretch};
use domain::clock::Timestamp;
use domain::id::{InteractionId, TagId};
use domain::interaction::TagName;
use domain::scope::Reach;
use domain::world::World;

impl PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn interactions(
        &self,
        filter: InteractionFilter,
        from: Option<InteractionId>,
        limit: usize,
        reach: &Reach,
    ) -> Result<Stretch, StorageError> {
        let snapshot = self.snapshot().await?;
        let stretch = history::stretch(&snapshot, &filter, reach, from, limit).await?;
        snapshot.end().await?;
        Ok(stretch)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn overview(
        &self,
        since: Timestamp,
        until: Timestamp,
        world: World,
    ) -> Result<Overview, StorageError> {
        let snapshot = self.snapshot().await?;
        let overview = overview::read(&snapshot, since, until, world).await?;
        snapshot.end().await?;
        Ok(overview)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn erase_visitors(
        &self,
        tag: Option<TagId>,
    ) -> Result<Option<bool>, StorageError> {
        let write = self.begin().await?;
        let outcome = erase::visitors(&write, tag).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn erase_history(
        &self,
        tag: Option<TagId>,
        from: Option<InteractionId>,
    ) -> Result<Option<InteractionId>, StorageError> {
        if from.is_none() {
            self.store_notes().await?;
        }
        let write = self.begin().await?;
        let outcome = erase::history(&write, tag, from).await;
        self.end(write, outcome).await
    }
}

/// Slugs and names of tags, in any order; `None` for a tag that is now outside the reach.
async fn tag_names(
    session: &Session,
    tags: &[i64],
    reach: &Reach,
) -> Result<HashMap<TagId, Option<TagName>>, StorageError> {
    let rows = session
        .rows(
            &format!(
                "SELECT id, slug, name, coalesce((TRUE{}), FALSE) FROM tags WHERE id = ANY ($1)",
                callers::tags(reach, "")
            ),
            &[&tags],
        )
        .await?;
    let names = rows.iter().map(|found| {
        let tag_id = row::id(found, 0)?;
        let name = if column(found, 3)? {
            Some(TagName {
                tag_id,
                slug: column(found, 1)?,
                tag_name: column(found, 2)?,
            })
        } else {
            None
        };
        Ok((tag_id, name))
    });
    names.collect()
}
