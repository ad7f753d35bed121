//! The kiosk: full screen, for visitors. It shows an attract page until a tag is placed on the
//! reader; then the tag's experience, until the visitor is done or idle.
//!
//! ```text
//! readers ──► visits ──► linux/page (the visitor's web view, one for each visit)
//!               │  ▲
//!               ▼  │ events: input, done, broke, led to another host
//!            view (state of the attract page)
//! ```
//!
//! Absent by design: a command of the administration in the kiosk's window, a
//! visitor's page with any command at all, anything of a visit after its end, a
//! way out but the PIN.

mod allowed_hosts;
pub(crate) mod commands;
pub(crate) mod exhibit;
pub(crate) mod fonts;
mod heartbeat;
#[cfg(target_os = "linux")]
mod linux;
pub(crate) mod pictures;
mod pin;
mod problem;
mod tally;
#[cfg(not(target_os = "linux"))]
mod unsupported;
mod visits;
mod window;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tauri::{AppHandle, Manager as _};
use tokio::sync::{mpsc, watch};

use self::heartbeat::Heartbeat;
#[cfg(target_os = "linux")]
use self::linux as system;
use self::problem::Problem;
#[cfg(not(target_os = "linux"))]
use self::unsupported as system;
use crate::folders::Folders;
use crate::kiosk_settings::LeavesTo;
use crate::reader::monitor::Monitor;
use crate::shell::Shell;
use crate::tray;
use crate::window as owner;

/// The reason why this system has no kiosk; `None` if it has one.
const WHY_NOT: Option<&str> = if cfg!(target_os = "linux") {
    None
} else {
    Some("The kiosk runs only on Linux so far.")
};

/// State of the attract page.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the machine"
)]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct View {
    /// The current visit; `None` while the attract page is shown.
    pub visit: Option<Visit>,
    /// A message to the visitor, shown until the next tag.
    pub notice: Option<Notice>,
    /// Whether a reader is connected, so that visitors can place tags.
    pub has_reader: bool,
    /// Whether the service runs, so that pages can open.
    pub has_service: bool,
    /// Whether a tag is on a reader.
    pub has_tag: bool,
    /// Whether a tag was placed and is being checked.
    pub is_reading: bool,
    /// Rises with each tag that is placed, so that the page plays a sound and flashes.
    pub tags: u64,
    /// Rises each time the owner asks for the PIN during a visit.
    pub asked: u64,
    /// Rises each time the addresses of this computer change, so that the page asks for its code again.
    pub network: u64,
    /// The reason why the kiosk cannot run now; `None` if it can.
    pub problem: Option<Problem>,
}

/// A visit in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Visit {
    /// Its number since the kiosk was shown. The page names it when it ends a visit.
    pub number: u64,
    /// Seconds until it ends without input.
    pub seconds_left: u16,
    /// The verdict that the tap gets; `None` if the service does not judge the tag.
    pub verified: Option<bool>,
    /// Whether the page is shown. Before that, the verdict is.
    pub is_open: bool,
}

/// A message to a visitor, in the page's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Notice {
    /// The tag could not be read.
    Unread,
    /// The tag contains nothing that could be opened.
    Blank,
    /// The tag's URL was copied from another chip.
    Copied,
    /// The tag, or a link on its page, leads to a host that the kiosk does not show.
    OtherHost,
    /// The tag is not in the group that the kiosk shows.
    OtherGroup,
    /// The page could not be opened.
    Failed,
    /// The page's process ended.
    Broke,
}

/// An event, and the web view that reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The visit whose page reports it. A visit ignores the late reports of the one before. `None`
    /// for the attract page, which outlives all visits.
    pub visit: Option<u64>,
    /// The event that the page reports.
    pub event: Event,
}

/// Something that happens during a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The visitor did something.
    Input,
    /// The visitor pressed the button that ends the visit.
    Done,
    /// The page of the visit is shown.
    PageShown,
    /// The Escape key was held: the owner wants the PIN.
    OwnerAsks,
    /// A link on the page led to a host that the kiosk does not show.
    LedToOtherHost,
    /// The page could not be opened.
    PageFailed,
    /// The page's process ended.
    PageBroke,
}

/// The kiosk's state outside of its window, managed by the application.
pub(crate) struct Kiosk {
    view: watch::Sender<View>,
    tally: Mutex<tally::Tally>,
    tries: Mutex<pin::Tries>,
    running: Mutex<Option<Running>>,
    /// The start that is tried again and again, on an exhibit's computer.
    starting: Mutex<Option<tauri::async_runtime::JoinHandle<()>>>,
    /// The language of the visitor, as the attract page says it.
    language: Mutex<Option<String>>,
    heartbeat: Mutex<Heartbeat>,
    /// Follows the attract page of the window that is open. A window that opens later has its own.
    following: Mutex<Option<tauri::async_runtime::JoinHandle<()>>>,
    /// Whether the computer was started as a kiosk.
    is_exhibit: bool,
    folders: Folders,
}

/// A kiosk that is shown.
struct Running {
    events: mpsc::UnboundedSender<Report>,
    attending: tauri::async_runtime::JoinHandle<()>,
    /// Keeps the screen on until it is dropped. Nobody awaits it, because a bus that does not
    /// answer must not delay visitors.
    #[cfg(target_os = "linux")]
    _awake: tokio::task::JoinHandle<linux::Awake>,
}

impl Kiosk {
    /// The kiosk of an installation, not shown yet. `is_exhibit` says that the computer was started
    /// as a kiosk.
    pub(crate) fn new(folders: &Folders, is_exhibit: bool) -> Self {
        Self {
            view: watch::Sender::new(View::default()),
            tally: Mutex::new(tally::Tally::load(&folders.kiosk)),
            tries: Mutex::new(pin::Tries::load(&folders.kiosk)),
            running: Mutex::default(),
            starting: Mutex::default(),
            language: Mutex::default(),
            heartbeat: Mutex::default(),
            following: Mutex::default(),
            is_exhibit,
            folders: folders.clone(),
        }
    }

    /// Whether the kiosk is shown.
    pub(crate) fn is_running(&self) -> bool {
        lock(&self.running).is_some()
    }

    fn tell(&self, report: Report) {
        if let Some(running) = &*lock(&self.running) {
            // A kiosk that is being closed has no more visits, so nobody receives this.
            let _ = running.events.send(report);
        }
    }

    /// Follows the attract page with this task, in place of the task of a former window.
    #[cfg(any(test, target_os = "linux"))]
    fn follow(&self, following: tauri::async_runtime::JoinHandle<()>) {
        let former = lock(&self.following).replace(following);
        if let Some(former) = former {
            former.abort();
        }
    }

    /// Ends the start, the visits and the task that follows the page, and returns when nothing of them
    /// changes the state any more.
    async fn stop(&self) {
        let starting = lock(&self.starting).take();
        if let Some(starting) = starting {
            starting.abort();
            // It ends because it was aborted, which is an error.
            let _ = starting.await;
        }
        let running = lock(&self.running).take();
        if let Some(mut running) = running {
            running.attending.abort();
            // It ends because it was aborted, which is an error.
            let _ = (&mut running.attending).await;
        }
        let following = lock(&self.following).take();
        if let Some(following) = following {
            following.abort();
            // It ends because it was aborted, which is an error.
            let _ = following.await;
        }
        self.view.send_replace(View::default());
        *lock(&self.heartbeat) = Heartbeat::default();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.attending.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kiosk in the form that commands receive it.
pub(crate) type SharedKiosk = Arc<Kiosk>;

/// Shows the kiosk in place of the owner's window.
pub(crate) async fn start(app: &AppHandle) -> Result<(), Problem> {
    let kiosk = Arc::clone(&app.state::<SharedKiosk>());
    if kiosk.is_running() {
        return Ok(());
    }
    if let Some(why) = WHY_NOT {
        return Err(Problem::closing(
            why,
            "Close Tapdesk, and start it without --kiosk.",
        ));
    }
    let shell = Arc::clone(&app.state::<Arc<Shell>>());
    let settings = shell.kiosk();
    if settings.pin.is_none() {
        return Err(Problem::closing(
            "This kiosk has no PIN yet.",
            "The kiosk does not start without a PIN, which is the only way to leave it. \
             Close Tapdesk, start it without --kiosk, and set the PIN under Settings, Kiosk.",
        ));
    }
    let ready = shell.ready().await.map_err(Problem::from)?;
    system::show(app, &kiosk, &settings, &ready)
        .map_err(|why| Problem::passing("The kiosk cannot start.", &why))?;
    kiosk.view.send_modify(|view| view.problem = None);
    Ok(())
}

/// Leaves the kiosk: ends the program on an exhibit's computer, or shows the owner's window in place
/// of the kiosk.
async fn leave(app: &AppHandle) -> tauri::Result<()> {
    let kiosk = Arc::clone(&app.state::<SharedKiosk>());
    let shell = Arc::clone(&app.state::<Arc<Shell>>());
    kiosk.stop().await;
    shell.report_kiosk(None);
    if kiosk.is_exhibit && shell.kiosk().chosen.leaves_to == LeavesTo::Quit {
        tracing::info!("the kiosk was left, and the program ends");
        app.exit(0);
        return Ok(());
    }
    if let Some(readers) = app.state::<Option<Monitor>>().as_ref() {
        readers.board().judge(true);
        let shell = app.state::<Arc<Shell>>();
        readers.board().be_quiet(shell.has_quiet_readers());
    }
    #[cfg(target_os = "linux")]
    linux::take_down(app)?;
    // The owner's window must be open before the kiosk's closes: without any window the program
    // would end.
    show_owner(app)?;
    window::close(app);
    tracing::info!("the kiosk was left");
    Ok(())
}

/// Shows the owner's window.
pub(crate) fn show_owner(app: &AppHandle) -> tauri::Result<()> {
    owner::open(app)?;
    tray::show(app);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::oneshot;
    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;

    /// A task that never ends by itself. The receiver gets an error when the task is ended.
    fn endless() -> (tauri::async_runtime::JoinHandle<()>, oneshot::Receiver<()>) {
        let (held, ended) = oneshot::channel::<()>();
        let task = tauri::async_runtime::spawn(async move {
            let _held = held;
            pending::<()>().await;
        });
        (task, ended)
    }

    #[tokio::test]
    async fn one_task_follows_the_page_and_ends_with_the_kiosk() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::around(&home.path().join("tapdesk.db")).unwrap();
        let kiosk = Kiosk::new(&folders, false);
        let (of_former, former_ended) = endless();
        let (of_present, mut present_ended) = endless();
        kiosk.follow(of_former);
        kiosk.follow(of_present);
        assert!(former_ended.await.is_err());
        assert_eq!(present_ended.try_recv(), Err(TryRecvError::Empty));
        kiosk.stop().await;
        assert_eq!(present_ended.try_recv(), Err(TryRecvError::Closed));
    }
}
