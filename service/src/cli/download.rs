//! An answer into a file that has its name once it is whole, and never before.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use tapdesk_service::private_file;
use ureq::Body;

/// A file to be. Dropped before it is whole, nothing of it is left.
pub(super) struct Download<'a> {
    file: &'a Path,
    /// What has arrived, locked as long as this process writes it.
    part: Part,
}

impl<'a> Download<'a> {
    /// Begins `file`, which must not exist.
    pub(super) fn to(file: &'a Path) -> Result<Self> {
        if private_file::is_there(file) {
            bail!("{} exists already. Choose another name.", file.display());
        }
        let part = Part::beside(file)?;
        Ok(Self { file, part })
    }

    /// Writes `body` and gives the file its name if `check` finds it good.
    /// Answers its length.
    pub(super) fn receive(
        mut self,
        body: Body,
        check: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<u64> {
        let bar = body
            .content_length()
            .map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        bar.set_style(ProgressStyle::with_template(
            "{bytes} {wide_bar} {total_bytes}",
        )?);
        let content = body.into_with_config().limit(u64::MAX).reader();
        let bytes = io::copy(&mut bar.wrap_read(content), &mut self.part.content)
            .map_err(|error| anyhow!("{} did not arrive whole: {error}.", self.file.display()))?;
        let cannot = |error| cannot_write(&self.part.path, &error);
        self.part.content.sync_all().map_err(cannot)?;
        bar.finish_and_clear();
        check(&self.part.path)?;
        private_file::rename_new(&self.part.path, self.file)
            .map_err(|error| cannot_write(self.file, &error))?;
        private_file::sync_folder_of(self.file).map_err(cannot)?;
        Ok(bytes)
    }
}

/// How often a name that changes hands meanwhile is tried.
const ATTEMPTS: u32 = 100;

/// A file that is being written. A process that was ended leaves it, without its lock.
struct Part {
    path: PathBuf,
    content: File,
}

impl Part {
    /// The part of `file`: a new one, or an empty one in the place of what an ended process left.
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
            let content = match File::options().write(true).open(&path) {
                // It has just been given its name, or was removed.
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
            // Whoever wrote it may have given it its name between the two steps:
            // what is locked then is that file, and must stay as it is.
            if is_at(&content, &path).map_err(cannot)? {
                content.set_len(0).map_err(cannot)?;
                return Ok(Self { path, content });
            }
        }
        bail!(
            "{} cannot be written: others use that name.",
            path.display()
        )
    }
}

/// Whether `file` is what has the name `path` at the moment.
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

/// If a file that is open cannot be renamed, it has kept its name.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

impl Drop for Part {
    fn drop(&mut self) {
        // Once it is whole it has another name, and this finds nothing.
        if is_at(&self.content, &self.path).unwrap_or(false) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn cannot_write(file: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{} cannot be written: {error}.", file.display())
}
