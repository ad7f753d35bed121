//! What the user's session offers.

/// Whether there is a display to open a window on.
#[cfg(target_os = "linux")]
pub(crate) fn has_display() -> bool {
    gtk::init().is_ok()
}

/// Whether there is a session bus, by which the keychain and the tray are
/// reached. Asked without one, their libraries try to start a bus of their own.
#[cfg(target_os = "linux")]
pub(crate) fn has_bus() -> bool {
    let named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some();
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map(std::path::PathBuf::from);
    named || folder.is_some_and(|folder| folder.join("bus").exists())
}

/// Whether there is a display to open a window on.
#[cfg(not(target_os = "linux"))]
pub fn has_display() -> bool {
    true
}

/// Whether the system's services can be reached.
#[cfg(not(target_os = "linux"))]
pub fn has_bus() -> bool {
    true
}
