//! Backups in a bucket, for a restore: its form, its list, and the download of one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tapdesk_service::backup::{Bucket, BucketPath, DestinationError};
use tapdesk_service::field_error::FieldError;
use tapdesk_service::s3_server::S3Server;
use tokio::time::timeout;
use zeroize::{Zeroize as _, Zeroizing};

/// When a list is given up: a server that answers with page after page never ends it. It is longer
/// than all attempts to connect.
const LIST_LIMIT: Duration = Duration::from_mins(2);
/// How many backups are listed, the newest: more than a schedule keeps, and few enough for a page.
const MOST: usize = 1_000;

/// A bucket and its server, as a person enters them. For an empty value of the server, the variable
/// of the environment counts, as for scheduled backups. Nothing of it is stored.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BucketForm {
    /// The bucket and the path in it: `s3://BUCKET/PATH`.
    pub path: String,
    /// The URL of the server (`AWS_ENDPOINT_URL`).
    pub endpoint: String,
    /// The region of the server (`AWS_REGION`).
    pub region: String,
    /// The name of the access key (`AWS_ACCESS_KEY_ID`).
    pub access_key: String,
    /// The secret of the access key (`AWS_SECRET_ACCESS_KEY`).
    pub secret: String,
}

/// Identifies a backup in a bucket, without the secret of its access key.
#[derive(PartialEq, Eq)]
pub(crate) struct Origin([String; 4], String);

/// A backup in a bucket.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BucketBackup {
    /// Its name, which contains the time at which it was made.
    pub name: String,
    /// Its size, in bytes.
    pub bytes: u64,
}

impl BucketForm {
    /// The newest backups in the bucket, the newest first.
    pub async fn list(&self) -> Result<Vec<BucketBackup>, FieldError> {
        let (_, bucket) = self.open()?;
        let found = timeout(LIST_LIMIT, bucket.list()).await.map_err(|_| {
            let why = "The server did not list its backups within two minutes. Check its URL and the path, and try again.";
            FieldError::whole(why)
        })?;
        let found = found.map_err(|error| FieldError::whole(error.to_string()))?;
        let found = found.into_iter().take(MOST).map(|backup| BucketBackup {
            name: backup.name,
            bytes: backup.bytes,
        });
        Ok(found.collect())
    }

    /// Downloads the backup of this name into a folder, and returns its file. `heard` gets the number
    /// of bytes that have arrived. The name comes from the page, so it is used only if it is the name
    /// of a backup.
    pub(crate) async fn fetch(
        &self,
        name: &str,
        folder: &Path,
        heard: &(dyn Fn(u64) + Send + Sync),
    ) -> Result<PathBuf, FieldError> {
        let (path, bucket) = self.open()?;
        let one = BucketPath::parse(&format!("{path}/{name}")).ok();
        let parts = one.as_ref().and_then(BucketPath::split_backup);
        let Some((_, name)) = parts.filter(|(above, _)| *above == path) else {
            return Err(FieldError::whole("Choose a backup of the list."));
        };
        let file = folder.join(name);
        let fetched = bucket.fetch_watched(name, &file, heard).await;
        fetched.map_err(|error| FieldError::whole(error.to_string()))?;
        Ok(file)
    }

    /// Identifies the backup of this name.
    pub(crate) fn origin(&self, name: &str) -> Origin {
        let Self {
            path,
            endpoint,
            region,
            access_key,
            ..
        } = self;
        let server = [path, endpoint, region, access_key].map(Clone::clone);
        Origin(server, name.to_owned())
    }

    /// The path without the name of a backup, and the bucket. Nothing is sent yet.
    fn open(&self) -> Result<(BucketPath, Bucket), FieldError> {
        let path = self.parse_path()?;
        let server = self.server();
        let refused = |field: &'static str| move |why: String| FieldError::of(field, why);
        server.check_region().map_err(refused("region"))?;
        server.url().map_err(refused("endpoint"))?;
        if server.access_key.is_none() {
            let why = "Enter the name of the access key.";
            return Err(FieldError::of("access_key", why));
        }
        if server.secret.is_none() {
            let why = "Enter the secret of the access key.";
            return Err(FieldError::of("secret", why));
        }
        server.key().map_err(refused("access_key"))?;
        let bucket = Bucket::open(&path, &server);
        let bucket = bucket.map_err(|error| FieldError::whole(error.to_string()))?;
        Ok((path, bucket))
    }

    fn parse_path(&self) -> Result<BucketPath, FieldError> {
        let path = BucketPath::parse(self.path.trim()).map_err(|error| {
            let why = match error {
                DestinationError::Neither => {
                    "Enter the bucket and the path in it, such as s3://backups/tapdesk.".to_owned()
                }
                error => error.to_string(),
            };
            FieldError::of("path", why)
        })?;
        let above = path.split_backup().map(|(above, _)| above);
        Ok(above.unwrap_or(path))
    }

    fn server(&self) -> S3Server {
        let of_system = S3Server::from_variables(|name| std::env::var(name).ok());
        let typed = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        S3Server {
            endpoint: typed(&self.endpoint).or(of_system.endpoint),
            region: typed(&self.region).or(of_system.region),
            access_key: typed(&self.access_key).or(of_system.access_key),
            secret: typed(&self.secret).map(Zeroizing::new).or(of_system.secret),
        }
    }
}

impl Drop for BucketForm {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}
