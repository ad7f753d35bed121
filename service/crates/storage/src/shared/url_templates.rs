//! URL templates: their SQL, and the checks against other templates, keys and chips.

mod writers;

use super::audit::shown;
use super::{Query, Transaction, groups, tags};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, CachedPart, Conflict, InUse, Invalid, StorageError, UrlTemplateEdit};
use domain::audit::Note;
use domain::id::UrlTemplateId;
use domain::inventory::{
    ChipPlace, SharedKey, SharedKeySource, URL_TEMPLATES_MAX, UnlistedMode, UnlistedRule,
    UrlTemplate, UrlTemplateFields,
};
use domain::revision::Precondition;
use inlay::key::KeyFingerprint;
use inlay::template::{Template, TemplateSettings};

/// The operations on URL templates.
///
/// Several templates can have one address if their placeholders tell them apart: the URL decides
/// which of them is asked first whose code it contains.
impl Access {
    /// Stores a new template.
    ///
    /// # Errors
    ///
    /// [`Conflict::TemplatesOverlap`], [`Conflict::TemplatesCrowded`],
    /// [`Conflict::TooManyTemplates`]; [`Conflict::MissingInList`] for a master key; [`Conflict::Missing`] for
    /// the experience.
    pub async fn insert_url_template(
        &self,
        template: UrlTemplateFields,
    ) -> Result<UrlTemplate, StorageError> {
        self.change("insert_url_template", template, |tx, template| {
            Box::pin(insert(tx, template))
        })
        .await
    }

    /// The template with this id.
    pub async fn url_template(
        &self,
        id: UrlTemplateId,
    ) -> Result<Option<UrlTemplate>, StorageError> {
        self.read_snapshot("url_template", id, |db, id| Box::pin(find(db, *id)))
            .await
    }

    /// At most `limit` templates after the one with the id `after`, ordered by id.
    pub async fn url_templates(
        &self,
        after: Option<UrlTemplateId>,
        limit: usize,
    ) -> Result<Vec<UrlTemplate>, StorageError> {
        let arguments = (after, limit);
        self.read_snapshot("url_templates", arguments, |db, (after, limit)| {
            Box::pin(list(db, *after, *limit))
        })
        .await
    }

    /// How many templates there are.
    pub async fn count_url_templates(&self) -> Result<u64, StorageError> {
        self.read("count_url_templates", (), |db, ()| db.count(COUNT, &[]))
            .await
    }

    /// Applies `edit` to a template.
    ///
    /// # Errors
    ///
    /// The error of `edit`, and those of [`Self::insert_url_template`].
    /// [`InUse::ByTemplateInlays`](crate::InUse::ByTemplateInlays),
    /// [`InUse::ByEncodings`](crate::InUse::ByEncodings), [`InUse::ByRun`](crate::InUse::ByRun) and
    /// [`InUse::ByOrder`](crate::InUse::ByOrder) if the edit would change a MAC while chips are
    /// written with the template. [`InUse::ByFoundInlays`](crate::InUse::ByFoundInlays) if it would
    /// remove a key that is the only way to identify inlays.
    pub async fn edit_url_template(
        &self,
        id: UrlTemplateId,
        edit: UrlTemplateEdit,
    ) -> Result<Option<UrlTemplate>, StorageError> {
        self.change("edit_url_template", (id, edit), |tx, (id, edit)| {
            Box::pin(self::edit(tx, *id, edit))
        })
        .await
    }

    /// Deletes a template that no chip uses, if it still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`]; [`InUse::ByTemplateInlays`](crate::InUse::ByTemplateInlays),
    /// [`InUse::ByEncodings`](crate::InUse::ByEncodings), [`InUse::ByRun`](crate::InUse::ByRun),
    /// [`InUse::ByOrder`](crate::InUse::ByOrder) and [`InUse::ByImport`](crate::InUse::ByImport).
    pub async fn delete_url_template_if(
        &self,
        id: UrlTemplateId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.change(
            "delete_url_template",
            (id, expected),
            |tx, (id, expected)| Box::pin(delete(tx, *id, expected)),
        )
        .await
    }
}

const SELECT: &str = "SELECT t.id, t.name, t.settings, (SELECT count(*) FROM inlays i
     WHERE i.url_template_id = t.id AND i.deleted_at IS NULL), t.first_tap_at, t.limited_at, t.unlisted, \
     t.create_limit, t.experience_id, t.group_id, t.file_key, t.file_key_print FROM url_templates t";
const COUNT: &str = "SELECT count(*) FROM url_templates";

/// Reads a template without its keys.
fn read(mut row: Row) -> Result<UrlTemplate, StorageError> {
    let id = row.take()?;
    let name = row.take()?;
    let settings: TemplateSettings = row.json("URL template")?;
    let template = Template::new(settings).map_err(|_| unreadable("URL template"))?;
    let (inlays, first_tap_at, limited_at) = (row.take()?, row.take()?, row.take()?);
    let mode = row.text("answer", UnlistedMode::parse)?;
    let create_limit = row.take()?;
    let place = ChipPlace {
        experience_id: row.take()?,
        group_id: row.take()?,
    };
    let file_key = row.sealed_key()?;
    Ok(UrlTemplate {
        id,
        fields: UrlTemplateFields {
            name,
            template,
            keys: Vec::new(),
            unlisted: UnlistedRule {
                mode,
                create_limit,
                place,
                file_key,
            },
        },
        inlays,
        first_tap_at,
        limited_at,
    })
}

/// The template with this id, with its keys.
pub(super) async fn find(
    db: &mut dyn Query,
    id: UrlTemplateId,
) -> Result<Option<UrlTemplate>, StorageError> {
    let sql = format!("{SELECT} WHERE t.id = ?1");
    let Some(found) = db.row(&sql, &values![id]).await? else {
        return Ok(None);
    };
    let mut found = vec![read(found)?];
    add_keys(db, &mut found).await?;
    Ok(found.pop())
}

async fn list(
    db: &mut dyn Query,
    after: Option<UrlTemplateId>,
    limit: usize,
) -> Result<Vec<UrlTemplate>, StorageError> {
    let sql = format!("{SELECT} WHERE t.id > ?1 ORDER BY t.id LIMIT ?2");
    let values = values![after.map_or(0, UrlTemplateId::get), Value::limit(limit)];
    let found = db.query(&sql, &values).await?.into_iter().map(read);
    let mut found = found.collect::<Result<Vec<_>, _>>()?;
    add_keys(db, &mut found).await?;
    Ok(found)
}

/// Adds the shared keys to templates, in the keys' order.
async fn add_keys(db: &mut dyn Query, templates: &mut [UrlTemplate]) -> Result<(), StorageError> {
    let ids = Value::list(templates.iter().map(|template| template.id));
    let sql = "SELECT url_template_id, key_print, key, master_key_id, opens FROM url_template_keys
         WHERE url_template_id IN ids(?1) ORDER BY url_template_id, position";
    for mut row in db.query(sql, &[ids]).await? {
        let id: UrlTemplateId = row.take()?;
        let fingerprint = row.take()?;
        let key: Option<Vec<u8>> = row.take()?;
        let source = match (key, row.take()?) {
            (Some(key), _) => SharedKeySource::Own(key),
            (None, Some(id)) => SharedKeySource::Master(id),
            (None, None) => return Err(unreadable("key")),
        };
        let opens = row.take()?;
        let template = templates.iter_mut().find(|template| template.id == id);
        template
            .ok_or_else(|| unreadable("URL template"))?
            .fields
            .keys
            .push(SharedKey {
                fingerprint,
                source,
                opens,
            });
    }
    Ok(())
}

async fn insert(
    tx: &mut dyn Transaction,
    template: &UrlTemplateFields,
) -> Result<UrlTemplate, StorageError> {
    if tx.count(COUNT, &[]).await? >= URL_TEMPLATES_MAX as u64 {
        return Err(Conflict::TooManyTemplates.into());
    }
    check(tx, None, template).await?;
    let sql = format!("INSERT INTO url_templates ({STORED}) VALUES ({VALUES}) RETURNING id");
    let id = tx.write_one(&sql, &values_of(template)?).await?.take()?;
    put_keys(tx, id, &template.keys).await?;
    tx.changes(Some(CachedPart::UrlTemplates));
    let shown = shown::url_template(template);
    tx.note(Note::created(format!("url-templates/{id}"), &shown));
    let stored = find(tx, id).await?;
    stored.ok_or_else(|| unreadable("URL template"))
}

async fn edit(
    tx: &mut dyn Transaction,
    id: UrlTemplateId,
    edit: &UrlTemplateEdit,
) -> Result<Option<UrlTemplate>, StorageError> {
    let Some(before) = find(tx, id).await? else {
        return Ok(None);
    };
    let after = edit(&before)?;
    if after == before.fields {
        return Ok(Some(before));
    }
    if before.fields.settings() != after.settings() {
        not_in_use(tx, &before).await?;
    }
    check(tx, Some(id), &after).await?;
    if !after.names_inlays() {
        let gone = before.fields.keys.iter();
        let gone = gone.filter(|key| key.opens && !after.has_key(key.fingerprint));
        for key in gone {
            nobody_needs(tx, id, key.fingerprint).await?;
        }
    }
    let sql = format!("UPDATE url_templates SET ({STORED}) = ({VALUES}) WHERE id = ?9");
    let mut values = values_of(&after)?;
    values.push(id.into());
    tx.execute(&sql, &values).await?;
    put_keys(tx, id, &after.keys).await?;
    tx.changes(Some(CachedPart::UrlTemplates));
    tx.note(Note::changed(
        &shown::url_template(&before.fields),
        &shown::url_template(&after),
    ));
    find(tx, id).await
}

async fn delete(
    tx: &mut dyn Transaction,
    id: UrlTemplateId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = find(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    not_in_use(tx, &present).await?;
    let reserved = "SELECT 1 FROM import_rows WHERE url_template_id = ?1 LIMIT 1";
    if tx.exists(reserved, &values![id]).await? {
        return Err(InUse::ByImport("URL template").into());
    }
    put_keys(tx, id, &[]).await?;
    let sql = "DELETE FROM url_templates WHERE id = ?1";
    tx.execute(sql, &values![id]).await?;
    tx.changes(Some(CachedPart::UrlTemplates));
    tx.note(Note::deleted(&shown::url_template(&present.fields)));
    Ok(Some(()))
}

/// Checks a template against other objects: its placeholders must tell it apart from other
/// templates, and its master keys and its experience must exist.
async fn check(
    db: &mut dyn Query,
    itself: Option<UrlTemplateId>,
    template: &UrlTemplateFields,
) -> Result<(), StorageError> {
    template.validate().map_err(Invalid::from)?;
    let mut others = list(db, None, URL_TEMPLATES_MAX).await?;
    others.retain(|other| Some(other.id) != itself);
    let new = &template.template;
    let mut confused = others.iter();
    if let Some(other) = confused.find(|other| new.is_confused_with(&other.fields.template)) {
        let (name, id) = (other.fields.name.clone().into(), other.id);
        return Err(Conflict::TemplatesOverlap { name, id }.into());
    }
    let others: Vec<_> = others.iter().map(|other| &other.fields.template).collect();
    if new.is_crowded(&others) {
        return Err(Conflict::TemplatesCrowded.into());
    }
    for id in template.keys.iter().filter_map(SharedKey::master_key_id) {
        let sql = "SELECT 1 FROM master_keys WHERE id = ?1";
        if !db.exists(sql, &values![id]).await? {
            let field = "master_key_ids".into();
            let (noun, id) = ("master key", id.get());
            return Err(Conflict::MissingInList { field, noun, id }.into());
        }
    }
    let place = template.unlisted.place;
    if let Some(experience) = place.experience_id {
        tags::check_experience(db, experience).await?;
    }
    if let Some(group) = place.group_id {
        groups::existing(db, group).await?;
    }
    Ok(())
}

/// Checks that no chip is written with the template: neither that of an inlay, nor one that is not
/// bound yet.
async fn not_in_use(db: &mut dyn Query, template: &UrlTemplate) -> Result<(), StorageError> {
    match template.inlays {
        0 => writers::none(db, template.id).await,
        inlays => Err(InUse::ByTemplateInlays(inlays).into()),
    }
}

/// Checks that no inlay can be identified only by this meta key.
async fn nobody_needs(
    db: &mut dyn Query,
    id: UrlTemplateId,
    key: KeyFingerprint,
) -> Result<(), StorageError> {
    let sql = "SELECT count(*) FROM inlays WHERE url_template_id = ?1 AND meta_key_print = ?2
         AND deleted_at IS NULL";
    match db.count(sql, &values![id, key]).await? {
        0 => Ok(()),
        inlays => Err(InUse::ByFoundInlays(inlays).into()),
    }
}

const STORED: &str =
    "name, settings, unlisted, create_limit, experience_id, group_id, file_key, file_key_print";
const VALUES: &str = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8";

/// The values for the columns in [`STORED`], in their order.
fn values_of(template: &UrlTemplateFields) -> Result<Vec<Value<'_>>, StorageError> {
    let settings = serde_json::to_string(template.settings());
    let settings = settings.map_err(|_| unreadable("URL template"))?;
    let rule = &template.unlisted;
    let file_key = rule.file_key.as_ref();
    Ok(values![
        &template.name,
        settings,
        rule.mode.as_str(),
        rule.create_limit,
        rule.place.experience_id,
        rule.place.group_id,
        file_key.map(|key| &key.wrapped),
        file_key.map(|key| key.fingerprint),
    ]
    .into())
}

/// Replaces a template's shared keys.
async fn put_keys(
    tx: &mut dyn Transaction,
    id: UrlTemplateId,
    keys: &[SharedKey],
) -> Result<(), StorageError> {
    let sql = "DELETE FROM url_template_keys WHERE url_template_id = ?1";
    tx.execute(sql, &values![id]).await?;
    let columns = [
        "url_template_id",
        "position",
        "key_print",
        "key",
        "master_key_id",
        "opens",
    ];
    let rows = (1_u32..).zip(keys).map(|(position, key)| {
        let own = match &key.source {
            SharedKeySource::Own(wrapped) => Some(wrapped),
            SharedKeySource::Master(_) => None,
        };
        let print = key.fingerprint;
        values![id, position, print, own, key.master_key_id(), key.opens].into()
    });
    super::insert_rows(tx, "url_template_keys", &columns, rows.collect(), "").await?;
    Ok(())
}
