//! The path of a tap, in SQL.

pub(super) mod record;
pub(super) mod update;

use std::sync::LazyLock;

use async_trait::async_trait;
use futures_util::future::try_join;

use super::row::{self, column};
use super::session::Session;
use super::{PostgresStorage, plane};
use crate::clock::Timestamp;
use crate::experience::PublishedExperience;
use crate::id::{ExperienceId, InteractionId, TagId};
use crate::interaction::{KeyedInteraction, NewInteraction, Recorded, VersionRef};
use crate::rolling_key::IssuedKey;
use crate::storage::interactions::row::{
    AFTER_KEYED, KEY_COLUMNS, KEY_UPDATE, KEYED_COLUMNS, keyed,
};
use crate::storage::plane::{Database as _, experiences, inlays as inlay_rows, tags};
use crate::storage::{
    StorageError, TagInlays, TagKey, TagTap, Taps, UpdateRefusal, Updated, VariableUpdate,
};
use crate::tag::{Properties, PropertyClass, PropertyKey};

#[async_trait]
impl Taps for PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn tag_tap(&self, tag: TagKey<'_>) -> Result<Option<TagTap>, StorageError> {
        tag_tap(&self.session().await?, tag).await
    }

    /// None: a node is one of several, and each would read them all.
    async fn tag_taps(&self, _after: TagId, _limit: usize) -> Result<Vec<TagTap>, StorageError> {
        Ok(Vec::new())
    }

    async fn published_now(
        &self,
        experience: ExperienceId,
    ) -> Result<Option<PublishedExperience>, StorageError> {
        self.run_read("published_now", experience, |db, experience| {
            Box::pin(experiences::published_now(db, *experience))
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn properties(
        &self,
        tag: TagId,
        class: PropertyClass,
    ) -> Result<Properties, StorageError> {
        properties(&self.session().await?, tag, class).await
    }

    async fn published(
        &self,
        version: VersionRef,
    ) -> Result<Option<PublishedExperience>, StorageError> {
        self.run_read("published", version, |db, version| {
            Box::pin(experiences::published(db, *version))
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn record_tap(&self, tap: NewInteraction) -> Result<Recorded, StorageError> {
        // Known before its commit: what is sent again is known by it.
        let id = self.reserve().await?;
        self.taps.make((id, tap)).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn issued_key(
        &self,
        id: InteractionId,
    ) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
        issued_key(
            &self.session().await?,
            id,
            self.configuration.simulated_offset(),
        )
        .await
    }

    fn note_payload_read(&self, id: InteractionId, at: Timestamp) {
        self.notes.payload_reads.note(id, at);
    }

    fn note_refused_update(&self, id: InteractionId, at: Timestamp, refusal: &UpdateRefusal) {
        self.notes.refused_updates.note(id, at, refusal);
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn note_left_out(
        &self,
        id: InteractionId,
        macros: Vec<String>,
    ) -> Result<(), StorageError> {
        let macros = serde_json::Value::from(macros).to_string();
        self.session()
            .await?
            .run(
                "INSERT INTO left_out (interaction_id, macros) VALUES ($1, $2)
                 ON CONFLICT (interaction_id) DO NOTHING",
                &[&id.0, &macros],
            )
            .await?;
        Ok(())
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn update_variables(&self, update: VariableUpdate) -> Result<Updated, StorageError> {
        self.updates.make(update).await
    }
}

fn tag_by(column: &str, value: &str) -> String {
    let columns = tags::CONFIGURED;
    format!("SELECT {columns} FROM tags t WHERE {column} = {value} AND t.deleted_at IS NULL")
}

fn inlays_of(tag: &str) -> String {
    let (columns, from) = (inlay_rows::BOUND_COLUMNS, inlay_rows::BOUND_FROM);
    format!(
        "SELECT {columns} FROM {from} WHERE i.tag_id = {tag} AND i.deleted_at IS NULL ORDER BY i.id"
    )
}

/// The tag of an inlay that writes its URLs by a template.
const OF_INLAY: &str = "(SELECT tag_id FROM inlays
     WHERE uid = $1 AND url_template_id IS NOT NULL AND deleted_at IS NULL)";

static TAG_BY_SLUG: LazyLock<String> = LazyLock::new(|| tag_by("t.slug", "$1"));
static TAG_BY_ID: LazyLock<String> = LazyLock::new(|| tag_by("t.id", "$1"));
static TAG_BY_INLAY: LazyLock<String> = LazyLock::new(|| tag_by("t.id", OF_INLAY));
static INLAYS_BY_SLUG: LazyLock<String> =
    LazyLock::new(|| inlays_of("(SELECT t.id FROM tags t WHERE t.slug = $1)"));
static INLAYS_BY_ID: LazyLock<String> = LazyLock::new(|| inlays_of("$1"));
static INLAYS_BY_INLAY: LazyLock<String> = LazyLock::new(|| inlays_of(OF_INLAY));

async fn tag_tap(session: &Session, key: TagKey<'_>) -> Result<Option<TagTap>, StorageError> {
    // Both questions are asked at once.
    let (tags, found_inlays) = match key {
        TagKey::Slug(slug) => {
            let tag = [&slug as &(dyn tokio_postgres::types::ToSql + Sync)];
            try_join(
                session.rows(&TAG_BY_SLUG, &tag),
                session.rows(&INLAYS_BY_SLUG, &tag),
            )
            .await?
        }
        TagKey::Id(TagId(id)) => {
            let tag = [&id as &(dyn tokio_postgres::types::ToSql + Sync)];
            try_join(
                session.rows(&TAG_BY_ID, &tag),
                session.rows(&INLAYS_BY_ID, &tag),
            )
            .await?
        }
        TagKey::Inlay(uid) => {
            let uid = uid.bytes();
            let uid = [&uid.as_slice() as &(dyn tokio_postgres::types::ToSql + Sync)];
            try_join(
                session.rows(&TAG_BY_INLAY, &uid),
                session.rows(&INLAYS_BY_INLAY, &uid),
            )
            .await?
        }
    };
    let Some(found) = tags.first() else {
        // Few slugs are former ones: they are looked for last.
        return match key {
            TagKey::Slug(slug) => match former_tag(session, slug).await? {
                Some(id) => Box::pin(tag_tap(session, TagKey::Id(id))).await,
                None => Ok(None),
            },
            TagKey::Id(_) | TagKey::Inlay(_) => Ok(None),
        };
    };
    let tag = tags::configured(&mut plane::row(found)?)?;
    let mut inlays = TagInlays::default();
    for row in plane::rows(&found_inlays)? {
        inlays.add(row)?;
    }
    Ok(Some(TagTap { tag, inlays }))
}

/// The tag that had `slug` before.
async fn former_tag(session: &Session, slug: &str) -> Result<Option<TagId>, StorageError> {
    let sql = "SELECT tag_id FROM former_slugs WHERE slug = $1";
    let found = session.row(sql, &[&slug]).await?;
    found.map(|row| column(&row, 0).map(TagId)).transpose()
}

pub(super) async fn properties(
    session: &Session,
    tag: TagId,
    class: PropertyClass,
) -> Result<Properties, StorageError> {
    let rows = session
        .rows(
            "SELECT key, value FROM properties WHERE tag_id = $1 AND class = $2",
            &[&tag.0, &class.as_str()],
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
    simulated_offset: i64,
) -> Result<Option<(IssuedKey, KeyedInteraction)>, StorageError> {
    let Some(found) = session.row(&ISSUED_KEY, &[&id.0]).await? else {
        return Ok(None);
    };
    let expired_to: i64 = column(&found, AFTER_KEYED + 1)?;
    if id.0 <= expired_to {
        return Ok(None);
    }
    let now = row::time(&found, AFTER_KEYED)?;
    keyed(&found, now, simulated_offset).map(Some)
}
