//! Writing tags, many in a statement. Nobody else writes configuration
//! meanwhile: what is looked at first is still so when it is written.

use std::collections::{HashMap, HashSet};

use super::former::{self, SEARCHED};
use crate::id::{ExperienceId, TagId};
use crate::storage::postgres::row::{self, column, fold};
use crate::storage::postgres::transaction::Write;
use crate::storage::tags::SlugOwner;
use crate::storage::{Conflict, StorageError, TagEdit};
use crate::tag::{PropertyClass, Tag, TagFields};

/// Stores new tags, each for itself.
pub(super) async fn insert_all(
    write: &Write,
    tags: &[TagFields],
    simulated: bool,
) -> Result<Vec<Result<TagId, Conflict>>, StorageError> {
    let mut taken = Taken::look(write, tags.iter()).await?;
    let checked: Vec<_> = tags.iter().map(|tag| taken.take(tag, None)).collect();
    let good = tags.iter().zip(&checked);
    let good: Vec<_> = good
        .filter_map(|(tag, check)| check.is_ok().then_some(tag))
        .collect();
    let mut ids = insert_rows(write, &good, simulated).await?.into_iter();
    let outcome = checked.into_iter().map(|check| match check {
        Ok(()) => ids.next().map(Ok).ok_or_else(|| row::unreadable("tag")),
        Err(conflict) => Ok(Err(conflict)),
    });
    outcome.collect()
}

/// Stores a new tag.
pub(in crate::storage::postgres) async fn insert(
    write: &Write,
    tag: &TagFields,
    simulated: bool,
) -> Result<Result<TagId, Conflict>, StorageError> {
    let mut results = insert_all(write, std::slice::from_ref(tag), simulated).await?;
    results.pop().ok_or_else(|| row::unreadable("tag"))
}

/// Applies `edit` to a tag.
pub(super) async fn edit(
    write: &mut Write,
    id: TagId,
    edit: &TagEdit,
) -> Result<Option<Tag>, StorageError> {
    let Some(before) = locked(write, id).await? else {
        return Ok(None);
    };
    let fields = edit(before.fields.clone())?;
    Taken::look(write, [&fields].into_iter())
        .await?
        .take(&fields, Some(id))?;
    update_row(write, id, &before.fields, &fields).await?;
    super::tag(write, id).await
}

/// A tag that is not deleted, and whose properties no update changes meanwhile.
pub(super) async fn locked(write: &Write, id: TagId) -> Result<Option<Tag>, StorageError> {
    write
        .run(
            "SELECT FROM properties WHERE tag_id = $1 ORDER BY class, key FOR UPDATE",
            &[&id.0],
        )
        .await?;
    super::tag(write, id).await
}

/// Whose URLs end in these slugs, or ended in them before; deleted tags', too.
pub(super) async fn owners(
    write: &Write,
    slugs: &[&str],
) -> Result<HashMap<String, SlugOwner>, StorageError> {
    let found = write
        .rows(
            "SELECT slug, id, FALSE FROM tags WHERE slug = ANY ($1)
             UNION ALL SELECT slug, tag_id, TRUE FROM former_slugs WHERE slug = ANY ($1)",
            &[&slugs],
        )
        .await?;
    let owners = found.iter().map(|found| {
        let owner = SlugOwner {
            tag: TagId(column(found, 1)?),
            former: column(found, 2)?,
        };
        Ok((column(found, 0)?, owner))
    });
    owners.collect()
}

/// The rules between tags and the rest of the database: what is taken, and what exists.
pub(super) struct Taken {
    slugs: HashMap<String, SlugOwner>,
    experiences: HashSet<ExperienceId>,
}

impl Taken {
    /// As far as `tags` are concerned.
    pub(super) async fn look(
        write: &Write,
        tags: impl Iterator<Item = &TagFields> + Clone,
    ) -> Result<Self, StorageError> {
        let slugs: Vec<&str> = tags.clone().map(|tag| tag.slug.as_str()).collect();
        let slugs = owners(write, &slugs).await?;
        let wanted: HashSet<_> = tags.filter_map(|tag| tag.experience_id).collect();
        let mut experiences = HashSet::new();
        for id in wanted {
            if check_experience(write, Some(id)).await?.is_ok() {
                experiences.insert(id);
            }
        }
        Ok(Self { slugs, experiences })
    }

    /// Lets `tag` have its slug, or says what it breaks. `itself` has it already.
    pub(super) fn take(&mut self, tag: &TagFields, itself: Option<TagId>) -> Result<(), Conflict> {
        let owner = self.slugs.get(tag.slug.as_str());
        if let Some(owner) = owner.filter(|owner| itself != Some(owner.tag)) {
            return Err(owner.refuses(&tag.slug));
        }
        if let Some(experience) = tag.experience_id
            && !self.experiences.contains(&experience)
        {
            return Err(missing(experience));
        }
        // Its id follows; until then it is nobody's who is asked for.
        let owner = SlugOwner {
            tag: itself.unwrap_or(TagId(0)),
            former: false,
        };
        self.slugs.insert(tag.slug.to_string(), owner);
        Ok(())
    }
}

fn missing(ExperienceId(id): ExperienceId) -> Conflict {
    Conflict::Missing {
        noun: "experience",
        id,
    }
}

/// Whether an experience that tags are to lead to exists.
pub(super) async fn check_experience(
    write: &Write,
    experience: Option<ExperienceId>,
) -> Result<Result<(), Conflict>, StorageError> {
    let Some(experience) = experience else {
        return Ok(Ok(()));
    };
    let found = write
        .row(
            "SELECT FROM experiences WHERE id = $1 AND deleted_at IS NULL",
            &[&experience.0],
        )
        .await?;
    Ok(found.map(drop).ok_or_else(|| missing(experience)))
}

/// Stores tags that break no rule; their ids rise in their order.
pub(super) async fn insert_rows(
    write: &Write,
    tags: &[&TagFields],
    simulated: bool,
) -> Result<Vec<TagId>, StorageError> {
    fn all<'a, T>(tags: &[&'a TagFields], value: impl Fn(&'a TagFields) -> T) -> Vec<T> {
        tags.iter().map(|tag| value(tag)).collect()
    }
    if tags.is_empty() {
        return Ok(Vec::new());
    }
    let locations = tags.iter().map(|tag| location(tag));
    let widgets = tags.iter().map(|tag| widgets(tag));
    let inserted = write
        .rows(
            "INSERT INTO tags (slug, name, title, description, language_code, status, experience_id,
                 verifier_enabled, updates_require_verified, track_location, has_qr_code, location,
                 widget_settings, folded, simulated, created_at, updated_at)
             SELECT slug, name, title, description, language_code, status, experience_id, verifier, verified,
                 track, qr, location, widgets, folded, $15, $16, $16
             FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::BIGINT[],
                 $8::BOOLEAN[], $9::BOOLEAN[], $10::BOOLEAN[], $11::BOOLEAN[], $12::TEXT[], $13::TEXT[], $14::TEXT[])
                 WITH ORDINALITY AS t (slug, name, title, description, language_code, status, experience_id,
                     verifier, verified, track, qr, location, widgets, folded, place)
             ORDER BY place RETURNING id",
            &[
                &all(tags, |tag| tag.slug.as_str()),
                &all(tags, |tag| tag.name.as_str()),
                &all(tags, |tag| tag.title.as_str()),
                &all(tags, |tag| tag.description.as_str()),
                &all(tags, |tag| tag.language_code.as_str()),
                &all(tags, |tag| tag.status.as_str()),
                &all(tags, |tag| tag.experience_id.map(|id| id.0)),
                &all(tags, |tag| tag.verifier_enabled),
                &all(tags, |tag| tag.updates_require_verified),
                &all(tags, |tag| tag.track_location),
                &all(tags, |tag| tag.has_qr_code),
                &locations.collect::<Result<Vec<_>, _>>()?,
                &widgets.collect::<Result<Vec<_>, _>>()?,
                &all(tags, folded),
                &simulated,
                &write.now.millis(),
            ],
        )
        .await?;
    let ids = inserted.iter().map(|row| column(row, 0).map(TagId));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let properties = ids.iter().zip(tags).flat_map(|(id, tag)| {
        PropertyClass::ALL
            .into_iter()
            .map(|class| (*id, class, *tag))
    });
    insert_properties(write, properties).await?;
    Ok(ids)
}

/// Stores `after` in the place of `before`.
pub(super) async fn update_row(
    write: &mut Write,
    id: TagId,
    before: &TagFields,
    after: &TagFields,
) -> Result<(), StorageError> {
    former::replace(write, id, &before.slug, &after.slug).await?;
    write
        .run(
            &format!("UPDATE tags SET slug = $2, name = $3, title = $4, description = $5, language_code = $6, status = $7,
                 experience_id = $8, verifier_enabled = $9, updates_require_verified = $10, track_location = $11,
                 has_qr_code = $12, location = $13, widget_settings = $14,
                 folded = $15::TEXT || {SEARCHED}, updated_at = $16
             WHERE id = $1"),
            &[
                &id.0,
                &after.slug.as_str(),
                &after.name,
                &after.title,
                &after.description,
                &after.language_code,
                &after.status.as_str(),
                &after.experience_id.map(|id| id.0),
                &after.verifier_enabled,
                &after.updates_require_verified,
                &after.track_location,
                &after.has_qr_code,
                &location(after)?,
                &widgets(after)?,
                &folded(after),
                &write.now.millis(),
            ],
        )
        .await?;
    let changed = PropertyClass::ALL
        .into_iter()
        .filter(|class| after.properties(*class) != before.properties(*class));
    let changed: Vec<_> = changed.collect();
    let classes: Vec<_> = changed.iter().map(|class| class.as_str()).collect();
    write
        .run(
            "DELETE FROM properties WHERE tag_id = $1 AND class = ANY ($2)",
            &[&id.0, &classes],
        )
        .await?;
    let properties = changed.into_iter().map(|class| (id, class, after));
    insert_properties(write, properties).await?;
    write.changes_configuration();
    Ok(())
}

/// Stores the properties of some classes of some tags.
async fn insert_properties(
    write: &Write,
    of: impl Iterator<Item = (TagId, PropertyClass, &TagFields)>,
) -> Result<(), StorageError> {
    let (mut tags, mut classes) = (Vec::new(), Vec::new());
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for (id, class, tag) in of {
        for (key, value) in &tag.properties(class).0 {
            tags.push(id.0);
            classes.push(class.as_str());
            keys.push(key.as_str());
            values.push(value.as_str());
        }
    }
    if !tags.is_empty() {
        write
            .run(
                "INSERT INTO properties (tag_id, class, key, value)
                 SELECT * FROM unnest($1::BIGINT[], $2::TEXT[], $3::TEXT[], $4::TEXT[])",
                &[&tags, &classes, &keys, &values],
            )
            .await?;
    }
    Ok(())
}

/// What a search looks into, but for former slugs.
pub(super) fn folded(tag: &TagFields) -> String {
    [tag.name.as_str(), tag.slug.as_str(), tag.title.as_str()]
        .map(fold)
        .join("\u{1f}")
}

fn location(tag: &TagFields) -> Result<Option<String>, StorageError> {
    tag.location
        .as_ref()
        .map(|location| serde_json::to_string(location).map_err(|_| row::unreadable("location")))
        .transpose()
}

fn widgets(tag: &TagFields) -> Result<String, StorageError> {
    serde_json::to_string(&tag.widget_settings).map_err(|_| row::unreadable("widget setting"))
}
