//! The owner's choices: where to listen, and what the kiosk is.

use std::sync::{MutexGuard, PoisonError};

use super::Shell;
use crate::kiosk::settings::KioskSettings;
use crate::preferences::Preferences;

impl Shell {
    /// Fixes the port, or lets the system choose again. If the port cannot be
    /// had, everything stays as it was.
    pub async fn fix_port(&self, port: Option<u16>) -> Result<(), String> {
        self.listen_as(|preferences| preferences.port = port).await
    }

    /// Opens the listener to this network, or closes it again.
    pub async fn allow_phones(&self, allowed: bool) -> Result<(), String> {
        self.listen_as(|preferences| preferences.phones = allowed)
            .await
    }

    async fn listen_as(&self, choice: impl FnOnce(&mut Preferences)) -> Result<(), String> {
        if self.listen.is_some() {
            return Err(
                "Where Tapdesk listens is fixed by --listen or TAPDESK_LISTEN, \
                 and is changed there alone."
                    .to_owned(),
            );
        }
        let mut running = self.embedded.write().await;
        let before = self.preferences().clone();
        self.choose(choice);
        let Err(refused) = self.launch(&mut running).await else {
            self.publish(running.as_ref(), None);
            return Ok(());
        };
        self.choose(|preferences| *preferences = before);
        let again = self.launch(&mut running).await;
        self.publish(running.as_ref(), again.err());
        Err(refused.to_string())
    }

    /// What the owner chose for the kiosk.
    pub fn kiosk(&self) -> KioskSettings {
        self.preferences().kiosk.clone()
    }

    /// Changes what the owner chose for the kiosk.
    pub fn choose_kiosk(&self, choice: impl FnOnce(&mut KioskSettings)) {
        self.choose(|preferences| choice(&mut preferences.kiosk));
    }

    pub(super) fn preferences(&self) -> MutexGuard<'_, Preferences> {
        self.preferences
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the choices. That they could not be written down is no reason not
    /// to follow them now.
    pub(super) fn choose(&self, choice: impl FnOnce(&mut Preferences)) {
        let mut preferences = self.preferences();
        choice(&mut preferences);
        if let Err(error) = preferences.save(&self.folders.preferences) {
            let file = self.folders.preferences.display();
            tracing::warn!("{file} cannot be written: {error}");
        }
    }
}
