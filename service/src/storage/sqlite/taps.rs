//! The path of a tap, in SQL.

mod record;
mod update;

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{SqliteStorage, plane, row};
use crate::clock::Timestamp;
use crate::experience::PublishedExperience;
use crate::id::{ExperienceId, InteractionId, TagId};
use crate::interaction::{KeyedInteraction, NewInteraction, Recorded, VersionRef};
use crate::rolling_key::{Consumed, IssuedKey, KeyHash};
use crate::storage::plane::inlays::{BOUND_COLUMNS, BOUND_FROM};
use crate::storage::plane::tags;
use crate::storage::{
    StorageError, TagInlays, TagKey, TagTap, Taps, UpdateRefusal, Updated, VariableUpdate,
};
use crate::tag::{Properties, PropertyClass, PropertyKey};

#[async_trait]
impl Taps for SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn tag_tap(&self, tag: TagKey<'_>) -> Result<Option<TagTap>, StorageError> {
        self.read(|connection| tag_tap(connection, tag))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn properties(
        &self,
        tag: TagId,
        class: PropertyClass,
    ) -> Result<Properties, StorageError> {
        self.read(|connection| properties(connection, tag, class))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn published(
        &self,
        version: VersionRef,
    ) -> Result<Option<PublishedExperience>, StorageError> {
        self.read(|connection| published(connection, version))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn reserve_interaction_id(&self) -> Result<InteractionId, StorageError> {
        Ok(InteractionId(
            self.next_interaction.fetch_add(1, Ordering::Relaxed),
        ))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn record_tap(&self, tap: NewInteraction) -> Result<Recorded, StorageError> {
        self.write(move |write| record::tap(write, &tap)).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn issued_key(
        &self,
        id: InteractionId,
    ) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
        let now = self.clock.now();
        let simulated = self.simulated_offset.load(Ordering::Relaxed);
        self.read(|connection| issued_key(connection, id, now, simulated))
    }

    fn note_payload_read(&self, id: InteractionId, at: Timestamp) {
        self.payload_reads.note(id, at);
    }

    fn note_refused_update(&self, id: InteractionId, at: Timestamp, refusal: &UpdateRefusal) {
        self.refused_updates.note(id, at, refusal);
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn note_left_out(
        &self,
        id: InteractionId,
        macros: Vec<String>,
    ) -> Result<(), StorageError> {
        let macros = serde_json::Value::from(macros).to_string();
        self.write(move |write| {
            write
                .connection
                .prepare_cached(
                    "INSERT OR IGNORE INTO left_out (interaction_id, macros) VALUES (?1, ?2)",
                )?
                .execute((id.0, &macros))?;
            Ok(())
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn update_variables(&self, update: VariableUpdate) -> Result<Updated, StorageError> {
        self.write(move |write| update::variables(write, &update))
            .await
    }
}

static TAG_BY_SLUG: LazyLock<String> = LazyLock::new(|| tag_by("t.slug"));
static TAG_BY_ID: LazyLock<String> = LazyLock::new(|| tag_by("t.id"));

fn tag_by(column: &str) -> String {
    let (columns, from) = (tags::COLUMNS, tags::FROM);
    format!("SELECT {columns} FROM {from} WHERE {column} = ?1 AND t.deleted_at IS NULL")
}

fn tag_tap(connection: &Connection, key: TagKey<'_>) -> Result<Option<TagTap>, StorageError> {
    let tag = match key {
        TagKey::Slug(slug) => connection
            .prepare_cached(&TAG_BY_SLUG)?
            .query_row([slug], |row| Ok(plane::row(row)))
            .optional()?,
        TagKey::Id(id) => connection
            .prepare_cached(&TAG_BY_ID)?
            .query_row([id.0], |row| Ok(plane::row(row)))
            .optional()?,
    };
    let Some(mut tag) = tag.transpose()? else {
        // Few slugs are former ones: they are looked for last.
        return match key {
            TagKey::Slug(slug) => match former_tag(connection, slug)? {
                Some(id) => tag_tap(connection, TagKey::Id(id)),
                None => Ok(None),
            },
            TagKey::Id(_) => Ok(None),
        };
    };
    let tag = tags::read(&mut tag)?;
    let experience = match tag.fields.experience_id {
        Some(id) => current_version(connection, id)?,
        None => None,
    };
    let mut found = connection.prepare_cached(&INLAYS_OF_TAG)?;
    let mut rows = found.query([tag.id.0])?;
    let mut inlays = TagInlays::default();
    while let Some(row) = rows.next()? {
        inlays.add(plane::row(row)?)?;
    }
    Ok(Some(TagTap {
        tag,
        experience,
        inlays,
    }))
}

static INLAYS_OF_TAG: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {BOUND_COLUMNS} FROM {BOUND_FROM}
         WHERE i.tag_id = ?1 AND i.deleted_at IS NULL ORDER BY i.id"
    )
});

/// The tag that had `slug` before.
fn former_tag(connection: &Connection, slug: &str) -> Result<Option<TagId>, StorageError> {
    let tag = connection
        .prepare_cached("SELECT tag_id FROM former_slugs WHERE slug = ?1")?
        .query_row([slug], |row| row.get(0).map(TagId))
        .optional()?;
    Ok(tag)
}

fn current_version(
    connection: &Connection,
    id: ExperienceId,
) -> Result<Option<PublishedExperience>, StorageError> {
    let version = connection
        .prepare_cached("SELECT published FROM experiences WHERE id = ?1 AND deleted_at IS NULL")?
        .query_row([id.0], |row| row.get::<_, Option<u32>>(0))
        .optional()?
        .flatten();
    match version {
        Some(version) => published(
            connection,
            VersionRef {
                experience_id: id,
                version,
            },
        ),
        None => Ok(None),
    }
}

pub(super) fn published(
    connection: &Connection,
    version: VersionRef,
) -> Result<Option<PublishedExperience>, StorageError> {
    let found = connection
        .prepare_cached("SELECT name, content FROM experience_versions WHERE experience_id = ?1 AND version = ?2")?
        .query_row((version.experience_id.0, version.version), |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
        .optional()?;
    let Some((name, content)) = found else {
        return Ok(None);
    };
    Ok(Some(PublishedExperience {
        version,
        name,
        content: Arc::new(row::content(&content)?),
    }))
}

pub(super) fn properties(
    connection: &Connection,
    tag: TagId,
    class: PropertyClass,
) -> Result<Properties, StorageError> {
    let mut statement = connection
        .prepare_cached("SELECT key, value FROM properties WHERE tag_id = ?1 AND class = ?2")?;
    let mut rows = statement.query((tag.0, class.as_str()))?;
    let mut properties = Properties::default();
    while let Some(row) = rows.next()? {
        let key = PropertyKey::parse(row.get_ref(0)?.as_str().unwrap_or_default())
            .map_err(|_| row::unreadable("property"))?;
        properties.0.insert(key, row.get(1)?);
    }
    Ok(properties)
}

/// The key's row; the columns of its interaction follow from the second on.
fn key_row(row: &Row<'_>, offset: usize) -> Result<IssuedKey, StorageError> {
    let consumed_at = row.get::<_, Option<i64>>(offset + 2)?;
    let request = row.get(offset + 3)?;
    Ok(IssuedKey {
        hash: KeyHash(row.get(offset)?),
        issued_at: Timestamp::from_millis(row.get(offset + 1)?),
        consumed: consumed_at.map(|at| Consumed {
            at: Timestamp::from_millis(at),
            request,
        }),
    })
}

const KEY_COLUMNS: &str = "k.hash, k.issued_at, k.consumed_at, k.request, k.url_digest";

static ISSUED_KEY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {KEY_COLUMNS} FROM rolling_keys k
         JOIN interactions i ON i.id = k.interaction_id WHERE k.interaction_id = ?1",
        row::INTERACTION_COLUMNS
    )
});

fn issued_key(
    connection: &Connection,
    id: InteractionId,
    now: Timestamp,
    simulated_offset: i64,
) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
    let found = connection
        .prepare_cached(&ISSUED_KEY)?
        .query_row([id.0], |r| Ok(keyed(r, now, simulated_offset)))
        .optional()?;
    found.transpose()
}

fn keyed(
    r: &Row<'_>,
    now: Timestamp,
    simulated_offset: i64,
) -> Result<(IssuedKey, KeyedInteraction), StorageError> {
    const AFTER_INTERACTION: usize = 19;
    let interaction = row::interaction(r)?;
    let issued = key_row(r, AFTER_INTERACTION)?;
    let keyed = KeyedInteraction {
        id: interaction.id,
        at: interaction.at,
        tag_id: interaction.tag_id,
        inlay_id: interaction.inlay_id,
        verdict: interaction.verdict,
        tech: interaction.tech,
        experience: interaction.experience,
        country: interaction.country,
        returning: interaction.returning,
        tamper: interaction.tamper,
        simulated: interaction.simulated,
        url_digest: r.get(AFTER_INTERACTION + 4)?,
        read_at: if interaction.simulated {
            now.plus_millis(simulated_offset)
        } else {
            now
        },
    };
    Ok((issued, keyed))
}
