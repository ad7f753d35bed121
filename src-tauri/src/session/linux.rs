//! A session on Linux: its display, its renderer, and its bus.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::{env, fs};

/// The variable that keeps `WebKitGTK` from drawing with OpenGL.
const WITHOUT_OPENGL: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// Disables OpenGL for windows if there is no GPU, as in a virtual machine: drawing OpenGL in
/// software costs 85 MiB and half of the frames (`service/docs/explanation/speed.md`). If the variable is
/// already set, it stays. Must be called before any other thread starts.
pub(crate) fn spare_a_missing_gpu() {
    if env::var_os(WITHOUT_OPENGL).is_some() || has_gpu() {
        return;
    }
    #[expect(
        unsafe_code,
        reason = "WebKitGTK has no setting for it before a window is there"
    )]
    // SAFETY: no other thread exists that could read the environment at the same time.
    unsafe {
        env::set_var(WITHOUT_OPENGL, "1");
    }
}

/// The folders of the system's data, including its settings schemas: the default of `XDG_DATA_DIRS`
/// (XDG Base Directory Specification).
const SYSTEM_DATA: [&str; 2] = ["/usr/local/share", "/usr/share"];

/// Lets GTK find the system's data even if `XDG_DATA_DIRS` leaves it out, as in the terminal of an
/// editor that is a snap. Otherwise `GLib` ends the program at the first file dialog, because the
/// schema of its settings is missing. Must be called before any other thread starts.
pub(crate) fn find_system_data() {
    let Some(complete) =
        env::var_os("XDG_DATA_DIRS").and_then(|folders| with_system_data(&folders))
    else {
        return;
    };
    #[expect(unsafe_code, reason = "GTK reads it from the environment only")]
    // SAFETY: no other thread exists that could read the environment at the same time.
    unsafe {
        env::set_var("XDG_DATA_DIRS", complete);
    }
}

/// `folders`, followed by the system's folders that are missing in it; `None` if none is missing.
/// An empty list already means the default.
fn with_system_data(folders: &OsStr) -> Option<OsString> {
    let mut all: Vec<_> = env::split_paths(folders).collect();
    let given = all.len();
    all.extend(SYSTEM_DATA.map(PathBuf::from));
    let mut seen = HashSet::new();
    all.retain(|folder| seen.insert(folder.components().collect::<PathBuf>()));
    let is_complete = folders.is_empty() || all.len() == given;
    (!is_complete).then(|| env::join_paths(all).ok()).flatten()
}

/// Whether the kernel has a render device.
fn has_gpu() -> bool {
    let devices = fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    let mut names = devices.map(|device| device.file_name());
    names.any(|name| name.to_string_lossy().starts_with("renderD"))
}

/// Whether a window can be opened.
pub(crate) fn has_display() -> bool {
    gtk::init().is_ok()
}

/// Whether there is a session bus, which the keychain and the tray need. Without one, their
/// libraries would try to start their own bus.
pub(crate) fn has_bus() -> bool {
    let named = env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some();
    let folder = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    named || folder.is_some_and(|folder| folder.join("bus").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_data_is_found_whatever_an_editor_set() {
        let complete = |folders: &str| with_system_data(OsStr::new(folders));
        for (set, expected) in [
            (
                "/snap/code/191/usr/share",
                Some("/snap/code/191/usr/share:/usr/local/share:/usr/share"),
            ),
            (
                "/opt/share:/usr/share",
                Some("/opt/share:/usr/share:/usr/local/share"),
            ),
            ("/usr/share/:/usr/local/share", None),
            ("", None),
        ] {
            assert_eq!(complete(set), expected.map(OsString::from), "{set}");
        }
    }
}
