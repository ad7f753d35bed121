//! The part of a file that has arrived.

use std::io::SeekFrom;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tapdesk_service::resumable::{self, Rows};
use tokio::fs::{self, File};
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};

/// How much of a file has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Downloaded"))]
pub(crate) struct Far {
    pub(super) bytes: u64,
    /// Line ends outside of quotes.
    pub(super) rows: u64,
}

/// The last whole row of a partial file.
pub(super) struct LastRow {
    pub(super) id: i64,
    /// The columns of the file, in the form of an export's `columns` parameter.
    pub(super) columns: Option<String>,
}

/// A file that gets its final name once it is complete. If it is dropped before that, it is
/// deleted.
pub(super) struct PartFile {
    place: PathBuf,
    path: PathBuf,
    file: File,
    count: RowCount,
    is_whole: bool,
}

impl PartFile {
    /// Creates the partial file for `place`.
    pub(super) async fn of(place: PathBuf) -> Result<Self, String> {
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let path = place.with_file_name(name);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(&path).await;
        let file = file.map_err(|error| refused(&place, &error))?;
        Ok(Self {
            place,
            path,
            file,
            count: RowCount::default(),
            is_whole: false,
        })
    }

    pub(super) const fn far(&self) -> Far {
        self.count.far
    }

    pub(super) async fn add(&mut self, piece: &[u8]) -> Result<(), String> {
        let written = self.file.write_all(piece).await;
        written.map_err(|error| refused(&self.place, &error))?;
        self.count.add(piece);
        Ok(())
    }

    /// Truncates the file after its last whole row, and returns that row. Without a whole row the
    /// file becomes empty.
    pub(super) async fn cut(&mut self) -> Result<Option<LastRow>, String> {
        let place = self.place.clone();
        let refused = |error| refused(&place, &error);
        self.file.flush().await.map_err(refused)?;
        let copy = self.file.try_clone().await.map_err(refused)?;
        let mut copy = copy.into_std().await;
        let cut = move || -> std::io::Result<_> {
            let Some(id) = resumable::cut(&mut copy, Rows::Csv)? else {
                return Ok(None);
            };
            let columns = resumable::columns(&mut copy)?;
            Ok(Some(LastRow { id, columns }))
        };
        let last = tokio::task::spawn_blocking(cut).await;
        let last = last.map_err(|_| "The file cannot be continued.".to_owned())?;
        let last = last.map_err(refused)?;
        if last.is_none() {
            self.file.set_len(0).await.map_err(refused)?;
        }
        self.file.seek(SeekFrom::End(0)).await.map_err(refused)?;
        self.count = match last {
            Some(_) => self.count.at_last_row(),
            None => RowCount::default(),
        };
        Ok(last)
    }

    /// Renames the complete file to its final name.
    pub(super) async fn finish(mut self) -> Result<(), String> {
        let refused = |error| refused(&self.place, &error);
        self.file.sync_all().await.map_err(refused)?;
        fs::rename(&self.path, &self.place).await.map_err(refused)?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.is_whole {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn refused(place: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be written: {error}.", place.display())
}

/// Counts line ends outside of quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowCount {
    pub(super) far: Far,
    /// The position after the last counted line end.
    whole: Far,
    quoted: bool,
}

impl RowCount {
    pub(super) fn add(&mut self, piece: &[u8]) {
        for byte in piece {
            self.far.bytes += 1;
            match byte {
                b'"' => self.quoted = !self.quoted,
                b'\n' if !self.quoted => {
                    self.far.rows += 1;
                    self.whole = self.far;
                }
                _ => {}
            }
        }
    }

    const fn at_last_row(self) -> Self {
        Self {
            far: self.whole,
            whole: self.whole,
            quoted: false,
        }
    }
}
