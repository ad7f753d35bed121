//! The path of a tap: its SQL.

pub(super) mod record;
pub(super) mod update;

use std::sync::LazyLock;

use futures_util::future::try_join;

use super::row::{self, column};
use super::session::Session;
use super::{PostgresStorage, shared};
use crate::interactions::row::{AFTER_KEYED, KEY_COLUMNS, KEY_UPDATE, KEYED_COLUMNS, keyed};
use crate::shared::{inlays as inlay_rows, tags};
use crate::{StorageError, TagInlays, TagKey, TagTap, Updated, VariableUpdate};
use domain::clock::Millis;
use domain::id::{InteractionId, TagId};
use domain::interaction::{KeyedInteraction, NewInteraction, Recorded};
use domain::rolling_key::IssuedKey;
use domain::tag::{Properties, PropertyClass, PropertyKey};

impl PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn tag_tap(&self, tag: TagKey<'_>) -> Result<Option<TagTap>, StorageError> {
        tag_tap(&self.session().await?, tag).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn properties(
        &self,
        tag: TagId,
        class: PropertyClass,
    ) -> Result<Properties, StorageError> {
        properties(&self.session().await?, tag, class).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn record_tap(&self, tap: NewInteraction) -> Result<Recorded, StorageError> {
        // Reserve the id before the commit, because it identifies a tap that is sent again.
        let id = self.reserve().await?;
        self.taps.make((id, tap)).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn issued_key(
        &self,
        id: InteractionId,
    ) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
        issued_key(&self.session().await?, id, self.epoch.simulated_offset()).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn note_left_out(
        &self,
        id: InteractionId,
        macros: Vec<String>,
    ) -> Result<(), StorageError> {
        let macros = serde_json::Value::from(macros).to_string();
        self.session()
            .await?
            .run(
                "INSERT INTO left_out (interaction_id, macros) VALUES ($1, $2)
                 ON CONFLICT (interaction_id) DO UPDATE SET macros = excluded.macros",
                &[&id.get(), &macros],
            )
            .await?;
        Ok(())
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn update_variables(
        &self,
        update: VariableUpdate,
    ) -> Result<Updated, StorageError> {
        self.updates.make(update).await
    }
}

fn tag_by(column: &str, value: &str) -> String {
    let (columns, only_spelling) = (tags::CONFIGURED, tags::IS_ONLY_SPELLING);
    format!(
        "SELECT {columns}, {only_spelling} FROM tags t
         WHERE {column} = {value} AND t.deleted_at IS NULL"
    )
}

fn inlays_of(tag: &str) -> String {
    let (columns, from) = (inlay_rows::BOUND_COLUMNS, inlay_rows::BOUND_FROM);
    format!(
        "SELECT {columns} FROM {from} WHERE i.tag_id = {tag} AND i.deleted_at IS NULL ORDER BY i.id"
    )
}

static TAG_BY_SLUG: LazyLock<String> = LazyLock::new(|| tag_by("t.slug", "$1"));
static TAG_BY_ID: LazyLock<String> = LazyLock::new(|| tag_by("t.id", "$1"));
static INLAYS_BY_SLUG: LazyLock<String> =
    LazyLock::new(|| inlays_of("(SELECT t.id FROM tags t WHERE t.slug = $1)"));
static INLAYS_BY_ID: LazyLock<String> = LazyLock::new(|| inlays_of("$1"));

async fn tag_tap(session: &Session, key: TagKey<'_>) -> Result<Option<TagTap>, StorageError> {
    // Send both queries at the same time.
    let (tags, found_inlays) = match key {
        TagKey::Slug(slug) => {
            let tag = [&slug as &(dyn tokio_postgres::types::ToSql + Sync)];
            try_join(
                session.rows(&TAG_BY_SLUG, &tag),
                session.rows(&INLAYS_BY_SLUG, &tag),
            )
            .await?
        }
        TagKey::Id(id) => {
            let tag = [&id.get() as &(dyn tokio_postgres::types::ToSql + Sync)];
            try_join(
                session.rows(&TAG_BY_ID, &tag),
                session.rows(&INLAYS_BY_ID, &tag),
            )
            .await?
        }
    };
    let Some(found) = tags.first() else {
        return Ok(None);
    };
    let mut columns = shared::row(found)?;
    let tag = tags::configured(&mut columns)?;
    let is_only_spelling = columns.take()?;
    let mut inlays = TagInlays::default();
    for row in shared::rows(&found_inlays)? {
        inlays.add(row)?;
    }
    Ok(Some(TagTap {
        tag,
        inlays,
        is_only_spelling,
    }))
}

pub(super) async fn properties(
    session: &Session,
    tag: TagId,
    class: PropertyClass,
) -> Result<Properties, StorageError> {
    let rows = session
        .rows(
            "SELECT key, value FROM properties WHERE tag_id = $1 AND class = $2",
            &[&tag.get(), &class.as_str()],
        )
        .await?;
    let mut properties = Properties::default();
    for found in &rows {
        let key = PropertyKey::parse(column(found, 0)?).map_err(|_| row::unreadable("property"))?;
        properties.0.insert(key, column(found, 1)?);
    }
    Ok(properties)
}

static ISSUED_KEY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {KEY_COLUMNS}, {KEYED_COLUMNS}, present(), keys_expired_to(i.simulated)
         FROM interaction_of($1) i {KEY_UPDATE}
         WHERE i.key_hash IS NOT NULL"
    )
});

async fn issued_key(
    session: &Session,
    id: InteractionId,
    simulated_offset: Millis,
) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
    let Some(found) = session.row(&ISSUED_KEY, &[&id.get()]).await? else {
        return Ok(None);
    };
    let expired_to: i64 = column(&found, AFTER_KEYED + 1)?;
    if id.get() <= expired_to {
        return Ok(None);
    }
    let now = row::time(&found, AFTER_KEYED)?;
    keyed(&found, now, simulated_offset).map(Some)
}
