//! Systems that have no kiosk yet: each function of `linux` returns an error that says so.

use tauri::AppHandle;

use super::{SharedKiosk, WHY_NOT};
use crate::kiosk_settings::KioskSettings;
use crate::state::Ready;

/// Always fails: this system has no kiosk.
pub(super) fn show(
    _: &AppHandle,
    _: &SharedKiosk,
    _: &KioskSettings,
    _: &Ready,
) -> Result<(), String> {
    refuse()
}

/// Starting the kiosk with the person's session.
pub(super) mod autostart {
    /// Always fails: this system has no kiosk.
    pub(in crate::kiosk) fn set(_: bool) -> Result<(), String> {
        super::refuse()
    }
}

fn refuse() -> Result<(), String> {
    WHY_NOT.map_or(Ok(()), |why| Err(why.to_owned()))
}
