//! A file of the service, written as it arrives.

mod count;
mod part;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ureq::http::HeaderMap;
use ureq::http::header::CONTENT_TYPE;

use crate::resumable::{Rows, continued};
use count::Count;
pub use count::Progress;
pub use part::FileError;
use part::Part;

/// A file that is being written. Until it is complete, its name ends with `.part`. If the value is
/// dropped before that, the part is removed.
///
/// The caller requests [`Self::path`], announces the answer by [`Self::begin`], writes its body, and
/// calls [`Self::finish`], or [`Self::interrupted`] and then everything again.
pub struct Download {
    part: Part,
    path: String,
    cursor: Option<Cursor>,
    rest: Option<Rest>,
    count: Count,
}

/// The answer's part of the position of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The newest row that the export can contain.
    pub bound: String,
    /// The format of its rows.
    pub rows: Rows,
}

/// The rows of an export that have not arrived.
struct Rest {
    cursor: String,
    /// The columns of the rows that have arrived.
    columns: Option<String>,
}

/// How an interrupted download can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// The service cannot continue this file.
    Lost,
    /// No whole row has arrived. The part is empty again.
    FromStart,
    /// Whole rows have arrived. The part ends with the last one.
    AfterRow,
}

impl Cursor {
    /// The cursor in the headers of an answer; `None` if it is no export that can continue.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let text = |name: &str| headers.get(name)?.to_str().ok();
        let rows = Rows::of(text(CONTENT_TYPE.as_str())?)?;
        // The cursor of a continued export may also name the last row.
        let bound = text("tapdesk-cursor")?.split('.').next()?;
        (!bound.is_empty()).then(|| Self {
            bound: bound.to_owned(),
            rows,
        })
    }
}

impl Download {
    /// Begins a download from `path` to a new file that only its owner can read.
    ///
    /// # Errors
    ///
    /// If `place` exists, another process downloads to it, or its part cannot be written.
    pub fn create(place: &Path, path: String) -> Result<Self, FileError> {
        let mut part = Part::new_at(place)?;
        part.empty()?;
        Ok(Self::begun(part, path))
    }

    /// Begins a download from `path` to a file that is replaced if it exists.
    ///
    /// # Errors
    ///
    /// If its part cannot be written.
    pub fn replace(place: &Path, path: String) -> Result<Self, FileError> {
        Ok(Self::begun(Part::replacing(place)?, path))
    }

    /// Continues a download that another process kept (see [`Self::keep`]), from its `cursor`. If
    /// nothing is written, the part stays.
    ///
    /// # Errors
    ///
    /// Those of [`Self::create`], and if there is no part to continue.
    pub fn resume(
        place: &Path,
        path: String,
        cursor: String,
        rows: Rows,
    ) -> Result<Self, FileError> {
        let mut part = Part::new_at(place)?;
        let columns = part.continued(rows)?;
        let bound = cursor.split('.').next().unwrap_or_default().to_owned();
        Ok(Self {
            cursor: Some(Cursor { bound, rows }),
            rest: Some(Rest { cursor, columns }),
            ..Self::begun(part, path)
        })
    }

    fn begun(part: Part, path: String) -> Self {
        Self {
            part,
            path,
            cursor: None,
            rest: None,
            count: Count::default(),
        }
    }

    /// The path and query of the request for the data that have not arrived.
    pub fn path(&self) -> String {
        match &self.rest {
            Some(rest) => continued(&self.path, &rest.cursor, rest.columns.as_deref()),
            None => self.path.clone(),
        }
    }

    /// Notes the cursor of an answer whose body follows.
    ///
    /// # Errors
    ///
    /// [`FileError::NotContinued`] if rows have arrived and this answer does not continue them, such
    /// as the page of a proxy. Its body must not be written. The part stays as it is.
    pub fn begin(&mut self, cursor: Option<Cursor>) -> Result<(), FileError> {
        let format = |cursor: &Option<Cursor>| cursor.as_ref().map(|cursor| cursor.rows);
        if self.rest.is_some() && format(&cursor) != format(&self.cursor) {
            return Err(FileError::NotContinued(self.part.path().to_owned()));
        }
        self.cursor = cursor;
        Ok(())
    }

    /// The data that this value has written.
    pub fn progress(&self) -> Progress {
        self.count.progress()
    }

    /// The unfinished file beside the wanted one.
    pub fn part(&self) -> &Path {
        self.part.path()
    }

    /// The sentence that explains a failed write.
    pub fn cannot_write(&self, error: io::Error) -> FileError {
        self.part.cannot_write(error)
    }

    /// Cuts the part after its last whole row, once the connection broke. [`Self::path`] is then the
    /// path of the rest.
    ///
    /// # Errors
    ///
    /// If the part cannot be read or cut.
    pub fn interrupted(&mut self) -> Result<Interrupted, FileError> {
        self.part.is_kept = false;
        let Some(cursor) = &self.cursor else {
            return Ok(Interrupted::Lost);
        };
        let Some(last) = self.part.cut(cursor.rows)? else {
            self.part.empty()?;
            self.count = Count::default();
            self.rest = None;
            return Ok(Interrupted::FromStart);
        };
        self.count.cut();
        self.rest = Some(Rest {
            cursor: format!("{}.{}", cursor.bound, last.id),
            columns: last.columns,
        });
        Ok(Interrupted::AfterRow)
    }

    /// Keeps the part of an interrupted download for [`Self::resume`]. Returns its file, and the
    /// cursor of the rest, which is empty if no row has arrived.
    pub fn keep(mut self) -> (PathBuf, String) {
        self.part.is_kept = true;
        let rest = self.rest.take();
        let cursor = rest.map(|rest| rest.cursor).unwrap_or_default();
        (self.part.path().to_owned(), cursor)
    }

    /// Gives the complete file its name. It is on disk then. Returns its length in bytes.
    ///
    /// # Errors
    ///
    /// If the file cannot be written or renamed. The part is removed.
    pub fn finish(self) -> Result<u64, FileError> {
        self.part.finish()
    }
}

impl Write for Download {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.part.write(bytes)?;
        let rows = self.cursor.as_ref().map_or(Rows::Csv, |cursor| cursor.rows);
        self.count.add(&bytes[..length], rows);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.part.flush()
    }
}

#[cfg(test)]
mod tests;
