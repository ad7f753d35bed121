//! Runs an import of tags.

use std::sync::Arc;

use super::all_or_none::{Applying, Staging};
use super::answer::{RowOutcome, RowResult, Saved};
use super::groups::Groups;
use super::reading::{Read, Reading};
use super::{ImportOptions, Mode, OnError};
use crate::service::Service;
use domain::tag::{Slug, TagColumn};
use storage::{Conflict, ImportRow, Imported, Put, ROWS_IN_COMMIT, Staged, StorageError};

/// Stores the rows of a file in pieces.
pub(super) struct Import {
    service: Arc<Service>,
    reading: Reading,
    /// Rows that were read, but had no room in the last commit.
    rows: Vec<Read>,
    options: ImportOptions,
    /// Accepted rows of an all-or-none import that are becoming tags.
    applying: Option<Applying>,
    /// Whether an all-or-none import has checked all rows, so that no rows are left.
    checked: bool,
    /// The groups of the rows, if a column names groups.
    groups: Option<Arc<Groups>>,
}

impl Import {
    pub(super) fn new(
        service: Arc<Service>,
        reading: Reading,
        options: ImportOptions,
        groups: Option<Arc<Groups>>,
    ) -> Self {
        Self {
            service,
            reading,
            rows: Vec::new(),
            options,
            applying: None,
            checked: false,
            groups,
        }
    }

    /// The groups of the rows, if a column names groups.
    pub(super) fn groups(&self) -> Option<Arc<Groups>> {
        self.groups.clone()
    }

    /// Stores the next rows and returns their results. Empty after the last row.
    pub(super) async fn next(&mut self) -> Result<Vec<RowResult>, StorageError> {
        match (&mut self.applying, self.options.on_error) {
            (Some(applying), _) => applying.next().await,
            (None, OnError::Skip) => self.store().await,
            (None, OnError::Abort) if self.checked => Ok(Vec::new()),
            (None, OnError::Abort) => self.all_or_none().await,
        }
    }

    /// Whether all rows are accepted. If so, the import completes even if this task stops.
    pub(super) const fn is_decided(&self) -> bool {
        self.applying.is_some()
    }

    /// Imports all rows or none: checks all rows and stages them. If all are valid, begins to turn
    /// them into tags.
    async fn all_or_none(&mut self) -> Result<Vec<RowResult>, StorageError> {
        self.checked = true;
        let mut staging = None;
        let mut results = Vec::new();
        let mut bad = false;
        loop {
            let rows = self.reading.next().await?;
            if rows.is_empty() {
                break;
            }
            if staging.is_none() && !self.options.dry_run {
                staging = Some(Staging::begin(&self.service.storage).await?);
            }
            let good = good(&rows);
            let upsert = self.upsert();
            let staged = match &staging {
                // After an invalid row, nothing will be stored, so the other rows are only checked.
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
                    result.outcome = RowOutcome::LeftOut;
                }
            }
        }
        if let Some(staging) = staging.take() {
            if bad {
                staging.give_up().await?;
                if let Some(groups) = &self.groups {
                    groups.discard(&self.service).await;
                }
            } else if !results.is_empty() {
                let mut applying = staging.decide(results).await?;
                results = applying.next().await?;
                self.applying = Some(applying);
            }
        }
        Ok(results)
    }

    /// Stores the next valid rows, or only checks them in a dry run, and returns the result of each
    /// row. All rows that are ready go into one commit, unless others wait for it.
    async fn store(&mut self) -> Result<Vec<RowResult>, StorageError> {
        if self.rows.is_empty() {
            self.rows = self.reading.next().await?;
        }
        let room = ROWS_IN_COMMIT.saturating_sub(self.rows.len());
        self.rows.extend(self.reading.ready(room));
        let (good, upsert) = (good(&self.rows), self.upsert());
        if good.is_empty() || self.options.dry_run {
            let rows = std::mem::take(&mut self.rows);
            let checked = if good.is_empty() {
                Vec::new()
            } else {
                self.service.storage.check_rows(good, upsert).await?
            };
            return Ok(outcomes(&rows, checked, |row, staged| {
                foreseen(row, &staged)
            }));
        }
        let stored = self.service.storage.import_tags(good, upsert).await?;
        let rest = self.rows.split_off(reached(&self.rows, stored.len()));
        let rows = std::mem::replace(&mut self.rows, rest);
        Ok(outcomes(&rows, stored, |row, imported: Imported| {
            let warning = warnings(&imported.slug, row.warning.clone());
            done(&imported, warning)
        }))
    }

    fn upsert(&self) -> bool {
        self.options.mode == Mode::Upsert
    }
}

/// The expected result of a checked row, without generated values.
fn foreseen(row: &Read, staged: &Staged) -> RowOutcome {
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
pub(super) fn done(imported: &Imported, warning: Option<String>) -> RowOutcome {
    let saved = Saved {
        id: Some(imported.tag),
        slug: Some(imported.slug.to_string()),
        inlay_id: imported.inlay,
        deleted: names(&imported.deleted),
        before: imported.before.clone(),
        variables_added: imported.variables_added,
        warning,
    };
    outcome(imported.put, saved)
}

fn outcome(put: Put, saved: Saved) -> RowOutcome {
    match put {
        Put::New => RowOutcome::Created(saved),
        Put::Set => RowOutcome::Updated(saved),
    }
}

fn names(columns: &[TagColumn]) -> Vec<String> {
    columns.iter().map(ToString::to_string).collect()
}

fn warnings(slug: &Slug, other: Option<String>) -> Option<String> {
    let slug = slug.warning().map(str::to_owned);
    match (slug, other) {
        (Some(slug), Some(other)) => Some(format!("{slug} {other}")),
        (slug, other) => slug.or(other),
    }
}

fn good(rows: &[Read]) -> Vec<Arc<ImportRow>> {
    let good = rows.iter().filter_map(|row| row.row.as_ref().ok());
    good.map(Arc::clone).collect()
}

/// The number of rows before the first valid one that is not among the first `stored` valid ones.
fn reached(rows: &[Read], stored: usize) -> usize {
    let mut good = rows.iter().enumerate().filter(|(_, row)| row.row.is_ok());
    good.nth(stored).map_or(rows.len(), |(index, _)| index)
}

/// The result of each row. `stored` contains an answer for each valid row.
fn outcomes<T>(
    rows: &[Read],
    stored: Vec<Result<T, Conflict>>,
    good: impl Fn(&Read, T) -> RowOutcome,
) -> Vec<RowResult> {
    let mut stored = stored.into_iter();
    let results = rows.iter().map(|row| {
        let refused = |reason| RowOutcome::Refused { reason };
        let outcome = match &row.row {
            Err(reason) => refused(reason.clone()),
            Ok(_) => match stored.next() {
                Some(Ok(stored)) => good(row, stored),
                Some(Err(conflict)) => refused(conflict.to_string()),
                None => RowOutcome::LeftOut,
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
    matches!(result.outcome, RowOutcome::Refused { .. })
}
