//! `backup`: backs up the running service's database to a file or a bucket.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;
use tapdesk_service::backup::{self, Bucket, BucketPath};
use tapdesk_service::client::Download;
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::storage::sqlite;
use tapdesk_service::temporary_folder::{TemporaryFolder, remove_leftovers};

use super::bucket;
use super::client::Connection;
use super::download::receive;
use crate::options::{PassphraseFile, S3};

/// How the names of temporary folders begin.
const PREFIX: &str = "tapdesk-backup-";

#[derive(Args)]
pub(super) struct Options {
    /// The file to create, or a bucket: `s3://BUCKET/PATH`. Nothing is overwritten.
    file: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseFile,

    #[command(flatten)]
    connection: Connection,

    #[command(flatten)]
    s3: S3,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let (place, bytes, carries_key) = if let Some(path) = bucket::meant(&options.file)? {
        to_bucket(options, &path)?
    } else {
        let (bytes, carries_key) = to_file(options, &options.file)?;
        (options.file.display().to_string(), bytes, carries_key)
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{place} contains a backup of {bytes} bytes.")?;
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

/// Uploads a backup. Returns its place, its size in bytes, and whether it contains the key.
fn to_bucket(options: &Options, path: &BucketPath) -> Result<(String, u64, bool)> {
    let bucket = Bucket::open(path, &options.s3.server())?;
    let place = std::env::temp_dir();
    remove_leftovers(&place, PREFIX);
    let folder = TemporaryFolder::new_in(&place, PREFIX)
        .context("There is no folder for temporary files.")?;
    let file = folder.path().join("sent");
    let (_, carries_key) = to_file(options, &file)?;
    let name = backup::name(SystemClock::start().now());
    let copy = File::open(&file)?;
    let got = folder.path().join("stored");
    let bytes = bucket::run(bucket.store(&name, copy, &got))?;
    Ok((format!("{path}/{name}"), bytes, carries_key))
}

/// Downloads a backup from the service and checks it. Returns its size in bytes, and whether it
/// contains the key.
fn to_file(options: &Options, file: &Path) -> Result<(u64, bool)> {
    let passphrase = options.passphrase.read()?;
    let request = json!({"passphrase": passphrase.as_ref().map(|text| text.as_str())});
    let path = "/backup";
    let mut download = Download::create(file, path.to_owned())?;
    let response = options.connection.open()?.submit(path, &request)?;
    let carries_key = response
        .headers()
        .get("tapdesk-inlay-key")
        .is_some_and(|value| value == "included");
    receive(&mut download, response.into_body(), file)?;
    sqlite::check_backup(download.part()).context("The backup is incomplete.")?;
    Ok((download.finish()?, carries_key))
}
