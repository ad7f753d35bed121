//! The history of interactions, in SQL.

mod erase;
mod history;
mod overview;
mod stream;

use std::sync::LazyLock;

use async_trait::async_trait;

use super::PostgresStorage;
use super::row::{self, column};
use super::session::Session;
use super::taps;
use crate::caller;
use crate::clock::Timestamp;
use crate::id::{ExperienceId, InlayId, InteractionId, TagId};
use crate::inlay::Uid;
use crate::interaction::{
    RecordedReads, RecordedRefusal, RecordedUpdate, Refusal, TagName, UpdateFault, Verdict,
};
use crate::scope::Reach;
use crate::storage::interactions::NO_TAG;
use crate::storage::interactions::row::{COLUMNS, interaction};
use crate::storage::payload_reads::PayloadRead;
use crate::storage::plane::dialect::Dialect;
use crate::storage::plane::inlays::{CODE_INLAY, NAMED_INLAY};
use crate::storage::{InteractionFilter, Interactions, Overview, StorageError, Stretch};
use crate::trace::{CodeInlay, NamedInlay, TracedInteraction};
use crate::world::World;

#[async_trait]
impl Interactions for PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn interactions(
        &self,
        filter: InteractionFilter,
        from: Option<InteractionId>,
        limit: usize,
    ) -> Result<Stretch, StorageError> {
        let snapshot = self.snapshot().await?;
        let stretch = history::stretch(&snapshot, &filter, &caller::reach(), from, limit).await?;
        snapshot.end().await?;
        Ok(stretch)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn interaction(
        &self,
        id: InteractionId,
    ) -> Result<Option<TracedInteraction>, StorageError> {
        let _noted = self.notes.stay().await;
        let reads = self.notes.payload_reads.pending(id);
        let refused = self.notes.refused_updates.pending(id);
        let reach = caller::reach();
        traced(&self.session().await?, id, &reach, reads, refused).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn overview(
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
    async fn erase_visitors(&self, tag: Option<TagId>) -> Result<Option<bool>, StorageError> {
        let write = self.begin().await?;
        let outcome = erase::visitors(&write, tag).await;
        self.end(write, outcome).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn erase_history(
        &self,
        tag: Option<TagId>,
        from: Option<InteractionId>,
    ) -> Result<Option<InteractionId>, StorageError> {
        let tag = tag.unwrap_or(NO_TAG);
        let write = self.begin().await?;
        let outcome = erase::history(&write, tag, from).await;
        self.end(write, outcome).await
    }
}

static BY_ID: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COLUMNS} FROM interactions i WHERE i.id = $1"));

/// How a tag is called, deleted ones included.
async fn tag_name(session: &Session, tag: TagId) -> Result<TagName, StorageError> {
    let mut names = tag_names(session, &[tag.0]).await?;
    names.pop().ok_or_else(|| row::unreadable("tag"))
}

/// How tags are called, in any order.
async fn tag_names(session: &Session, tags: &[i64]) -> Result<Vec<TagName>, StorageError> {
    let rows = session
        .rows(
            "SELECT id, slug, name FROM tags WHERE id = ANY ($1)",
            &[&tags],
        )
        .await?;
    let names = rows.iter().map(|found| {
        Ok(TagName {
            tag_id: TagId(column(found, 0)?),
            slug: column(found, 1)?,
            tag_name: column(found, 2)?,
        })
    });
    names.collect()
}

async fn traced(
    session: &Session,
    id: InteractionId,
    reach: &Reach,
    reads: Option<PayloadRead>,
    refused: Option<RecordedRefusal>,
) -> Result<Option<TracedInteraction>, StorageError> {
    let Some(found) = session.row(&BY_ID, &[&id.0]).await? else {
        return Ok(None);
    };
    let interaction = interaction(&found)?;
    if !interaction.is_within(reach) {
        return Ok(None);
    }
    let named = match interaction.verdict {
        Verdict::NotVerified(Refusal::UnknownInlay { uid: Some(uid) }) => {
            named(session, uid, reach).await?
        }
        _ => None,
    };
    Ok(Some(TracedInteraction {
        tag: match interaction.tag_id {
            Some(tag) => Some(tag_name(session, tag).await?),
            None => None,
        },
        inlay: match interaction.inlay_id {
            Some(inlay) => code_inlay(session, inlay).await?,
            None => None,
        },
        named,
        experience: match interaction.experience {
            Some(version) => taps::published(session, version).await?,
            None => None,
        },
        update: update(session, id).await?,
        refused_update: match refused {
            Some(refused) => Some(refused),
            None => refused_update(session, id).await?,
        },
        payload_reads: payload_reads(session, id, reads).await?,
        left_out: left_out(session, id).await?,
        interaction,
    }))
}

async fn code_inlay(session: &Session, id: InlayId) -> Result<Option<CodeInlay>, StorageError> {
    let inlay = session
        .row(&Dialect::Postgres.say(CODE_INLAY), &[&id.0])
        .await?;
    let inlay = inlay.map(|found| {
        Ok(CodeInlay {
            uid: Uid::from_bytes(row::bytes(&found, 0)?),
            mac_from: column::<Option<&str>>(&found, 1)?
                .map(str::parse)
                .transpose()
                .map_err(|_| row::unreadable("mac_from"))?,
        })
    });
    inlay.transpose()
}

/// The inlay with `uid`, and whose it is now. One out of reach is as one that is not there.
async fn named(
    session: &Session,
    uid: Uid,
    reach: &Reach,
) -> Result<Option<NamedInlay>, StorageError> {
    let sql = Dialect::Postgres.say(NAMED_INLAY);
    let Some(inlay) = session.row(&sql, &[&uid.bytes().as_slice()]).await? else {
        return Ok(None);
    };
    let experience: Option<i64> = column(&inlay, 1)?;
    if !reach.has(experience.map(ExperienceId)) {
        return Ok(None);
    }
    Ok(Some(match column::<Option<i64>>(&inlay, 0)? {
        Some(tag) => NamedInlay::OfTag(tag_name(session, TagId(tag)).await?),
        None => NamedInlay::Unbound,
    }))
}

async fn update(
    session: &Session,
    id: InteractionId,
) -> Result<Option<RecordedUpdate>, StorageError> {
    let found = session
        .row(
            "SELECT at, changes FROM updates WHERE interaction_id = $1",
            &[&id.0],
        )
        .await?;
    let update = found.map(|found| {
        Ok(RecordedUpdate {
            at: row::time(&found, 0)?,
            changes: serde_json::from_str(column(&found, 1)?)
                .map_err(|_| row::unreadable("change"))?,
        })
    });
    update.transpose()
}

async fn refused_update(
    session: &Session,
    id: InteractionId,
) -> Result<Option<RecordedRefusal>, StorageError> {
    let found = session
        .row(
            "SELECT at, fault, variable FROM refused_updates WHERE interaction_id = $1",
            &[&id.0],
        )
        .await?;
    let refusal = found.map(|found| {
        Ok(RecordedRefusal {
            at: row::time(&found, 0)?,
            fault: UpdateFault::parse(column(&found, 1)?)
                .ok_or_else(|| row::unreadable("fault"))?,
            variable: column(&found, 2)?,
        })
    });
    refusal.transpose()
}

async fn left_out(session: &Session, id: InteractionId) -> Result<Vec<String>, StorageError> {
    let found = session
        .row(
            "SELECT macros FROM left_out WHERE interaction_id = $1",
            &[&id.0],
        )
        .await?;
    let Some(found) = found else {
        return Ok(Vec::new());
    };
    let macros: String = column(&found, 0)?;
    serde_json::from_str(&macros).map_err(|_| row::unreadable("macro"))
}

/// The reads that are stored, and those that wait to be on this node.
async fn payload_reads(
    session: &Session,
    id: InteractionId,
    pending: Option<PayloadRead>,
) -> Result<Option<RecordedReads>, StorageError> {
    let stored = session
        .row(
            "SELECT first_at, reads FROM payload_reads WHERE interaction_id = $1",
            &[&id.0],
        )
        .await?;
    let stored = stored.map(|found| {
        Ok::<_, StorageError>(RecordedReads {
            first_at: row::time(&found, 0)?,
            reads: row::number(&found, 1)?,
        })
    });
    let stored = stored.transpose()?;
    let pending = pending.map(|PayloadRead { first_at, reads }| RecordedReads { first_at, reads });
    Ok(match (stored, pending) {
        (Some(stored), Some(pending)) => Some(RecordedReads {
            reads: stored.reads.saturating_add(pending.reads),
            ..stored
        }),
        (stored, pending) => stored.or(pending),
    })
}
