//! Writes tags, many in one statement. Only one transaction at a time writes configuration, so the
//! checks made before a write still hold when it is written.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Written, erased, former, named, search, whole};
use crate::shared::webhooks::outbox;
use crate::shared::{self, Query, Transaction, callers, groups};
use crate::tags::SlugOwner;
use crate::value::{Value, unreadable, values};
use crate::{CachedPart, Conflict, Invalid, StorageError, TagEdit};
use domain::audit::Note;
use domain::id::{ExperienceId, GroupId, TagId};
use domain::scope::Reach;
use domain::tag::{PropertyClass, Tag, TagFields};

/// Stores new tags one by one: a refused tag does not affect the others.
pub(super) async fn insert_all(
    tx: &mut dyn Transaction,
    written: &mut Written,
    tags: &[TagFields],
    simulated: bool,
) -> Result<Vec<Result<TagId, Conflict>>, StorageError> {
    let mut tags = tags.to_vec();
    for tag in &mut tags {
        written.predefine(tx, tag).await?;
    }
    let all: Vec<_> = tags.iter().collect();
    let mut taken = Taken::look(tx, &all).await?;
    let checked: Vec<_> = tags.iter().map(|tag| taken.take(tag, None)).collect();
    let good = tags.iter().zip(&checked);
    let good: Vec<_> = good
        .filter_map(|(tag, check)| check.is_ok().then_some(tag))
        .collect();
    let ids = insert_rows(tx, &good, simulated).await?;
    search::index_new(tx, &ids).await?;
    if tx.takes_notes()
        && let ([id], [tag]) = (&*ids, &*good)
    {
        tx.note(Note::created(format!("tags/{id}"), tag));
    }
    let mut ids = ids.into_iter();
    let outcome = checked.into_iter().map(|check| match check {
        Ok(()) => ids.next().map(Ok).ok_or_else(|| unreadable("tag")),
        Err(conflict) => Ok(Err(conflict)),
    });
    outcome.collect()
}

/// Stores one new tag, and returns its id.
pub(in crate::shared) async fn insert(
    tx: &mut dyn Transaction,
    written: &mut Written,
    tag: &TagFields,
    simulated: bool,
) -> Result<TagId, StorageError> {
    let inserted = insert_all(tx, written, std::slice::from_ref(tag), simulated).await?;
    match inserted.into_iter().next() {
        Some(inserted) => Ok(inserted?),
        None => Err(unreadable("tag")),
    }
}

/// Applies `edit` to a tag. With `add_variables`, also returns how many variables of forms it got.
pub(super) async fn edit(
    tx: &mut dyn Transaction,
    id: TagId,
    edit: &TagEdit,
    add_variables: bool,
) -> Result<Option<(Tag, usize)>, StorageError> {
    let Some((before, false)) = whole::locked(tx, id).await? else {
        return Ok(None);
    };
    let mut after = edit(before.fields.clone())?;
    if after == before.fields {
        return Ok(Some((before, 0)));
    }
    let mut added = Vec::new();
    let leads = |tag: &TagFields| (tag.experience_id, tag.group_id);
    if add_variables && leads(&after) != leads(&before.fields) {
        added = Written::default().fill(tx, &mut after).await?;
    }
    let is_own = before.answers_to(after.slug.as_str());
    if tx.reach().limit().is_some() && !is_own {
        return Err(Invalid::ChosenSlug.into());
    }
    let before = before.fields;
    Taken::look(tx, &[&after])
        .await?
        .take(&after, Some((id, &before)))?;
    let erased = erased::variables(tx, id).await?;
    let is_found_otherwise = update_row(tx, id, &before, &after).await?;
    let shown = erased::without(&erased, &before, &before);
    tx.note(Note::changed(
        &shown,
        &erased::without(&erased, &before, &after),
    ));
    if is_found_otherwise {
        search::index(tx, &[id]).await?;
    }
    outbox::tell_tags_updated(tx, &[id]).await?;
    let stored = whole::tag(tx, id).await?;
    Ok(stored.map(|tag| (tag, added.len())))
}

/// The tags that have these slugs now, or had them before; deleted tags included.
pub(in crate::shared) async fn owners(
    db: &mut dyn Query,
    slugs: &[&str],
) -> Result<HashMap<String, SlugOwner>, StorageError> {
    let reached = callers::tags(db.reach(), "t.");
    let sql = format!(
        "SELECT t.slug, t.id, FALSE, (TRUE{reached}) FROM tags t WHERE t.slug IN texts(?1)
         UNION ALL SELECT f.slug, f.tag_id, TRUE, (TRUE{reached}) FROM former_slugs f
             JOIN tags t ON t.id = f.tag_id WHERE f.slug IN texts(?1)"
    );
    let found = db.query(&sql, &values![Value::list(slugs)]).await?;
    let owners = found.into_iter().map(|mut row| {
        let slug = row.take()?;
        let owner = SlugOwner {
            tag: row.take()?,
            former: row.take()?,
            within_reach: row.take::<Option<bool>>()?.unwrap_or_default(),
        };
        Ok((slug, owner))
    });
    owners.collect()
}

/// The rules between tags and other objects: slugs that are taken, and experiences that exist.
pub(in crate::shared) struct Taken {
    slugs: HashMap<String, SlugOwner>,
    /// Slugs that an unfinished import has reserved.
    reserved: HashSet<String>,
    experiences: HashSet<ExperienceId>,
    /// The groups that exist, whether or not they are within reach.
    groups: HashMap<GroupId, groups::Leading>,
    reach: Reach,
}

impl Taken {
    /// Looks up the data for `tags`.
    pub(in crate::shared) async fn look(
        db: &mut dyn Query,
        tags: &[&TagFields],
    ) -> Result<Self, StorageError> {
        let slugs: Vec<&str> = tags.iter().map(|tag| tag.slug.as_str()).collect();
        let owners = owners(db, &slugs).await?;
        Self::beside(db, owners, tags).await
    }

    /// Like [`Self::look`], for a caller that knows the owners of the slugs.
    pub(in crate::shared) async fn beside(
        db: &mut dyn Query,
        owners: HashMap<String, SlugOwner>,
        tags: &[&TagFields],
    ) -> Result<Self, StorageError> {
        let slugs: Vec<&str> = tags.iter().map(|tag| tag.slug.as_str()).collect();
        let wanted: HashSet<_> = tags.iter().filter_map(|tag| tag.experience_id).collect();
        let groups: BTreeSet<_> = tags.iter().filter_map(|tag| tag.group_id).collect();
        let sql = "SELECT slug FROM import_rows WHERE slug IN texts(?1)";
        let reserved = db.query(sql, &values![Value::list(&slugs)]).await?;
        let reserved = reserved.into_iter().map(|mut row| row.take());
        Ok(Self {
            reserved: reserved.collect::<Result<_, _>>()?,
            slugs: owners,
            experiences: existing(db, wanted).await?,
            groups: groups::leading(db, groups).await?,
            reach: db.reach().clone(),
        })
    }

    /// Marks the slug of `tag` as taken, or returns the conflict. `itself` is the tag's id if it
    /// exists, with its present experience and group, which it may keep.
    pub(in crate::shared) fn take(
        &mut self,
        tag: &TagFields,
        itself: Option<(TagId, &TagFields)>,
    ) -> Result<(), Conflict> {
        let (itself, before) = itself.unzip();
        let present = before.and_then(|before| before.group_id);
        let owner = self.slugs.get(tag.slug.as_str());
        if let Some(owner) = owner.filter(|owner| itself.is_none() || itself != owner.tag) {
            return Err(owner.refuses(&tag.slug));
        }
        if self.reserved.contains(tag.slug.as_str()) {
            return Err(Conflict::SlugInImport(tag.slug.to_string()));
        }
        if let Some(experience) = tag.experience_id
            && !self.experiences.contains(&experience)
            && (self.reach.groups().is_none()
                || before.and_then(|before| before.experience_id) != Some(experience))
        {
            return Err(missing(experience));
        }
        let group = tag.group_id.and_then(|id| self.groups.get(&id));
        let group_is_visible = group.is_some_and(|group| group.within_reach);
        if let Some(id) = tag.group_id
            && !group_is_visible
            && Some(id) != present
        {
            let (noun, id) = ("group", id.get());
            return Err(Conflict::Missing { noun, id });
        }
        let given = group.and_then(|group| group.experience);
        match self.reach.groups() {
            Some(_) if !group_is_visible => return Err(Invalid::NoGroup("group_id").into()),
            None if !self.reach.has(tag.experience_id.or(given)) => {
                return Err(Invalid::NoExperience.into());
            }
            _ => {}
        }
        let owner = SlugOwner {
            tag: itself,
            former: false,
            within_reach: true,
        };
        self.slugs.insert(tag.slug.to_string(), owner);
        Ok(())
    }
}

fn missing(experience: ExperienceId) -> Conflict {
    Conflict::Missing {
        noun: "experience",
        id: experience.get(),
    }
}

/// Refuses an experience that does not exist or is deleted.
pub(in crate::shared) async fn check_experience(
    db: &mut dyn Query,
    experience: ExperienceId,
) -> Result<(), StorageError> {
    if existing(db, [experience].into()).await?.is_empty() {
        return Err(missing(experience).into());
    }
    Ok(())
}

/// The experiences of `wanted` that exist and are not deleted.
async fn existing(
    db: &mut dyn Query,
    wanted: HashSet<ExperienceId>,
) -> Result<HashSet<ExperienceId>, StorageError> {
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let reached = callers::condition(db.reach(), "id");
    let sql =
        format!("SELECT id FROM experiences WHERE id IN ids(?1) AND deleted_at IS NULL{reached}");
    let found = db.query(&sql, &values![Value::list(wanted)]).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

/// The values in a tag's own row, by column.
fn columns(tag: &TagFields) -> Result<Vec<(&'static str, Value<'_>)>, StorageError> {
    let location = tag.location.as_ref().map(serde_json::to_string);
    let location = location.transpose().map_err(|_| unreadable("location"))?;
    let widgets = serde_json::to_string(&tag.widget_settings);
    let widgets = widgets.map_err(|_| unreadable("widget setting"))?;
    Ok(vec![
        ("slug", tag.slug.as_str().into()),
        ("name", (&tag.name).into()),
        ("title", (&tag.title).into()),
        ("description", (&tag.description).into()),
        ("language_code", (&tag.language_code).into()),
        ("status", tag.status.as_str().into()),
        ("experience_id", tag.experience_id.into()),
        ("group_id", tag.group_id.into()),
        ("verifier_enabled", tag.verifier_enabled.into()),
        (
            "updates_require_verified",
            tag.updates_require_verified.into(),
        ),
        ("track_location", tag.track_location.into()),
        ("has_qr_code", tag.has_qr_code.into()),
        ("location", location.into()),
        ("widget_settings", widgets.into()),
    ])
}

/// Stores tags that break no rule; returns ascending ids in the order of `tags`. The caller updates
/// the search index.
pub(in crate::shared) async fn insert_rows(
    tx: &mut dyn Transaction,
    tags: &[&TagFields],
    simulated: bool,
) -> Result<Vec<TagId>, StorageError> {
    let slugs: Vec<_> = tags.iter().map(|tag| tag.slug.as_str()).collect();
    named::void_alike(tx, &slugs).await?;
    let now = Value::from(tx.now());
    let mut names = Vec::new();
    let mut rows = Vec::with_capacity(tags.len());
    for tag in tags {
        let mut columns = columns(tag)?;
        columns.push(("simulated", simulated.into()));
        columns.push(("created_at", now.clone()));
        columns.push(("updated_at", now.clone()));
        columns.push((search::FOLDED, search::folded(tag, &[]).into()));
        let (name, row): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        names = name;
        rows.push(row);
    }
    let inserted = shared::insert_rows(tx, "tags", &names, rows, "RETURNING id").await?;
    let ids = inserted.into_iter().map(|mut row| row.take());
    let mut ids: Vec<TagId> = ids.collect::<Result<_, _>>()?;
    // Ids ascend with the rows, but RETURNING guarantees no order.
    ids.sort_unstable();
    if tags.iter().any(|tag| tag.group_id.is_some()) {
        let after = groups::counted(tx, &ids).await?;
        groups::count(tx, &groups::Counted::new(), &after).await?;
    }
    let properties = ids.iter().zip(tags).flat_map(|(id, tag)| {
        let classes = PropertyClass::ALL.into_iter();
        classes.map(|class| (*id, class, *tag))
    });
    insert_properties(tx, properties).await?;
    Ok(ids)
}

/// Replaces `before` by `after`. The caller makes the checks, and updates the search index if the
/// result says that searches find the tag by another text.
pub(in crate::shared) async fn update_row(
    tx: &mut dyn Transaction,
    id: TagId,
    before: &TagFields,
    after: &TagFields,
) -> Result<bool, StorageError> {
    former::replace(tx, id, &before.slug, &after.slug).await?;
    let changes_group = before.group_id != after.group_id;
    let moved: &[TagId] = if changes_group { &[id] } else { &[] };
    let counted = groups::counted(tx, moved).await?;
    let (mut sets, mut values) = (
        "updated_at = ?2".to_owned(),
        vec![id.into(), tx.now().into()],
    );
    for (name, value) in columns(after)? {
        values.push(value);
        sets = format!("{sets}, {name} = ?{}", values.len());
    }
    // A changed slug is in the text, and so the former slugs are written with it.
    let is_found_otherwise = search::folded(after, &[]) != search::folded(before, &[]);
    if is_found_otherwise {
        let former = search::former_slugs(tx, id).await?;
        values.push(search::folded(after, &former).into());
        sets = format!("{sets}, {} = ?{}", search::FOLDED, values.len());
    }
    let sql = format!("UPDATE tags SET {sets} WHERE id = ?1");
    tx.execute(&sql, &values).await?;
    let after_move = groups::counted(tx, moved).await?;
    groups::count(tx, &counted, &after_move).await?;
    let changed = PropertyClass::ALL
        .into_iter()
        .filter(|class| after.properties(*class) != before.properties(*class));
    let changed: Vec<_> = changed.collect();
    let erased = erased::variables(tx, id).await?;
    for class in &changed {
        let sql = "DELETE FROM properties WHERE tag_id = ?1 AND class = ?2";
        tx.execute(sql, &values![id, class.as_str()]).await?;
    }
    let properties = changed.into_iter().map(|class| (id, class, after));
    insert_properties(tx, properties).await?;
    erased::keep(tx, id, &erased, (before, after)).await?;
    tx.changes(Some(CachedPart::Tag(id)));
    Ok(is_found_otherwise)
}

/// Stores the properties of the given tags and classes.
async fn insert_properties(
    tx: &mut dyn Transaction,
    of: impl Iterator<Item = (TagId, PropertyClass, &TagFields)>,
) -> Result<(), StorageError> {
    let mut rows = Vec::new();
    for (id, class, tag) in of {
        for (key, value) in &tag.properties(class).0 {
            rows.push(values![id, class.as_str(), key.as_str(), value].into());
        }
    }
    let columns = ["tag_id", "class", "key", "value"];
    shared::insert_rows(tx, "properties", &columns, rows, "").await?;
    Ok(())
}
