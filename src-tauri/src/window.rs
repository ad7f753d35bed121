//! The one window: where it leads, how large it is, and when it asks before it closes.

use std::sync::atomic::{AtomicBool, Ordering};

use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{AppHandle, Manager as _, Url, WebviewUrl, WebviewWindowBuilder, WindowEvent};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogButtons};

use crate::events::Subscriptions;
use crate::scheme::PAGE_ORIGIN;

/// The label of the window, as the capability names it.
pub(crate) const MAIN: &str = "main";

/// Whether closing the window would lose something.
#[derive(Default)]
pub(crate) struct Unsaved(AtomicBool);

impl Unsaved {
    /// Notes what the page says.
    pub(crate) fn set(&self, unsaved: bool) {
        self.0.store(unsaved, Ordering::Relaxed);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Opens the window.
pub(crate) fn open(app: &AppHandle) -> tauri::Result<()> {
    let window = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::default())
        .title("Tapdesk")
        .inner_size(1280.0, 800.0)
        .min_inner_size(1024.0, 640.0)
        // Files are dropped into the page, which reads them itself.
        .disable_drag_drop_handler()
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

/// Brings the window to the person's attention. While the kiosk is shown there
/// is none, and the kiosk stays where it is.
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

/// Closes the window as its own button does: it asks if something would be lost.
pub(crate) fn close(app: &AppHandle) {
    match app.get_webview_window(MAIN).map(|window| window.close()) {
        Some(Ok(())) => {}
        Some(Err(error)) => tracing::warn!("the window cannot be closed: {error}"),
        None => app.exit(0),
    }
}

/// Whether an address is one of the page's own. The window opens no other site.
pub(crate) fn is_ours(url: &Url) -> bool {
    let origin = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
    origin == PAGE_ORIGIN && url.port().is_none()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_leads_nowhere_but_to_the_page() {
        let leads_to = |url: &str| is_ours(&url.parse().unwrap());
        assert!(leads_to(PAGE_ORIGIN));
        assert!(leads_to(&format!("{PAGE_ORIGIN}/index.html#/tags")));
        for url in [
            "https://example.com/",
            "tauri://elsewhere/",
            "tapdesk://localhost/health",
            "file:///etc/passwd",
            "data:text/html,x",
            "about:blank",
            "javascript:alert(1)",
        ] {
            assert!(!leads_to(url), "{url}");
        }
    }
}
