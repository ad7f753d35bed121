//! Chips that are no inlays: their counters, their list, and their way into the inventory.
//!
//! A tap of such a chip is a transaction that writes configuration, of which only one runs at a
//! time over all nodes. So two first taps of one chip create one tag, and no tap misses that its
//! chip is being enrolled.

mod list;
mod made;

use std::collections::HashMap;

use super::webhooks::outbox;
use super::{Query, Transaction, counters, inlays, tags};
use crate::value::{Row, Value, unreadable, values};
use crate::{
    Access, CreatedByTap, EnrolOn, Event, MadeByTaps, NewIds, Storage, StorageError,
    UnlistedFilter, UnlistedOutcome, UnlistedTap,
};
use domain::audit::Note;
use domain::clock::Timestamp;
use domain::id::{InlayId, InteractionId, TagId, UrlTemplateId};
use domain::inventory::{Inlay, KeyPrints, NewInlay, UnlistedChip, UnlistedMode};
use domain::resource_kind::ResourceKind;
use domain::tag::TagFields;
use domain::webhook::{About, EventKind, object};
use inlay::Uid;
use inlay::key::KeyFingerprint;

/// Unlisted chips that one transaction removes.
const REMOVED_AT_ONCE: usize = 1_000;

/// The operations on unlisted chips.
///
/// A chip's counter is kept from its first code on: a code that came before the chip was enrolled
/// is never accepted afterwards.
impl Access {
    /// Keeps the counter of an authentic code of a chip that was no inlay a moment ago. With
    /// `create`, the commit also creates the inlay and the tag, and records the tap, unless the code
    /// was used before, the limit of the day is reached, or the URL template does not create tags
    /// any more. Then the chip is only kept.
    ///
    /// The service does this by itself: the audit log mentions callers' changes only.
    pub async fn unlisted_tap(
        &self,
        tap: UnlistedTap,
        create: Option<CreatedByTap>,
    ) -> Result<UnlistedOutcome, StorageError> {
        // PostgreSQL reserves the id before the commit; SQLite's writer counts.
        let id = match (&self.storage, &create) {
            #[cfg(feature = "postgres")]
            (Storage::Postgres(database), Some(_)) => Some(database.reserve().await?),
            _ => None,
        };
        let arguments = (tap, create, id);
        let run = self.run_change("unlisted_tap", arguments, |tx, (tap, create, id)| {
            Box::pin(self::tap(tx, tap, create.as_ref(), *id))
        });
        let (outcome, event) = run.await?;
        if let Some(event) = event {
            self.tell(event);
        }
        self.tell_changed(ResourceKind::UnlistedChips, None);
        Ok(outcome)
    }

    /// At most `limit` unlisted chips before the one with the number `after`, the newest first.
    pub async fn unlisted_chips(
        &self,
        filter: UnlistedFilter,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<UnlistedChip>, StorageError> {
        let arguments = (filter, after, limit);
        self.read("unlisted_chips", arguments, |db, (filter, after, limit)| {
            Box::pin(list::list(db, *filter, *after, *limit))
        })
        .await
    }

    /// How many unlisted chips match `filter`.
    pub async fn count_unlisted_chips(&self, filter: UnlistedFilter) -> Result<u64, StorageError> {
        self.read("count_unlisted_chips", filter, |db, filter| {
            Box::pin(list::count(db, *filter))
        })
        .await
    }

    /// Makes an unlisted chip an inlay on a tag. Its counter continues. `None` if the chip is not
    /// listed, also if it is an inlay by now.
    ///
    /// # Errors
    ///
    /// Those of [`Self::insert_inlay`] and [`Self::insert_tags`].
    pub async fn enrol_unlisted_chip(
        &self,
        inlay: NewInlay,
        on: EnrolOn,
    ) -> Result<Option<Inlay>, StorageError> {
        self.change("enrol_unlisted_chip", (inlay, on), |tx, (inlay, on)| {
            Box::pin(enrol(tx, inlay, on))
        })
        .await
    }

    /// Removes some chips of URL templates that do not exist any more, and some of templates with
    /// more than `keep` chips, the oldest first. `true` if more may be left.
    pub async fn prune_unlisted_chips(&self, keep: usize) -> Result<bool, StorageError> {
        let found = self.run_read("superfluous_unlisted_chips", keep, |db, keep| {
            Box::pin(superfluous(db, *keep))
        });
        let found = found.await?;
        if found.is_empty() {
            return Ok(false);
        }
        self.run_change("prune_unlisted_chips", found, |tx, found| {
            Box::pin(async move {
                let sql = "DELETE FROM unlisted_chips WHERE id IN ids(?1)";
                tx.execute(sql, &values![Value::list(found)]).await?;
                Ok(true)
            })
        })
        .await
    }

    /// How many inlays and tags taps at a URL template created since `since` that are still
    /// together.
    pub async fn made_by_taps(
        &self,
        template: UrlTemplateId,
        since: Timestamp,
    ) -> Result<MadeByTaps, StorageError> {
        self.read(
            "made_by_taps",
            (template, since),
            |db, (template, since)| Box::pin(made::count(db, *template, *since)),
        )
        .await
    }

    /// Deletes some of these inlays and tags; all are deleted once it returns none. Their tags can
    /// be restored, and the counters of the chips stay.
    pub async fn delete_made_by_taps(
        &self,
        template: UrlTemplateId,
        since: Timestamp,
    ) -> Result<MadeByTaps, StorageError> {
        let arguments = (template, since);
        self.change("delete_made_by_taps", arguments, |tx, (template, since)| {
            Box::pin(made::delete_some(tx, *template, *since))
        })
        .await
    }
}

async fn tap(
    tx: &mut dyn Transaction,
    tap: &UnlistedTap,
    create: Option<&CreatedByTap>,
    id: Option<InteractionId>,
) -> Result<(UnlistedOutcome, Option<Event>), StorageError> {
    let (mut last, mut is_first) = (0, true);
    match inlay_with(tx, tap.uid).await? {
        Some(inlay) if !inlay.deleted => {
            let here = inlay.url_template_id == Some(tap.url_template_id);
            return Ok((UnlistedOutcome::Listed { here }, None));
        }
        Some(inlay) if inlay.simulated => return Ok((UnlistedOutcome::Simulated, None)),
        Some(inlay) => {
            last = counters::last_under(tx, inlay.id, inlay.keys, tap.keys).await?;
            is_first = false;
        }
        None => {}
    }
    let known = "SELECT last FROM unlisted_chips WHERE uid = ?1";
    if let Some(mut row) = tx.row(known, &values![tap.uid]).await? {
        last = last.max(row.take()?);
        is_first = false;
    }
    let is_new = tap.counter > last;
    let mut outcome = UnlistedOutcome::Kept;
    if let Some(create) = create.filter(|_| is_new)
        && creates(tx, tap).await?
    {
        if takes_one(tx, tap.url_template_id).await? {
            let seen = (!is_first).then_some(last);
            return self::create(tx, tap, seen, create, id).await;
        }
        tell_limit(tx, tap.url_template_id).await?;
        outcome = UnlistedOutcome::Limited;
    }
    keep(tx, tap, last).await?;
    Ok((outcome, None))
}

/// An inlay, deleted or not.
struct Former {
    id: InlayId,
    deleted: bool,
    simulated: bool,
    url_template_id: Option<UrlTemplateId>,
    keys: Option<KeyPrints>,
}

async fn inlay_with(db: &mut dyn Query, uid: Uid) -> Result<Option<Former>, StorageError> {
    let sql = "SELECT id, deleted_at IS NOT NULL, simulated, url_template_id, meta_key_print, file_key_print
         FROM inlays WHERE uid = ?1";
    let Some(mut row) = db.row(sql, &values![uid]).await? else {
        return Ok(None);
    };
    Ok(Some(Former {
        id: row.take()?,
        deleted: row.take()?,
        simulated: row.take()?,
        url_template_id: row.take()?,
        keys: {
            let (meta, file): (_, Option<KeyFingerprint>) = (row.take()?, row.take()?);
            file.map(|file| KeyPrints { meta, file })
        },
    }))
}

/// Whether the URL template creates tags now, and no unfinished import has reserved the chip.
async fn creates(db: &mut dyn Query, tap: &UnlistedTap) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM url_templates WHERE id = ?1 AND unlisted = ?2
         AND NOT EXISTS (SELECT 1 FROM import_rows WHERE uid = ?3)";
    let mode = UnlistedMode::Create.as_str();
    db.exists(sql, &values![tap.url_template_id, mode, tap.uid])
        .await
}

/// Counts a tag that a tap creates. `false` if the limit of the day is reached.
async fn takes_one(
    tx: &mut dyn Transaction,
    template: UrlTemplateId,
) -> Result<bool, StorageError> {
    let today = counters::day(tx.now());
    let sql = "UPDATE url_templates SET created_on = ?2,
             created = CASE WHEN created_on = ?2 THEN created + 1 ELSE 1 END
         WHERE id = ?1 AND (created_on <> ?2 OR created < create_limit)";
    Ok(tx.execute(sql, &values![template, today]).await? > 0)
}

/// Notes that the limit of the day is reached, and raises the alert, once a day.
async fn tell_limit(tx: &mut dyn Transaction, template: UrlTemplateId) -> Result<(), StorageError> {
    let now = tx.now();
    let sql = "SELECT limited_at, name, create_limit FROM url_templates WHERE id = ?1";
    let mut row = tx.one(sql, &values![template]).await?;
    let limited_at: Option<Timestamp> = row.take()?;
    if limited_at.is_some_and(|at| counters::day(at) == counters::day(now)) {
        return Ok(());
    }
    let (name, limit): (String, u32) = (row.take()?, row.take()?);
    let sql = "UPDATE url_templates SET limited_at = ?2 WHERE id = ?1";
    tx.execute(sql, &values![template, now]).await?;
    let data = serde_json::json!({
        "message": format!(
            "Taps have created {limit} tags with the URL template \"{name}\" today, which is its limit. Further \
             chips are only listed. If these chips are not yours, a key of the template has leaked: undo the tags."
        ),
        "url_template_id": template,
        "create_limit": limit,
    });
    let about = About::default();
    outbox::tell(tx, EventKind::AlertUnlistedLimit, about, object(&data)).await
}

/// Keeps the counter of a code, in the row of its chip.
async fn keep(tx: &mut dyn Transaction, tap: &UnlistedTap, last: u32) -> Result<(), StorageError> {
    let sql = "INSERT INTO unlisted_chips AS c (uid, url_template_id, technology, meta_key_print, file_key_print,
             last, first_seen_at, last_seen_at, taps)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1)
         ON CONFLICT (uid) DO UPDATE SET url_template_id = excluded.url_template_id,
             technology = excluded.technology, meta_key_print = excluded.meta_key_print,
             file_key_print = excluded.file_key_print, last = excluded.last,
             last_seen_at = excluded.last_seen_at, taps = c.taps + 1";
    let values = values![
        tap.uid,
        tap.url_template_id,
        tap.technology.as_str(),
        tap.keys.meta,
        tap.keys.file,
        last.max(tap.counter),
        tx.now(),
    ];
    tx.execute(sql, &values).await.map(drop)
}

/// Creates the tag and the inlay of a tap, and records it. Both are new, so no cache contains them.
/// `seen` is the last counter of the chip; `None` if the chip was never an inlay, nor listed.
async fn create(
    tx: &mut dyn Transaction,
    tap: &UnlistedTap,
    seen: Option<u32>,
    create: &CreatedByTap,
    id: Option<InteractionId>,
) -> Result<(UnlistedOutcome, Option<Event>), StorageError> {
    let tag = new_tag(tx, &create.tag).await?;
    let new = NewInlay {
        last_counter: seen.unwrap_or_default(),
        ..create.inlay.clone().on(tag)
    };
    let made = match seen {
        Some(_) => inlays::put_all(tx, &[&new], true).await?,
        None => inlays::put_never_seen(tx, &[&new]).await?,
    };
    let inlay = made.into_iter().next().ok_or_else(|| unreadable("inlay"))?;
    let sql = "INSERT INTO tap_made_inlays (inlay_id, tag_id, url_template_id, made_at) VALUES (?1, ?2, ?3, ?4)";
    let values = values![inlay, tag, tap.url_template_id, tx.now()];
    tx.execute(sql, &values).await?;
    let version = "SELECT key_version FROM counters WHERE inlay_id = ?1";
    let key_version = tx.one(version, &values![inlay]).await?.take()?;
    let ids = NewIds {
        tag,
        inlay,
        key_version,
    };
    let interaction = (create.tap)(ids, tap.counter);
    let (recorded, event) = tx.record_tap(id, &interaction).await?;
    Ok((UnlistedOutcome::Created(tag, recorded), event))
}

async fn new_tag(tx: &mut dyn Transaction, tag: &TagFields) -> Result<TagId, StorageError> {
    let mut tag = tag.clone();
    let mut written = tags::Written::default();
    written.fill_new(tx, &mut tag).await?;
    tags::insert(tx, &mut written, &tag, false).await
}

/// Removes the rows of chips that become inlays, and returns their file keys and counters.
pub(super) async fn take(
    tx: &mut dyn Transaction,
    inlays: &[&NewInlay],
) -> Result<HashMap<Uid, (KeyFingerprint, u32)>, StorageError> {
    let sql = "SELECT id, uid, file_key_print, last FROM unlisted_chips WHERE uid";
    let (mut ids, mut known) = (Vec::<i64>::new(), HashMap::new());
    for mut row in inlays::rows_of(tx, sql, inlays).await? {
        ids.push(row.take()?);
        known.insert(row.take()?, (row.take()?, row.take()?));
    }
    if !ids.is_empty() {
        let sql = "DELETE FROM unlisted_chips WHERE id IN ids(?1)";
        tx.execute(sql, &values![Value::list(&ids)]).await?;
    }
    Ok(known)
}

async fn enrol(
    tx: &mut dyn Transaction,
    inlay: &NewInlay,
    on: &EnrolOn,
) -> Result<Option<Inlay>, StorageError> {
    let known = "SELECT last FROM unlisted_chips WHERE uid = ?1";
    let Some(mut row) = tx.row(known, &values![inlay.uid]).await? else {
        return Ok(None);
    };
    let last_counter = row.take()?;
    let tag = match on {
        EnrolOn::Existing(tag) => *tag,
        EnrolOn::New(tag) => new_tag(tx, tag).await?,
    };
    let new = NewInlay {
        last_counter,
        ..inlay.clone().on(tag)
    };
    let id = inlays::insert(tx, &new).await?;
    // The request's own object is the chip, so its row has no values of the inlay.
    tx.note(Note::done(
        &serde_json::json!({"inlay_id": id, "tag_id": tag}),
    ));
    inlays::with_uid(tx, inlay.uid).await
}

/// Some chips that need not be kept.
async fn superfluous(db: &mut dyn Query, keep: usize) -> Result<Vec<i64>, StorageError> {
    let numbers = |rows: Vec<Row>| -> Result<Vec<i64>, StorageError> {
        rows.into_iter().map(|mut row| row.take()).collect()
    };
    // The index has each template's chips together, so each step skips to the next template.
    let (mut after, mut templates) = (0_i64, Vec::new());
    let next = "SELECT url_template_id FROM unlisted_chips WHERE url_template_id > ?1
         ORDER BY url_template_id LIMIT 1";
    while let Some(mut row) = db.row(next, &values![after]).await? {
        after = row.take()?;
        templates.push(after);
    }
    for template in templates {
        let exists = "SELECT 1 FROM url_templates WHERE id = ?1";
        let kept = if db.exists(exists, &values![template]).await? {
            keep
        } else {
            0
        };
        let sql = "SELECT id FROM unlisted_chips WHERE url_template_id = ?1
             ORDER BY id DESC LIMIT ?2 OFFSET ?3";
        let values = values![template, Value::limit(REMOVED_AT_ONCE), Value::limit(kept)];
        let found = numbers(db.query(sql, &values).await?)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}
