//! Reads rows ahead of the database. Parsing rows and wrapping their keys takes about as long as
//! storing them, so a separate thread does it meanwhile.

mod first_rows;

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::super::column::UID;
use super::super::table::Row;
use super::row::{Parsed, Reader};
use crate::service::Service;
use domain::field_error::FieldError;
use first_rows::FirstRows;
use storage::{ImportRow, ROWS_AT_ONCE, ROWS_IN_COMMIT, StorageError};

/// Number of pieces that wait to be stored: more than a commit has, so that the database never
/// waits.
const AHEAD: usize = ROWS_IN_COMMIT / ROWS_AT_ONCE + 4;

/// A row of the file, or the reason why it cannot be stored. The fields of errors and warnings are
/// names of columns.
pub(super) struct Read {
    pub(super) number: u32,
    pub(super) row: Result<Arc<ImportRow>, FieldError>,
    pub(super) warning: Option<FieldError>,
}

/// Receives rows from the file. Dropping the value ends the reading.
pub(super) struct Reading {
    pieces: mpsc::Receiver<Vec<Read>>,
    /// Whether the last row was received.
    ended: bool,
}

impl Reading {
    /// Starts to read the rows of `table`, at most `most`.
    pub(super) fn start(
        service: Arc<Service>,
        table: impl Iterator<Item = Row> + Send + 'static,
        reader: Reader,
        most: usize,
    ) -> Self {
        let (sender, pieces) = mpsc::channel(AHEAD);
        let rows = Rows {
            service,
            table,
            reader,
            slugs: FirstRows::of(most),
            uids: FirstRows::of(most),
        };
        let runtime = Handle::current();
        // Rows refer to resources, which are looked up here with the rights of the caller.
        tokio::task::spawn_blocking(move || runtime.block_on(rows.send(&sender)));
        Self {
            pieces,
            ended: false,
        }
    }

    /// The next rows, at most [`ROWS_AT_ONCE`]; empty after the last one.
    ///
    /// # Errors
    ///
    /// [`StorageError::Panicked`] if the thread ended before the file did.
    pub(super) async fn next(&mut self) -> Result<Vec<Read>, StorageError> {
        if self.ended {
            return Ok(Vec::new());
        }
        let rows = self.pieces.recv().await.ok_or(StorageError::Panicked)?;
        self.ended = rows.is_empty();
        Ok(rows)
    }

    /// Further rows that were already read, at most `most`; it waits for none.
    pub(super) fn ready(&mut self, most: usize) -> Vec<Read> {
        let mut ready = Vec::new();
        while !self.ended && ready.len() + ROWS_AT_ONCE <= most {
            let Ok(rows) = self.pieces.try_recv() else {
                break;
            };
            self.ended = rows.is_empty();
            ready.extend(rows);
        }
        ready
    }
}

struct Rows<T> {
    service: Arc<Service>,
    table: T,
    reader: Reader,
    slugs: FirstRows,
    uids: FirstRows,
}

impl<T: Iterator<Item = Row>> Rows<T> {
    async fn send(mut self, pieces: &mpsc::Sender<Vec<Read>>) {
        loop {
            let rows = self.next().await;
            let last = rows.is_empty();
            if pieces.send(rows).await.is_err() || last {
                return;
            }
        }
    }

    async fn next(&mut self) -> Vec<Read> {
        let mut rows = Vec::with_capacity(ROWS_AT_ONCE);
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
        }
        rows
    }

    fn first_of_its_name(&mut self, number: u32, row: ImportRow) -> Result<ImportRow, FieldError> {
        let uid = row.inlay.as_ref().map(|inlay| inlay.uid);
        let (slug_key, uid_key) = (
            self.slugs.key(row.slug.as_str().as_bytes()),
            uid.map(|uid| self.uids.key(&uid.bytes())),
        );
        if let Some(first) = self.slugs.row(slug_key) {
            let why = format!("Row {first} has the same slug.");
            return Err(FieldError::of("slug", why));
        }
        if let Some(first) = uid_key.and_then(|key| self.uids.row(key)) {
            let why = format!("Row {first} has the same uid.");
            return Err(FieldError::of(UID, why));
        }
        if row.named {
            self.slugs.add(slug_key, number);
        }
        if let Some(key) = uid_key {
            self.uids.add(key, number);
        }
        Ok(row)
    }
}
