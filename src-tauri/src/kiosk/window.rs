//! The kiosk's window: full screen on its display. Only the PIN closes it.

use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, Manager as _, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
};

use crate::kiosk_settings::Chosen;
use crate::origin::is_ours;

/// The label of the window, as its capability names it.
pub(super) const LABEL: &str = "kiosk";

/// The names of the displays, in the system's order.
pub(super) fn displays(app: &AppHandle) -> Vec<String> {
    let monitors = app.available_monitors().unwrap_or_default();
    let named = monitors.iter().enumerate().map(|(number, monitor)| {
        let size = monitor.size();
        let name = monitor
            .name()
            .cloned()
            .unwrap_or_else(|| format!("Display {}", number + 1));
        format!("{name} ({} × {})", size.width, size.height)
    });
    named.collect()
}

/// Whether the window is open.
fn is_open(app: &AppHandle) -> bool {
    app.get_webview_window(LABEL).is_some()
}

/// Opens the window, full screen on the chosen display. `None` if it is already open, because it said
/// why the kiosk did not start.
pub(super) fn open(app: &AppHandle, chosen: &Chosen) -> tauri::Result<Option<WebviewWindow>> {
    if is_open(app) {
        return Ok(None);
    }
    let names = displays(app);
    let number = chosen
        .display
        .as_ref()
        .and_then(|wanted| names.iter().position(|name| name == wanted));
    let monitors = app.available_monitors()?;
    let monitor = monitors.get(number.unwrap_or(0));
    let mut builder = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::App("kiosk.html".into()))
        .title("Tapdesk kiosk")
        .decorations(false)
        .skip_taskbar(true)
        .always_on_top(true)
        .resizable(true)
        .devtools(false)
        .zoom_hotkeys_enabled(false)
        .disable_drag_drop_handler()
        .on_navigation(|url| is_ours(url) && url.path() == "/kiosk.html")
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false);
    if let Some(monitor) = monitor {
        let scale = monitor.scale_factor();
        let (place, size) = (
            monitor.position().to_logical::<f64>(scale),
            monitor.size().to_logical::<f64>(scale),
        );
        // Without a window manager, full screen has no effect: position and size are set, too.
        builder = builder
            .position(place.x, place.y)
            .inner_size(size.width, size.height);
    }
    let window = builder.fullscreen(true).build()?;
    window.on_window_event(|event| {
        if let WindowEvent::CloseRequested { api, .. } = event {
            api.prevent_close();
        }
    });
    Ok(Some(window))
}

/// Destroys the window, because a normal close is prevented.
pub(super) fn close(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL)
        && let Err(error) = window.destroy()
    {
        tracing::warn!("the kiosk's window cannot be closed: {error}");
    }
}
