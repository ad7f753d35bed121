//! Keeping the screen on: the session is asked for it over its bus.

use crate::session;

/// The screen stays on until this is dropped.
pub struct Awake {
    _held: keepawake::KeepAwake,
}

/// Asks the session to leave the screen on. `None` where nobody takes the
/// request: without a session bus there is no screen saver to ask either.
pub fn stay() -> Option<Awake> {
    if !session::has_bus() {
        return None;
    }
    let held = keepawake::Builder::default()
        .display(true)
        .idle(true)
        .reason("The kiosk is shown")
        .app_name("Tapdesk")
        .app_reverse_domain("app.tapdesk.desktop")
        .create();
    match held {
        Ok(held) => Some(Awake { _held: held }),
        Err(error) => {
            tracing::warn!("the screen saver cannot be kept away: {error}");
            None
        }
    }
}
