//! Imports all rows or none. Rows are staged in pieces, the decision is one step, and tags are
//! created in pieces, so that taps continue in between.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::answer::{RowOutcome, RowResult};
use super::run::done;
use domain::id::ImportId;
use storage::{Access, Conflict, ImportRow, Imported, Staged, StorageError, finish_import};

/// Rows that are being staged. Dropping the value deletes them.
pub(super) struct Staging {
    storage: Access,
    import: Option<ImportId>,
}

impl Staging {
    pub(super) async fn begin(storage: &Access) -> Result<Self, StorageError> {
        let import = Some(storage.begin_import().await?);
        Ok(Self {
            storage: storage.clone(),
            import,
        })
    }

    /// Checks the next rows, and stages the valid ones.
    pub(super) async fn add(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
        match self.import {
            Some(import) if !rows.is_empty() => self.storage.stage_rows(import, rows, upsert).await,
            _ => Ok(Vec::new()),
        }
    }

    /// Deletes the staged rows.
    pub(super) async fn give_up(mut self) -> Result<(), StorageError> {
        match self.import.take() {
            Some(import) => finish_import(&self.storage, import, false).await,
            None => Ok(()),
        }
    }

    /// Decides that all rows become tags, and begins with it. `results` contains the expected
    /// result of each row.
    pub(super) async fn decide(
        mut self,
        results: Vec<RowResult>,
    ) -> Result<Applying, StorageError> {
        if let Some(import) = self.import {
            self.storage.decide_import(import).await?;
        }
        let (sender, applied) = mpsc::unbounded_channel();
        if let Some(import) = self.import.take() {
            // This continues even if the client disconnects.
            tokio::spawn(apply(self.storage.clone(), import, sender));
        }
        Ok(Applying {
            results: results.into_iter(),
            next: 0,
            applied,
        })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // If the service is ending, or if this fails, housekeeping deletes the rows later.
        if let Some(import) = self.import.take()
            && let Ok(runtime) = Handle::try_current()
        {
            let storage = self.storage.clone();
            runtime.spawn(async move { finish_import(&storage, import, false).await });
        }
    }
}

type Applied = Result<Vec<(u64, Imported)>, StorageError>;

async fn apply(storage: Access, import: ImportId, sender: mpsc::UnboundedSender<Applied>) {
    loop {
        let applied = storage.apply_import(import).await;
        let ended = applied.as_ref().map_or(true, Vec::is_empty);
        // If the client has disconnected, ignore the error.
        let _ = sender.send(applied);
        if ended {
            return;
        }
    }
}

/// Accepted rows that are becoming tags.
pub(super) struct Applying {
    results: std::vec::IntoIter<RowResult>,
    /// The position of the next result among all rows.
    next: u64,
    applied: mpsc::UnboundedReceiver<Applied>,
}

impl Applying {
    /// The results of the next rows; empty after the last one.
    pub(super) async fn next(&mut self) -> Result<Vec<RowResult>, StorageError> {
        let applied = match self.applied.recv().await {
            Some(applied) => applied?,
            None => Vec::new(),
        };
        let Some((last, _)) = applied.last() else {
            // Another node may have stored the last rows, so return their expected results.
            return Ok(self.results.by_ref().collect());
        };
        let last = *last;
        let mut applied = applied.into_iter().peekable();
        let mut results = Vec::new();
        while self.next <= last
            && let Some(mut result) = self.results.next()
        {
            if applied.peek().is_some_and(|(place, _)| *place == self.next)
                && let Some((_, imported)) = applied.next()
            {
                let (RowOutcome::Created(foreseen) | RowOutcome::Updated(foreseen)) =
                    result.outcome
                else {
                    continue;
                };
                result.outcome = done(&imported, foreseen.warning);
            }
            results.push(result);
            self.next += 1;
        }
        Ok(results)
    }
}
