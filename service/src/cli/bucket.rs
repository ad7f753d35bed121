//! Backups in buckets, for the commands.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tapdesk_service::backup::{BackupError, Bucket, BucketPath, StoredBackup};
use tapdesk_service::s3_server::S3Server;
use tapdesk_service::storage::sqlite::temporary_folder;
use tapdesk_service::temporary_folder::TemporaryFolder;

/// A backup that was downloaded. Dropping it removes the file.
pub(super) struct Fetched {
    /// The file.
    pub(super) file: PathBuf,
    _folder: TemporaryFolder,
}

/// The bucket that an argument names; `None` for a file.
pub(super) fn meant(argument: &Path) -> Result<Option<BucketPath>> {
    let text = argument.to_str().filter(|text| BucketPath::is_meant(text));
    Ok(text.map(BucketPath::parse).transpose()?)
}

/// The backups at `path`, the newest first.
pub(super) fn list(path: &BucketPath, server: &S3Server) -> Result<Vec<StoredBackup>> {
    run(async { Bucket::open(path, server)?.list().await })
}

/// Downloads the backup at `path`, or the newest one below it, next to `database`.
pub(super) fn fetch(path: &BucketPath, server: &S3Server, database: &Path) -> Result<Fetched> {
    let (path, name) = if let Some((path, name)) = path.split_backup() {
        (path, name.to_owned())
    } else {
        let newest = list(path, server)?.into_iter().next();
        let newest = newest.with_context(|| format!("There is no backup in {path}."))?;
        (path.clone(), newest.name)
    };
    fetch_one(&path, &name, server, database)
}

/// Downloads the backup `name` at `path`, next to `database`.
pub(super) fn fetch_one(
    path: &BucketPath,
    name: &str,
    server: &S3Server,
    database: &Path,
) -> Result<Fetched> {
    let folder = temporary_folder(database)?;
    let file = folder.path().join(name);
    run(async { Bucket::open(path, server)?.fetch(name, &file).await })?;
    Ok(Fetched {
        file,
        _folder: folder,
    })
}

/// Waits for work with a bucket.
pub(super) fn run<T>(work: impl Future<Output = Result<T, BackupError>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(work)?)
}
