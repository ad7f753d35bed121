//! The free space on the disk of a SQLite database.

use std::path::Path;

use serde_json::Value;
use tapdesk_service::settings::Settings;
use tapdesk_service::storage::sqlite;

use super::Content;
use super::Finding::{self, Bad, Good, Warning};

/// Below this many bytes the disk is full before somebody has read an alert.
const LEAST: u64 = 64 << 20;

/// How many mebibytes of room raise an alert when there is less: by the settings of the running
/// service, or by those that the database at `path` stores.
pub(super) fn limit(running: Option<&Value>, path: &Path, content: &Content) -> u64 {
    let of_service = running.and_then(|settings| settings["disk_low_mebibytes"]["value"].as_u64());
    if let Some(limit) = of_service {
        return limit;
    }
    let stored = match content {
        Content::Ready => sqlite::stored_settings(path).ok(),
        Content::Absent | Content::Unchecked(_) => None,
    };
    let stored = stored.and_then(|settings| settings.disk_low_mebibytes);
    let limit = stored.unwrap_or_else(|| Settings::default().disk_low_mebibytes);
    limit.into()
}

/// Checks the disk of the database at `path`, which need not exist. Less than `limit` mebibytes of
/// room are low.
pub(super) fn check(path: &Path, limit: u64) -> Finding {
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // Of a new database there is neither the file nor, at first, its folder.
    let Some(free) = place.ancestors().find_map(sqlite::free_space) else {
        return Good("the system does not say how much is free".to_owned());
    };
    let size = path.metadata().map_or(0, |file| file.len());
    finding(free, size, limit)
}

/// The finding for `free` bytes beside a database of `size` bytes.
fn finding(free: u64, size: u64, limit: u64) -> Finding {
    let mebibytes = free >> 20;
    if free < LEAST {
        Bad(format!(
            "{mebibytes} MiB are free beside the database. Make room: a full disk stores no tap."
        ))
    } else if mebibytes < limit {
        Warning(format!(
            "{mebibytes} MiB are free beside the database. Make room before it is full."
        ))
    } else if free < size {
        Warning(format!(
            "{mebibytes} MiB are free beside the database, which has {} MiB. Make room: an upgrade copies it first.",
            size >> 20
        ))
    } else {
        Good(format!("{mebibytes} MiB are free beside the database"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_of_a_database_that_does_not_exist_is_that_of_its_folder() {
        for path in ["none.db", "none/none/none.db", "/none/none.db"] {
            let (Good(text) | Warning(text) | Bad(text)) = check(Path::new(path), 1024);
            assert!(text.contains("free beside"), "{path}: {text}");
        }
    }

    #[test]
    fn a_disk_is_named_before_it_is_full_and_if_an_upgrade_would_fill_it() {
        const GIB: u64 = 1 << 30;
        let words = |free, size| match finding(free, size, 1024) {
            Good(text) => format!("ok {text}"),
            Warning(text) => format!("warn {text}"),
            Bad(text) => format!("FAIL {text}"),
        };
        assert!(words(0, 0).starts_with("FAIL 0 MiB are free"));
        assert!(words(LEAST - 1, 0).starts_with("FAIL 63 MiB"));
        assert!(words(LEAST, 0).starts_with("warn 64 MiB"));
        assert!(words(GIB, GIB).starts_with("ok 1024 MiB"));
        assert!(words(GIB, GIB + 1).ends_with("an upgrade copies it first."));
        assert!(matches!(finding(GIB, 0, 2_048), Warning(_)));
        assert!(matches!(finding(LEAST, 0, 0), Good(_)), "0 means no alert");
    }
}
