//! What the user's session offers.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(crate) use linux::{has_bus, has_display, spare_a_missing_gpu};

/// The windows of other systems know by themselves how to be drawn.
#[cfg(not(target_os = "linux"))]
pub(crate) fn spare_a_missing_gpu() {}

/// Whether there is a display to open a window on.
#[cfg(not(target_os = "linux"))]
pub(crate) fn has_display() -> bool {
    true
}

/// Whether the system's services can be reached.
#[cfg(not(target_os = "linux"))]
pub(crate) fn has_bus() -> bool {
    true
}
