//! An answer into a file that has its name once it is whole, and never before.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use tapdesk_service::private_file;
use ureq::Body;

/// A file to be. Dropped before it is whole, nothing of it is left.
pub(super) struct Download<'a> {
    file: &'a Path,
    part: PathBuf,
}

impl<'a> Download<'a> {
    /// Begins `file`, which must not exist.
    pub(super) fn to(file: &'a Path) -> Result<Self> {
        if file.try_exists().unwrap_or(true) {
            bail!("{} exists already. Choose another name.", file.display());
        }
        let mut part = file.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        private_file::create_empty(&part).map_err(|error| cannot_write(&part, &error))?;
        Ok(Self { file, part })
    }

    /// Writes `body` and gives the file its name where `check` finds it good.
    /// Answers its length.
    pub(super) fn receive(
        self,
        body: Body,
        check: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<u64> {
        let bar = body
            .content_length()
            .map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        bar.set_style(ProgressStyle::with_template(
            "{bytes} {wide_bar} {total_bytes}",
        )?);
        let cannot = |error| cannot_write(&self.part, &error);
        let mut file = File::options()
            .write(true)
            .open(&self.part)
            .map_err(cannot)?;
        let content = body.into_with_config().limit(u64::MAX).reader();
        let bytes = io::copy(&mut bar.wrap_read(content), &mut file)
            .map_err(|error| anyhow!("{} did not arrive whole: {error}.", self.file.display()))?;
        file.sync_all().map_err(cannot)?;
        bar.finish_and_clear();
        check(&self.part)?;
        std::fs::rename(&self.part, self.file).map_err(cannot)?;
        private_file::sync_folder_of(self.file).map_err(cannot)?;
        Ok(bytes)
    }
}

impl Drop for Download<'_> {
    fn drop(&mut self) {
        // Once it is whole it has another name, and this finds nothing.
        let _ = std::fs::remove_file(&self.part);
    }
}

fn cannot_write(file: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{} cannot be written: {error}.", file.display())
}
