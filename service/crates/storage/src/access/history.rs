//! The operations on the history of interactions, which each database implements by itself.

use super::{Access, each};
use crate::shared::interactions::traced;
use crate::{CommitPosition, InteractionFilter, Overview, StorageError, Stretch};
use domain::clock::Timestamp;
use domain::id::{InteractionId, TagId};
use domain::trace::TracedInteraction;
use domain::webhook::TapHappening;
use domain::world::World;

/// The operations on the history.
impl Access {
    /// A section of the history, from `from` or the newest interaction on. It ends when `limit`
    /// interactions are found, or when [`LOOKED_AT_MAX`](crate::LOOKED_AT_MAX) were examined.
    pub async fn interactions(
        &self,
        filter: InteractionFilter,
        from: Option<InteractionId>,
        limit: usize,
    ) -> Result<Stretch, StorageError> {
        if filter.none {
            let (found, next) = (Vec::new(), None);
            return Ok(Stretch { found, next });
        }
        each!(self, db => db.interactions(filter, from, limit, self.reach()).await)
    }

    /// The interaction with this id, with all data that is kept of it.
    pub async fn interaction(
        &self,
        id: InteractionId,
    ) -> Result<Option<TracedInteraction>, StorageError> {
        let deferred = each!(self, db => &db.deferred);
        // No note may become a row between the look into memory and the read.
        let _staying = deferred.stay().await;
        let asked = (id, deferred.of(id));
        self.read_snapshot("interaction", asked, |db, (id, noted)| {
            Box::pin(traced(db, *id, noted))
        })
        .await
    }

    /// The figures of the time from `since` to `until`. It counts whole hours, including the hour
    /// of `since` and that of the moment before `until`.
    pub async fn overview(
        &self,
        since: Timestamp,
        until: Timestamp,
        world: World,
    ) -> Result<Overview, StorageError> {
        each!(self, db => db.overview(since, until, world).await)
    }

    /// Erases some visitors of a tag, or of inlays on no tag; counts stay. `true` if more are left,
    /// `None` if there is no such tag, not even a deleted one.
    pub async fn erase_visitors(&self, tag: Option<TagId>) -> Result<Option<bool>, StorageError> {
        let _change = self.begin_change();
        each!(self, db => db.erase_visitors(tag).await)
    }

    /// Erases the visitor data in a section of the history of a tag, or of inlays on no tag:
    /// client, country, earlier visits, and texts that they wrote. The section begins at `from`, or
    /// at the newest interaction. Returns where the next one begins.
    pub async fn erase_history(
        &self,
        tag: Option<TagId>,
        from: Option<InteractionId>,
    ) -> Result<Option<InteractionId>, StorageError> {
        let _change = self.begin_change();
        each!(self, db => db.erase_history(tag, from).await)
    }

    /// At most `limit` taps after a place, in the order of commits. PostgreSQL commits taps in
    /// parallel: only before the `settled` ones no further tap can appear.
    pub async fn taps_after(
        &self,
        after: CommitPosition,
        limit: usize,
        settled: bool,
    ) -> Result<Vec<TapHappening>, StorageError> {
        each!(self, db => db.stream_taps(after, limit, settled).await)
    }
}
