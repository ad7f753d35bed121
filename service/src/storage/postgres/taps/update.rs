//! Updating variables with a rolling key: one statement, `update_variables`.

use tokio_postgres::Row;

use crate::event::Event;
use crate::id::TagId;
use crate::interaction::Change;
use crate::storage::postgres::node::{Attempts, Node};
use crate::storage::postgres::row::{self, column};
use crate::storage::{StorageError, UpdateRefusal, Updated, VariableUpdate};
use crate::tag::PropertyKey;

/// Consumes the key and writes the variables, or says why not.
pub(super) async fn variables(
    node: &Node,
    update: &VariableUpdate,
) -> Result<Updated, StorageError> {
    // Any number will do that no other attempt has.
    let number = node.reserve().await?.0;
    let keys: Vec<&str> = update.data.iter().map(|(key, _)| key.as_str()).collect();
    let values: Vec<&str> = update
        .data
        .iter()
        .map(|(_, value)| value.as_str())
        .collect();
    let request = update.request.as_ref().map(<[u8; 32]>::as_slice);
    let mut attempts = Attempts::new();
    let row = loop {
        let session = attempts.session(node).await?;
        let answer = session
            .one(
                "SELECT * FROM update_variables($1, $2, $3, $4, $5, $6, $7)",
                &[
                    &update.id.0,
                    &update.hash.0.as_slice(),
                    &number,
                    &request,
                    &keys,
                    &values,
                    &update.simulated_offset,
                ],
            )
            .await;
        match answer {
            Ok(row) => break row,
            Err(error) => attempts.pause(error).await?,
        }
    };
    outcome(node, update, &row)
}

fn outcome(node: &Node, update: &VariableUpdate, row: &Row) -> Result<Updated, StorageError> {
    let refused = |refusal| Ok(Updated::Refused(refusal));
    match column(row, 0)? {
        "done" => {
            let changes: Vec<Change> =
                serde_json::from_str(column(row, 4)?).map_err(|_| row::unreadable("change"))?;
            node.events.tell(Event::Update {
                interaction_id: update.id,
                tag_id: TagId(column(row, 1)?),
                at: row::time(row, 2)?,
                changes: changes.clone(),
                simulated: column(row, 3)?,
            });
            Ok(Updated::Done(changes))
        }
        "repeated" => Ok(Updated::Repeated),
        "invalid_key" => refused(UpdateRefusal::InvalidKey),
        "consumed" => refused(UpdateRefusal::Consumed),
        "not_assigned" => refused(UpdateRefusal::NotAssigned),
        "not_verified" => refused(UpdateRefusal::NotVerified),
        "unknown_variable" => {
            let key = PropertyKey::parse(column(row, 4)?);
            refused(UpdateRefusal::UnknownVariable(
                key.map_err(|_| row::unreadable("variable"))?,
            ))
        }
        _ => Err(row::unreadable("outcome")),
    }
}
