//! Where backups go: a folder of this machine, or a bucket of an S3-compatible server.

use std::fmt;
use std::path::{Path, PathBuf};

/// Begins the name of a bucket.
const SCHEME: &str = "s3://";

/// The place to which backups go, and its checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// An absolute path on the machine of the service.
    Folder(PathBuf),
    /// A bucket of an S3-compatible server.
    Bucket(BucketPath),
}

/// A bucket, and the path in it under which objects are, such as `s3://backups/tapdesk`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketPath {
    bucket: String,
    /// Without slashes at its ends; empty for the bucket itself.
    prefix: String,
}

/// Why a text is no destination. Each is a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// It is neither an absolute path nor a bucket.
    #[error(
        "Backups go to an absolute path on the machine of the service, such as /var/backups/tapdesk, or to a bucket, \
         such as s3://backups/tapdesk."
    )]
    Neither,
    /// The bucket has a name that no bucket can have.
    #[error(
        "The name of a bucket has 3 to 63 lower-case letters, digits, dots and hyphens, as in s3://backups/tapdesk."
    )]
    Bucket,
    /// The path in the bucket has other characters than those that every server takes.
    #[error(
        "A path in a bucket has letters, digits, hyphens, underscores and dots between single slashes, as in \
         s3://backups/shop/tapdesk."
    )]
    Prefix,
}

impl Destination {
    /// The destination that `text` names.
    pub fn parse(text: &str) -> Result<Self, DestinationError> {
        if text.starts_with(SCHEME) {
            return BucketPath::parse(text).map(Self::Bucket);
        }
        let folder = Path::new(text);
        if folder.is_absolute() {
            Ok(Self::Folder(folder.to_owned()))
        } else {
            Err(DestinationError::Neither)
        }
    }
}

impl BucketPath {
    /// Whether `text` is meant as the name of a bucket, and not as a file.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// The bucket and the path that `text` names.
    pub fn parse(text: &str) -> Result<Self, DestinationError> {
        let path = text
            .strip_prefix(SCHEME)
            .ok_or(DestinationError::Neither)?
            .trim_end_matches('/');
        let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
        let is_of_bucket =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
        if !(3..=63).contains(&bucket.len()) || !bucket.chars().all(is_of_bucket) {
            return Err(DestinationError::Bucket);
        }
        if !prefix.is_empty() && !prefix.split('/').all(is_segment) {
            return Err(DestinationError::Prefix);
        }
        Ok(Self {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
        })
    }

    /// The path that a backup is in and its name, if this is the path of a backup.
    pub fn split_backup(&self) -> Option<(Self, &str)> {
        let (prefix, name) = self.prefix.rsplit_once('/').unwrap_or(("", &self.prefix));
        let (bucket, prefix) = (self.bucket.clone(), prefix.to_owned());
        is_backup(name).then_some((Self { bucket, prefix }, name))
    }

    /// The name of the bucket.
    pub(super) fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The path in the bucket; empty for the bucket itself.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }
}

impl fmt::Display for BucketPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.bucket)?;
        if self.prefix.is_empty() {
            return Ok(());
        }
        write!(f, "/{}", self.prefix)
    }
}

/// Whether a file or object of this name is a backup, and can be named in a path.
pub(super) fn is_backup(name: &str) -> bool {
    name.starts_with("tapdesk-") && name.ends_with(".backup") && is_segment(name)
}

/// Some servers treat a segment of dots as a step to another folder.
fn is_segment(segment: &str) -> bool {
    let is_of_segment = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    segment.chars().all(is_of_segment) && !segment.chars().all(|c| c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_an_absolute_path_or_a_bucket() {
        let folder = Destination::parse("/var/backups");
        assert_eq!(folder, Ok(Destination::Folder("/var/backups".into())));
        for (text, bucket, prefix) in [
            ("s3://backups", "backups", ""),
            ("s3://backups/", "backups", ""),
            (
                "s3://my.backups-1/shop/Tap_desk/",
                "my.backups-1",
                "shop/Tap_desk",
            ),
        ] {
            let Ok(Destination::Bucket(path)) = Destination::parse(text) else {
                panic!("{text}");
            };
            assert_eq!((path.bucket(), path.prefix()), (bucket, prefix));
            assert_eq!(path.to_string(), text.trim_end_matches('/'));
        }
        for (text, error) in [
            ("", DestinationError::Neither),
            ("backups", DestinationError::Neither),
            ("https://backups", DestinationError::Neither),
            ("s3://", DestinationError::Bucket),
            ("s3://Backups", DestinationError::Bucket),
            ("s3://me:secret@backups/x", DestinationError::Bucket),
            ("s3://backups//x", DestinationError::Prefix),
            ("s3://backups/../x", DestinationError::Prefix),
            ("s3://backups/a b", DestinationError::Prefix),
            ("s3://backups/x?y", DestinationError::Prefix),
        ] {
            assert_eq!(Destination::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_path_of_a_backup_is_told_from_a_path_of_many() {
        let split = |text: &str| {
            let path = BucketPath::parse(text).unwrap();
            let split = path.split_backup();
            split.map(|(path, name)| (path.to_string(), name.to_owned()))
        };
        let name = "tapdesk-20260101T120000Z.backup";
        for of in ["s3://backups", "s3://backups/shop"] {
            let found = split(&format!("{of}/{name}"));
            assert_eq!(found, Some((of.to_owned(), name.to_owned())));
            assert_eq!(split(of), None);
        }
    }
}
