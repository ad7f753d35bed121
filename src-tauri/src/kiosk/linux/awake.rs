//! Keeps the screen on and the machine awake: asks the session's screen saver and the system's
//! login manager over their buses.

use zbus::blocking::{Connection, Proxy};
use zbus::zvariant::OwnedFd;

use crate::session;

const NAME: &str = "Tapdesk";
const REASON: &str = "The kiosk is shown";

/// Keeps the screen on until it is dropped.
pub(in crate::kiosk) struct Awake {
    screen: Option<ScreenSaver>,
    /// The login manager's lock: closing it lets the machine sleep again.
    _machine: Option<OwnedFd>,
}

/// A screen saver that is inhibited (freedesktop.org's Idle Inhibition Service).
struct ScreenSaver {
    proxy: Proxy<'static>,
    cookie: u32,
}

/// Asks each service that is present. Blocks.
pub(super) fn stay() -> Awake {
    Awake {
        screen: session::has_bus().then(screen).and_then(|held| {
            held.inspect_err(|error| {
                tracing::info!("the screen saver cannot be inhibited: {error}");
            })
            .ok()
        }),
        _machine: machine()
            .inspect_err(|error| {
                tracing::info!("the login manager cannot keep the computer awake: {error}");
            })
            .ok(),
    }
}

fn screen() -> zbus::Result<ScreenSaver> {
    let name = "org.freedesktop.ScreenSaver";
    let session = Connection::session()?;
    let proxy = Proxy::new(&session, name, "/org/freedesktop/ScreenSaver", name)?;
    let cookie = proxy.call("Inhibit", &(NAME, REASON))?;
    Ok(ScreenSaver { proxy, cookie })
}

fn machine() -> zbus::Result<OwnedFd> {
    let system = Connection::system()?;
    let proxy = Proxy::new(
        &system,
        "org.freedesktop.login1",
        "/org/freedesktop/login1",
        "org.freedesktop.login1.Manager",
    )?;
    proxy.call("Inhibit", &("idle:sleep", NAME, REASON, "block"))
}

impl Drop for Awake {
    fn drop(&mut self) {
        if let Some(ScreenSaver { proxy, cookie }) = self.screen.take() {
            // A screen saver that has ended keeps no screen on, so an error does not matter.
            let _ = proxy.call_method("UnInhibit", &cookie);
        }
    }
}
