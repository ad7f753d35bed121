//! The stage belongs to the thread of the user interface: this hands it its work.

use std::cell::RefCell;

use tauri::{AppHandle, WebviewWindow};
use tokio::sync::mpsc;
use url::Url;

use super::page::Stage;
use crate::kiosk::Event;
use crate::kiosk::attend::Display;
use crate::kiosk::places::Places;

thread_local! {
    static STAGE: RefCell<Option<Stage>> = const { RefCell::new(None) };
}

/// The stage, from any thread.
pub(super) struct Screen(pub AppHandle);

impl Display for Screen {
    fn begin(&self, url: Url, places: Places) {
        self.on_stage(move |stage| stage.begin(&url, places));
    }

    fn end(&self) {
        self.on_stage(Stage::end);
    }
}

impl Screen {
    fn on_stage(&self, work: impl FnOnce(&mut Stage) + Send + 'static) {
        let handed = self.0.run_on_main_thread(move || {
            STAGE.with_borrow_mut(|stage| stage.as_mut().map(work));
        });
        if let Err(error) = handed {
            tracing::warn!("the kiosk's window does not answer: {error}");
        }
    }
}

/// Sets the stage up in the kiosk's window.
pub(super) fn set_up(
    window: &WebviewWindow,
    events: mpsc::UnboundedSender<Event>,
) -> tauri::Result<()> {
    let here = window.clone();
    window.with_webview(move |view| match Stage::new(&here, view.inner(), events) {
        Ok(stage) => STAGE.set(Some(stage)),
        Err(error) => tracing::error!("the kiosk's window has no room for pages: {error}"),
    })
}

/// Takes the stage down, and a visit with it.
pub(in crate::kiosk) fn take_down(app: &AppHandle) -> tauri::Result<()> {
    app.run_on_main_thread(|| {
        if let Some(mut stage) = STAGE.take() {
            stage.end();
        }
    })
}
