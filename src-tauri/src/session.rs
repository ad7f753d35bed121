//! Facts about the user's session: its display, its bus, its data.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(crate) use linux::{find_system_data, has_bus, has_display, spare_a_missing_gpu};

/// Does nothing: only `WebKitGTK` needs this setting.
#[cfg(not(target_os = "linux"))]
pub(crate) fn spare_a_missing_gpu() {}

/// Does nothing: other systems have their data in one place.
#[cfg(not(target_os = "linux"))]
pub(crate) fn find_system_data() {}

/// Whether a window can be opened.
#[cfg(not(target_os = "linux"))]
pub(crate) fn has_display() -> bool {
    true
}

/// Whether the system's services can be reached.
#[cfg(not(target_os = "linux"))]
pub(crate) fn has_bus() -> bool {
    true
}
