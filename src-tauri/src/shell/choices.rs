//! The owner's choices for the listener and the kiosk.

use std::sync::{MutexGuard, PoisonError};

use tapdesk_service::kiosk::KioskState;

use super::Shell;
use crate::carriers::Carriers;
use crate::kiosk_settings::KioskSettings;
use crate::preferences::Preferences;

impl Shell {
    /// Sets a fixed port, or lets the system choose again. If the port is not available, everything
    /// stays as it was.
    pub async fn fix_port(&self, port: Option<u16>) -> Result<(), String> {
        let left = match port {
            Some(_) => self.carriers().await?,
            None => None,
        };
        self.listen_as(|preferences| match port {
            Some(port) => preferences.move_to(port, left),
            None => preferences.port = None,
        })
        .await
    }

    /// Counts of everything that leads to the port of the running service.
    async fn carriers(&self) -> Result<Option<Carriers>, String> {
        let running = self.embedded.read().await;
        let Some(embedded) = running.as_ref() else {
            return Ok(None);
        };
        let (port, phones) = (embedded.address.port(), self.preferences().phones);
        let counted = Carriers::count(&embedded.door.service.storage, port, phones).await;
        counted.map(Some).map_err(|error| error.to_string())
    }

    /// Stays on the present port permanently: the owner encodes or prints everything again that led
    /// to the former port.
    pub async fn keep_port(&self) {
        self.choose(|preferences| preferences.left_port = None);
        self.publish(self.embedded.read().await.as_ref(), None);
    }

    /// Opens the listener to this network, or closes it to the network.
    pub async fn allow_phones(&self, allowed: bool) -> Result<(), String> {
        self.listen_as(|preferences| preferences.phones = allowed)
            .await
    }

    async fn listen_as(&self, choice: impl FnOnce(&mut Preferences)) -> Result<(), String> {
        if self.listen.is_some() {
            return Err(
                "The address on which Tapdesk listens is set by --listen or TAPDESK_LISTEN, \
                 and can only be changed there."
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

    /// The owner's choices for the kiosk, as they are stored now: another user of the machine can
    /// change them, too. If they cannot be read, the last ones stay in force.
    pub fn kiosk(&self) -> KioskSettings {
        let mut settings = self.kiosk_settings();
        if let Some(stored) = KioskSettings::stored(&self.folders.kiosk) {
            *settings = stored;
        }
        settings.clone()
    }

    /// Changes the owner's choices for the kiosk. They apply only if they can be stored. An `Err` is
    /// a sentence for people.
    pub fn choose_kiosk(&self, choice: impl FnOnce(&mut KioskSettings)) -> Result<(), String> {
        let mut settings = self.kiosk_settings();
        let folder = &self.folders.kiosk;
        let changed = KioskSettings::change(folder, &settings, choice).map_err(|error| {
            format!(
                "Nothing was changed, because {} cannot be written: {error}. Let the user of the \
                 desktop write to this folder, and try again.",
                folder.display()
            )
        })?;
        *settings = changed;
        Ok(())
    }

    fn kiosk_settings(&self) -> MutexGuard<'_, KioskSettings> {
        self.kiosk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports the state of the kiosk to the embedded service; `None` if none is shown. A service
    /// that starts or stops at this moment gets the next report.
    pub fn report_kiosk(&self, state: Option<KioskState>) {
        if let Ok(running) = self.embedded.try_read()
            && let Some(embedded) = running.as_ref()
        {
            embedded.door.service.report_kiosk(state);
        }
    }

    /// Whether readers neither beep nor show lights.
    pub fn has_quiet_readers(&self) -> bool {
        self.preferences().quiet_readers
    }

    /// Stores whether readers neither beep nor show lights.
    pub fn set_quiet_readers(&self, quiet: bool) {
        self.choose(|preferences| preferences.quiet_readers = quiet);
    }

    pub(super) fn preferences(&self) -> MutexGuard<'_, Preferences> {
        self.preferences
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the choices. They apply even if they could not be stored; the error is logged.
    pub(super) fn choose(&self, choice: impl FnOnce(&mut Preferences)) {
        let mut preferences = self.preferences();
        choice(&mut preferences);
        if let Err(error) = preferences.save(&self.folders.preferences) {
            let file = self.folders.preferences.display();
            tracing::warn!("{file} cannot be written: {error}");
        }
    }
}
