//! Tries to enter the PIN, which is the only way out of the kiosk.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tapdesk_service::clock::{Millis, Timestamp};

use crate::kiosk_settings::whole_file;

/// Wrong tries before the first wait.
const FREE: u32 = 3;
/// The wait after the next wrong try. It doubles with each.
const FIRST_WAIT: Millis = Millis::seconds(5);
/// The longest wait after wrong tries.
const LONGEST_WAIT: Millis = Millis::minutes(5);

/// Wrong tries, which slow down the next ones. They are stored on disk, because a visitor can
/// restart the machine by its plug.
pub(super) struct Tries {
    file: PathBuf,
    counted: Counted,
}

/// The stored form of the tries.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Counted {
    wrong: u32,
    /// Until then no PIN is checked, in milliseconds since the Unix epoch.
    until: i64,
}

impl Tries {
    /// Loads the tries from the folder of the kiosk. A file that cannot be parsed counts as no
    /// tries.
    pub(super) fn load(folder: &Path) -> Self {
        let file = folder.join("tries.json");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let counted = serde_json::from_str(&text).unwrap_or_default();
        Self { file, counted }
    }

    /// Begins a try at `now`. It counts as wrong until it turns out to be right, so that neither
    /// parallel tries nor a restart in the middle are free. An `Err` is the number of seconds for
    /// which no PIN is checked.
    pub(super) fn begin(&mut self, now: Timestamp) -> Result<(), u64> {
        if let Some(seconds) = self.wait(now) {
            return Err(seconds);
        }
        self.counted.wrong = self.counted.wrong.saturating_add(1);
        if let Some(doublings) = self.counted.wrong.checked_sub(FREE) {
            let wait = FIRST_WAIT.times(1 << doublings.min(6));
            self.counted.until = now.plus(wait.min(LONGEST_WAIT)).millis();
        }
        self.keep();
        Ok(())
    }

    /// Resets the tries, because the PIN was right.
    pub(super) fn was_right(&mut self) {
        self.counted = Counted::default();
        self.keep();
    }

    /// How long the next try has to wait at `now`, in seconds; `None` if it may be made.
    pub(super) fn wait(&self, now: Timestamp) -> Option<u64> {
        let left = self.counted.until - now.millis();
        // If the clock was set back, nobody waits longer than the longest wait.
        (1..=LONGEST_WAIT.get())
            .contains(&left)
            .then(|| u64::try_from(left).unwrap_or_default().div_ceil(1000))
    }

    /// Stores the tries. A write error is only logged, so that the owner can still enter the PIN.
    fn keep(&self) {
        let text = serde_json::to_string(&self.counted).unwrap_or_default();
        if let Err(error) = whole_file::write(&self.file, text.as_bytes()) {
            tracing::warn!("{} cannot be written: {error}", self.file.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_tries_wait_longer_and_longer_and_never_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let at = Timestamp::from_millis;
        let mut tries = Tries::load(folder.path());
        let mut waits = Vec::new();
        let mut now = 0;
        for _ in 0..11 {
            tries.begin(at(now)).unwrap();
            let wait = tries.wait(at(now)).unwrap_or_default();
            waits.push(wait);
            now += i64::try_from(wait).unwrap() * 1000;
        }
        assert_eq!(waits, [0, 0, 5, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert_eq!(tries.wait(at(now)), None);
        assert_eq!(
            tries.wait(at(now - 900_000)),
            None,
            "the clock was set back"
        );
    }

    #[test]
    fn tries_survive_a_restart_and_the_right_pin_forgets_them() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::from_millis(1_000_000);
        for _ in 0..3 {
            Tries::load(folder.path()).begin(now).unwrap();
        }
        let mut tries = Tries::load(folder.path());
        assert_eq!(tries.begin(now), Err(5));
        tries.was_right();
        assert_eq!(Tries::load(folder.path()).begin(now), Ok(()));
    }

    #[test]
    fn tries_are_counted_in_the_file_of_another_user() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tries.json");
        fs::write(&file, "{}").unwrap();
        let mut permissions = fs::metadata(&file).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).unwrap();
        let now = Timestamp::from_millis(1_000_000);
        for _ in 0..3 {
            Tries::load(folder.path()).begin(now).unwrap();
        }
        assert_eq!(Tries::load(folder.path()).begin(now), Err(5));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn tries_at_the_same_time_count_each() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::from_millis(1_000_000);
        let mut tries = Tries::load(folder.path());
        // None of the tries has been found wrong yet.
        let begun = (0..10).filter(|_| tries.begin(now).is_ok()).count();
        assert_eq!(begun, 3);
    }
}
