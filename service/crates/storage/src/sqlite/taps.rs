//! The path of a tap: its SQL.

pub(super) mod record;
mod update;

use std::sync::{Arc, LazyLock};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Params};

use super::{SqliteStorage, row, shared};
use crate::interactions::row::{KEY_COLUMNS, KEY_UPDATE, KEYED_COLUMNS, keyed};
use crate::shared::inlays::{BOUND, BOUND_COLUMNS};
use crate::shared::tags;
use crate::{StorageError, TagInlays, TagKey, TagTap, Updated, VariableUpdate};
use domain::clock::{Millis, Timestamp};
use domain::id::{InteractionId, TagId};
use domain::interaction::{KeyedInteraction, NewInteraction, Recorded};
use domain::rolling_key::IssuedKey;
use domain::tag::{Properties, PropertyClass, PropertyKey};

impl SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn tag_tap(&self, tag: TagKey<'_>) -> Result<Option<TagTap>, StorageError> {
        self.read(|connection| tag_tap(connection, tag))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn tag_taps(
        &self,
        after: Option<TagId>,
        limit: usize,
    ) -> Result<Vec<TagTap>, StorageError> {
        let values = (after.map_or(0, TagId::get), row::limit(limit));
        self.read_long(move |connection| tag_taps(connection, &TAGS_AFTER, values))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn properties(
        &self,
        tag: TagId,
        class: PropertyClass,
    ) -> Result<Properties, StorageError> {
        self.read(|connection| properties(connection, tag, class))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn record_tap(&self, tap: NewInteraction) -> Result<Recorded, StorageError> {
        let recent = Arc::clone(&self.recent_keys);
        self.writer
            .run_here(move |write| {
                let recorded = record::tap(write, &tap)?;
                recent.note(&tap, &recorded);
                Ok(recorded)
            })
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn issued_key(
        &self,
        id: InteractionId,
    ) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
        let now = self.clock.now();
        let simulated = self.simulated_offset();
        let found = match self.recent_keys.get(id, now, simulated) {
            None => self.read(|connection| issued_key(connection, id, now, simulated))?,
            known => known,
        };
        Ok(found.filter(|(_, interaction)| !self.expired_keys.has(id, interaction.simulated)))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn note_left_out(
        &self,
        id: InteractionId,
        macros: Vec<String>,
    ) -> Result<(), StorageError> {
        let macros = serde_json::Value::from(macros).to_string();
        self.write(move |write| {
            write
                .connection
                .prepare_cached(
                    "INSERT INTO left_out (interaction_id, macros) VALUES (?1, ?2)
                     ON CONFLICT DO UPDATE SET macros = excluded.macros",
                )?
                .execute((id.get(), &macros))?;
            Ok(())
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn update_variables(
        &self,
        update: VariableUpdate,
    ) -> Result<Updated, StorageError> {
        let recent = Arc::clone(&self.recent_keys);
        let expired = Arc::clone(&self.expired_keys);
        self.writer
            .run_here(move |write| update::variables(write, &recent, &expired, &update))
            .await
    }
}

/// Selects tags with their inlays in one statement: one row for each inlay, whose columns come
/// first, or one row for a tag without inlays.
fn tags_by(condition: &str) -> String {
    let (tag, only_spelling) = (tags::CONFIGURED, tags::IS_ONLY_SPELLING);
    format!(
        "SELECT {BOUND_COLUMNS}, {tag}, {only_spelling} FROM tags t
             LEFT JOIN inlays i ON i.tag_id = t.id AND i.deleted_at IS NULL
             LEFT JOIN counters c ON c.inlay_id = i.id
             LEFT JOIN master_keys m ON m.id = i.master_key_id
         WHERE {condition} ORDER BY t.id, i.id"
    )
}

static TAG_BY_SLUG: LazyLock<String> =
    LazyLock::new(|| tags_by("t.slug = ?1 AND t.deleted_at IS NULL"));
static TAG_BY_ID: LazyLock<String> =
    LazyLock::new(|| tags_by("t.id = ?1 AND t.deleted_at IS NULL"));
static TAGS_AFTER: LazyLock<String> = LazyLock::new(|| {
    tags_by(
        "t.id IN (SELECT id FROM tags WHERE id > ?1 AND deleted_at IS NULL ORDER BY id LIMIT ?2)",
    )
});

fn tag_tap(connection: &Connection, key: TagKey<'_>) -> Result<Option<TagTap>, StorageError> {
    let mut found = match key {
        TagKey::Slug(slug) => tag_taps(connection, &TAG_BY_SLUG, [slug])?,
        TagKey::Id(id) => tag_taps(connection, &TAG_BY_ID, [id.get()])?,
    };
    Ok(found.pop())
}

/// The tags that a statement of [`tags_by`] selects.
fn tag_taps(
    connection: &Connection,
    sql: &str,
    values: impl Params,
) -> Result<Vec<TagTap>, StorageError> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(values)?;
    let mut found = Vec::<TagTap>::new();
    while let Some(row) = rows.next()? {
        let has_inlay = row.get_ref(0)? != ValueRef::Null;
        let id: TagId = row::id(row, BOUND)?;
        if found.last().is_none_or(|tap| tap.tag.id != id) {
            let mut columns = shared::columns(row, BOUND..)?;
            found.push(TagTap {
                tag: tags::configured(&mut columns)?,
                inlays: TagInlays::default(),
                is_only_spelling: columns.take()?,
            });
        }
        if let Some(tap) = found.last_mut().filter(|_| has_inlay) {
            tap.inlays.add(shared::columns(row, ..BOUND)?)?;
        }
    }
    Ok(found)
}

pub(super) fn properties(
    connection: &Connection,
    tag: TagId,
    class: PropertyClass,
) -> Result<Properties, StorageError> {
    let mut statement = connection
        .prepare_cached("SELECT key, value FROM properties WHERE tag_id = ?1 AND class = ?2")?;
    let mut rows = statement.query((tag.get(), class.as_str()))?;
    let mut properties = Properties::default();
    while let Some(row) = rows.next()? {
        let key = PropertyKey::parse(row.get_ref(0)?.as_str().unwrap_or_default())
            .map_err(|_| row::unreadable("property"))?;
        properties.0.insert(key, row.get(1)?);
    }
    Ok(properties)
}

static ISSUED_KEY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {KEY_COLUMNS}, {KEYED_COLUMNS} FROM interactions i {KEY_UPDATE}
         WHERE i.id = ?1 AND i.key_hash IS NOT NULL"
    )
});

fn issued_key(
    connection: &Connection,
    id: InteractionId,
    now: Timestamp,
    simulated_offset: Millis,
) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
    let found = connection
        .prepare_cached(&ISSUED_KEY)?
        .query_row([id.get()], |r| Ok(keyed(r, now, simulated_offset)))
        .optional()?;
    found.transpose()
}
