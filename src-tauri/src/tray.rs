//! The icon in the system's tray, if the system has one.

use tauri::AppHandle;
use tauri::menu::{Menu, MenuItem};
use tauri::tray::TrayIconBuilder;

use crate::{session, window};

const ICON: &str = "main";
const OPEN: &str = "open";
const QUIT: &str = "quit";

/// Shows the icon. Without a tray the window is sufficient.
pub(crate) fn show(app: &AppHandle) {
    if !session::has_bus() || !has_library() {
        tracing::debug!("this system has no tray");
        return;
    }
    if let Err(error) = build(app) {
        tracing::warn!("the tray's icon cannot be shown: {error}");
    }
}

/// Removes the icon, because the kiosk has no menu.
pub(crate) fn hide(app: &AppHandle) {
    app.remove_tray_by_id(ICON);
}

fn build(app: &AppHandle) -> tauri::Result<()> {
    let open = MenuItem::with_id(app, OPEN, "Open Tapdesk", true, None::<&str>)?;
    let quit = MenuItem::with_id(app, QUIT, "Quit", true, None::<&str>)?;
    let menu = Menu::with_items(app, &[&open, &quit])?;
    let mut tray = TrayIconBuilder::with_id(ICON)
        .menu(&menu)
        .tooltip("Tapdesk")
        .on_menu_event(chosen);
    if let Some(icon) = app.default_window_icon() {
        tray = tray.icon(icon.clone());
    }
    tray.build(app).map(drop)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn chosen(app: &AppHandle, event: tauri::menu::MenuEvent) {
    match event.id().as_ref() {
        OPEN => window::focus(app),
        QUIT => window::close(app),
        _ => {}
    }
}

/// Whether the library that shows tray icons is installed. If it is not, trying to load it would
/// end the program.
#[cfg(target_os = "linux")]
fn has_library() -> bool {
    // The dynamic linker's cache: a list of names, each ending in a NUL.
    const LINKER_CACHE: &str = "/etc/ld.so.cache";
    const LIBRARIES: [&[u8]; 2] = [
        b"libayatana-appindicator3.so.1\0",
        b"libappindicator3.so.1\0",
    ];
    let cache = std::fs::read(LINKER_CACHE).unwrap_or_default();
    let has = |name: &[u8]| cache.windows(name.len()).any(|window| window == name);
    LIBRARIES.into_iter().any(has)
}

#[cfg(not(target_os = "linux"))]
fn has_library() -> bool {
    true
}
