//! Updating variables with a rolling key: one command of the writer. Checks
//! come before writes, so that a refusal is a result and rolls nothing back.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension as _};

use crate::clock::Timestamp;
use crate::id::{InteractionId, TagId};
use crate::interaction::{Change, TagName};
use crate::rolling_key::{IssuedKey, Presented};
use crate::storage::Event;
use crate::storage::interactions::row::{KEY_COLUMNS, issued_key};
use crate::storage::plane::webhooks::outbox::{INSERT, WANTED};
use crate::storage::sqlite::row::unreadable;
use crate::storage::sqlite::writer::Write;
use crate::storage::{StorageError, UpdateRefusal, Updated, VariableUpdate};
use crate::tag::PropertyClass;
use crate::webhook::{EventKind, TagUpdated};

/// Consumes the key and writes the variables, or says why not.
pub(super) fn variables(
    write: &mut Write<'_>,
    update: &VariableUpdate,
) -> Result<Updated, StorageError> {
    let connection = write.connection;
    let Some(held) = held(connection, update.id.0)? else {
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
    connection
        .prepare_cached(
            "UPDATE rolling_keys SET consumed_at = ?2, request = ?3 WHERE interaction_id = ?1",
        )?
        .execute((held.id, now.millis(), update.request))?;
    let json = serde_json::to_string(&changes).map_err(|_| unreadable("change"))?;
    connection
        .prepare_cached("INSERT INTO updates (interaction_id, at, changes) VALUES (?1, ?2, ?3)")?
        .execute((held.id, now.millis(), json))?;
    tell_webhooks(write, &held, update.id, now, &changes)?;
    write.tell(Event::Update {
        interaction_id: update.id,
        tag_id: held.tag_id,
        at: now,
        changes: changes.clone(),
        simulated: held.simulated,
    });
    Ok(Updated::Done(changes))
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
    id: i64,
    key: IssuedKey,
    tag_id: TagId,
    simulated: bool,
    verified: bool,
    assigned: bool,
    requires_verified: bool,
}

static HELD: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {KEY_COLUMNS}, i.tag_id, i.simulated, i.reason,
                t.experience_id IS NOT NULL AND t.deleted_at IS NULL, t.updates_require_verified
         FROM rolling_keys k JOIN interactions i ON i.id = k.interaction_id
              JOIN tags t ON t.id = i.tag_id
         WHERE k.interaction_id = ?1"
    )
});

fn held(connection: &Connection, id: i64) -> Result<Option<Held>, StorageError> {
    let found = connection
        .prepare_cached(&HELD)?
        .query_row([id], |row| {
            Ok(issued_key(row, 0).map(|key| {
                (
                    key,
                    row.get(5),
                    row.get(6),
                    row.get::<_, String>(7),
                    row.get(8),
                    row.get(9),
                )
            }))
        })
        .optional()?;
    let Some((key, tag_id, simulated, reason, assigned, requires_verified)) = found.transpose()?
    else {
        return Ok(None);
    };
    Ok(Some(Held {
        id,
        key,
        tag_id: TagId(tag_id?),
        simulated: simulated?,
        verified: reason? == "verified",
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
