//! The start of the kiosk on an exhibit's computer. Nobody is there who could try it again, so it is
//! tried until it succeeds, whatever is in its way: people also repair a file while the screen names
//! it.

use std::sync::Arc;
use std::time::Duration;

use tauri::{AppHandle, Manager as _};
use tokio::time::timeout;

use super::{Problem, SharedKiosk, lock, system};
use crate::shell::Shell;
use crate::tray;

/// The pause before the first retry. Each pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause. With the start that follows, visitors are served within ten seconds after the
/// cause is gone.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);
/// How long the screen stays empty while the service starts, before it asks visitors to wait.
const QUIET_START: Duration = Duration::from_secs(2);

/// Begins to start the kiosk, on the thread of the user interface. It ends when the kiosk is shown or
/// left.
pub(crate) fn begin(app: &AppHandle) {
    #[cfg(target_os = "linux")]
    system::watchdog::begin();
    let starting = tauri::async_runtime::spawn(keep_starting(app.clone()));
    *lock(&app.state::<SharedKiosk>().starting) = Some(starting);
}

async fn keep_starting(app: AppHandle) {
    let mut pause = FIRST_PAUSE;
    while let Err(why) = try_to_start(&app).await {
        explain(&app, why);
        tokio::time::sleep(pause).await;
        pause = after(pause);
        start_service(&app).await;
    }
}

/// The pause that follows `pause`.
fn after(pause: Duration) -> Duration {
    (pause * 2).min(LONGEST_PAUSE)
}

async fn try_to_start(app: &AppHandle) -> Result<(), Problem> {
    if let Ok(started) = timeout(QUIET_START, super::start(app)).await {
        return started;
    }
    explain(app, Problem::starting());
    super::start(app).await
}

/// Starts the service again if it failed. The owner can leave in the meantime: a start that has
/// begun continues then, because half of one would leave a database without a service.
async fn start_service(app: &AppHandle) {
    let shell = Arc::clone(&app.state::<Arc<Shell>>());
    let started = tauri::async_runtime::spawn(async move { shell.start_again().await });
    // The state of the shell says whether it succeeded.
    let _ = started.await;
}

/// Shows on the kiosk's screen why the kiosk does not run. A process that cannot open a window ends,
/// so that systemd starts another one.
fn explain(app: &AppHandle, why: Problem) {
    let shell = app.state::<Arc<Shell>>();
    let kiosk = app.state::<SharedKiosk>();
    // Each reason is logged once, and not with each retry.
    if kiosk.view.borrow().problem.as_ref() != Some(&why) {
        tracing::warn!("the kiosk waits: {} {}", why.title, why.text);
        kiosk.view.send_modify(|view| view.problem = Some(why));
    }
    if let Err(error) = system::open(app, &kiosk, &shell.kiosk().chosen) {
        tracing::error!("the window cannot be opened: {error}");
        app.exit(1);
    }
    tray::hide(app);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_some_seconds_and_no_further() {
        let mut pause = FIRST_PAUSE;
        let mut pauses = Vec::new();
        for _ in 0..6 {
            pauses.push(pause.as_millis());
            pause = after(pause);
        }
        assert_eq!(pauses, [500, 1_000, 2_000, 4_000, 4_000, 4_000]);
    }
}
