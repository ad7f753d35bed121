//! Writes an answer to a file, which gets its name only when it is complete.

use std::fs::{File, TryLockError};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use tapdesk_service::private_file;
use tapdesk_service::resumable::{self, Rows};
use ureq::Body;

/// A file that is being downloaded. If the value is dropped before the file is complete, the file
/// is removed.
pub(super) struct Download<'a> {
    file: &'a Path,
    /// The received part. It is locked while this process writes it.
    part: PartFile,
}

impl<'a> Download<'a> {
    /// Begins a download to `file`, which must not exist.
    pub(super) fn to(file: &'a Path) -> Result<Self> {
        if private_file::is_there(file) {
            bail!("{} exists already. Choose another name.", file.display());
        }
        let mut part = PartFile::beside(file)?;
        let cannot = |error| cannot_write(&part.path, &error);
        part.content.set_len(0).map_err(cannot)?;
        part.is_kept = false;
        Ok(Self { file, part })
    }

    /// Continues a download to `file` after an interrupted export, which kept its complete rows.
    pub(super) fn continued(file: &'a Path) -> Result<Self> {
        if private_file::is_there(file) {
            bail!("{} exists already. Choose another name.", file.display());
        }
        let mut part = PartFile::beside(file)?;
        let cannot = |error| cannot_write(&part.path, &error);
        let length = part.content.seek(SeekFrom::End(0)).map_err(cannot)?;
        if length == 0 {
            part.is_kept = false;
            bail!(
                "{} has nothing to continue. Leave out --cursor to begin.",
                part.path.display()
            );
        }
        Ok(Self { file, part })
    }

    /// The columns in the received part, if it is CSV.
    pub(super) fn columns(&mut self) -> Result<Option<String>> {
        let content = &mut self.part.content;
        let read = resumable::columns(content);
        let read = read.and_then(|columns| content.seek(SeekFrom::End(0)).map(|_| columns));
        read.map_err(|error| cannot_write(&self.part.path, &error))
    }

    /// Like [`Self::receive`], for the rows of an export. If the download is interrupted, complete
    /// rows stay, and the error explains how to continue. `cursor` is the cursor of the export.
    pub(super) fn receive_rows(mut self, body: Body, rows: Rows, cursor: &str) -> Result<u64> {
        let Err(error) = self.copy(body) else {
            return self.finish(|_| Ok(()));
        };
        self.part.is_kept = false;
        let Ok(Some(last)) = resumable::cut(&mut self.part.content, rows) else {
            return Err(error);
        };
        self.part.is_kept = true;
        let bound = cursor.split('.').next().unwrap_or_default();
        bail!(
            "{error} What arrived is in {}. To continue, add --cursor {bound}.{last} to the same command.",
            self.part.path.display()
        )
    }

    /// Writes `body`, and gives the file its name if `check` accepts it. Returns the length.
    pub(super) fn receive(
        mut self,
        body: Body,
        check: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<u64> {
        self.copy(body)?;
        self.finish(check)
    }

    fn copy(&mut self, body: Body) -> Result<()> {
        let bar = body
            .content_length()
            .map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        bar.set_style(ProgressStyle::with_template(
            "{bytes} {wide_bar} {total_bytes}",
        )?);
        let content = body.into_with_config().limit(u64::MAX).reader();
        io::copy(&mut bar.wrap_read(content), &mut self.part.content)
            .map_err(|error| anyhow!("{} did not arrive whole: {error}.", self.file.display()))?;
        bar.finish_and_clear();
        Ok(())
    }

    fn finish(mut self, check: impl FnOnce(&Path) -> Result<()>) -> Result<u64> {
        self.part.is_kept = false;
        let cannot = |error| cannot_write(&self.part.path, &error);
        self.part.content.sync_all().map_err(cannot)?;
        let bytes = self.part.content.metadata().map_err(cannot)?.len();
        check(&self.part.path)?;
        private_file::rename_new(&self.part.path, self.file)
            .map_err(|error| cannot_write(self.file, &error))?;
        private_file::sync_folder_of(self.file).map_err(cannot)?;
        Ok(bytes)
    }
}

/// Number of attempts to create a part while other processes rename it.
const ATTEMPTS: u32 = 100;

/// A file that is being written. If its process ends early, the file remains without a lock.
struct PartFile {
    path: PathBuf,
    content: File,
    /// Whether the part stays when it is dropped, so that the download can continue.
    is_kept: bool,
}

impl PartFile {
    /// The part of `file`: a new one, or the one that an ended process left.
    fn beside(file: &Path) -> Result<Self> {
        let mut path = file.as_os_str().to_owned();
        path.push(".part");
        let path = PathBuf::from(path);
        let cannot = |error| cannot_write(&path, &error);
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
                Err(TryLockError::WouldBlock) => bail!(
                    "{} is being written by another command. Wait for it, or choose another name.",
                    file.display()
                ),
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
            }
            // Another process may have renamed the part between the two steps. Then the locked file
            // is the finished one, and must stay unchanged.
            if is_at(&content, &path).map_err(cannot)? {
                return Ok(Self {
                    path,
                    content,
                    is_kept: true,
                });
            }
        }
        bail!(
            "{} cannot be written: others use that name.",
            path.display()
        )
    }
}

/// Whether `file` currently has the name `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
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

impl Drop for PartFile {
    fn drop(&mut self) {
        // A complete file has another name, so this finds nothing.
        if !self.is_kept && is_at(&self.content, &self.path).unwrap_or(false) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn cannot_write(file: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{} cannot be written: {error}.", file.display())
}
