//! What is kept of one visitor of a tag: which taps are theirs, and their erasing.

use std::collections::{BTreeSet, HashMap, HashSet};

use async_trait::async_trait;

use super::submissions::{SELECT, empty_variable, erase_row, read};
use super::told::{self, ToldUpdate};
use super::{Database, Query, Transaction, audit};
use crate::audit::Note;
use crate::clock::Timestamp;
use crate::id::{InteractionId, TagId};
use crate::interaction::Change;
use crate::storage::value::{Value, values};
use crate::storage::visitors::Visitors;
use crate::storage::{Part, StorageError, traces};
use crate::submission::Submission;

#[async_trait]
impl<D: Database> Visitors for D {
    async fn taps_of_visitor(
        &self,
        tap: InteractionId,
        among: Vec<InteractionId>,
    ) -> Result<Vec<InteractionId>, StorageError> {
        self.read("taps_of_visitor", (tap, among), |db, (tap, among)| {
            Box::pin(taps(db, *tap, among))
        })
        .await
    }

    async fn submissions_of_taps(
        &self,
        taps: Vec<InteractionId>,
    ) -> Result<Vec<Submission>, StorageError> {
        self.read("submissions_of_taps", taps, |db, taps| {
            Box::pin(submissions(db, taps))
        })
        .await
    }

    async fn erase_taps_of_visitor(
        &self,
        tap: InteractionId,
        among: Vec<InteractionId>,
        empty_variables: bool,
    ) -> Result<u64, StorageError> {
        let arguments = (tap, among, empty_variables);
        self.change(
            "erase_taps_of_visitor",
            arguments,
            |tx, (tap, among, empty)| Box::pin(erase(tx, *tap, among, *empty)),
        )
        .await
    }
}

async fn taps(
    db: &mut dyn Query,
    tap: InteractionId,
    among: &[InteractionId],
) -> Result<Vec<InteractionId>, StorageError> {
    let sql = "SELECT i.id FROM interactions i
         JOIN interactions o ON o.tag_id = i.tag_id AND o.client = i.client
         WHERE o.id = ?1 AND i.id IN ids(?2)";
    let found = db.query(sql, &values![tap, Value::list(among)]).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

async fn submissions(
    db: &mut dyn Query,
    taps: &[InteractionId],
) -> Result<Vec<Submission>, StorageError> {
    let sql = format!("{SELECT} WHERE s.interaction_id IN ids(?1)");
    let found = db.query(&sql, &values![Value::list(taps)]).await?;
    found.into_iter().map(read).collect()
}

async fn erase(
    tx: &mut dyn Transaction,
    tap: InteractionId,
    among: &[InteractionId],
    empty_variables: bool,
) -> Result<u64, StorageError> {
    let found = taps(tx, tap, among).await?;
    let sql = "SELECT tag_id, client FROM interactions WHERE id = ?1 AND client IS NOT NULL";
    let Some(mut visitor) = tx.row(sql, &values![tap]).await? else {
        return Ok(0);
    };
    let (tag, client): (TagId, Vec<u8>) = (visitor.take()?, visitor.take()?);
    told::erases(tx).await?;
    let sent = submissions(tx, &found).await?;
    let written = written(tx, &found, &sent).await?;
    let variables: BTreeSet<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
    forget_told(tx, tag, (&found, &sent), &variables).await?;
    audit::forget_variables(tx, tag, &variables).await?;
    if empty_variables {
        for (variable, value) in &written {
            empty_variable(tx, tag, variable, value).await?;
        }
        tx.changes(Some(Part::Tag(tag)));
    }
    for submission in &sent {
        erase_row(tx, submission.id).await?;
    }
    for sql in traces::clearing() {
        let sql = format!("{sql} IN ids(?1)");
        tx.execute(&sql, &values![Value::list(&found)]).await?;
    }
    tx.forget_visitor(tag, &client).await?;
    // Whose taps they were is what is erased.
    let asked = serde_json::json!({ "empty_variables": empty_variables });
    tx.note(Note::done(&asked));
    Ok(found.len() as u64)
}

/// The values that the visitor gave variables of the tag, each with its variable.
async fn written(
    db: &mut dyn Query,
    taps: &[InteractionId],
    sent: &[Submission],
) -> Result<HashSet<(String, String)>, StorageError> {
    let sql = "SELECT changes FROM updates WHERE interaction_id IN ids(?1)";
    let mut written = HashSet::new();
    for mut row in db.query(sql, &values![Value::list(taps)]).await? {
        let changes: Vec<Change> = row.json("change")?;
        let changes = changes.into_iter();
        written.extend(changes.map(|change| (change.key.as_str().to_owned(), change.new)));
    }
    let fields = sent.iter().flat_map(|submission| &submission.fields);
    written.extend(fields.map(|field| (field.variable.as_str().to_owned(), field.value.clone())));
    Ok(written)
}

/// Removes what the outbox and the deliveries of webhooks have of these taps and their updates.
async fn forget_told(
    tx: &mut dyn Transaction,
    tag: TagId,
    (taps, sent): (&[InteractionId], &[Submission]),
    variables: &BTreeSet<&str>,
) -> Result<(), StorageError> {
    let sent: HashMap<_, _> = sent
        .iter()
        .map(|submission| (submission.interaction_id, submission.id))
        .collect();
    let sql = "SELECT i.id, i.at, u.at FROM interactions i
         LEFT JOIN updates u ON u.interaction_id = i.id WHERE i.id IN ids(?1)";
    let (mut keys, mut updates) = (HashSet::new(), Vec::new());
    for mut row in tx.query(sql, &values![Value::list(taps)]).await? {
        let (id, at, update): (InteractionId, Timestamp, Option<Timestamp>) =
            (row.take()?, row.take()?, row.take()?);
        keys.insert(format!("{id}_{}", at.millis()));
        updates.extend(update.map(|at| ToldUpdate {
            tag,
            at,
            interaction: id,
            submission: sent.get(&id).copied(),
        }));
    }
    for update in &updates {
        told::forget_update(tx, update).await?;
    }
    if let Some(first) = updates.iter().map(|update| update.at).min() {
        told::forget_owners_values(tx, tag, first, variables).await?;
    }
    let sql = "SELECT id, event_id FROM webhook_deliveries WHERE tag_id = ?1";
    let mut going = Vec::new();
    for mut row in tx.query(sql, &values![tag]).await? {
        let (id, event): (i64, String) = (row.take()?, row.take()?);
        if told::tap_of(&event).is_some_and(|key| keys.contains(key)) {
            going.push(id);
        }
    }
    told::forget_deliveries(tx, "id IN ids(?1)", &values![Value::list(going)]).await
}
