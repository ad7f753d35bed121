//! The desktop of Tapdesk: a window over the whole service, in one process.
//!
//! ```text
//! window ──► scheme ──► backend ──► the service's router, or a remote service
//!    │                     ▲
//!    └────► commands ──► shell ──► embedded ──► listener, keychain, preferences
//! ```
//!
//! `kiosk` shows the same service to visitors, in a window without commands.
//!
//! Start reading at [`shell`], which knows nothing of windows. Missing on purpose: an admin token
//! in the page, remote content in the window, and any way into the service that scripts do not have
//! as well.

mod arguments;
pub mod backend;
pub mod bucket;
pub mod carriers;
mod commands;
mod download;
pub mod embedded;
mod events;
mod files;
pub mod folders;
mod headless;
pub mod keychain;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "the kiosk is shown only on Linux so far")
)]
mod kiosk;
mod kiosk_settings;
pub mod listener;
mod logging;
pub mod origin;
#[cfg(test)]
mod page_types;
pub mod preferences;
pub mod problem;
pub mod reader;
mod refused_form;
pub mod release;
pub mod rotation;
pub mod scheme;
mod session;
pub mod shell;
mod signals;
pub mod state;
mod tray;
mod window;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Parser as _;
use tapdesk_service::clock::SystemClock;
use tauri::{App, AppHandle, Builder};
use tauri_plugin_window_state::StateFlags;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::download::Downloads;
use crate::events::Subscriptions;
use crate::folders::Folders;
use crate::keychain::Keychain;
use crate::kiosk::Kiosk;
use crate::reader::doctor::{self, Machine};
use crate::reader::monitor::Monitor;
use crate::reader::pcsc::Pcsc;
use crate::shell::Shell;
use crate::window::Unsaved;

/// Time limit for stopping the service after the window is closed.
const STOP_TIME: Duration = Duration::from_secs(15);

/// Runs the desktop until it is closed. If it cannot run, it prints the reason as one sentence on
/// stderr.
pub fn run() -> ExitCode {
    // This must come first: `--help` must not touch anything.
    let arguments = Arguments::parse();
    session::spare_a_missing_gpu();
    session::find_system_data();
    logging::start();
    if arguments.doctor {
        return doctor();
    }
    try_run(&arguments).unwrap_or_else(|error| {
        eprintln!("tapdesk: {error:#}");
        ExitCode::FAILURE
    })
}

fn try_run(arguments: &Arguments) -> Result<ExitCode> {
    let runtime = Runtime::new().context("The system does not let Tapdesk start its threads")?;
    let folders = Folders::of_user()?;
    let keychain = Keychain::of_system(&folders);
    let kiosk = Arc::new(Kiosk::new(&folders, arguments.kiosk));
    let shell = Arc::new(Shell::new(folders, keychain, arguments.listen));
    if !session::has_display() {
        // It would run unseen for ever. A process that ends is started again, and finds a display
        // that came later.
        ensure!(
            !arguments.kiosk,
            "There is no display here, so the kiosk cannot be shown."
        );
        return Ok(runtime.block_on(headless::run(&shell)));
    }
    tauri::async_runtime::set(runtime.handle().clone());
    let readers = readers(&shell, arguments.kiosk);
    let app =
        build(&shell, kiosk, readers, arguments.kiosk).context("The window cannot be opened")?;
    let code = app.run_return(|_, _| {});
    let stopped = runtime.block_on(async { tokio::time::timeout(STOP_TIME, shell.stop()).await });
    if stopped.is_err() {
        tracing::warn!("the service did not stop in time");
    }
    // Do not wait for a keychain or a remote service that does not answer.
    runtime.shutdown_background();
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// Starts watching the readers. `None` on failure: everything else works without readers. They are
/// quiet from the first inlay on if the kiosk is to be shown, which takes some seconds.
fn readers(shell: &Shell, as_kiosk: bool) -> Option<Monitor> {
    let started = Monitor::start(Pcsc, Arc::new(SystemClock::start()));
    let warned = started.inspect_err(|error| tracing::warn!("readers cannot be watched: {error}"));
    let readers = warned.ok()?;
    readers
        .board()
        .be_quiet(as_kiosk || shell.has_quiet_readers());
    Some(readers)
}

/// Prints on stdout why inlays cannot be read, and which fonts the kiosk of this computer lacks. Returns
/// a failure if there is a problem.
fn doctor() -> ExitCode {
    let machine = Machine::this();
    let mut findings = doctor::examine(&doctor::look(&mut Pcsc), machine);
    // Without folders there is no kiosk.
    let folders = Folders::of_user().ok();
    findings.extend(folders.and_then(|folders| kiosk::fonts::finding(&folders.kiosk, machine)));
    for finding in &findings {
        println!("{finding}");
    }
    let has_problem = findings.iter().any(|finding| finding.kind.is_problem());
    ExitCode::from(u8::from(has_problem))
}

fn build(
    shell: &Arc<Shell>,
    kiosk: Arc<Kiosk>,
    readers: Option<Monitor>,
    as_kiosk: bool,
) -> tauri::Result<App> {
    let on_screen = StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED;
    let starting = Arc::clone(shell);
    let watching = (!as_kiosk).then(|| Arc::clone(shell));
    let mut builder = Builder::default();
    if session::has_bus() {
        // This must come first: a second start ends here, before it touches anything. Without a bus
        // it ends at the lock of the database.
        builder = builder.plugin(tauri_plugin_single_instance::init(|app, _, _| {
            window::focus(app);
        }));
    }
    builder
        .plugin(
            tauri_plugin_window_state::Builder::default()
                .with_state_flags(on_screen)
                .build(),
        )
        .plugin(tauri_plugin_dialog::init())
        .manage(Arc::clone(shell))
        .manage(Subscriptions::default())
        .manage(Unsaved::default())
        .manage(Downloads::default())
        .manage(readers)
        .manage(kiosk)
        .register_asynchronous_uri_scheme_protocol(scheme::SCHEME, scheme::handle)
        .register_asynchronous_uri_scheme_protocol(kiosk::pictures::SCHEME, kiosk::pictures::handle)
        .invoke_handler(tauri::generate_handler![
            commands::shell_state,
            commands::watch_shell,
            commands::live_events,
            commands::restart_service,
            commands::start_afresh,
            commands::restore_backup,
            commands::bucket_backups,
            commands::restore_from_bucket,
            commands::forget_backup,
            commands::rotate_key,
            commands::fix_port,
            commands::keep_port,
            commands::allow_phones,
            commands::choose_release_source,
            commands::look_for_release,
            commands::connect,
            commands::add_connection,
            commands::remove_connection,
            commands::set_unsaved,
            commands::set_scale,
            commands::open_external,
            commands::save_file,
            commands::download,
            commands::continue_download,
            commands::stop_download,
            commands::watch_readers,
            commands::send_tap,
            commands::encode,
            commands::reader_doctor,
            commands::quiet_readers,
            commands::set_quiet_readers,
            kiosk::commands::kiosk_attract,
            kiosk::commands::kiosk_watch,
            kiosk::commands::kiosk_done,
            kiosk::commands::kiosk_unlock,
            kiosk::commands::kiosk_close,
            kiosk::commands::kiosk_language,
            kiosk::commands::kiosk_alive,
            kiosk::commands::kiosk_settings,
            kiosk::commands::kiosk_choose,
            kiosk::commands::kiosk_set_pin,
            kiosk::commands::kiosk_add_picture,
            kiosk::commands::kiosk_remove_picture,
            kiosk::commands::kiosk_set_logo,
            kiosk::commands::kiosk_remove_logo,
            kiosk::commands::kiosk_start,
        ])
        .setup(move |app| {
            tauri::async_runtime::spawn(async move { starting.start().await });
            // An exhibit tells nobody about a newer version.
            if let Some(shell) = watching {
                tauri::async_runtime::spawn(async move { shell.watch_releases().await });
            }
            show(app.handle(), as_kiosk)?;
            tauri::async_runtime::spawn(end_when_asked(app.handle().clone()));
            Ok(())
        })
        .build(tauri::generate_context!())
}

/// Shows the owner's window, or the kiosk if it was asked for. A kiosk that cannot start says so:
/// the owner's window never opens on an exhibit's screen.
fn show(app: &AppHandle, as_kiosk: bool) -> tauri::Result<()> {
    if as_kiosk {
        kiosk::exhibit::begin(app);
        return Ok(());
    }
    kiosk::show_owner(app)
}

/// Closes the window when the system asks the process to end. The service is stopped after that.
async fn end_when_asked(app: AppHandle) {
    match signals::asked_to_end() {
        Ok(asked) => {
            asked.await;
            app.exit(0);
        }
        Err(error) => tracing::warn!("signals cannot be received: {error}"),
    }
}
