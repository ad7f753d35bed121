//! Updates variables with a rolling key, as one command of the writer. Checks come before writes,
//! so that a refusal is a result and needs no rollback.

use std::sync::{Arc, LazyLock};

use rusqlite::{Connection, OptionalExtension as _};

use super::issued_key;
use crate::Event;
use crate::shared::groups::{assigned, led_to};
use crate::shared::webhooks::outbox::{INSERT, WANTED};
use crate::sqlite::expired_keys::ExpiredKeys;
use crate::sqlite::recent_keys::RecentKeys;
use crate::sqlite::row::unreadable;
use crate::sqlite::writer::Write;
use crate::submissions::{REFUSED_MAX, SentForm};
use crate::{StorageError, UpdateRefusal, Updated, VariableUpdate};
use domain::clock::Timestamp;
use domain::id::{InteractionId, TagId};
use domain::interaction::{Change, KeyedInteraction, Reason, TagName, UpdateFault};
use domain::rolling_key::Presented;
use domain::tag::PropertyClass;
use domain::webhook::{EventKind, TagUpdated};

/// Consumes the key and writes the variables, or returns why not.
pub(super) fn variables(
    write: &mut Write<'_>,
    recent: &RecentKeys,
    expired: &ExpiredKeys,
    update: &VariableUpdate,
) -> Result<Updated, StorageError> {
    let connection = write.connection;
    // The writer adds and removes these keys itself, so a key in memory has no update yet.
    let found = match recent.get(update.id, write.now, update.simulated_offset) {
        None => issued_key(connection, update.id, write.now, update.simulated_offset)?,
        known => known,
    };
    let Some((key, tap)) = found.filter(|(_, tap)| !expired.has(update.id, tap.simulated)) else {
        return Ok(Updated::Refused(UpdateRefusal::InvalidKey));
    };
    let now = tap.read_at;
    match key.present(update.hash, now, update.request) {
        Presented::Invalid => return Ok(Updated::Refused(UpdateRefusal::InvalidKey)),
        Presented::Consumed => return Ok(Updated::Refused(UpdateRefusal::Consumed)),
        Presented::Repeated => return Ok(Updated::Repeated),
        Presented::Usable => {}
    }
    let Some(rules) = rules(connection, tap.tag_id)? else {
        return Ok(Updated::Refused(UpdateRefusal::InvalidKey));
    };
    let form = update.submission.as_ref().map(SentForm::new);
    let changes = match changes(connection, &tap, &rules, update)? {
        Ok(changes) => changes,
        Err(refusal) => {
            let kept = match &form {
                Some(form) => keep(write, &tap, update.id, form, &refusal)?,
                None => false,
            };
            return Ok(if kept {
                Updated::Kept(refusal)
            } else {
                Updated::Refused(refusal)
            });
        }
    };
    if let Some(form) = &form
        && form.once
        && is_sent(connection, tap.tag_id, form)?
    {
        return Ok(Updated::Refused(UpdateRefusal::SentBefore));
    }
    if is_saved(connection, update.id)? {
        return Ok(Updated::Refused(UpdateRefusal::Consumed));
    }
    let mut set = connection.prepare_cached(
        "UPDATE properties SET value = ?4, erased = FALSE WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
    )?;
    for change in &changes {
        set.execute((
            tap.tag_id.get(),
            PropertyClass::Variable.as_str(),
            change.key.as_str(),
            &change.new,
        ))?;
    }
    let json = serde_json::to_string(&changes).map_err(|_| unreadable("change"))?;
    // This row consumes the key.
    connection
        .prepare_cached(
            "INSERT INTO updates (interaction_id, at, changes, request) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((update.id.get(), now.millis(), json, update.request))?;
    recent.forget(update.id);
    count_later(connection, update.id, false)?;
    tell_webhooks(write, &tap, update.id, now, &changes)?;
    if let Some(form) = &form {
        store_submission(write, &tap, update.id, form, now)?;
    }
    let changes = Arc::<[Change]>::from(changes);
    write.tell(Event::Update {
        interaction_id: update.id,
        tag_id: tap.tag_id,
        at: now,
        changes: Arc::clone(&changes),
        simulated: tap.simulated,
    });
    if let Some(submission) = &update.submission {
        write.tell(Event::Submission {
            interaction_id: update.id,
            tag_id: tap.tag_id,
            experience_id: submission.page.experience_id,
            at: now,
            simulated: tap.simulated,
        });
    }
    Ok(Updated::Done(changes))
}

/// Whether the same form was sent and saved at the tag before.
fn is_sent(connection: &Connection, tag: TagId, sent: &SentForm<'_>) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM submissions WHERE tag_id = ?1 AND form = ?2 AND refused IS NULL";
    Ok(connection
        .prepare_cached(sql)?
        .exists((tag.get(), sent.form))?)
}

/// Whether the owner saved a form that was refused with the key of a tap.
fn is_saved(connection: &Connection, tap: InteractionId) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM submissions WHERE interaction_id = ?1 AND refused IS NULL";
    Ok(connection.prepare_cached(sql)?.exists([tap.get()])?)
}

/// Keeps the data of a refused form, if its owner can remove the reason: one form for each tap, and
/// [`REFUSED_MAX`] for each tag. Returns whether it was kept.
fn keep(
    write: &Write<'_>,
    tap: &KeyedInteraction,
    interaction: InteractionId,
    sent: &SentForm<'_>,
    refusal: &UpdateRefusal,
) -> Result<bool, StorageError> {
    let fault = match refusal {
        UpdateRefusal::UnknownVariable(_) => UpdateFault::UnknownVariable,
        UpdateRefusal::NotAssigned => UpdateFault::NotAssigned,
        _ => return Ok(false),
    };
    let connection = write.connection;
    if (sent.once && is_sent(connection, tap.tag_id, sent)?) || is_saved(connection, interaction)? {
        return Ok(false);
    }
    let others: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM submissions
             WHERE tag_id = ?1 AND refused IS NOT NULL AND interaction_id <> ?2",
        )?
        .query_row((tap.tag_id.get(), interaction.get()), |row| row.get(0))?;
    if others >= REFUSED_MAX {
        return Ok(false);
    }
    forget_refused(connection, interaction)?;
    insert(write, tap, interaction, sent, tap.read_at, Some(fault))?;
    Ok(true)
}

/// Removes the refused form of a tap, because another form is sent with its key.
fn forget_refused(connection: &Connection, tap: InteractionId) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM submissions WHERE interaction_id = ?1 AND refused IS NOT NULL",
        )?
        .execute([tap.get()])
        .map(drop)
}

/// Marks an update or a submission to be counted for reports. PostgreSQL uses a trigger.
fn count_later(
    connection: &Connection,
    interaction: InteractionId,
    submission: bool,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO report_updates (interaction_id, submission) VALUES (?1, ?2)")?
        .execute((interaction.get(), submission))?;
    Ok(())
}

/// Stores a submission, and its webhook event, if an endpoint gets such events. PostgreSQL uses a
/// trigger for that.
fn store_submission(
    write: &Write<'_>,
    tap: &KeyedInteraction,
    interaction: InteractionId,
    sent: &SentForm<'_>,
    now: Timestamp,
) -> Result<(), StorageError> {
    forget_refused(write.connection, interaction)?;
    insert(write, tap, interaction, sent, now, None)?;
    let id = write.connection.last_insert_rowid();
    count_later(write.connection, interaction, true)?;
    let kind = EventKind::SubmissionCreated.as_str();
    if !write.connection.prepare_cached(WANTED)?.exists([kind])? {
        return Ok(());
    }
    // The event's data is read when it is delivered.
    write.connection.prepare_cached(INSERT)?.execute((
        now.millis(),
        kind,
        tap.tag_id.get(),
        sent.experience_id,
        tap.simulated,
        format!("{{\"submission_id\":{id}}}"),
    ))?;
    Ok(())
}

/// Stores a submission; with a fault, as refused.
fn insert(
    write: &Write<'_>,
    tap: &KeyedInteraction,
    interaction: InteractionId,
    sent: &SentForm<'_>,
    now: Timestamp,
    fault: Option<UpdateFault>,
) -> Result<(), StorageError> {
    write
        .connection
        .prepare_cached(
            "INSERT INTO submissions (at, interaction_id, tag_id, experience_id, experience_version, form,
                 verification, simulated, fields, folded, consent, refused)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute((
            now.millis(),
            interaction.get(),
            tap.tag_id.get(),
            sent.experience_id,
            sent.experience_version,
            sent.form,
            sent.verification,
            tap.simulated,
            &sent.fields,
            &sent.folded,
            sent.consent,
            fault.map(UpdateFault::as_str),
        ))?;
    Ok(())
}

/// Stores the webhook event, if an endpoint gets such events. PostgreSQL uses a trigger.
fn tell_webhooks(
    write: &Write<'_>,
    tap: &KeyedInteraction,
    interaction: InteractionId,
    now: Timestamp,
    changes: &[Change],
) -> Result<(), StorageError> {
    let kind = EventKind::TagUpdated.as_str();
    if !write.connection.prepare_cached(WANTED)?.exists([kind])? {
        return Ok(());
    }
    let (slug, tag_name, experience): (String, String, Option<i64>) = write
        .connection
        .prepare_cached(&EVENT_TAG)?
        .query_row([tap.tag_id.get()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let data = TagUpdated {
        tag: TagName {
            tag_id: tap.tag_id,
            slug,
            tag_name,
        },
        interaction_id: Some(interaction),
        changes: changes.to_vec(),
        simulated: tap.simulated,
    };
    let data = serde_json::to_string(&data).map_err(|_| unreadable("event"))?;
    write.connection.prepare_cached(INSERT)?.execute((
        now.millis(),
        kind,
        tap.tag_id.get(),
        experience,
        tap.simulated,
        data,
    ))?;
    Ok(())
}

static EVENT_TAG: LazyLock<String> = LazyLock::new(|| {
    let led_to = led_to("");
    format!("SELECT slug, name, {led_to} FROM tags WHERE id = ?1")
});
static RULES: LazyLock<String> = LazyLock::new(|| {
    let assigned = assigned("");
    format!(
        "SELECT {assigned} AND deleted_at IS NULL, updates_require_verified FROM tags WHERE id = ?1"
    )
});

/// A tag's current rules for updates.
struct Rules {
    assigned: bool,
    requires_verified: bool,
}

/// The rules of a tag; `None` if there is no such row.
fn rules(connection: &Connection, tag: TagId) -> Result<Option<Rules>, StorageError> {
    let rules = connection
        .prepare_cached(&RULES)?
        .query_row([tag.get()], |row| {
            Ok(Rules {
                assigned: row.get(0)?,
                requires_verified: row.get(1)?,
            })
        });
    Ok(rules.optional()?)
}

fn changes(
    connection: &Connection,
    tap: &KeyedInteraction,
    rules: &Rules,
    update: &VariableUpdate,
) -> Result<Result<Vec<Change>, UpdateRefusal>, StorageError> {
    if !rules.assigned {
        return Ok(Err(UpdateRefusal::NotAssigned));
    }
    if rules.requires_verified && tap.verdict.reason() != Reason::Verified {
        return Ok(Err(UpdateRefusal::NotVerified));
    }
    let mut current = connection.prepare_cached(
        "SELECT value, erased FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
    )?;
    let mut changes = Vec::with_capacity(update.data.len());
    for (key, new) in &update.data {
        let old = current
            .query_row(
                (
                    tap.tag_id.get(),
                    PropertyClass::Variable.as_str(),
                    key.as_str(),
                ),
                |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)),
            )
            .optional()?;
        let Some((old, erased)) = old else {
            return Ok(Err(UpdateRefusal::UnknownVariable(key.clone())));
        };
        changes.push(Change {
            key: key.clone(),
            // An erased previous value is not recorded.
            old: (!erased).then_some(old),
            new: new.clone(),
        });
    }
    Ok(Ok(changes))
}
