//! The day's counts at this kiosk, for the owner. They identify nobody.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tapdesk_service::clock::Timestamp;

/// How long a day is, in milliseconds. Days are those of UTC, as in the statistics.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// The counts of one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "KioskDay"))]
#[serde(default)]
pub(super) struct Day {
    /// Which day, counted from the Unix epoch.
    pub number: i64,
    /// Tags that opened an experience.
    pub visits: u64,
    /// Visits that the visitor ended; the others ended by themselves.
    pub done: u64,
    /// Tags and links that lead to hosts which the kiosk does not show.
    pub other_host: u64,
    /// Tags whose URL was copied from another chip.
    pub copied: u64,
    /// Tags that could not be read, or that say nothing.
    pub unread: u64,
    /// Pages that did not open, or broke.
    pub failed: u64,
}

/// The counts, and where they are kept over a restart.
pub(super) struct Tally {
    file: PathBuf,
    day: Day,
}

impl Tally {
    /// The counts in the folder of the kiosk. A file that cannot be understood counts as none.
    pub(super) fn load(folder: &Path) -> Self {
        let file = folder.join("today.json");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let day = serde_json::from_str(&text).unwrap_or_default();
        Self { file, day }
    }

    /// The counts of the day that it is at `now`.
    pub(super) fn today(&mut self, now: Timestamp) -> &Day {
        let today = now.millis().div_euclid(DAY);
        if self.day.number != today {
            self.day = Day {
                number: today,
                ..Day::default()
            };
        }
        &self.day
    }

    /// Counts. That it cannot be written down is no reason not to serve visitors.
    pub(super) fn count(&mut self, now: Timestamp, count: impl FnOnce(&mut Day)) {
        self.today(now);
        count(&mut self.day);
        let text = serde_json::to_string(&self.day).unwrap_or_default();
        let folder = self.file.parent().unwrap_or(Path::new("."));
        if let Err(error) = fs::create_dir_all(folder).and_then(|()| fs::write(&self.file, text)) {
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
        let noon = Timestamp::from_millis(20_000 * DAY + DAY / 2);
        let mut tally = Tally::load(folder.path());
        tally.count(noon, |day| day.visits += 1);
        tally.count(noon, |day| day.visits += 1);
        let mut tally = Tally::load(folder.path());
        assert_eq!(tally.today(noon).visits, 2);
        let tomorrow = Timestamp::from_millis(20_001 * DAY);
        assert_eq!(
            tally.today(tomorrow),
            &Day {
                number: 20_001,
                ..Day::default()
            }
        );
    }
}
