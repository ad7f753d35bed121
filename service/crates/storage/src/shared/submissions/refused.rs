//! Refused forms: the reason that still prevents saving them, and saving them.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use super::{read, select};
use crate::shared::dialect::Dialect;
use crate::shared::webhooks::outbox;
use crate::shared::{Query, Transaction, callers, experiences, groups};
use crate::value::{Value, unreadable, values};
use crate::{CachedPart, InUse, StorageError};
use domain::audit::Note;
use domain::id::{SubmissionId, TagId};
use domain::interaction::{Change, VersionRef};
use domain::submission::{InTheWay, Submission, is_once};
use domain::tag::PropertyKey;
use domain::webhook::{About, EventKind};

/// The data of a tag that saving needs.
#[derive(Default)]
struct State {
    deleted: bool,
    assigned: bool,
    variables: HashSet<String>,
}

impl State {
    fn in_the_way(&self, submission: &Submission) -> Option<InTheWay> {
        if self.deleted {
            return Some(InTheWay::Deleted);
        }
        if !self.assigned {
            return Some(InTheWay::NotAssigned);
        }
        let variables = submission.fields.iter().map(|field| &field.variable);
        let missing = variables.filter(|key| !self.variables.contains(key.as_str()));
        let missing: Vec<_> = missing.cloned().collect();
        (!missing.is_empty()).then_some(InTheWay::MissingVariables(missing))
    }
}

/// Sets the current obstacle of each submission that is not saved.
pub(in crate::shared) async fn look(
    db: &mut dyn Query,
    found: &mut [Submission],
) -> Result<(), StorageError> {
    let refused = found.iter().filter(|one| one.not_saved.is_some());
    let tags: Vec<_> = refused.map(|one| one.tag_id).collect();
    if tags.is_empty() {
        return Ok(());
    }
    let states = states(db, &tags).await?;
    for submission in found {
        let state = states.get(&submission.tag_id);
        let in_the_way = state.and_then(|state| state.in_the_way(submission));
        if let Some(not_saved) = &mut submission.not_saved {
            not_saved.is(in_the_way);
        }
    }
    Ok(())
}

async fn states(db: &mut dyn Query, tags: &[TagId]) -> Result<HashMap<TagId, State>, StorageError> {
    let mut states = HashMap::<TagId, State>::new();
    let assigned = groups::assigned("");
    let sql =
        format!("SELECT id, deleted_at IS NOT NULL, {assigned} FROM tags WHERE id IN ids(?1)");
    for mut row in db.query(&sql, &values![Value::list(tags)]).await? {
        let id = row.take()?;
        let state = State {
            deleted: row.take()?,
            assigned: row.take()?,
            ..State::default()
        };
        states.insert(id, state);
    }
    let sql = "SELECT tag_id, key FROM properties WHERE class = 'variable' AND tag_id IN ids(?1)";
    for mut row in db.query(sql, &values![Value::list(tags)]).await? {
        let (tag, key): (TagId, String) = (row.take()?, row.take()?);
        states.entry(tag).or_default().variables.insert(key);
    }
    Ok(states)
}

/// Saves a refused form as its update would have done. The key of its tap is not consumed, but
/// updates with it are refused from now on, because its tap has a submission.
pub(super) async fn save(
    tx: &mut dyn Transaction,
    id: SubmissionId,
) -> Result<Option<Submission>, StorageError> {
    let reach = tx.reach();
    let of_tap = callers::taps(reach, "s.experience_id", "s.tag_id");
    let within = format!("{of_tap}{}", callers::tags(reach, "t."));
    let sql = format!("{} WHERE s.id = ?1{within}", select(tx.reach()));
    let Some(row) = tx.row(&sql, &values![id]).await? else {
        return Ok(None);
    };
    let submission = read(row)?;
    if submission.not_saved.is_none() {
        return Err(InUse::SavedAlready.into());
    }
    let tag = submission.tag_id;
    // Lock the variables first: visitors write variables and submissions at the same time.
    let before = variables(tx, &submission).await?;
    let states = states(tx, &[tag]).await?;
    if let Some(state) = states.get(&tag)
        && let Some(in_the_way) = state.in_the_way(&submission)
    {
        return Err(InUse::NotSavable(in_the_way.to_string()).into());
    }
    refuse_second(tx, &submission).await?;
    let sql = "UPDATE submissions SET refused = NULL WHERE id = ?1 AND refused IS NOT NULL";
    if tx.execute(sql, &values![id]).await? == 0 {
        // The visitor sent the form again meanwhile, and that was saved.
        return Err(InUse::SavedAlready.into());
    }
    let mut changes = Vec::with_capacity(submission.fields.len());
    for field in &submission.fields {
        let key = field.variable.as_str();
        let sql = "UPDATE properties SET value = ?3, erased = FALSE
             WHERE tag_id = ?1 AND class = 'variable' AND key = ?2";
        tx.execute(sql, &values![tag, key, &field.value]).await?;
        changes.push(Change {
            key: field.variable.clone(),
            old: before.get(&field.variable).cloned().flatten(),
            new: field.value.clone(),
        });
    }
    let sql = "UPDATE tags SET updated_at = ?2 WHERE id = ?1";
    let now = tx.now();
    tx.execute(sql, &values![tag, now]).await?;
    tell(tx, &submission, &changes).await?;
    let keys: Vec<_> = changes.iter().map(|change| &change.key).collect();
    // The values belong to the visitor: the audit log only names the variables.
    tx.note(Note::done(&json!({"tag_id": tag, "variables": keys})));
    tx.changes(Some(CachedPart::Tag(tag)));
    super::find(tx, id).await
}

/// The values before the change; erased ones count as none. Their rows stay locked.
async fn variables(
    tx: &mut dyn Transaction,
    submission: &Submission,
) -> Result<HashMap<PropertyKey, Option<String>>, StorageError> {
    let sql = "SELECT key, value, erased FROM properties
         WHERE tag_id = ?1 AND class = 'variable' AND key IN texts(?2) ORDER BY key FOR UPDATE";
    let keys = submission
        .fields
        .iter()
        .map(|field| field.variable.as_str());
    let values = values![submission.tag_id, Value::list(keys)];
    let mut before = HashMap::new();
    for mut row in tx.query(sql, &values).await? {
        let key = row.text("variable", |key| PropertyKey::parse(key).ok())?;
        let value: String = row.take()?;
        let erased: bool = row.take()?;
        before.insert(key, (!erased).then_some(value));
    }
    Ok(before)
}

/// Refuses a form that can be sent once per tag, and was sent already.
async fn refuse_second(
    tx: &mut dyn Transaction,
    submission: &Submission,
) -> Result<(), StorageError> {
    let sql = "SELECT s.form FROM submissions s WHERE s.id = ?1";
    let form: String = tx.one(sql, &values![submission.id]).await?.take()?;
    let page = VersionRef {
        experience_id: submission.experience_id,
        version: submission.experience_version,
    };
    let published = experiences::published(tx, page).await?;
    if !published.is_some_and(|page| is_once(&page.content, &form)) {
        return Ok(());
    }
    let sql = "SELECT 1 FROM submissions WHERE tag_id = ?1 AND form = ?2 AND refused IS NULL";
    if tx.exists(sql, &values![submission.tag_id, form]).await? {
        let why = "This form can be sent once per tag, and was sent. Erase one of the two.";
        return Err(InUse::NotSavable(why.to_owned()).into());
    }
    Ok(())
}

/// Counts the submission, and creates webhook events for it and its variables.
async fn tell(
    tx: &mut dyn Transaction,
    submission: &Submission,
    changes: &[Change],
) -> Result<(), StorageError> {
    let sql = match tx.dialect() {
        Dialect::Sqlite => "INSERT INTO report_updates (interaction_id, submission) VALUES (?1, 1)",
        Dialect::Postgres => {
            "INSERT INTO report_updates (interaction_id, submission) VALUES (?1, TRUE)"
        }
    };
    tx.execute(sql, &values![submission.interaction_id]).await?;
    outbox::tell_tag_updated(tx, submission.tag_id, changes).await?;
    let about = About {
        tag_id: Some(submission.tag_id),
        experience_id: Some(submission.experience_id),
        simulated: submission.simulated,
    };
    let data = json!({"submission_id": submission.id});
    let data = data
        .as_object()
        .cloned()
        .ok_or_else(|| unreadable("event"))?;
    outbox::tell(tx, EventKind::SubmissionCreated, about, data).await
}
