//! The kiosk's window on Linux. Only this module uses `WebKitGTK`, which confines a visitor's page,
//! and the buses that keep the screen on.

pub(super) mod autostart;
mod awake;
mod page;
mod screen;
pub(super) mod watchdog;

use std::sync::Arc;
use std::time::Duration;

use tauri::{AppHandle, Manager as _};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

pub(super) use self::awake::Awake;
use self::screen::Screen;
pub(super) use self::screen::take_down;
use super::allowed_hosts::AllowedHosts;
use super::visits::Visits;
use super::{Running, SharedKiosk, lock, window};
use crate::kiosk_settings::{Chosen, KioskSettings};
use crate::origin::MAIN;
use crate::reader::monitor::Monitor;
use crate::shell::Shell;
use crate::state::Ready;
use crate::tray;

/// Opens the kiosk's window with everything that confines its page, unless it is open. A page that
/// crashes or hangs is loaded again from then on, also while the kiosk waits for its start.
pub(super) fn open(app: &AppHandle, kiosk: &SharedKiosk, chosen: &Chosen) -> tauri::Result<()> {
    let Some(window) = window::open(app, chosen)? else {
        return Ok(());
    };
    screen::set_up(&window, Arc::clone(kiosk))?;
    // A page that never calls is loaded again, too.
    lock(&kiosk.heartbeat).loads();
    let following = follow_page(app.clone(), Arc::clone(kiosk));
    kiosk.follow(tauri::async_runtime::spawn(following));
    Ok(())
}

/// Loads the attract page again whenever it hangs, until the kiosk ends the task with its window.
async fn follow_page(app: AppHandle, kiosk: SharedKiosk) {
    let mut seconds = interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        seconds.tick().await;
        let must_load = lock(&kiosk.heartbeat).must_load();
        if must_load {
            tracing::warn!("the welcome page hangs; it is loaded again");
            screen::reload(&app);
        }
    }
}

/// Shows the kiosk in place of the owner's window. An `Err` is a sentence for people.
pub(super) fn show(
    app: &AppHandle,
    kiosk: &SharedKiosk,
    settings: &KioskSettings,
    ready: &Ready,
) -> Result<(), String> {
    let allowed_hosts = AllowedHosts {
        address: ready
            .address
            .parse()
            .map_err(|_| "The service has no address.")?,
        tag_url: ready.tag_url.parse().ok(),
        hosts: settings.chosen.hosts.clone(),
    };
    let (events, heard) = mpsc::unbounded_channel();
    let visits = Visits {
        kiosk: Arc::clone(kiosk),
        display: Screen(app.clone()),
        shell: Arc::clone(&app.state::<Arc<Shell>>()),
        allowed_hosts,
        group_id: settings.chosen.group_id,
        idle_seconds: settings.chosen.idle_seconds,
        has_keyboard: settings.chosen.keyboard,
        colour: settings.chosen.colour.clone(),
        // The page may have asked for its code before the service had an address.
        lan: Vec::new(),
        failed_seconds: 0,
        noticed_seconds: 0,
        quiet_seconds: 0,
        renewed_at: 0,
        begun: 0,
    };
    open(app, kiosk, &settings.chosen)
        .map_err(|error| format!("The kiosk's window cannot be opened: {error}."))?;
    // The owner's window keeps its readers if the kiosk's does not open.
    let tables = app.state::<Option<Monitor>>().as_ref().map(|readers| {
        readers.board().judge(false);
        readers.board().be_quiet(true);
        readers.board().watch()
    });
    tray::hide(app);
    if let Some(owner) = app.get_webview_window(MAIN) {
        // No page of the administration may stay open behind the kiosk.
        owner.destroy().map_err(|error| error.to_string())?;
    }
    *lock(&kiosk.running) = Some(Running {
        events,
        attending: tauri::async_runtime::spawn(visits.run(tables, heard)),
        _awake: tokio::task::spawn_blocking(awake::stay),
    });
    tracing::info!("the kiosk is shown");
    Ok(())
}
