//! `backup`: backs up the running service's database to a file.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;
use tapdesk_service::client::Download;
use tapdesk_service::storage::sqlite;

use super::client::Connection;
use super::download::receive;
use crate::options::PassphraseFile;

#[derive(Args)]
pub(super) struct Options {
    /// The file to create. An existing file is not overwritten.
    file: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseFile,

    #[command(flatten)]
    connection: Connection,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let passphrase = options.passphrase.read()?;
    let request = json!({"passphrase": passphrase.as_ref().map(|text| text.as_str())});
    let path = "/backup";
    let mut download = Download::create(&options.file, path.to_owned())?;
    let response = options.connection.open()?.submit(path, &request)?;
    let carries_key = response
        .headers()
        .get("tapdesk-inlay-key")
        .is_some_and(|value| value == "included");
    receive(&mut download, response.into_body(), &options.file)?;
    sqlite::check_backup(download.part()).context("The backup is incomplete.")?;
    let bytes = download.finish()?;
    let mut out = io::stdout().lock();
    let file = options.file.display();
    writeln!(out, "{file} contains a backup of {bytes} bytes.")?;
    if carries_key {
        writeln!(
            out,
            "It contains the key that unlocks inlay keys, encrypted with the passphrase."
        )?;
    } else {
        writeln!(
            out,
            "It does not contain the key that unlocks inlay keys: keep inlay.key, too, or set a passphrase."
        )?;
    }
    Ok(())
}
