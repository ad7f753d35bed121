//! An import at work.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use http_body_util::channel::Sender;

use super::super::csv::{Row, Table};
use super::super::warning;
use super::all_or_none::{Applying, Staging};
use super::answer::{ImportResult, Outcome, RowResult, Saved};
use super::experiences::Experiences;
use super::row::{Parsed, Reader};
use super::{ImportQuery, Mode, OnError};
use crate::http::error::ApiError;
use crate::inlay::Uid;
use crate::service::Service;
use crate::storage::{Conflict, ImportRow, Imported, Put, ROWS_AT_ONCE, Staged, StorageError};
use crate::tag::{Slug, TagColumn};

/// Results sent at once.
const SENT_AT_ONCE: usize = 500;

/// A row of the file, or why it is none that can be stored.
struct Read {
    number: u32,
    row: Result<Arc<ImportRow>, String>,
    warning: Option<String>,
}

pub(super) struct Import {
    service: Arc<Service>,
    table: Table,
    reader: Reader,
    query: ImportQuery,
    /// In which row a slug was first, and a UID: no row may repeat one.
    slugs: HashMap<Slug, u32>,
    uids: HashMap<Uid, u32>,
    /// Rows of an import that is decided, on their way to be tags.
    applying: Option<Applying>,
    answer: ImportResult,
}

impl Import {
    pub(super) fn new(
        service: Arc<Service>,
        table: Table,
        rows: usize,
        experiences: Option<Experiences>,
        query: ImportQuery,
    ) -> Self {
        Self {
            service,
            reader: Reader::new(Arc::clone(table.columns()), experiences),
            table,
            query,
            slugs: HashMap::new(),
            uids: HashMap::new(),
            applying: None,
            answer: ImportResult {
                rows,
                dry_run: query.dry_run,
                ..ImportResult::default()
            },
        }
    }

    /// Stores the next rows, and answers their results: nothing if
    /// there are no more.
    pub(super) async fn next(&mut self) -> Result<Vec<RowResult>, StorageError> {
        let results = match (&mut self.applying, self.query.on_error) {
            (Some(applying), _) => applying.next().await?,
            (None, OnError::Skip) => {
                let rows = self.read().await;
                self.store(&rows).await?
            }
            (None, OnError::Abort) => self.all_or_none().await?,
        };
        self.answer.count(&results);
        Ok(results)
    }

    /// Where one bad row keeps all others out: checks all rows, and sets them
    /// aside on the way; then, if none is bad, begins to make them tags.
    async fn all_or_none(&mut self) -> Result<Vec<RowResult>, StorageError> {
        let mut staging = None;
        let mut results = Vec::new();
        let mut bad = false;
        loop {
            let rows = self.read().await;
            if rows.is_empty() {
                break;
            }
            if staging.is_none() && !self.query.dry_run {
                staging = Some(Staging::begin(&self.service.storage).await?);
            }
            let good = good(&rows);
            let upsert = self.upsert();
            let staged = match &staging {
                // Once a row is bad nothing will be stored, and the others are only checked.
                Some(staging) if !bad => staging.add(good, upsert).await?,
                _ => self.service.storage.check_rows(good, upsert).await?,
            };
            let checked = outcomes(&rows, staged, |row, staged| foreseen(row, &staged));
            bad |= checked.iter().any(is_refused);
            results.extend(checked);
        }
        if bad {
            for result in &mut results {
                if !is_refused(result) {
                    result.outcome = Outcome::LeftOut;
                }
            }
        }
        if let Some(staging) = staging.take() {
            if bad {
                staging.give_up().await?;
            } else if !results.is_empty() {
                let mut applying = staging.decide(results).await?;
                results = applying.next().await?;
                self.applying = Some(applying);
            }
        }
        Ok(results)
    }

    /// Goes on to the end, sending each result. A caller who goes away ends the
    /// work: what is stored by then stays. Rows that are decided go on all the same.
    pub(super) async fn send(mut self, first: Vec<RowResult>, mut sender: Sender<Bytes>) {
        let (before, _) = self.answer.around_results();
        if sender.send_data(before.into()).await.is_err() {
            return;
        }
        let mut separator = "\n";
        let mut results = first;
        while !results.is_empty() {
            for piece in results.chunks(SENT_AT_ONCE) {
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
                    self.answer.stopped = Some(self.stopped(error));
                    Vec::new()
                }
            };
        }
        let (_, after) = self.answer.around_results();
        // The caller has all results; there is nobody to tell if this does not arrive.
        let _ = sender.send_data(after.into()).await;
    }

    fn stopped(&self, error: StorageError) -> String {
        let why = ApiError::from(error).detail();
        match self.applying {
            Some(_) => format!("{why} All rows are accepted: the others follow by themselves."),
            None => why,
        }
    }

    /// Reads the next rows.
    async fn read(&mut self) -> Vec<Read> {
        let mut rows = Vec::new();
        while rows.len() < ROWS_AT_ONCE
            && let Some(Row { number, cells }) = self.table.next()
        {
            let read = match cells {
                Ok(cells) => self.reader.read(&self.service, cells).await,
                Err(why) => Err(why),
            };
            let (row, warning) = match read {
                Ok(Parsed { row, warning }) => (self.first_of_its_name(number, row), warning),
                Err(why) => (Err(why), None),
            };
            rows.push(Read {
                number,
                row: row.map(Arc::new),
                warning,
            });
            // Others have their turn: there may be a million rows.
            tokio::task::coop::consume_budget().await;
        }
        rows
    }

    fn first_of_its_name(&mut self, number: u32, row: ImportRow) -> Result<ImportRow, String> {
        let uid = row.inlay.as_ref().map(|inlay| inlay.uid);
        let slug_in = self.slugs.get(&row.slug);
        let uid_in = uid.and_then(|uid| self.uids.get(&uid));
        match (slug_in, uid_in) {
            (Some(first), _) => return Err(format!("Row {first} has the same slug.")),
            (None, Some(first)) => return Err(format!("Row {first} has the same uid.")),
            (None, None) => {}
        }
        if row.named {
            self.slugs.insert(row.slug.clone(), number);
        }
        self.uids.extend(uid.map(|uid| (uid, number)));
        Ok(row)
    }

    /// Stores the rows that can be, or only checks them, and answers the result of each.
    async fn store(&self, rows: &[Read]) -> Result<Vec<RowResult>, StorageError> {
        let (good, upsert) = (good(rows), self.upsert());
        if good.is_empty() {
            return Ok(outcomes(rows, Vec::new(), |row, staged| {
                foreseen(row, &staged)
            }));
        }
        if self.query.dry_run {
            let checked = self.service.storage.check_rows(good, upsert).await?;
            return Ok(outcomes(rows, checked, |row, staged| {
                foreseen(row, &staged)
            }));
        }
        let stored = self.service.storage.import_tags(good, upsert).await?;
        Ok(outcomes(rows, stored, |row, imported: Imported| {
            let warning = warnings(&imported.slug, row.warning.clone());
            done(&imported, warning)
        }))
    }

    fn upsert(&self) -> bool {
        self.query.mode == Mode::Upsert
    }
}

/// The expected result of a checked row, without values that are generated.
fn foreseen(row: &Read, staged: &Staged) -> Outcome {
    let named = row.row.as_ref().is_ok_and(|row| row.named);
    let saved = Saved {
        slug: named.then(|| staged.slug.to_string()),
        deleted: names(&staged.deleted),
        warning: warnings(&staged.slug, row.warning.clone()),
        ..Saved::default()
    };
    outcome(staged.put, saved)
}

/// The result of a stored row.
pub(super) fn done(imported: &Imported, warning: Option<String>) -> Outcome {
    let saved = Saved {
        id: Some(imported.tag),
        slug: Some(imported.slug.to_string()),
        inlay_id: imported.inlay,
        deleted: names(&imported.deleted),
        warning,
    };
    outcome(imported.put, saved)
}

fn outcome(put: Put, saved: Saved) -> Outcome {
    match put {
        Put::New => Outcome::Created(saved),
        Put::Set => Outcome::Updated(saved),
    }
}

fn names(columns: &[TagColumn]) -> Vec<String> {
    columns.iter().map(ToString::to_string).collect()
}

fn warnings(slug: &Slug, other: Option<String>) -> Option<String> {
    let slug = warning::of(slug).map(str::to_owned);
    match (slug, other) {
        (Some(slug), Some(other)) => Some(format!("{slug} {other}")),
        (slug, other) => slug.or(other),
    }
}

fn good(rows: &[Read]) -> Vec<Arc<ImportRow>> {
    let good = rows.iter().filter_map(|row| row.row.as_ref().ok());
    good.map(Arc::clone).collect()
}

/// The result of each row, if `stored` has an answer for each good one.
fn outcomes<T>(
    rows: &[Read],
    stored: Vec<Result<T, Conflict>>,
    good: impl Fn(&Read, T) -> Outcome,
) -> Vec<RowResult> {
    let mut stored = stored.into_iter();
    let results = rows.iter().map(|row| {
        let refused = |reason| Outcome::Refused { reason };
        let outcome = match &row.row {
            Err(reason) => refused(reason.clone()),
            Ok(_) => match stored.next() {
                Some(Ok(stored)) => good(row, stored),
                Some(Err(conflict)) => refused(conflict.to_string()),
                None => Outcome::LeftOut,
            },
        };
        RowResult {
            row: row.number,
            outcome,
        }
    });
    results.collect()
}

fn is_refused(result: &RowResult) -> bool {
    matches!(result.outcome, Outcome::Refused { .. })
}
