//! The backups that the schedule keeps.

use std::path::Path;

use tapdesk_service::backup::{BucketPath, Destination};
use tapdesk_service::plural::counted;
use tapdesk_service::s3_server::S3Server;
use tapdesk_service::start::Database;
use tapdesk_service::storage::sqlite;

use super::Finding::{self, Bad, Good};
use super::{Content, bad};
use crate::cli::bucket;

/// Checks each backup of the schedule: files by reading all of them, and objects by the list of
/// the bucket, because reading them costs money.
pub(super) fn check(database: &Database, content: &Content, server: &S3Server) -> Finding {
    const NONE: &str = "the schedule has made none that are kept";
    let Database::Sqlite(path) = database else {
        return Good("the tools of PostgreSQL make them: pg_dump, or pg_basebackup".to_owned());
    };
    if let Some(finding) = content.finding(NONE) {
        return finding;
    }
    let schedule = match sqlite::backup_schedule(path) {
        Ok(Some(schedule)) if !schedule.files.is_empty() => schedule,
        Ok(_) => return Good(NONE.to_owned()),
        Err(error) => return bad(error),
    };
    match Destination::parse(&schedule.destination) {
        Ok(Destination::Folder(folder)) => in_folder(&folder, &schedule.files),
        Ok(Destination::Bucket(path)) => in_bucket(&path, server, &schedule.files),
        Err(error) => bad(error),
    }
}

fn in_folder(folder: &Path, files: &[String]) -> Finding {
    let wrong = files
        .iter()
        .filter_map(|file| sqlite::check_backup(&folder.join(file)).err());
    let wrong: Vec<_> = wrong.map(|error| error.to_string()).collect();
    if wrong.is_empty() {
        Good(format!(
            "{} as written",
            counted(files.len() as u64, "file")
        ))
    } else {
        Bad(wrong.join(" "))
    }
}

fn in_bucket(path: &BucketPath, server: &S3Server, files: &[String]) -> Finding {
    let listed = match bucket::list(path, server) {
        Ok(listed) => listed,
        Err(error) => return bad(error),
    };
    let is_missing = |file: &&String| !listed.iter().any(|backup| backup.name == **file);
    let missing: Vec<_> = files.iter().filter(is_missing).cloned().collect();
    if missing.is_empty() {
        Good(format!(
            "{} in {path}; --restore-drill reads the newest",
            counted(files.len() as u64, "object")
        ))
    } else {
        Bad(format!(
            "{path} lacks {}. Find out who can remove objects there.",
            missing.join(", ")
        ))
    }
}
