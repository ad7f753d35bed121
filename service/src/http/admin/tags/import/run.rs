//! An import at work.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use http_body_util::channel::Sender;

use super::super::csv::{Row, Table};
use super::super::warning;
use super::answer::{ImportResult, Outcome, RowResult, Saved};
use super::{ImportQuery, Mode, OnError, row};
use crate::http::error::ApiError;
use crate::inlay::Uid;
use crate::service::Service;
use crate::storage::{ImportHow, ImportRow, Imported, Keep, Put, StorageError};
use crate::tag::Slug;

/// Rows stored by one command of the database: taps that come meanwhile wait
/// for one such piece at the most.
const AT_ONCE: usize = 500;

/// A row of the file, or why it is none that can be stored.
type Read = (u32, Result<Arc<ImportRow>, String>);

pub(super) struct Import {
    service: Arc<Service>,
    table: Table,
    query: ImportQuery,
    /// In which row a slug was first, and a UID: no row may repeat one.
    slugs: HashMap<Slug, u32>,
    uids: HashMap<Uid, u32>,
    answer: ImportResult,
}

impl Import {
    pub(super) fn new(
        service: Arc<Service>,
        table: Table,
        rows: usize,
        query: ImportQuery,
    ) -> Self {
        Self {
            service,
            table,
            query,
            slugs: HashMap::new(),
            uids: HashMap::new(),
            answer: ImportResult {
                rows,
                dry_run: query.dry_run,
                ..ImportResult::default()
            },
        }
    }

    /// Stores the next rows, and answers what became of them: nothing where
    /// there are no more. Where one bad row is to keep all others out, all rows
    /// are next.
    pub(super) async fn next(&mut self) -> Result<Vec<RowResult>, StorageError> {
        let dry_run = self.query.dry_run;
        let results = match self.query.on_error {
            OnError::Skip => {
                let rows = self.read(AT_ONCE).await;
                let keep = if dry_run { Keep::Nothing } else { Keep::Good };
                self.store(&rows, keep).await?
            }
            OnError::Abort => {
                let rows = self.read(usize::MAX).await;
                let mut results = Vec::with_capacity(rows.len());
                for rows in rows.chunks(AT_ONCE) {
                    results.extend(self.store(rows, Keep::Nothing).await?);
                }
                if !dry_run && !any_refused(&results) {
                    // Checked again inside the command: others may have written meanwhile.
                    results = self.store(&rows, Keep::AllOrNone).await?;
                }
                if any_refused(&results) {
                    for result in &mut results {
                        if !is_refused(result) {
                            result.outcome = Outcome::LeftOut;
                        }
                    }
                }
                results
            }
        };
        self.answer.count(&results);
        Ok(results)
    }

    /// Goes on to the end, sending each result. A caller who goes away ends the
    /// work: what is stored by then stays.
    pub(super) async fn send(mut self, first: Vec<RowResult>, mut sender: Sender<Bytes>) {
        let (before, _) = self.answer.around_results();
        if sender.send_data(before.into()).await.is_err() {
            return;
        }
        let mut separator = "\n";
        let mut results = first;
        while !results.is_empty() {
            for piece in results.chunks(AT_ONCE) {
                let mut text = String::new();
                for result in piece {
                    text.push_str(separator);
                    text.push_str(&serde_json::to_string(result).unwrap_or_default());
                    separator = ",\n";
                }
                if sender.send_data(text.into()).await.is_err() {
                    return;
                }
            }
            results = match self.next().await {
                Ok(results) => results,
                Err(error) => {
                    self.answer.stopped = Some(ApiError::from(error).detail());
                    Vec::new()
                }
            };
        }
        let (_, after) = self.answer.around_results();
        // The caller has all results; there is nobody to tell where this does not arrive.
        let _ = sender.send_data(after.into()).await;
    }

    /// Reads at most `limit` rows.
    async fn read(&mut self, limit: usize) -> Vec<Read> {
        let mut rows = Vec::new();
        while rows.len() < limit
            && let Some(Row { number, cells }) = self.table.next()
        {
            let row = match cells {
                Ok(cells) => row::read(&self.service, self.table.columns(), cells).await,
                Err(why) => Err(why),
            };
            let row = row.and_then(|row| self.first_of_its_name(number, row));
            rows.push((number, row.map(Arc::new)));
            // Others have their turn: there may be a million rows.
            tokio::task::coop::consume_budget().await;
        }
        rows
    }

    fn first_of_its_name(&mut self, number: u32, row: ImportRow) -> Result<ImportRow, String> {
        let uid = row.inlay.as_ref().map(|inlay| inlay.uid);
        let slug_in = row.slug.as_ref().and_then(|slug| self.slugs.get(slug));
        let uid_in = uid.and_then(|uid| self.uids.get(&uid));
        match (slug_in, uid_in) {
            (Some(first), _) => return Err(format!("Row {first} has the same slug.")),
            (None, Some(first)) => return Err(format!("Row {first} has the same uid.")),
            (None, None) => {}
        }
        self.slugs
            .extend(row.slug.clone().map(|slug| (slug, number)));
        self.uids.extend(uid.map(|uid| (uid, number)));
        Ok(row)
    }

    /// Stores the rows that can be, and answers what became of each.
    async fn store(&self, rows: &[Read], keep: Keep) -> Result<Vec<RowResult>, StorageError> {
        let good = rows.iter().filter_map(|(_, row)| row.as_ref().ok());
        let good: Vec<_> = good.cloned().collect();
        let how = ImportHow {
            upsert: self.query.mode == Mode::Upsert,
            keep,
        };
        let mut stored = if good.is_empty() {
            Vec::new()
        } else {
            self.service.storage.import_tags(good, how).await?
        }
        .into_iter();
        let results = rows.iter().map(|(number, row)| {
            let outcome = match row {
                Err(reason) => Outcome::Refused {
                    reason: reason.clone(),
                },
                Ok(row) => match stored.next() {
                    Some(Ok(imported)) => self.saved(row, &imported),
                    Some(Err(conflict)) => Outcome::Refused {
                        reason: conflict.to_string(),
                    },
                    None => Outcome::LeftOut,
                },
            };
            let row = *number;
            RowResult { row, outcome }
        });
        Ok(results.collect())
    }

    fn saved(&self, row: &ImportRow, imported: &Imported) -> Outcome {
        let real = !self.query.dry_run;
        let named = row.slug.is_some() || real;
        let saved = Saved {
            id: real.then_some(imported.tag),
            slug: named.then(|| imported.slug.to_string()),
            inlay_id: imported.inlay.filter(|_| real),
            warning: warning::of(&imported.slug),
        };
        match imported.put {
            Put::New => Outcome::Created(saved),
            Put::Set => Outcome::Updated(saved),
        }
    }
}

fn any_refused(results: &[RowResult]) -> bool {
    results.iter().any(is_refused)
}

fn is_refused(result: &RowResult) -> bool {
    matches!(result.outcome, Outcome::Refused { .. })
}
