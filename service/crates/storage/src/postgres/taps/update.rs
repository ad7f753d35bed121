//! Updates variables with rolling keys: one statement for a whole group.

use std::sync::Arc;

use tokio_postgres::Row;

use crate::Event;
use crate::postgres::node::{Attempts, Node};
use crate::postgres::row::{self, column};
use crate::submissions::SentForm;
use crate::{StorageError, UpdateRefusal, Updated, VariableUpdate};
use domain::interaction::Change;
use domain::tag::PropertyKey;

/// Consumes keys and writes their variables, or returns why not, separately for each update. The
/// results are in the order of `updates`.
pub(in crate::postgres) async fn variables(
    node: &Node,
    updates: &[VariableUpdate],
) -> Result<Vec<Updated>, StorageError> {
    // A unique number identifies each attempt.
    let mut numbers = Vec::with_capacity(updates.len());
    for _ in updates {
        numbers.push(node.reserve().await?.get());
    }
    let numbers_of =
        |value: fn(&VariableUpdate) -> i64| -> Vec<i64> { updates.iter().map(value).collect() };
    let hashes = updates.iter().map(|update| update.hash.0.as_slice());
    let requests = updates
        .iter()
        .map(|update| update.request.as_ref().map(<[u8; 32]>::as_slice));
    let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for update in updates {
        firsts.push(place(keys.len() + 1));
        for (key, value) in &update.data {
            keys.push(key.as_str());
            values.push(value.as_str());
        }
        lasts.push(place(keys.len()));
    }
    let (hashes, requests): (Vec<_>, Vec<_>) = (hashes.collect(), requests.collect());
    let sent = updates.iter().map(|update| {
        let sent = update.submission.as_ref().map(SentForm::new);
        sent.map(|sent| serde_json::to_string(&sent)).transpose()
    });
    let sent: Vec<_> = sent
        .collect::<Result<_, _>>()
        .map_err(|_| row::unreadable("submission"))?;
    let mut attempts = Attempts::new();
    let rows = loop {
        let session = attempts.session(node).await?;
        let answer = session
            .rows(
                "SELECT * FROM update_variables($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ORDER BY place",
                &[
                    &numbers_of(|update| update.id.get()),
                    &hashes,
                    &numbers,
                    &requests,
                    &numbers_of(|update| update.simulated_offset.get()),
                    &firsts,
                    &lasts,
                    &keys,
                    &values,
                    &sent,
                ],
            )
            .await;
        match answer {
            Ok(rows) => break rows,
            Err(error) => attempts.pause(error).await?,
        }
    };
    if rows.len() != updates.len() {
        return Err(row::unreadable("outcome"));
    }
    let outcomes = updates.iter().zip(&rows);
    outcomes
        .map(|(update, row)| outcome(node, update, row))
        .collect()
}

/// An index in an array, from 1.
fn place(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn outcome(node: &Node, update: &VariableUpdate, row: &Row) -> Result<Updated, StorageError> {
    let outcome: &str = column(row, 1)?;
    let (outcome, kept) = match outcome.strip_suffix("_kept") {
        Some(outcome) => (outcome, true),
        None => (outcome, false),
    };
    let refused = |refusal| {
        Ok(if kept {
            Updated::Kept(refusal)
        } else {
            Updated::Refused(refusal)
        })
    };
    match outcome {
        "done" => {
            let changes = serde_json::from_str::<Vec<Change>>(column(row, 5)?);
            let changes: Arc<[Change]> = changes.map_err(|_| row::unreadable("change"))?.into();
            let (tag_id, at) = (row::id(row, 2)?, row::time(row, 3)?);
            let simulated = column(row, 4)?;
            node.events.tell(Event::Update {
                interaction_id: update.id,
                tag_id,
                at,
                changes: Arc::clone(&changes),
                simulated,
            });
            if let Some(submission) = &update.submission {
                node.events.tell(Event::Submission {
                    interaction_id: update.id,
                    tag_id,
                    experience_id: submission.page.experience_id,
                    at,
                    simulated,
                });
            }
            Ok(Updated::Done(changes))
        }
        "repeated" => Ok(Updated::Repeated),
        "invalid_key" => refused(UpdateRefusal::InvalidKey),
        "consumed" => refused(UpdateRefusal::Consumed),
        "not_assigned" => refused(UpdateRefusal::NotAssigned),
        "not_verified" => refused(UpdateRefusal::NotVerified),
        "sent_before" => refused(UpdateRefusal::SentBefore),
        "unknown_variable" => {
            let key = PropertyKey::parse(column(row, 5)?);
            refused(UpdateRefusal::UnknownVariable(
                key.map_err(|_| row::unreadable("variable"))?,
            ))
        }
        _ => Err(row::unreadable("outcome")),
    }
}
