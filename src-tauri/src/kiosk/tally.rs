//! The kiosk's counts of the day, for the owner. They identify nobody.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tapdesk_service::clock::{Millis, Timestamp};

use crate::kiosk_settings::whole_file;

/// Length of a day in milliseconds. Days are in UTC, as in the statistics.
const DAY_MILLIS: i64 = Millis::days(1).get();

/// The counts of one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "KioskDay"))]
#[serde(default)]
pub(super) struct Day {
    /// The number of the day since the Unix epoch, in UTC.
    pub number: i64,
    /// Tags that opened an experience.
    pub visits: u64,
    /// Visits that the visitor ended; the others timed out.
    pub done: u64,
    /// Tags and links that lead to hosts that are not allowed.
    pub other_host: u64,
    /// Tags that are not in the group that the kiosk shows.
    pub other_group: u64,
    /// Tags whose URL was copied from another chip.
    pub copied: u64,
    /// Tags that could not be read, or that contain no URL.
    pub unread: u64,
    /// Pages that could not be opened, or whose process ended.
    pub failed: u64,
}

/// The counts of the day, stored across restarts.
pub(super) struct Tally {
    file: PathBuf,
    stored: Stored,
}

/// The stored form of the counts.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Stored {
    #[serde(flatten)]
    day: Day,
    /// When the last visit began, on whichever day.
    last_visit_at: Option<Timestamp>,
}

impl Tally {
    /// Loads the counts from the folder of the kiosk. A file that cannot be parsed counts as no
    /// counts.
    pub(super) fn load(folder: &Path) -> Self {
        let file = folder.join("today.json");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let stored = serde_json::from_str(&text).unwrap_or_default();
        Self { file, stored }
    }

    /// The counts of the day that contains `now`.
    pub(super) fn today(&mut self, now: Timestamp) -> &Day {
        let today = now.millis().div_euclid(DAY_MILLIS);
        if self.stored.day.number != today {
            self.stored.day = Day {
                number: today,
                ..Day::default()
            };
        }
        &self.stored.day
    }

    /// When the last visit began; `None` before the first one.
    pub(super) fn last_visit_at(&self) -> Option<Timestamp> {
        self.stored.last_visit_at
    }

    /// Counts a visit that begins at `now`.
    pub(super) fn visited(&mut self, now: Timestamp) {
        self.stored.last_visit_at = Some(now);
        self.count(now, |day| day.visits += 1);
    }

    /// Changes the counts. A write error is only logged, so that visitors are still served.
    pub(super) fn count(&mut self, now: Timestamp, count: impl FnOnce(&mut Day)) {
        self.today(now);
        count(&mut self.stored.day);
        let text = serde_json::to_string(&self.stored).unwrap_or_default();
        if let Err(error) = whole_file::write(&self.file, text.as_bytes()) {
            tracing::warn!("{} cannot be written: {error}", self.file.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_counted_over_a_restart_and_starts_again_at_midnight() {
        let folder = tempfile::tempdir().unwrap();
        let noon = Timestamp::from_millis(20_000 * DAY_MILLIS + DAY_MILLIS / 2);
        let mut tally = Tally::load(folder.path());
        assert_eq!(tally.last_visit_at(), None);
        tally.visited(noon);
        tally.visited(noon);
        let mut tally = Tally::load(folder.path());
        assert_eq!(tally.today(noon).visits, 2);
        assert_eq!(tally.last_visit_at(), Some(noon));
        let tomorrow = Timestamp::from_millis(20_001 * DAY_MILLIS);
        assert_eq!(
            tally.today(tomorrow),
            &Day {
                number: 20_001,
                ..Day::default()
            }
        );
    }
}
