//! Updating variables with a rolling key: one command of the writer. Checks
//! come before writes, so that a refusal is a result and rolls nothing back.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension as _};

use crate::clock::Timestamp;
use crate::id::{InteractionId, TagId};
use crate::interaction::{Change, TagName};
use crate::rolling_key::{IssuedKey, Presented};
use crate::storage::Event;
use crate::storage::interactions::row::{AFTER_KEY, KEY_COLUMNS, KEY_FROM, issued_key};
use crate::storage::plane::webhooks::outbox::{INSERT, WANTED};
use crate::storage::sqlite::expired_keys::ExpiredKeys;
use crate::storage::sqlite::row::unreadable;
use crate::storage::sqlite::writer::Write;
use crate::storage::submissions::SentForm;
use crate::storage::{StorageError, UpdateRefusal, Updated, VariableUpdate};
use crate::tag::PropertyClass;
use crate::webhook::{EventKind, TagUpdated};

/// Consumes the key and writes the variables, or says why not.
pub(super) fn variables(
    write: &mut Write<'_>,
    expired: &ExpiredKeys,
    update: &VariableUpdate,
) -> Result<Updated, StorageError> {
    let connection = write.connection;
    let held = held(connection, update.id.0)?;
    let Some(held) = held.filter(|held| !expired.has(update.id, held.simulated)) else {
        return Ok(Updated::Refused(UpdateRefusal::InvalidKey));
    };
    let offset = if held.simulated {
        update.simulated_offset
    } else {
        0
    };
    let now = write.now.plus_millis(offset);
    match held.key.present(update.hash, now, update.request) {
        Presented::Invalid => return Ok(Updated::Refused(UpdateRefusal::InvalidKey)),
        Presented::Consumed => return Ok(Updated::Refused(UpdateRefusal::Consumed)),
        Presented::Repeated => return Ok(Updated::Repeated),
        Presented::Usable => {}
    }
    let changes = match changes(connection, &held, update)? {
        Ok(changes) => changes,
        Err(refusal) => return Ok(Updated::Refused(refusal)),
    };
    let form = update.submission.as_ref().map(SentForm::new);
    if let Some(form) = &form
        && form.once
        && is_sent(connection, held.tag_id, form)?
    {
        return Ok(Updated::Refused(UpdateRefusal::SentBefore));
    }
    let mut set = connection.prepare_cached(
        "UPDATE properties SET value = ?4 WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
    )?;
    for change in &changes {
        set.execute((
            held.tag_id.0,
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
    tell_webhooks(write, &held, update.id, now, &changes)?;
    if let Some(form) = &form {
        store_submission(write, &held, update.id, form, now)?;
    }
    write.tell(Event::Update {
        interaction_id: update.id,
        tag_id: held.tag_id,
        at: now,
        changes: changes.clone(),
        simulated: held.simulated,
    });
    if let Some(submission) = &update.submission {
        write.tell(Event::Submission {
            interaction_id: update.id,
            tag_id: held.tag_id,
            experience_id: submission.page.experience_id,
            at: now,
            simulated: held.simulated,
        });
    }
    Ok(Updated::Done(changes))
}

/// Whether the same form was sent of the tag before.
fn is_sent(connection: &Connection, tag: TagId, sent: &SentForm<'_>) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM submissions WHERE tag_id = ?1 AND form = ?2";
    Ok(connection.prepare_cached(sql)?.exists((tag.0, sent.form))?)
}

/// Stores what a form sent, and its event for webhooks, if an endpoint gets such events.
/// PostgreSQL has a trigger for that.
fn store_submission(
    write: &Write<'_>,
    held: &Held,
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
            held.tag_id.0,
            sent.experience_id,
            sent.experience_version,
            sent.form,
            sent.verification,
            held.simulated,
            &sent.fields,
            &sent.folded,
            sent.consent,
        ))?;
    let kind = EventKind::SubmissionCreated.as_str();
    if !write.connection.prepare_cached(WANTED)?.exists([kind])? {
        return Ok(());
    }
    // What it says is read where it is told.
    let id = write.connection.last_insert_rowid();
    write.connection.prepare_cached(INSERT)?.execute((
        now.millis(),
        kind,
        held.tag_id.0,
        sent.experience_id,
        held.simulated,
        format!("{{\"submission_id\":{id}}}"),
    ))?;
    Ok(())
}

/// Stores the event for webhooks, if an endpoint gets such events. PostgreSQL has a trigger.
fn tell_webhooks(
    write: &Write<'_>,
    held: &Held,
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
        .query_row([held.tag_id.0], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let data = TagUpdated {
        tag: TagName {
            tag_id: held.tag_id,
            slug,
            tag_name,
        },
        interaction_id: Some(interaction),
        changes: changes.to_vec(),
        simulated: held.simulated,
    };
    let data = serde_json::to_string(&data).map_err(|_| unreadable("event"))?;
    write.connection.prepare_cached(INSERT)?.execute((
        now.millis(),
        kind,
        held.tag_id.0,
        experience,
        held.simulated,
        data,
    ))?;
    Ok(())
}

/// What stands behind a key at this moment.
#[expect(clippy::struct_excessive_bools, reason = "each is one column")]
struct Held {
    key: IssuedKey,
    tag_id: TagId,
    simulated: bool,
    verified: bool,
    assigned: bool,
    requires_verified: bool,
}

static HELD: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {KEY_COLUMNS}, i.tag_id, i.simulated, i.reason = 'verified',
                t.experience_id IS NOT NULL AND t.deleted_at IS NULL, t.updates_require_verified
         FROM {KEY_FROM} JOIN tags t ON t.id = i.tag_id
         WHERE i.id = ?1 AND i.key_hash IS NOT NULL"
    )
});

fn held(connection: &Connection, id: i64) -> Result<Option<Held>, StorageError> {
    let found = connection
        .prepare_cached(&HELD)?
        .query_row([id], |row| {
            Ok(issued_key(row).map(|key| {
                (
                    key,
                    row.get(AFTER_KEY),
                    row.get(AFTER_KEY + 1),
                    row.get(AFTER_KEY + 2),
                    row.get(AFTER_KEY + 3),
                    row.get(AFTER_KEY + 4),
                )
            }))
        })
        .optional()?;
    let Some((key, tag_id, simulated, verified, assigned, requires_verified)) =
        found.transpose()?
    else {
        return Ok(None);
    };
    Ok(Some(Held {
        key,
        tag_id: TagId(tag_id?),
        simulated: simulated?,
        verified: verified?,
        assigned: assigned?,
        requires_verified: requires_verified?,
    }))
}

fn changes(
    connection: &Connection,
    held: &Held,
    update: &VariableUpdate,
) -> Result<Result<Vec<Change>, UpdateRefusal>, StorageError> {
    if !held.assigned {
        return Ok(Err(UpdateRefusal::NotAssigned));
    }
    if held.requires_verified && !held.verified {
        return Ok(Err(UpdateRefusal::NotVerified));
    }
    let mut current = connection.prepare_cached(
        "SELECT value FROM properties WHERE tag_id = ?1 AND class = ?2 AND key = ?3",
    )?;
    let mut changes = Vec::with_capacity(update.data.len());
    for (key, new) in &update.data {
        let old = current
            .query_row(
                (
                    held.tag_id.0,
                    PropertyClass::Variable.as_str(),
                    key.as_str(),
                ),
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
