//! Whether there is a newer version. The shell looks only where its owner configured, once a day.

use std::time::Duration;

use tapdesk_service::clock::{Clock as _, Millis, SystemClock, Timestamp};

use super::{Shell, blocking};
use crate::release::{ReleaseSource, Releases};

/// Pause between two looks.
const EVERY: Millis = Millis::days(1);
/// How often the shell checks whether a look is due: a computer that slept looks soon after.
const CHECK: Duration = Duration::from_mins(30);

impl Shell {
    /// Sets where to look for releases, and looks there at once; `None` ends it.
    pub async fn choose_release_source(&self, source: Option<ReleaseSource>, now: Timestamp) {
        self.choose(|preferences| {
            preferences.releases = Releases {
                source,
                ..Releases::default()
            };
        });
        self.publish(self.embedded.read().await.as_ref(), None);
        self.look_for_release(now).await;
    }

    /// Looks now. The state has the result.
    pub async fn look_for_release(&self, now: Timestamp) {
        let Some(source) = self.preferences().releases.source.clone() else {
            return;
        };
        let asked = source.clone();
        let looked = blocking(move || asked.look()).await;
        self.choose(|preferences| {
            let releases = &mut preferences.releases;
            // Meanwhile the owner may have chosen another source.
            if releases.source.as_ref() != Some(&source) {
                return;
            }
            releases.looked_at = Some(now);
            match looked {
                Ok(found) => {
                    releases.found = Some(found);
                    releases.problem = None;
                }
                Err(why) => releases.problem = Some(why),
            }
        });
        self.publish(self.embedded.read().await.as_ref(), None);
    }

    /// Looks if the last look was a day ago.
    pub async fn look_if_due(&self, now: Timestamp) {
        let last = self.preferences().releases.looked_at;
        // A clock that was set back must not end it.
        let is_due = last
            .is_none_or(|last| now.since(last).get().unsigned_abs() >= EVERY.get().unsigned_abs());
        if is_due {
            self.look_for_release(now).await;
        }
    }

    /// Looks once a day, as long as the desktop runs.
    pub(crate) async fn watch_releases(&self) {
        let clock = SystemClock::start();
        loop {
            self.look_if_due(clock.now()).await;
            tokio::time::sleep(CHECK).await;
        }
    }
}
