//! Systems that have no kiosk yet: what `linux` does is refused, in the words for it.

use tauri::AppHandle;

use super::settings::KioskSettings;
use super::{SharedKiosk, WHY_NOT};
use crate::state::Ready;

/// The kiosk is not shown.
pub(super) fn show(
    _: &AppHandle,
    _: &SharedKiosk,
    _: &KioskSettings,
    _: &Ready,
) -> Result<(), String> {
    refuse()
}

/// Starting with the person's session.
pub(super) mod autostart {
    /// Nothing is started.
    pub(in crate::kiosk) fn set(_: bool) -> Result<(), String> {
        super::refuse()
    }
}

fn refuse() -> Result<(), String> {
    WHY_NOT.map_or(Ok(()), |why| Err(why.to_owned()))
}
