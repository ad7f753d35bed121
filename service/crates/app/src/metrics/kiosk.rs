//! Metrics of the kiosk in this process.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::kiosk::KioskState;

/// The screen, the reader and the last visit of the kiosk.
#[derive(Default)]
pub(super) struct KioskMetrics {
    screen: Gauge,
    reader: Gauge,
    last_visit: Gauge,
}

impl KioskMetrics {
    /// Adds the metrics to a registry.
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "kiosk_screen",
            "1 if the screen of the kiosk in this process works, 0 if it does not or no kiosk is shown",
            self.screen.clone(),
        );
        registry.register(
            "kiosk_reader",
            "1 if the kiosk in this process has a reader, 0 if it has none or no kiosk is shown",
            self.reader.clone(),
        );
        registry.register_with_unit(
            "kiosk_last_visit",
            "When the last visit of the kiosk began, since the Unix epoch; 0 before the first one",
            Unit::Seconds,
            self.last_visit.clone(),
        );
    }

    /// Sets the state; `None` if no kiosk is shown. The time of the last visit stays.
    pub(super) fn set(&self, state: Option<KioskState>) {
        let has_screen = state.is_some_and(|state| state.has_screen);
        let has_reader = state.is_some_and(|state| state.has_reader);
        self.screen.set(has_screen.into());
        self.reader.set(has_reader.into());
        if let Some(at) = state.and_then(|state| state.last_visit_at) {
            self.last_visit.set(at.unix_seconds());
        }
    }
}
