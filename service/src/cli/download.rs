//! Shows the progress of a download.

use std::io;
use std::path::Path;

use anyhow::{Result, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use tapdesk_service::client::Download;
use ureq::Body;

/// Writes the body of an answer to `download`, the future `file`.
pub(super) fn receive(download: &mut Download, body: Body, file: &Path) -> Result<()> {
    let bar = body
        .content_length()
        .map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    bar.set_style(ProgressStyle::with_template(
        "{bytes} {wide_bar} {total_bytes}",
    )?);
    let content = body.into_with_config().limit(u64::MAX).reader();
    io::copy(&mut bar.wrap_read(content), download)
        .map_err(|error| anyhow!("{} did not arrive whole: {error}.", file.display()))?;
    bar.finish_and_clear();
    Ok(())
}
