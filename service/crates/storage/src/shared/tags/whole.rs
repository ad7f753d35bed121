//! Complete tags, with properties and counts.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::StorageError;
use crate::shared::{Query, Question, Transaction, callers};
use crate::value::{Row, Value, values};
use domain::id::TagId;
use domain::tag::{
    Properties, PropertyClass, PropertyKey, Slug, Status, Tag, TagFields, WidgetSettings,
};

/// Columns of a tag as it is configured, in a table or alias `t`.
pub(crate) const CONFIGURED: &str = "t.id, t.slug, t.name, t.title, t.description, \
    t.language_code, t.status, t.experience_id, t.group_id, t.verifier_enabled, \
    t.updates_require_verified, t.track_location, t.has_qr_code, t.simulated, t.location, t.widget_settings, t.created_at, \
    t.updated_at";

/// Columns of a tag followed by its counts, for a query over [`FROM`].
pub(crate) static COLUMNS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{CONFIGURED}, v.scans, v.last_at, (SELECT count(*) FROM test_taps o WHERE o.tag_id = t.id)"
    )
});

/// Tags, each with the row of visits that counts the taps of all clients.
pub(crate) const FROM: &str = "tags t LEFT JOIN visits v ON v.tag_id = t.id AND v.client = x''";

/// Reads a tag from its [`COLUMNS`]; its properties and former slugs stay empty.
fn read(row: &mut Row) -> Result<Tag, StorageError> {
    let mut tag = configured(row)?;
    tag.scan_count = row.take::<Option<u64>>()?.unwrap_or_default();
    tag.last_scan_at = row.take()?;
    tag.test_scan_count = row.take()?;
    Ok(tag)
}

/// Reads a tag from the columns [`CONFIGURED`]; its counts stay empty, too.
pub(crate) fn configured(row: &mut Row) -> Result<Tag, StorageError> {
    let id = row.take()?;
    let mut fields = TagFields {
        slug: row.text("slug", |slug| Slug::parse(slug).ok())?,
        name: row.take()?,
        title: row.take()?,
        description: row.take()?,
        language_code: row.take()?,
        status: row.text("status", Status::parse)?,
        experience_id: row.take()?,
        group_id: row.take()?,
        verifier_enabled: row.take()?,
        updates_require_verified: row.take()?,
        track_location: row.take()?,
        has_qr_code: row.take()?,
        location: None,
        widget_settings: WidgetSettings::default(),
        attributes: Properties::default(),
        data: Properties::default(),
        variables: Properties::default(),
    };
    let simulated = row.take()?;
    fields.location = row.optional_text("location", |json| serde_json::from_str(json).ok())?;
    fields.widget_settings = row.json("widget setting")?;
    let (created_at, updated_at) = (row.take()?, row.take()?);
    Ok(Tag {
        id,
        fields,
        former_slugs: Vec::new(),
        simulated,
        scan_count: 0,
        test_scan_count: 0,
        last_scan_at: None,
        opened_at: None,
        opened_by: None,
        created_at,
        updated_at,
    })
}

/// A complete tag; `None` if it is deleted.
pub(in crate::shared) async fn tag(
    db: &mut dyn Query,
    id: TagId,
) -> Result<Option<Tag>, StorageError> {
    let found = whole(db, &[id]).await?.pop();
    Ok(found.and_then(|(tag, deleted)| (!deleted).then_some(tag)))
}

/// Complete tags, in the order of `ids`, and whether each is deleted.
pub(in crate::shared) async fn whole(
    db: &mut dyn Query,
    ids: &[TagId],
) -> Result<Vec<(Tag, bool)>, StorageError> {
    let mut tags = stored(db, ids).await?;
    for (tag, _) in &mut tags {
        count(db, tag);
    }
    Ok(tags)
}

/// Replaces a tag's counts by newer ones from memory.
pub(super) fn count(db: &dyn Query, tag: &mut Tag) {
    if let Some(counts) = db.tag_counts(tag.id) {
        tag.scan_count = counts.scans;
        tag.last_scan_at = Some(counts.last_scan_at);
    }
}

/// Complete tags like [`whole`], with the counts in their rows.
pub(super) async fn stored(
    db: &mut dyn Query,
    ids: &[TagId],
) -> Result<Vec<(Tag, bool)>, StorageError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = values![Value::list(ids)];
    let columns = &*COLUMNS;
    let reached = callers::tags(db.reach(), "t.");
    let sql = format!(
        "SELECT {columns}, t.deleted_at IS NOT NULL FROM {FROM} WHERE t.id IN ids(?1){reached}"
    );
    let asked: [Question<'_>; 4] = [
        (&sql, &wanted),
        (
            "SELECT tag_id, class, key, value FROM properties WHERE tag_id IN ids(?1)",
            &wanted,
        ),
        (
            "SELECT tag_id, slug FROM former_slugs WHERE tag_id IN ids(?1)
             ORDER BY replaced_at DESC, slug DESC",
            &wanted,
        ),
        (
            "SELECT o.tag_id, o.at, i.id FROM opened_tags o LEFT JOIN interactions i ON i.id = o.interaction_id
             WHERE o.tag_id IN ids(?1)",
            &wanted,
        ),
    ];
    let mut answers = db.query_all(&asked).await?.into_iter();
    let mut next = || answers.next().unwrap_or_default();
    let mut tags = HashMap::with_capacity(ids.len());
    for mut row in next() {
        let tag = read(&mut row)?;
        tags.insert(tag.id, (tag, row.take()?));
    }
    for mut row in next() {
        let tag: TagId = row.take()?;
        let (class, key) = property_key(&mut row)?;
        if let Some((tag, _)) = tags.get_mut(&tag) {
            tag.fields.properties_mut(class).0.insert(key, row.take()?);
        }
    }
    for mut row in next() {
        let tag: TagId = row.take()?;
        if let Some((tag, _)) = tags.get_mut(&tag) {
            let slug = row.text("slug", |slug| Slug::parse(slug).ok())?;
            tag.former_slugs.push(slug);
        }
    }
    for mut row in next() {
        let tag: TagId = row.take()?;
        if let Some((tag, _)) = tags.get_mut(&tag) {
            tag.opened_at = row.take()?;
            tag.opened_by = row.take()?;
        }
    }
    Ok(ids.iter().filter_map(|id| tags.remove(id)).collect())
}

/// A tag, and whether it is deleted. Its property rows are locked, so that no update changes them
/// meanwhile.
pub(in crate::shared) async fn locked(
    tx: &mut dyn Transaction,
    id: TagId,
) -> Result<Option<(Tag, bool)>, StorageError> {
    let lock = "SELECT 1 FROM properties WHERE tag_id = ?1 ORDER BY class, key FOR UPDATE";
    tx.query(lock, &values![id]).await?;
    Ok(whole(tx, &[id]).await?.pop())
}

/// Reads a property's class and key from the next columns of a row.
pub(crate) fn property_key(row: &mut Row) -> Result<(PropertyClass, PropertyKey), StorageError> {
    let class = row.text("property", PropertyClass::parse)?;
    let key = row.text("property", |key| PropertyKey::parse(key).ok())?;
    Ok((class, key))
}
