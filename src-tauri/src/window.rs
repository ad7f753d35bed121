//! The owner's window: its navigation, its size, and its question before it closes.

use std::sync::atomic::{AtomicBool, Ordering};

use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{AppHandle, Manager as _, WebviewUrl, WebviewWindowBuilder, WindowEvent};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogButtons};

use crate::events::Subscriptions;
use crate::origin::{MAIN, is_ours};

/// Whether closing the window would lose something, as the page reported.
#[derive(Default)]
pub(crate) struct Unsaved(AtomicBool);

impl Unsaved {
    /// Stores the page's report.
    pub(crate) fn set(&self, unsaved: bool) {
        self.0.store(unsaved, Ordering::Relaxed);
    }

    /// Whether something would be lost.
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Opens the owner's window.
pub(crate) fn open(app: &AppHandle) -> tauri::Result<()> {
    let window = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::default())
        .title("Tapdesk")
        .inner_size(1280.0, 800.0)
        .min_inner_size(1024.0, 640.0)
        // The page itself reads files that are dropped into it.
        .disable_drag_drop_handler()
        // The window navigates to no other site.
        .on_navigation(is_ours)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_page_load(|window, payload| {
            if payload.event() == PageLoadEvent::Started {
                window.state::<Subscriptions>().end();
                window.state::<Unsaved>().set(false);
            }
        })
        .build()?;
    let app = app.clone();
    window.on_window_event(move |event| {
        if let WindowEvent::CloseRequested { api, .. } = event
            && app.state::<Unsaved>().get()
        {
            api.prevent_close();
            ask_to_close(&app);
        }
    });
    Ok(())
}

/// Brings the window to the person's attention. While the kiosk is shown there is no such window,
/// and the kiosk stays on top.
pub(crate) fn focus(app: &AppHandle) {
    let Some(window) = app.get_webview_window(MAIN) else {
        return;
    };
    tracing::info!("the window is brought to the front");
    for outcome in [window.unminimize(), window.show(), window.set_focus()] {
        if let Err(error) = outcome {
            tracing::warn!("the window cannot be brought to the front: {error}");
        }
    }
}

/// Closes the window like its own button: it asks first if something would be lost.
pub(crate) fn close(app: &AppHandle) {
    match app.get_webview_window(MAIN).map(|window| window.close()) {
        Some(Ok(())) => {}
        Some(Err(error)) => tracing::warn!("the window cannot be closed: {error}"),
        None => app.exit(0),
    }
}

fn ask_to_close(app: &AppHandle) {
    let Some(window) = app.get_webview_window(MAIN) else {
        return;
    };
    app.dialog()
        .message("Your unsaved changes will be lost.")
        .title("Close Tapdesk?")
        .buttons(MessageDialogButtons::OkCancelCustom(
            "Close without saving".to_owned(),
            "Keep open".to_owned(),
        ))
        .parent(&window)
        .show(move |close| {
            if close && let Err(error) = window.destroy() {
                tracing::warn!("the window cannot be closed: {error}");
            }
        });
}
