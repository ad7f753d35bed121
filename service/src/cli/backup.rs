//! `backup`: the running service's database in a file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use serde_json::json;
use tapdesk_service::private_file;
use tapdesk_service::storage::sqlite;

use super::client::Connection;
use crate::config::PassphraseFile;

#[derive(Args)]
pub(super) struct Options {
    /// The file to make. One that exists is not overwritten.
    file: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseFile,

    #[command(flatten)]
    connection: Connection,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let file = &options.file;
    if file.try_exists().unwrap_or(true) {
        bail!("{} exists already. Choose another name.", file.display());
    }
    let passphrase = options.passphrase.read()?;
    let request = json!({"passphrase": passphrase.as_ref().map(|text| text.as_str())});
    let response = options.connection.open()?.post_for("/backup", &request)?;
    let carries_key = response
        .headers()
        .get("tapdesk-inlay-key")
        .is_some_and(|value| value == "included");
    let part = part_of(file);
    let written = write(response.into_body(), &part).and_then(|bytes| {
        sqlite::examine(&part).context("The backup did not arrive whole.")?;
        std::fs::rename(&part, file)?;
        private_file::sync_folder_of(file)?;
        Ok(bytes)
    });
    let bytes = match written {
        Ok(bytes) => bytes,
        Err(error) => {
            // What is left of a failed attempt is of no use to anybody.
            let _ = std::fs::remove_file(&part);
            return Err(error);
        }
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{} holds a backup of {bytes} bytes.", file.display())?;
    if carries_key {
        writeln!(
            out,
            "It carries the key of the inlays under the passphrase."
        )?;
    } else {
        writeln!(
            out,
            "It does not carry the key of the inlays: keep inlay.key, too, or give a passphrase."
        )?;
    }
    Ok(())
}

fn part_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

fn write(body: ureq::Body, part: &Path) -> Result<u64> {
    let cannot = |error: io::Error| anyhow!("{} cannot be written: {error}.", part.display());
    private_file::create_empty(part).map_err(cannot)?;
    let mut file = File::options().write(true).open(part).map_err(cannot)?;
    let mut content = body.into_with_config().limit(u64::MAX).reader();
    let bytes = io::copy(&mut content, &mut file).map_err(cannot)?;
    file.sync_all().map_err(cannot)?;
    Ok(bytes)
}
