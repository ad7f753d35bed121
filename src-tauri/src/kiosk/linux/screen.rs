//! Forwards work to the stage, which belongs to the thread of the user interface.

use std::cell::RefCell;

use tauri::{AppHandle, WebviewWindow};

use super::page::Stage;
use crate::kiosk::SharedKiosk;
use crate::kiosk::visits::{Display, FirstPage};

thread_local! {
    static STAGE: RefCell<Option<Stage>> = const { RefCell::new(None) };
}

/// A handle to the stage that any thread may use.
pub(super) struct Screen(pub AppHandle);

impl Display for Screen {
    fn begin(&self, page: FirstPage) {
        on_stage(&self.0, move |stage| stage.begin(page));
    }

    fn end(&self) {
        on_stage(&self.0, Stage::end);
    }

    fn renew(&self) {
        reload(&self.0);
    }
}

fn on_stage(app: &AppHandle, work: impl FnOnce(&mut Stage) + Send + 'static) {
    let handed = app.run_on_main_thread(move || {
        STAGE.with_borrow_mut(|stage| stage.as_mut().map(work));
    });
    if let Err(error) = handed {
        tracing::warn!("the kiosk's window does not answer: {error}");
    }
}

/// Loads the attract page again.
pub(super) fn reload(app: &AppHandle) {
    on_stage(app, |stage| stage.reload());
}

/// Creates the stage in the kiosk's window.
pub(super) fn set_up(window: &WebviewWindow, kiosk: SharedKiosk) -> tauri::Result<()> {
    let here = window.clone();
    window.with_webview(move |view| match Stage::new(&here, view.inner(), kiosk) {
        Ok(stage) => STAGE.set(Some(stage)),
        Err(error) => tracing::error!("the kiosk's window has no room for pages: {error}"),
    })
}

/// Removes the stage, and ends a visit on it.
pub(in crate::kiosk) fn take_down(app: &AppHandle) -> tauri::Result<()> {
    app.run_on_main_thread(|| {
        if let Some(mut stage) = STAGE.take() {
            stage.end();
        }
    })
}
