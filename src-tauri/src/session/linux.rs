//! A session on Linux: its display, what draws on it, and its bus.

use std::path::PathBuf;
use std::{env, fs};

/// The variable of `WebKitGTK` by which nothing is drawn by OpenGL.
const WITHOUT_OPENGL: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// Has windows drawn without OpenGL where there is no GPU, as in a virtual machine: programs would
/// stand in for it, at 85 MiB, and with half the frames (`service/docs/speed.md`). Who has set the
/// variable is listened to. No other thread may be there yet.
pub(crate) fn spare_a_missing_gpu() {
    if env::var_os(WITHOUT_OPENGL).is_some() || has_gpu() {
        return;
    }
    #[expect(
        unsafe_code,
        reason = "WebKitGTK has no setting for it before a window is there"
    )]
    // SAFETY: no other thread is there that could read the environment meanwhile.
    unsafe {
        env::set_var(WITHOUT_OPENGL, "1");
    }
}

/// Whether the kernel has a device that renders.
fn has_gpu() -> bool {
    let devices = fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    let mut names = devices.map(|device| device.file_name());
    names.any(|name| name.to_string_lossy().starts_with("renderD"))
}

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
