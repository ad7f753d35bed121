//! Reads rows ahead of the database. Parsing rows and wrapping their keys takes about as long as
//! storing them, so a separate thread does it meanwhile.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::super::column::UID;
use super::super::table::Row;
use super::row::{Parsed, Reader};
use crate::service::Service;
use domain::field_error::FieldError;
use storage::{ImportRow, ROWS_AT_ONCE, StorageError};

/// Number of pieces that wait to be stored: enough that the database never waits.
const AHEAD: usize = 8;

/// A row of the file, or the reason why it cannot be stored. The fields of errors and warnings are
/// names of columns.
pub(super) struct Read {
    pub(super) number: u32,
    pub(super) row: Result<Arc<ImportRow>, FieldError>,
    pub(super) warning: Option<FieldError>,
}

/// Receives rows from the file. Dropping the value ends the reading.
pub(super) struct Reading(mpsc::Receiver<Vec<Read>>);

impl Reading {
    /// Starts to read the rows of `table`.
    pub(super) fn start(
        service: Arc<Service>,
        table: impl Iterator<Item = Row> + Send + 'static,
        reader: Reader,
    ) -> Self {
        let (sender, pieces) = mpsc::channel(AHEAD);
        let rows = Rows {
            service,
            table,
            reader,
            slugs: FirstRows::default(),
            uids: FirstRows::default(),
        };
        let runtime = Handle::current();
        // Rows refer to resources, which are looked up here with the rights of the caller.
        tokio::task::spawn_blocking(move || runtime.block_on(rows.send(&sender)));
        Self(pieces)
    }

    /// The next rows, at most [`ROWS_AT_ONCE`]; empty after the last one.
    ///
    /// # Errors
    ///
    /// [`StorageError::Panicked`] if the thread ended before the file did.
    pub(super) async fn next(&mut self) -> Result<Vec<Read>, StorageError> {
        self.0.recv().await.ok_or(StorageError::Panicked)
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
        if let Some(first) = self.slugs.rows.get(&slug_key) {
            let why = format!("Row {first} has the same slug.");
            return Err(FieldError::of("slug", why));
        }
        if let Some(first) = uid_key.and_then(|key| self.uids.rows.get(&key)) {
            let why = format!("Row {first} has the same uid.");
            return Err(FieldError::of(UID, why));
        }
        if row.named {
            self.slugs.rows.insert(slug_key, number);
        }
        self.uids.rows.extend(uid_key.map(|key| (key, number)));
        Ok(row)
    }
}

/// Finds texts that occur in more than one row. A million texts would take a hundred megabytes, so
/// only their 64-bit hashes are kept, with a random key. Two of a million texts have equal hashes
/// in one of 10,000,000 files.
#[derive(Default)]
struct FirstRows {
    hash: RandomState,
    rows: HashMap<u64, u32>,
}

impl FirstRows {
    fn key(&self, text: &[u8]) -> u64 {
        self.hash.hash_one(text)
    }
}
