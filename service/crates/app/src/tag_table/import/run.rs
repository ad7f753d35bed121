//! Runs an import of tags.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::headings::Headings;
use super::all_or_none::{Applying, Staging};
use super::answer::{RowOutcome, RowResult, Saved};
use super::groups::Groups;
use super::reading::{Read, Reading};
use super::{ImportOptions, Mode, OnError};
use crate::service::Service;
use domain::field_error::FieldError;
use domain::tag::{Slug, TagColumn};
use storage::{
    Conflict, ImportRow, Imported, KeptInlay, Put, ROWS_IN_COMMIT, Staged, StorageError,
};

/// Warns of a row that describes the inlay of its tag in another way.
const DIFFERENT: &str = "The tag has this inlay already, with other keys or settings. The inlay stays unchanged: to change it, edit the inlay.";

/// Stores the rows of a file in pieces.
pub(super) struct Import {
    service: Arc<Service>,
    reading: Reading,
    /// Rows that were read, but had no room in the last commit.
    rows: Vec<Read>,
    options: ImportOptions,
    headings: Headings,
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
        headings: Headings,
        groups: Option<Arc<Groups>>,
    ) -> Self {
        Self {
            service,
            reading,
            rows: Vec::new(),
            options,
            headings,
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
            let checked = self.results(&rows, staged, foreseen);
            bad |= checked.iter().any(is_refused);
            results.extend(checked);
        }
        if bad {
            for result in &mut results {
                if !is_refused(result) {
                    result.outcome = RowOutcome::LeftOut;
                    result.columns.clear();
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
            return Ok(self.results(&rows, checked, foreseen));
        }
        let stored = self.service.storage.import_tags(good, upsert).await?;
        let rest = self.rows.split_off(reached(&self.rows, stored.len()));
        let rows = std::mem::replace(&mut self.rows, rest);
        Ok(self.results(&rows, stored, |row, imported: Imported| {
            let warning = warnings(&imported.slug, row.warning.as_ref(), imported.kept);
            (done(&imported, warning), imported.slug)
        }))
    }

    /// The result of each row. `stored` contains an answer for each valid row, and `good` makes the
    /// outcome of one and the slug of its tag.
    fn results<T>(
        &self,
        rows: &[Read],
        stored: Vec<Result<T, Conflict>>,
        good: impl Fn(&Read, T) -> (RowOutcome, Slug),
    ) -> Vec<RowResult> {
        let mut stored = stored.into_iter();
        let results = rows.iter().map(|row| {
            let outcome = match &row.row {
                Err(why) => Err(why.clone()),
                Ok(_) => match stored.next() {
                    Some(Ok(stored)) => Ok(Some(good(row, stored))),
                    Some(Err(conflict)) => Err(conflict.into()),
                    None => Ok(None),
                },
            };
            self.result(row, outcome)
        });
        results.collect()
    }

    /// The result of a row: refused, left out, or of a tag with this slug.
    fn result(
        &self,
        row: &Read,
        outcome: Result<Option<(RowOutcome, Slug)>, FieldError>,
    ) -> RowResult {
        let (outcome, fields) = match outcome {
            Err(why) => {
                let reason = why.message;
                (RowOutcome::Refused { reason }, [why.field, None])
            }
            Ok(None) => (RowOutcome::LeftOut, [None, None]),
            Ok(Some((outcome, slug))) => {
                let guessed = slug.warning().map(|_| Cow::Borrowed("slug"));
                let warned = row.warning.as_ref().and_then(|why| why.field.clone());
                (outcome, [guessed, warned])
            }
        };
        let fields = fields.into_iter().flatten();
        RowResult {
            row: row.number,
            outcome,
            columns: fields
                .filter_map(|field| self.headings.of(&field))
                .collect(),
        }
    }

    fn upsert(&self) -> bool {
        self.options.mode == Mode::Upsert
    }
}

/// The expected result of a checked row, without generated values, and the slug of its tag.
fn foreseen(row: &Read, staged: Staged) -> (RowOutcome, Slug) {
    let named = row.row.as_ref().is_ok_and(|row| row.named);
    let saved = Saved {
        slug: named.then(|| staged.slug.to_string()),
        deleted: names(&staged.deleted),
        warning: warnings(&staged.slug, row.warning.as_ref(), staged.kept),
        ..Saved::default()
    };
    (outcome(staged.put, saved), staged.slug)
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

fn warnings(slug: &Slug, other: Option<&FieldError>, kept: Option<KeptInlay>) -> Option<String> {
    let other = other.map(|other| &*other.message);
    let kept = (kept == Some(KeptInlay::Different)).then_some(DIFFERENT);
    let all = [slug.warning(), other, kept].into_iter().flatten();
    let all: Vec<&str> = all.collect();
    (!all.is_empty()).then(|| all.join(" "))
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

fn is_refused(result: &RowResult) -> bool {
    matches!(result.outcome, RowOutcome::Refused { .. })
}
