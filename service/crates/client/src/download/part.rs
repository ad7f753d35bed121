//! The part of a file that has arrived.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use domain::private_file;

use crate::resumable::{self, Rows};

/// Number of attempts to create a part while other processes rename it.
const ATTEMPTS: u32 = 100;

/// Why a file cannot be downloaded: a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A new file would replace another one.
    #[error("{} exists already. Choose another name.", .0.display())]
    Exists(PathBuf),
    /// Another process downloads to this file.
    #[error(
        "{} is being written by another command. Wait for it, or choose another name.",
        .0.display()
    )]
    Busy(PathBuf),
    /// Other processes create and rename this part again and again.
    #[error("{} cannot be written: others use that name.", .0.display())]
    Contested(PathBuf),
    /// There is no part that could be continued.
    #[error("{} has nothing to continue. Leave out --cursor to begin.", .0.display())]
    Nothing(PathBuf),
    /// The answer to a continued download is another file.
    #[error(
        "The answer does not continue the export. {} is kept as it was. Try again.",
        .0.display()
    )]
    NotContinued(PathBuf),
    /// The system refuses to write or read this file.
    #[error("{} cannot be written: {source}.", .path.display())]
    Write {
        /// The file in the sentence.
        path: PathBuf,
        /// The reason that the system gave.
        source: io::Error,
    },
}

/// The last whole row of a part.
pub(super) struct LastRow {
    pub(super) id: i64,
    /// The columns of the file, in the form of an export's `columns` parameter.
    pub(super) columns: Option<String>,
}

/// The file at `path`, which is renamed to `place` once it is complete.
pub(super) struct Part {
    place: PathBuf,
    path: PathBuf,
    content: File,
    /// Whether a file at `place` is replaced.
    replaces: bool,
    /// Whether the part stays when it is dropped, so that the download can continue.
    pub(super) is_kept: bool,
}

impl Part {
    /// The part of a file that does not exist: a new one, or the one that an ended process left. It
    /// is locked while this process has it.
    pub(super) fn new_at(place: &Path) -> Result<Self, FileError> {
        if private_file::is_there(place) {
            return Err(FileError::Exists(place.to_owned()));
        }
        let path = beside(place);
        let cannot = |error| cannot_write(&path, error);
        for _ in 0..ATTEMPTS {
            match private_file::create_empty(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(cannot(error));
                }
                _ => {}
            }
            let content = match File::options().read(true).write(true).open(&path) {
                // The part was renamed or removed at this moment.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.map_err(cannot)?,
            };
            match content.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(FileError::Busy(place.to_owned())),
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
            }
            // Another process may have renamed the part between the two steps. Then the locked file
            // is the finished one, and must stay unchanged.
            if is_at(&content, &path).map_err(cannot)? {
                return Ok(Self {
                    place: place.to_owned(),
                    path,
                    content,
                    replaces: false,
                    is_kept: true,
                });
            }
        }
        Err(FileError::Contested(path))
    }

    /// A new part, in place of any other, of a file that may exist.
    pub(super) fn replacing(place: &Path) -> Result<Self, FileError> {
        let path = beside(place);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        let content = options.open(&path);
        let content = content.map_err(|error| cannot_write(place, error))?;
        Ok(Self {
            place: place.to_owned(),
            path,
            content,
            replaces: true,
            is_kept: false,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The sentence about a failed operation. A person who chose to replace a file knows only its
    /// own name.
    pub(super) fn cannot_write(&self, error: io::Error) -> FileError {
        let path = if self.replaces {
            &self.place
        } else {
            &self.path
        };
        cannot_write(path, error)
    }

    /// Removes everything that was written so far.
    pub(super) fn empty(&mut self) -> Result<(), FileError> {
        let emptied = self.content.set_len(0);
        let emptied = emptied.and_then(|()| self.content.rewind());
        emptied.map_err(|error| self.cannot_write(error))?;
        self.is_kept = false;
        Ok(())
    }

    /// Goes to the end of a part that another process left, and returns its columns.
    pub(super) fn continued(&mut self, rows: Rows) -> Result<Option<String>, FileError> {
        let cannot = |error| cannot_write(&self.path, error);
        let columns = match rows {
            Rows::Csv => resumable::columns(&mut self.content).map_err(cannot)?,
            Rows::Jsonl => None,
        };
        if self.content.seek(SeekFrom::End(0)).map_err(cannot)? == 0 {
            self.is_kept = false;
            return Err(FileError::Nothing(self.path.clone()));
        }
        Ok(columns)
    }

    /// Cuts the part after its last whole row, and returns that row. `None` if it has no row, or a
    /// row without an id.
    pub(super) fn cut(&mut self, rows: Rows) -> Result<Option<LastRow>, FileError> {
        let content = &mut self.content;
        let mut cut = || -> io::Result<_> {
            let Some(id) = resumable::cut(content, rows)? else {
                return Ok(None);
            };
            let columns = match rows {
                Rows::Csv => resumable::columns(content)?,
                Rows::Jsonl => None,
            };
            content.seek(SeekFrom::End(0))?;
            Ok(Some(LastRow { id, columns }))
        };
        let last = cut();
        last.map_err(|error| self.cannot_write(error))
    }

    /// Renames the complete file to its final name, and returns its length.
    pub(super) fn finish(mut self) -> Result<u64, FileError> {
        self.is_kept = false;
        let cannot = |error| self.cannot_write(error);
        self.content.sync_all().map_err(cannot)?;
        let length = self.content.metadata().map_err(cannot)?.len();
        if self.replaces {
            fs::rename(&self.path, &self.place).map_err(cannot)?;
        } else {
            private_file::rename_new(&self.path, &self.place)
                .map_err(|error| cannot_write(&self.place, error))?;
            private_file::sync_folder_of(&self.place).map_err(cannot)?;
        }
        Ok(length)
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.content.flush()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // A complete file has another name, so this finds nothing.
        if !self.is_kept && is_at(&self.content, &self.path).unwrap_or(false) {
            let _ = fs::remove_file(&self.path);
        }
        // A child process has a copy of the handle until its program starts, and the lock with it.
        let _ = self.content.unlock();
    }
}

/// The name of the part of `place`.
fn beside(place: &Path) -> PathBuf {
    let mut path = place.as_os_str().to_owned();
    path.push(".part");
    path.into()
}

fn cannot_write(path: &Path, source: io::Error) -> FileError {
    FileError::Write {
        path: path.to_owned(),
        source,
    }
}

/// Whether `file` currently has the name `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match path.metadata() {
        Ok(there) => Ok(identity(there) == identity(file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// This system cannot rename an open file, so the file still has its name.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
