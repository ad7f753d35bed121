//! Encodings and their turns.

use serde_json::json;

use super::{ABANDONED, OPEN, chips, state};
use crate::conflict::UNPROVED_MAX;
use crate::shared::audit::shown;
use crate::shared::webhooks::outbox;
use crate::shared::{
    Query, Transaction, encoding_runs, groups, inlays, insert_rows, url_templates,
};
use crate::value::{Row, Value, unreadable, values};
use crate::{Conflict, EncodingTurn, Ending, Event, StorageError, StoredEncoding};
use domain::audit::Note;
use domain::clock::{Millis, Timestamp};
use domain::id::{EncodingId, EncodingRunId, TagId, TokenId};
use domain::webhook::{About, EventKind, object};
use encoding::{Exchange, Goal, OpenedAddress, Reason, State, shown_uid};
use inlay::Uid;

/// Columns of an encoding, for [`read`].
pub(crate) const COLUMNS: &str = "id, uid, run_id, tag_id, form, generation, \
    state, reason, outcome, seq, progress, created_at, updated_at";

/// Reads a row of [`COLUMNS`].
pub(crate) fn read(mut row: Row) -> Result<StoredEncoding, StorageError> {
    let id = row.take()?;
    let (uid, run_id) = (row.take()?, row.take()?);
    let tag: Option<TagId> = row.take()?;
    let form = row.optional_text("form", |json| serde_json::from_str(json).ok())?;
    let generation: Option<u32> = row.take()?;
    let state = state::read(&mut row)?;
    let (seq, progress) = (row.take()?, row.take()?);
    Ok(StoredEncoding {
        id: Some(id),
        uid,
        goal: tag.map_or(Goal::Factory, Goal::Tag),
        run_id,
        form,
        generation: generation.and_then(|number| number.try_into().ok()),
        state,
        seq,
        progress,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

pub(super) async fn encoding(
    db: &mut dyn Query,
    id: EncodingId,
) -> Result<Option<StoredEncoding>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM encodings WHERE id = ?1");
    db.row(&sql, &values![id]).await?.map(read).transpose()
}

/// Stores with a verified encoding whether its address could be opened.
pub(super) async fn note_address_opened(
    tx: &mut dyn Transaction,
    id: EncodingId,
    address: OpenedAddress,
) -> Result<(), StorageError> {
    let found = encoding(tx, id).await?;
    let Some(found) = found.filter(|found| found.state.is_verified()) else {
        return Ok(());
    };
    let [word, reason, outcome] = state::columns(&found.state.open_address(address))?;
    let sql = "UPDATE encodings SET state = ?2, reason = ?3, outcome = ?4 WHERE id = ?1";
    tx.execute(sql, &values![id, word, reason, outcome])
        .await
        .map(drop)
}

/// The newest encoding of a chip.
pub(super) async fn latest(
    db: &mut dyn Query,
    uid: Uid,
) -> Result<Option<StoredEncoding>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM encodings WHERE uid = ?1 ORDER BY id DESC LIMIT 1");
    db.row(&sql, &values![uid]).await?.map(read).transpose()
}

/// The newest encoding of a chip that ended as verified or reset.
pub(super) async fn finished(
    db: &mut dyn Query,
    uid: Uid,
) -> Result<Option<StoredEncoding>, StorageError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM encodings WHERE uid = ?1 AND state IN ('verified', 'reset')
         ORDER BY id DESC LIMIT 1"
    );
    db.row(&sql, &values![uid]).await?.map(read).transpose()
}

pub(super) async fn store(
    tx: &mut dyn Transaction,
    turn: &EncodingTurn,
    token: Option<TokenId>,
) -> Result<Option<StoredEncoding>, StorageError> {
    let uid = turn.encoding.uid;
    let latest = latest(tx, uid).await?;
    let present = latest
        .as_ref()
        .and_then(|latest| Some((latest.id?, latest.seq)));
    if present != turn.expected {
        return Ok(None);
    }
    let mut encoding = turn.encoding.clone();
    if let Some(kept) = &turn.place {
        let Some(tag) = encoding_runs::keep(tx, kept, uid).await? else {
            return Ok(None);
        };
        encoding.goal = Goal::Tag(tag);
    }
    let mut binds = false;
    match &turn.ending {
        Ending::None => {}
        Ending::Bound(inlay) => {
            check_template(tx, &encoding).await?;
            if let Some(reason) = why_not_bound(tx, &encoding).await? {
                encoding.state = encoding.state.reject(reason);
            } else {
                binds = true;
                let inlay = inlays::bind_encoded(tx, inlay).await?;
                encoding.state = encoding.state.bind(inlay);
            }
        }
        Ending::Reset => inlays::forget(tx, uid).await?,
    }
    chips::store(tx, &turn.journal).await?;
    let id = write(tx, &encoding, token).await?;
    if binds {
        tell(tx, id, &encoding).await?;
    }
    add_exchanges(tx, id, &turn.exchanges).await?;
    let before = latest.filter(|_| encoding.id.is_some());
    tx.note(note(id, before.as_ref(), &encoding, turn));
    encoding.id = Some(id);
    encoding.updated_at = tx.now();
    Ok(Some(encoding))
}

/// The audit note of a turn: the chip's goal, each state that its encoding reaches, and the inlay
/// that is bound.
fn note(
    id: EncodingId,
    before: Option<&StoredEncoding>,
    after: &StoredEncoding,
    turn: &EncodingTurn,
) -> Note {
    let object = format!("encodings/{id}");
    let tag_id = after.goal.tag();
    let Some(before) = before else {
        let begun = json!({
            "uid": shown_uid(after.uid),
            "tag_id": tag_id,
            "run_id": after.run_id,
            "wipe": after.goal == Goal::Factory,
            "replace": turn.replaces,
            "state": after.state.word(),
            "reason": after.state.reason(),
        });
        return Note::created(object, &begun);
    };
    let shown = |state: &State| json!({"state": state.word(), "reason": state.reason()});
    let (was, mut is) = (shown(&before.state), shown(&after.state));
    if turn.replaces {
        is["replace"] = json!(true);
    }
    if let (Ending::Bound(inlay), Some(outcome)) = (&turn.ending, after.state.outcome()) {
        is["inlay_id"] = json!(outcome.inlay_id);
        is["counter"] = json!(outcome.counter);
        is["inlay"] = shown::inlay(inlay.uid, &inlay.fields);
    }
    Note {
        object: Some(object),
        ..Note::changed(&was, &is)
    }
}

/// Why a verified chip is not bound: since it was placed on the reader, its tag got another inlay,
/// or its inlay another tag. Nothing is overwritten; the journal keeps the chip's keys.
async fn why_not_bound(
    db: &mut dyn Query,
    encoding: &StoredEncoding,
) -> Result<Option<Reason>, StorageError> {
    let Goal::Tag(tag) = encoding.goal else {
        return Ok(None);
    };
    let form = encoding.form.as_ref();
    let inlay = inlays::with_uid(db, encoding.uid).await?;
    let bound = inlay.and_then(|inlay| inlay.fields.tag_id);
    if bound == Some(tag) {
        return Ok(None);
    }
    if bound.is_some() && bound != form.and_then(|form| form.taken_from) {
        return Ok(Some(Reason::AlreadyEncoded));
    }
    let sql = "SELECT count(*) FROM inlays WHERE tag_id = ?1 AND uid <> ?2 AND deleted_at IS NULL";
    let others = db.count(sql, &values![tag, encoding.uid]).await?;
    let additional = form.is_some_and(|form| form.additional);
    Ok((others > 0 && !additional).then_some(Reason::TagHasInlay))
}

/// Taps are checked with the current template, so a chip that was written with an earlier text is
/// not bound.
async fn check_template(db: &mut dyn Query, encoding: &StoredEncoding) -> Result<(), StorageError> {
    let Some(form) = &encoding.form else {
        return Ok(());
    };
    let Some(id) = form.url_template_id else {
        return Ok(());
    };
    let present = url_templates::find(db, id).await?;
    match present {
        Some(present) if *present.fields.settings() == form.template => Ok(()),
        _ => Err(Conflict::TemplateChanged.into()),
    }
}

/// Cancels the open encoding of a chip.
pub(in crate::shared) async fn give_up(
    tx: &mut dyn Transaction,
    uid: Uid,
) -> Result<(), StorageError> {
    let sql =
        format!("UPDATE encodings SET {ABANDONED}, updated_at = ?1 WHERE uid = ?2 AND {OPEN}");
    let now = tx.now();
    tx.execute(&sql, &values![now, uid]).await.map(drop)
}

/// The event for listeners about an encoded inlay.
pub(crate) fn encoded(encoding: &StoredEncoding) -> Option<Event> {
    let (Some(encoding_id), Goal::Tag(tag_id), Some(outcome)) =
        (encoding.id, encoding.goal, encoding.state.outcome())
    else {
        return None;
    };
    Some(Event::Encoded {
        encoding_id,
        run_id: encoding.run_id,
        tag_id,
        inlay_id: outcome.inlay_id,
        uid: encoding.uid,
        counter: outcome.counter,
        at: encoding.updated_at,
    })
}

/// Stores a webhook event about an encoded inlay, in the commit that binds it.
async fn tell(
    tx: &mut dyn Transaction,
    id: EncodingId,
    encoding: &StoredEncoding,
) -> Result<(), StorageError> {
    let (Goal::Tag(tag), Some(outcome)) = (encoding.goal, encoding.state.outcome()) else {
        return Ok(());
    };
    let sql = format!("SELECT {} FROM tags WHERE id = ?1", groups::led_to(""));
    let about = About {
        tag_id: Some(tag),
        experience_id: tx.one(&sql, &values![tag]).await?.take()?,
        simulated: false,
    };
    let data = object(&json!({
        "encoding_id": id,
        "run_id": encoding.run_id,
        "tag_id": tag,
        "inlay_id": outcome.inlay_id,
        "uid": encoding.uid,
        "counter": outcome.counter,
    }));
    outbox::tell(tx, EventKind::InlayEncoded, about, data).await
}

async fn write(
    tx: &mut dyn Transaction,
    encoding: &StoredEncoding,
    token: Option<TokenId>,
) -> Result<EncodingId, StorageError> {
    let form = encoding.form.as_ref().map(serde_json::to_string);
    let form = form.transpose().map_err(|_| unreadable("form"))?;
    let [state, reason, outcome] = state::columns(&encoding.state)?;
    let tag = match encoding.goal {
        Goal::Tag(tag) => Some(tag),
        Goal::Factory => None,
        // Only a place in a run creates a tag. Without one, the row would mean a wipe.
        Goal::NewTag => return Err(unreadable("goal of an encoding")),
    };
    let now = tx.now();
    let common = values![
        encoding.uid,
        encoding.run_id,
        tag,
        form,
        encoding.generation.map(u32::from),
        state,
        reason,
        outcome,
        encoding.seq,
        encoding.progress.as_ref(),
        now,
    ];
    let Some(id) = encoding.id else {
        forget_rejected(tx, encoding.uid, encoding.run_id, tag).await?;
        if let Some(token) = token {
            refuse_more_unproved(tx, token).await?;
        }
        let mut all = common.to_vec();
        all.push(token.into());
        let sql = "INSERT INTO encodings (uid, run_id, tag_id, form, generation, state, reason, outcome, seq,
                 progress, created_at, updated_at, token_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12) RETURNING id";
        return tx.write_one(sql, &all).await?.take();
    };
    let mut all = common.to_vec();
    all.push(id.into());
    tx.execute(
        "UPDATE encodings SET uid = ?1, run_id = ?2, tag_id = ?3, form = ?4, generation = ?5, state = ?6,
             reason = ?7, outcome = ?8, seq = ?9, progress = ?10, updated_at = ?11 WHERE id = ?12",
        &all,
    )
    .await?;
    Ok(id)
}

/// Refuses a token that started too many encodings in a day with chips that proved no known key.
/// Cancelled and rejected encodings count, too, because they are kept.
async fn refuse_more_unproved(
    tx: &mut dyn Transaction,
    token: TokenId,
) -> Result<(), StorageError> {
    let sql = "SELECT count(*) FROM encodings e
         WHERE e.token_id = ?1 AND e.created_at > ?2 AND e.state NOT IN ('verified', 'reset')
             AND NOT EXISTS (SELECT 1 FROM chips c WHERE c.uid = e.uid AND c.confirmed IS NOT NULL)";
    let since = tx.now().minus(Millis::days(1));
    if tx.count(sql, &values![token, since]).await? < UNPROVED_MAX {
        return Ok(());
    }
    Err(Conflict::TooManyUnproved.into())
}

/// Deletes earlier rejections of a chip for the same goal. A chip left on a reader, or a client
/// that asks repeatedly, must not fill the database; the newest rejection has the reason.
async fn forget_rejected(
    tx: &mut dyn Transaction,
    uid: Uid,
    run: Option<EncodingRunId>,
    tag: Option<TagId>,
) -> Result<(), StorageError> {
    let sql = "SELECT id FROM encodings WHERE uid = ?1 AND state = 'rejected'
         AND run_id IS NOT DISTINCT FROM ?2 AND tag_id IS NOT DISTINCT FROM ?3";
    let found = tx.query(sql, &values![uid, run, tag]).await?;
    let ids = found.into_iter().map(|mut row| row.take::<EncodingId>());
    let ids = [Value::list(ids.collect::<Result<Vec<_>, _>>()?)];
    let sql = "DELETE FROM encoding_exchanges WHERE encoding_id IN ids(?1)";
    tx.execute(sql, &ids).await?;
    let sql = "DELETE FROM encodings WHERE id IN ids(?1)";
    tx.execute(sql, &ids).await.map(drop)
}

/// Most commands that are kept of an encoding: those of about the newest dozen placings of the
/// chip.
const EXCHANGES_MAX: u32 = 1_000;

async fn add_exchanges(
    tx: &mut dyn Transaction,
    id: EncodingId,
    exchanges: &[Exchange],
) -> Result<(), StorageError> {
    let sql = "SELECT coalesce(max(number), 0) FROM encoding_exchanges WHERE encoding_id = ?1";
    let last: u32 = tx.one(sql, &values![id]).await?.take()?;
    let now = tx.now();
    let rows = exchanges.iter().zip(last + 1..).map(|(exchange, number)| {
        let status = exchange.status.map(u32::from);
        values![id, number, now, &exchange.name, status].to_vec()
    });
    let columns = ["encoding_id", "number", "at", "name", "status"];
    insert_rows(tx, "encoding_exchanges", &columns, rows.collect(), "").await?;
    let added = u32::try_from(exchanges.len()).unwrap_or(u32::MAX);
    let newest = last.saturating_add(added);
    if newest > EXCHANGES_MAX {
        let sql = "DELETE FROM encoding_exchanges WHERE encoding_id = ?1 AND number <= ?2";
        tx.execute(sql, &values![id, newest - EXCHANGES_MAX])
            .await?;
    }
    Ok(())
}

pub(super) async fn exchanges(
    db: &mut dyn Query,
    id: EncodingId,
) -> Result<Vec<(Timestamp, Exchange)>, StorageError> {
    let sql =
        "SELECT at, name, status FROM encoding_exchanges WHERE encoding_id = ?1 ORDER BY number";
    let found = db.query(sql, &values![id]).await?;
    let exchanges = found.into_iter().map(|mut row| {
        let at = row.take()?;
        let name = row.take()?;
        let status: Option<u32> = row.take()?;
        let status = status.and_then(|status| status.try_into().ok());
        Ok((at, Exchange { name, status }))
    });
    exchanges.collect()
}
