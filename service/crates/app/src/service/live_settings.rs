//! The settings in force, with the logo of plain pages. They follow the stored ones: a request uses
//! settings that another node stored over a second before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Mutex;

use super::{Service, Shared};
use domain::clock::Stopwatch;
use domain::image_type::ImageType;
use domain::settings::{Layers, Overrides, PageLogo, Settings};
use storage::{Access, CachedPart, Invalid, SettingsEdit, StorageError};

/// How long a request waits for stored settings. Without an answer, it uses those in force.
const PATIENCE: Duration = Duration::from_secs(1);

/// The settings in force, and the stored ones from which they were made.
pub(super) struct LiveSettings {
    in_force: RwLock<Arc<Settings>>,
    page_logo: RwLock<Option<Arc<PageLogo>>>,
    /// The epoch of configuration under which the stored settings were read.
    epoch: AtomicU64,
    /// Held until changed settings, or a changed logo, are in force.
    stored: Mutex<Stored>,
}

struct Stored {
    settings: Overrides,
    /// Runs since they were read.
    read: Stopwatch,
}

impl LiveSettings {
    /// The settings as they are stored now. Fails if they cannot be read.
    pub(super) async fn read(storage: &Access, layers: &Layers) -> Result<Self, StorageError> {
        // The epoch is read first, so that a later change makes the settings invalid.
        let epoch = storage.configuration_epoch();
        let read = Stopwatch::start();
        let settings = storage.settings().await?;
        let in_force = layers.in_force(&settings).map_err(Invalid::from)?;
        let page_logo = storage.page_logo().await?;
        Ok(Self {
            in_force: RwLock::new(Arc::new(in_force)),
            page_logo: RwLock::new(page_logo.map(Arc::new)),
            epoch: AtomicU64::new(epoch.unwrap_or_default()),
            stored: Mutex::new(Stored { settings, read }),
        })
    }

    /// Whether the stored settings did not change since they were read.
    fn are_current(&self, storage: &Access) -> bool {
        storage.is_current(CachedPart::Settings, self.epoch.load(Ordering::Acquire))
    }

    fn show_page_logo(&self, logo: Option<PageLogo>) {
        *self
            .page_logo
            .write()
            .unwrap_or_else(PoisonError::into_inner) = logo.map(Arc::new);
    }
}

impl Shared {
    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        let in_force = self.live_settings.in_force.read();
        Arc::clone(&in_force.unwrap_or_else(PoisonError::into_inner))
    }

    /// The logo of plain pages.
    pub fn page_logo(&self) -> Option<Arc<PageLogo>> {
        let logo = self.live_settings.page_logo.read();
        logo.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts other settings in force until the stored ones change.
    pub fn set_settings(&self, settings: Settings) {
        *self
            .live_settings
            .in_force
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    fn put_in_force(&self, stored: &Overrides) -> Result<(), StorageError> {
        self.set_settings(self.layers.in_force(stored).map_err(Invalid::from)?);
        Ok(())
    }
}

impl Service {
    /// Changes the stored settings and puts them in force. Returns the stored settings.
    pub async fn change_settings(&self, edit: SettingsEdit) -> Result<Overrides, StorageError> {
        let mut known = self.live_settings.stored.lock().await;
        let stored = self.storage.edit_settings(edit).await?;
        self.put_in_force(&stored)?;
        known.settings.clone_from(&stored);
        Ok(stored)
    }

    /// Sets the logo of plain pages, and shows it from the next page on.
    pub async fn set_page_logo(
        &self,
        media_type: ImageType,
        bytes: Vec<u8>,
    ) -> Result<PageLogo, StorageError> {
        let _one_change = self.live_settings.stored.lock().await;
        let logo = self.storage.set_page_logo(media_type, bytes).await?;
        self.live_settings.show_page_logo(Some(logo.clone()));
        Ok(logo)
    }

    /// Deletes the logo of plain pages. `None` if there is none.
    pub async fn delete_page_logo(&self) -> Result<Option<()>, StorageError> {
        let _one_change = self.live_settings.stored.lock().await;
        let deleted = self.storage.delete_page_logo().await?;
        self.live_settings.show_page_logo(None);
        Ok(deleted)
    }

    /// Puts the stored settings and the logo in force, if they may have changed since they were
    /// read, here or on another node. If the database does not answer in time, those in force stay.
    pub async fn follow_settings(&self) {
        if self.live_settings.are_current(&self.storage) {
            return;
        }
        // Boxed, so that the futures of requests stay small.
        let read = Box::pin(tokio::time::timeout(PATIENCE, self.read_settings()));
        if !matches!(read.await, Ok(Ok(()))) {
            tracing::debug!("the stored settings could not be read");
        }
    }

    async fn read_settings(&self) -> Result<(), StorageError> {
        let live = &self.live_settings;
        let waited = Stopwatch::start();
        let mut known = live.stored.lock().await;
        let read_meanwhile = known.read.elapsed() <= waited.elapsed();
        if read_meanwhile || live.are_current(&self.storage) {
            return Ok(());
        }
        let epoch = self.storage.configuration_epoch();
        let read = Stopwatch::start();
        let logo = self.storage.page_logo().await?;
        let stored = self.storage.settings().await?;
        live.show_page_logo(logo);
        if stored != known.settings {
            self.put_in_force(&stored)?;
        }
        *known = Stored {
            settings: stored,
            read,
        };
        if let Some(epoch) = epoch {
            live.epoch.store(epoch, Ordering::Release);
        }
        Ok(())
    }
}
