//! A screen saver that counts its inhibitors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use zbus::Connection;
use zbus::connection::Builder;

const NAME: &str = "org.freedesktop.ScreenSaver";

/// A screen saver on a session bus.
pub(super) struct ScreenSaver {
    waits: Arc<AtomicU32>,
    _connection: Connection,
}

struct Service(Arc<AtomicU32>);

#[zbus::interface(name = "org.freedesktop.ScreenSaver")]
impl Service {
    fn inhibit(&self, application: &str, reason: &str) -> u32 {
        assert_eq!((application, reason), ("Tapdesk", "The kiosk is shown"));
        self.0.fetch_add(1, Ordering::Relaxed);
        7
    }

    fn un_inhibit(&self, cookie: u32) {
        assert_eq!(cookie, 7);
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ScreenSaver {
    pub(super) async fn on(bus: &str) -> Self {
        let waits = Arc::new(AtomicU32::new(0));
        let served = Builder::address(bus)
            .and_then(|bus| bus.name(NAME))
            .and_then(|bus| {
                bus.serve_at("/org/freedesktop/ScreenSaver", Service(Arc::clone(&waits)))
            });
        let connection = served.unwrap().build().await.unwrap();
        Self {
            waits,
            _connection: connection,
        }
    }

    /// The number of its inhibitors.
    pub(super) fn waits(&self) -> u32 {
        self.waits.load(Ordering::Relaxed)
    }
}
