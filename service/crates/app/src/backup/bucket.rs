//! Backups in a bucket of an S3-compatible server.
//!
//! An object appears when its upload is complete, all at once. So an upload that is cut leaves
//! nothing that looks like a backup. After the upload the object is downloaded, and the downloaded
//! file is checked.

mod http;
mod words;

use std::fs::File as StdFile;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path as ObjectPath;
use object_store::{
    BackoffConfig, MultipartUpload, ObjectStore, ObjectStoreExt as _, PutPayload, RetryConfig,
};
use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

use super::BackupError;
use super::destination::{BucketPath, is_backup};
use crate::s3_server::S3Server;
use domain::private_file;
use http::Connector;
use storage::sqlite::free_space;

/// Size of a part of an upload, in bytes. Servers refuse parts of less than 5 MiB. One part is in
/// memory at a time.
const PART: u64 = 8 << 20;
/// The largest number of parts that servers accept. Larger backups get larger parts.
const PARTS: u64 = 10_000;
/// Size of one read, in bytes.
const PIECE: u64 = 256 * 1024;
/// After how many bytes of a download its progress is reported: often enough for people.
const SAID_EACH: u64 = 1 << 20;
/// Bytes in a megabyte.
const MB: u64 = 1_000_000;
/// How often a request is sent again, with growing pauses: a few seconds in all. After a longer
/// outage the schedule makes the next attempt.
const RETRIES: usize = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);
/// When a request is not sent again any more.
const RETRY_UNTIL: Duration = Duration::from_mins(3);
/// The object that shows that objects can be written.
const PROBE: &str = ".tapdesk-writable";
/// An object that no program writes. A server that has it answers everything, as a web page does.
const NEVER: &str = ".tapdesk-never-there";

/// The SHA-256 digest of a file.
type Fingerprint = [u8; 32];

/// A bucket, and the path in it under which backups are.
pub struct Bucket {
    path: BucketPath,
    /// The host of the server, for people.
    server: String,
    store: Arc<dyn ObjectStore>,
    /// Size of a part, in bytes.
    part: u64,
}

/// A backup in a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBackup {
    /// Its name, without the path.
    pub name: String,
    /// Its size, in bytes.
    pub bytes: u64,
}

impl Bucket {
    /// The bucket at `path`. Nothing is sent yet.
    pub fn open(path: &BucketPath, server: &S3Server) -> Result<Self, BackupError> {
        let url = server.url().map_err(BackupError::Bucket)?;
        let (key, secret) = server.key().map_err(BackupError::Bucket)?;
        let retry = RetryConfig {
            backoff: BackoffConfig {
                init_backoff: FIRST_PAUSE,
                max_backoff: LONGEST_PAUSE,
                base: 2.0,
            },
            max_retries: RETRIES,
            retry_timeout: RETRY_UNTIL,
        };
        // Not from the environment: that could name other servers to get keys from.
        let store = AmazonS3Builder::new()
            .with_http_connector(Connector)
            .with_endpoint(url.as_str())
            .with_allow_http(true)
            .with_region(server.region())
            .with_bucket_name(path.bucket())
            .with_access_key_id(key)
            .with_secret_access_key(secret)
            // Not all servers know the request that deletes many.
            .with_disable_bulk_delete(true)
            .with_retry(retry)
            .build();
        let name = url.host_str().unwrap_or_default().to_owned();
        match store {
            Ok(store) => Ok(Self {
                path: path.clone(),
                server: name,
                store: Arc::new(store),
                part: PART,
            }),
            Err(error) => Err(BackupError::Bucket(words::sentence(&error, path, &name))),
        }
    }

    /// Checks that objects can be written and removed.
    pub async fn check(&self) -> Result<(), BackupError> {
        let probe = self.object(PROBE)?;
        let put = self.store.put(&probe, PutPayload::new()).await;
        put.map_err(|error| self.failed(&error))?;
        self.delete(PROBE).await
    }

    /// Uploads `copy` under a name that no object has, and downloads the object to `file`, which
    /// must not exist, so that its checks see the content that a restore would get. Returns the
    /// size in bytes. After an error there is no object of that name.
    pub async fn store(&self, name: &str, copy: StdFile, file: &Path) -> Result<u64, BackupError> {
        let object = self.object(name)?;
        match self.store.head(&object).await {
            Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(self.failed(&error)),
            Ok(_) => {
                self.refuse_web_page().await?;
                return Err(BackupError::Exists(format!("{}/{name}", self.path)));
            }
        }
        let (sent, bytes) = self.upload(name, &object, copy).await?;
        let place = || format!("{}/{name}", self.path);
        let stored = match self.fetch(name, file).await {
            Ok(got) if got == sent => Ok(bytes),
            Ok(_) => Err(BackupError::Altered(place())),
            Err(error) => Err(error),
        };
        if stored.is_err() {
            self.discard(name).await;
        }
        stored
    }

    /// Refuses a server that has whatever it is asked for, such as the console of a server of buckets,
    /// which is at another port.
    async fn refuse_web_page(&self) -> Result<(), BackupError> {
        if self.store.head(&self.object(NEVER)?).await.is_err() {
            return Ok(());
        }
        Err(BackupError::Bucket(format!(
            "{} does not answer as a server of buckets. AWS_ENDPOINT_URL is the address for programs, and not that of a web page.",
            self.server
        )))
    }

    /// Removes a backup that did not pass its checks.
    pub(super) async fn discard(&self, name: &str) {
        if let Err(error) = self.delete(name).await {
            tracing::warn!("{name} may be in the bucket, and is no good backup: {error}");
        }
    }

    async fn upload(
        &self,
        name: &str,
        object: &ObjectPath,
        copy: StdFile,
    ) -> Result<(Fingerprint, u64), BackupError> {
        let begun = self.store.put_multipart(object).await;
        let mut upload = begun.map_err(|error| self.failed(&error))?;
        let sent = match self.parts(&mut *upload, File::from_std(copy)).await {
            Ok(sent) => sent,
            Err(error) => {
                // Parts cost money until they are removed. A server that is down keeps them.
                let _ = upload.abort().await;
                return Err(match error {
                    UploadError::Server(error) => self.failed(&error),
                    UploadError::File(error) => BackupError::Copy(error),
                });
            }
        };
        if let Err(error) = upload.complete().await {
            let _ = upload.abort().await;
            // It may be complete: then only the answer was lost.
            self.discard(name).await;
            return Err(self.failed(&error));
        }
        Ok(sent)
    }

    /// Uploads a file part by part.
    async fn parts(
        &self,
        upload: &mut dyn MultipartUpload,
        mut copy: File,
    ) -> Result<(Fingerprint, u64), UploadError> {
        copy.rewind().await?;
        let size = copy.metadata().await?.len().div_ceil(PARTS).max(self.part);
        let (mut digest, mut all) = (Sha256::new(), 0);
        loop {
            let mut part = Vec::new();
            while (part.len() as u64) < size {
                let before = part.len();
                let piece = PIECE.min(size - before as u64);
                (&mut copy).take(piece).read_to_end(&mut part).await?;
                if part.len() == before {
                    break;
                }
                digest.update(&part[before..]);
            }
            if part.is_empty() {
                return Ok((digest.finalize().into(), all));
            }
            all += part.len() as u64;
            upload.put_part(part.into()).await?;
        }
    }

    /// Downloads a backup to `file`, which must not exist, and which only its owner can read.
    /// Returns the digest of its content.
    pub async fn fetch(&self, name: &str, file: &Path) -> Result<Fingerprint, BackupError> {
        self.fetch_watched(name, file, &|_| ()).await
    }

    /// Like `fetch`, and calls `heard` with the number of bytes that have arrived: after each
    /// mebibyte, and at the end. Dropping the future ends the download.
    pub async fn fetch_watched(
        &self,
        name: &str,
        file: &Path,
        heard: &(dyn Fn(u64) + Send + Sync),
    ) -> Result<Fingerprint, BackupError> {
        let failed = |error| BackupError::File(file.to_owned(), error);
        let got = self.store.get(&self.object(name)?).await;
        let got = got.map_err(|error| self.failed(&error))?;
        check_room(got.meta.size, file.parent().and_then(free_space))?;
        let mut content = got.into_stream();
        private_file::create_empty(file).map_err(failed)?;
        let mut options = File::options();
        let mut written = options.write(true).open(file).await.map_err(failed)?;
        let mut digest = Sha256::new();
        let (mut arrived, mut said) = (0, 0);
        loop {
            let piece = content.try_next().await;
            let Some(piece) = piece.map_err(|error| self.failed(&error))? else {
                break;
            };
            digest.update(&piece);
            written.write_all(&piece).await.map_err(failed)?;
            arrived += piece.len() as u64;
            if arrived - said >= SAID_EACH {
                said = arrived;
                heard(arrived);
            }
        }
        written.flush().await.map_err(failed)?;
        heard(arrived);
        Ok(digest.finalize().into())
    }

    /// The backups at the path, the newest first. Those of other programs are not listed.
    pub async fn list(&self) -> Result<Vec<StoredBackup>, BackupError> {
        let prefix = ObjectPath::parse(self.path.prefix()).map_err(|error| no_path(&error))?;
        let listed = self.store.list_with_delimiter(Some(&prefix)).await;
        let objects = listed.map_err(|error| self.failed(&error))?.objects;
        let mut found: Vec<_> = objects
            .into_iter()
            .filter_map(|object| {
                let name = object.location.filename().filter(|name| is_backup(name))?;
                Some(StoredBackup {
                    name: name.to_owned(),
                    bytes: object.size,
                })
            })
            .collect();
        // Their names contain their times.
        found.sort_by(|one, other| other.name.cmp(&one.name));
        // A page of a list may repeat the end of the one before.
        found.dedup_by(|one, other| one.name == other.name);
        if found.is_empty() {
            self.refuse_web_page().await?;
        }
        Ok(found)
    }

    /// Removes these backups; returns those that do not exist any more.
    pub(super) async fn remove(&self, names: Vec<String>) -> Vec<String> {
        let mut gone = Vec::new();
        for name in names {
            match self.delete(&name).await {
                Ok(()) => gone.push(name),
                Err(error) => tracing::warn!("{name} cannot be removed: {error}"),
            }
        }
        gone
    }

    /// Removes an object, if there is one of that name.
    async fn delete(&self, name: &str) -> Result<(), BackupError> {
        match self.store.delete(&self.object(name)?).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn object(&self, name: &str) -> Result<ObjectPath, BackupError> {
        let prefix = self.path.prefix();
        ObjectPath::parse(format!("{prefix}/{name}")).map_err(|error| no_path(&error))
    }

    fn failed(&self, error: &object_store::Error) -> BackupError {
        BackupError::Bucket(words::sentence(error, &self.path, &self.server))
    }
}

/// Refuses a download that the disk has no room for: a full disk would stop the service. A download
/// is copied once, to be checked or restored.
fn check_room(bytes: u64, free: Option<u64>) -> Result<(), BackupError> {
    let needed = bytes.saturating_mul(2);
    match free {
        Some(free) if free < needed => Err(BackupError::NoRoom {
            needed: needed.div_ceil(MB),
            free: free / MB,
        }),
        _ => Ok(()),
    }
}

fn no_path(error: &object_store::path::Error) -> BackupError {
    BackupError::Bucket(format!("This is no path in a bucket: {error}."))
}

/// Why parts cannot be uploaded.
#[derive(Debug, thiserror::Error)]
enum UploadError {
    #[error(transparent)]
    Server(#[from] object_store::Error),
    #[error(transparent)]
    File(#[from] std::io::Error),
}

#[cfg(test)]
mod tests;
