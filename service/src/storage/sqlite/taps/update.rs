//! Updating variables with a rolling key: one command of the writer. Checks
//! come before writes, so that a refusal is a result and rolls nothing back.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};

use super::issued_key;
use crate::clock::Timestamp;
use crate::id::{InteractionId, TagId};
use crate::interaction::{Change, KeyedInteraction, Reason, TagName};
use crate::rolling_key::Presented;
use crate::storage::Event;
use crate::storage::plane::webhooks::outbox::{INSERT, WANTED};
use crate::storage::sqlite::expired_keys::ExpiredKeys;
use crate::storage::sqlite::recent_keys::RecentKeys;
use crate::storage::sqlite::row::unreadable;
use crate::storage::sqlite::writer::Write;
use crate::storage::submissions::SentForm;
use crate::storage::{StorageError, UpdateRefusal, Updated, VariableUpdate};
use crate::tag::PropertyClass;
use crate::webhook::{EventKind, TagUpdated};

/// Consumes the key and writes the variables, or says why not.
pub(super) fn variables(
    write: &mut Write<'_>,
    recent: &RecentKeys,
    expired: &ExpiredKeys,
    update: &VariableUpdate,
) -> Result<Updated, StorageError> {
    let connection = write.connection;
    // Whoever writes notes and forgets: a key that is noted has no update.
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
    let changes = match changes(connection, &tap, &rules, update)? {
        Ok(changes) => changes,
        Err(refusal) => return Ok(Updated::Refused(refusal)),
    };
    let form = update.submission.as_ref().map(SentForm::new);
    if let Some(form) = &form
        && form.once
        && is_sent(connection, tap.tag_id, form)?
    {
        return Ok(Updated::Refused(UpdateRefusal::SentBefore));
    }
    let mut set = connection.prepare_cached(
        "UPDATE properties SET value = ?4 WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
    )?;
    for change in &changes {
        set.execute((
            tap.tag_id.0,
            PropertyClass::Variable.as_str(),
            change.key.as_str(),
            &change.new,
        ))?;
    }
    let json = serde_json::to_string(&changes).map_err(|_| unreadable("change"))?;
    // This row is what consumes the key.
    connection
        .prepare_cached(
            "INSERT INTO updates (interaction_id, at, changes, request) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((update.id.0, now.millis(), json, update.request))?;
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

/// Whether the same form was sent of the tag before.
fn is_sent(connection: &Connection, tag: TagId, sent: &SentForm<'_>) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM submissions WHERE tag_id = ?1 AND form = ?2";
    Ok(connection.prepare_cached(sql)?.exists((tag.0, sent.form))?)
}

/// Notes that an update or a submission is to be counted for reports. PostgreSQL has a trigger.
fn count_later(
    connection: &Connection,
    interaction: InteractionId,
    submission: bool,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO report_updates (interaction_id, submission) VALUES (?1, ?2)")?
        .execute((interaction.0, submission))?;
    Ok(())
}

/// Stores what a form sent, and its event for webhooks, if an endpoint gets such events.
/// PostgreSQL has a trigger for that.
fn store_submission(
    write: &Write<'_>,
    tap: &KeyedInteraction,
    interaction: InteractionId,
    sent: &SentForm<'_>,
    now: Timestamp,
) -> Result<(), StorageError> {
    write
        .connection
        .prepare_cached(
            "INSERT INTO submissions (at, interaction_id, tag_id, experience_id, experience_version, form,
                 verification, simulated, fields, folded, consent)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute((
            now.millis(),
            interaction.0,
            tap.tag_id.0,
            sent.experience_id,
            sent.experience_version,
            sent.form,
            sent.verification,
            tap.simulated,
            &sent.fields,
            &sent.folded,
            sent.consent,
        ))?;
    let id = write.connection.last_insert_rowid();
    count_later(write.connection, interaction, true)?;
    let kind = EventKind::SubmissionCreated.as_str();
    if !write.connection.prepare_cached(WANTED)?.exists([kind])? {
        return Ok(());
    }
    // What it says is read where it is told.
    write.connection.prepare_cached(INSERT)?.execute((
        now.millis(),
        kind,
        tap.tag_id.0,
        sent.experience_id,
        tap.simulated,
        format!("{{\"submission_id\":{id}}}"),
    ))?;
    Ok(())
}

/// Stores the event for webhooks, if an endpoint gets such events. PostgreSQL has a trigger.
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
        .prepare_cached("SELECT slug, name, experience_id FROM tags WHERE id = ?1")?
        .query_row([tap.tag_id.0], |row| {
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
        tap.tag_id.0,
        experience,
        tap.simulated,
        data,
    ))?;
    Ok(())
}

/// What a tag says about its updates at this moment.
struct Rules {
    assigned: bool,
    requires_verified: bool,
}

/// Those of a tag; `None` if there is no such row.
fn rules(connection: &Connection, tag: TagId) -> Result<Option<Rules>, StorageError> {
    let sql = "SELECT experience_id IS NOT NULL AND deleted_at IS NULL, updates_require_verified
         FROM tags WHERE id = ?1";
    let rules = connection.prepare_cached(sql)?.query_row([tag.0], |row| {
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
        "SELECT value FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
    )?;
    let mut changes = Vec::with_capacity(update.data.len());
    for (key, new) in &update.data {
        let old = current
            .query_row(
                (tap.tag_id.0, PropertyClass::Variable.as_str(), key.as_str()),
                |row| row.get(0),
            )
            .optional()?;
        let Some(old) = old else {
            return Ok(Err(UpdateRefusal::UnknownVariable(key.clone())));
        };
        changes.push(Change {
            key: key.clone(),
            old,
            new: new.clone(),
        });
    }
    Ok(Ok(changes))
}
