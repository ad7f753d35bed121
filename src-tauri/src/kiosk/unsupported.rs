//! Systems that have no kiosk yet: each function of `linux` returns an error that says so.

use tauri::AppHandle;

use super::{SharedKiosk, WHY_NOT, window};
use crate::kiosk_settings::{Chosen, KioskSettings};
use crate::state::Ready;

/// Opens a window that says so.
pub(super) fn open(app: &AppHandle, _: &SharedKiosk, chosen: &Chosen) -> tauri::Result<()> {
    window::open(app, chosen).map(drop)
}

/// Always fails: this system has no kiosk.
pub(super) fn show(
    _: &AppHandle,
    _: &SharedKiosk,
    _: &KioskSettings,
    _: &Ready,
) -> Result<(), String> {
    refuse()
}

/// Starting the kiosk with a session.
pub(super) mod autostart {
    /// An entry that never exists.
    pub(in crate::kiosk) struct Autostart;

    impl Autostart {
        /// No entry: this system has no kiosk.
        pub(in crate::kiosk) fn of(_: bool) -> Self {
            Self
        }

        /// No entry is set on this system.
        #[expect(clippy::unused_self, reason = "the same function as on Linux")]
        pub(in crate::kiosk) fn is_set(&self) -> bool {
            false
        }

        /// Nor is one set for all users.
        #[expect(clippy::unused_self, reason = "the same function as on Linux")]
        pub(in crate::kiosk) fn is_for_all(&self) -> bool {
            false
        }

        /// Always fails: this system has no kiosk.
        #[expect(clippy::unused_self, reason = "the same function as on Linux")]
        pub(in crate::kiosk) fn set(&self, _: bool) -> Result<(), String> {
            super::refuse()
        }
    }
}

fn refuse() -> Result<(), String> {
    WHY_NOT.map_or(Ok(()), |why| Err(why.to_owned()))
}
