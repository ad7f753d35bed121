//! A session on Linux: its display and its bus.

use std::env;
use std::path::PathBuf;

/// Whether there is a display to open a window on.
pub(crate) fn has_display() -> bool {
    gtk::init().is_ok()
}

/// Whether there is a session bus, by which the keychain and the tray are
/// reached. Asked without one, their libraries try to start a bus of their own.
pub(crate) fn has_bus() -> bool {
    let named = env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some();
    let folder = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    named || folder.is_some_and(|folder| folder.join("bus").exists())
}
