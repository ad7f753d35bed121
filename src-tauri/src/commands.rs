//! Commands that the page can call, as declared in `ui/src/lib/shell/desktop.ts`. Each name is in
//! four lists, because Tauri reads each list in another way: the handler's macro needs paths,
//! `build.rs` needs names, the capabilities need permissions for each window, and the page needs
//! calls. `tests/desktop/policy.rs` keeps the lists equal. A command for the connected service
//! names its connection: if the screens have switched to another service since, the command does
//! not act on that one. An error is a sentence for people; an error of a form also names the
//! fields.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a command takes what it is handed"
)]

use std::sync::Arc;

use serde_json::{Map, Value};
use tapdesk_service::clock::{Clock as _, SystemClock};
use tauri::ipc::Channel;
use tauri::{AppHandle, State, WebviewWindow};
use url::Url;
use zeroize::Zeroizing;

use crate::backend::Backend;
use crate::bucket::{BucketBackup, BucketForm};
use crate::download::{self, Download, DownloadOutcome, Downloads, Far, Received};
use crate::events::{self, Subscriptions};
use crate::files;
use crate::reader::board::Table;
use crate::reader::copy_check::Chip;
use crate::reader::doctor::{self, Finding, Machine};
use crate::reader::encode::{self, Progress, Wanted};
use crate::reader::monitor::Monitor;
use crate::reader::own_reads::OwnReads;
use crate::reader::pcsc::Pcsc;
use crate::reader::send_tap::{self, Destination, SentTap};
use crate::refused_form::RefusedForm;
use crate::release::ReleaseSource;
use crate::rotation::RotationProgress;
use crate::shell::Shell;
use crate::state::{Connection, ShellState};
use crate::window::Unsaved;

/// The smallest scale of the content, in percent. Text of 11 pixels is not readable below it.
const SMALLEST_SCALE: u16 = 80;
/// The largest one: WCAG asks for text at 200 % without loss.
const LARGEST_SCALE: u16 = 200;

type SharedShell<'a> = State<'a, Arc<Shell>>;

/// The shell's present state.
#[tauri::command]
pub(crate) fn shell_state(shell: SharedShell<'_>) -> ShellState {
    shell.state()
}

/// Sends the shell's state to the page, now and whenever it changes.
#[tauri::command]
pub(crate) fn watch_shell(
    shell: SharedShell<'_>,
    page: State<'_, Subscriptions>,
    channel: Channel<ShellState>,
) {
    page.add(events::tell_state(shell.watch(), channel));
}

/// Sends the events of the service of `connection` to this channel as they happen. The channel of
/// the previous call gets no more.
#[tauri::command]
pub(crate) fn live_events(
    shell: SharedShell<'_>,
    page: State<'_, Subscriptions>,
    connection: String,
    channel: Channel<Value>,
) {
    page.hear(events::tell_events(Arc::clone(&shell), connection, channel));
}

/// Restarts the service, on another port if one is given.
#[tauri::command]
pub(crate) async fn restart_service(
    shell: SharedShell<'_>,
    port: Option<u16>,
) -> Result<(), String> {
    match port {
        Some(port) => shell.start_on(port).await,
        None => shell.start().await,
    }
    Ok(())
}

/// Starts with a new, empty database. Returns the new name of the present database.
#[tauri::command]
pub(crate) async fn start_afresh(shell: SharedShell<'_>) -> Result<String, String> {
    shell.start_afresh().await
}

/// Restores a backup that the person chooses. Returns its name, or `None` if they cancelled.
#[tauri::command]
pub(crate) async fn restore_backup(
    app: AppHandle,
    shell: SharedShell<'_>,
    passphrase: String,
) -> Result<Option<String>, String> {
    let passphrase = Zeroizing::new(passphrase);
    match files::choose_backup(&app).await {
        Some(backup) => shell.restore(backup, passphrase).await.map(Some),
        None => Ok(None),
    }
}

/// The backups in a bucket, the newest first.
#[tauri::command]
pub(crate) async fn bucket_backups(bucket: BucketForm) -> Result<Vec<BucketBackup>, RefusedForm> {
    Ok(bucket.list().await?)
}

/// Downloads and restores the backup of this name in a bucket, and reports how many bytes have
/// arrived. Returns its name, or `None` if the page stopped the download, which has this `id` for
/// `stop_download`.
#[tauri::command]
pub(crate) async fn restore_from_bucket(
    shell: SharedShell<'_>,
    downloads: State<'_, Downloads>,
    id: String,
    bucket: BucketForm,
    name: String,
    passphrase: String,
    channel: Channel<u64>,
) -> Result<Option<String>, RefusedForm> {
    let passphrase = Zeroizing::new(passphrase);
    let stopped = downloads.begin(id.clone());
    let heard = move |bytes| {
        // A page that was reloaded hears no more.
        let _ = channel.send(bytes);
    };
    let restored = shell.restore_from_bucket(&bucket, &name, passphrase, &heard, stopped);
    let restored = restored.await;
    downloads.end(&id);
    Ok(restored?)
}

/// Removes a downloaded backup whose passphrase was wrong: nobody tries another one.
#[tauri::command]
pub(crate) fn forget_backup(shell: SharedShell<'_>) {
    shell.forget_backup();
}

/// Replaces the key that wraps secrets, and reports progress.
#[tauri::command]
pub(crate) async fn rotate_key(
    shell: SharedShell<'_>,
    channel: Channel<RotationProgress>,
) -> Result<(), String> {
    let rotated = shell.rotate_key(move |progress| {
        // A page that was reloaded hears no more; the rotation continues.
        let _ = channel.send(progress);
    });
    rotated.await
}

/// Sets a fixed port, or lets the system choose again.
#[tauri::command]
pub(crate) async fn fix_port(shell: SharedShell<'_>, port: Option<u16>) -> Result<(), String> {
    shell.fix_port(port).await
}

/// Stays on the present port permanently, although something led to an earlier one.
#[tauri::command]
pub(crate) async fn keep_port(shell: SharedShell<'_>) -> Result<(), String> {
    shell.keep_port().await;
    Ok(())
}

/// Opens the listener to this network, or closes it to the network.
#[tauri::command]
pub(crate) async fn allow_phones(shell: SharedShell<'_>, allowed: bool) -> Result<(), String> {
    shell.allow_phones(allowed).await
}

/// Sets where to look for newer versions of this program, and looks there; an empty URL ends it.
#[tauri::command]
pub(crate) async fn choose_release_source(
    shell: SharedShell<'_>,
    url: String,
    public_key: String,
) -> Result<(), RefusedForm> {
    let source = if url.trim().is_empty() {
        None
    } else {
        Some(ReleaseSource::parse(&url, &public_key)?)
    };
    let now = SystemClock::start().now();
    shell.choose_release_source(source, now).await;
    Ok(())
}

/// Looks for a newer version now. The shell's state has the result.
#[tauri::command]
pub(crate) async fn look_for_release(shell: SharedShell<'_>) -> Result<(), String> {
    shell.look_for_release(SystemClock::start().now()).await;
    Ok(())
}

/// Shows another service in the screens.
#[tauri::command]
pub(crate) async fn connect(shell: SharedShell<'_>, id: String) -> Result<(), String> {
    shell.connect(&id).await
}

/// Adds a remote service. Its token goes to the keychain and is never shown again.
#[tauri::command]
pub(crate) async fn add_connection(
    shell: SharedShell<'_>,
    name: String,
    url: String,
    token: String,
) -> Result<Connection, RefusedForm> {
    let added = shell.add_connection(&name, &url, Zeroizing::new(token));
    Ok(added.await?)
}

/// Removes a remote service and its token.
#[tauri::command]
pub(crate) async fn remove_connection(shell: SharedShell<'_>, id: String) -> Result<(), String> {
    shell.remove_connection(&id).await
}

/// Reports whether closing the window would lose something.
#[tauri::command]
pub(crate) fn set_unsaved(state: State<'_, Unsaved>, unsaved: bool) {
    state.set(unsaved);
}

/// Scales the window's content, in percent of its normal size.
#[tauri::command]
pub(crate) fn set_scale(window: WebviewWindow, percent: u16) -> Result<(), String> {
    let factor = f64::from(percent.clamp(SMALLEST_SCALE, LARGEST_SCALE)) / 100.0;
    window
        .set_zoom(factor)
        .map_err(|error| format!("The window cannot be scaled: {error}."))
}

/// Opens a web address in the system's browser.
#[tauri::command]
pub(crate) async fn open_external(url: String) -> Result<(), String> {
    let is_web = Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if !is_web {
        return Err("Only http and https URLs can be opened.".to_owned());
    }
    tauri_plugin_opener::open_url(&url, None::<&str>)
        .map_err(|error| format!("The browser cannot be opened: {error}."))
}

/// Saves the bytes of the request where the person chooses; `false` if they cancelled.
#[tauri::command]
pub(crate) async fn save_file(
    app: AppHandle,
    request: tauri::ipc::Request<'_>,
) -> Result<bool, String> {
    files::save(&app, &request).await
}

/// Downloads a file of the service to a place that the person chooses, writing it as it arrives.
#[tauri::command]
pub(crate) async fn download(
    app: AppHandle,
    shell: SharedShell<'_>,
    downloads: State<'_, Downloads>,
    wanted: download::Wanted,
    channel: Channel<Far>,
) -> Result<DownloadOutcome, String> {
    let backend = shell.backend_of(&wanted.connection).await?;
    let Some(place) = files::choose_place(&app, &wanted.name).await else {
        return Ok(DownloadOutcome::Stopped);
    };
    let id = wanted.id.clone();
    let download = Download::to(place, wanted).await?;
    receive(&backend, &downloads, id, download, &channel).await
}

/// Resumes a download that was interrupted.
#[tauri::command]
pub(crate) async fn continue_download(
    shell: SharedShell<'_>,
    downloads: State<'_, Downloads>,
    id: String,
    channel: Channel<Far>,
) -> Result<DownloadOutcome, String> {
    let download = downloads.kept(&id);
    let download = download.ok_or("There is no export to resume. Export again.")?;
    let backend = match shell.backend_of(download.connection()).await {
        Ok(backend) => backend,
        Err(why) => {
            // The download can be resumed once that service is connected again.
            downloads.keep(id, download);
            return Err(why);
        }
    };
    receive(&backend, &downloads, id, download, &channel).await
}

async fn receive(
    backend: &Backend,
    downloads: &Downloads,
    id: String,
    download: Download,
    channel: &Channel<Far>,
) -> Result<DownloadOutcome, String> {
    let stopped = downloads.begin(id.clone());
    let ask = move |path: String, body| async move { backend.file(&path, body).await };
    let received = download
        .receive(ask, &download::PAUSES, stopped, channel)
        .await;
    downloads.end(&id);
    Ok(match received? {
        Received::Saved => DownloadOutcome::Saved,
        Received::Stopped => DownloadOutcome::Stopped,
        Received::BrokenOff(download) => {
            downloads.keep(id, *download);
            DownloadOutcome::BrokenOff
        }
    })
}

/// Stops a download. An interrupted one can no longer be resumed.
#[tauri::command]
pub(crate) fn stop_download(downloads: State<'_, Downloads>, id: String) {
    downloads.end(&id);
}

/// Sends the contents of the readers to the page, now and after every change.
#[tauri::command]
pub(crate) fn watch_readers(
    readers: State<'_, Option<Monitor>>,
    shell: SharedShell<'_>,
    page: State<'_, Subscriptions>,
    channel: Channel<Table>,
) {
    if let Some(readers) = &*readers {
        let own = OwnReads::of(Arc::clone(&shell));
        page.add(events::tell_tables(readers.board().watch(), own, channel));
    }
}

/// Sends a tap and returns its result. `automatic` is the chip of a tap that nobody clicked.
#[tauri::command]
pub(crate) async fn send_tap(
    shell: SharedShell<'_>,
    connection: String,
    url: String,
    to: Destination,
    automatic: Option<Chip>,
) -> Result<SentTap, String> {
    let (backend, address) = shell.backend_at(&connection).await?;
    let clock = SystemClock::start();
    send_tap::send_tap(&backend, &address, &clock, &url, to, automatic).await
}

/// Encodes the inlay of an insertion. `target` holds the members of a new encoding in the admin
/// API. Reports every step, and returns the last report.
#[tauri::command]
pub(crate) async fn encode(
    shell: SharedShell<'_>,
    readers: State<'_, Option<Monitor>>,
    connection: String,
    reader: String,
    insertion: u64,
    target: Map<String, Value>,
    channel: Channel<Progress>,
) -> Result<Progress, String> {
    let backend = shell.backend_of(&connection).await?;
    let readers = readers.as_ref().ok_or("Readers cannot be used.")?;
    let wanted = Wanted {
        reader,
        insertion,
        target,
    };
    let tell = |progress: &Progress| {
        // A page that was reloaded hears no more; the encoding continues.
        let _ = channel.send(progress.clone());
    };
    encode::encode(Pcsc, readers.board(), &backend, wanted, tell).await
}

/// The findings that explain why inlays cannot be read.
#[tauri::command]
pub(crate) fn reader_doctor(readers: State<'_, Option<Monitor>>) -> Vec<Finding> {
    let sights = readers
        .as_ref()
        .map(|readers| doctor::sights(&readers.board().table()));
    doctor::examine(&sights.unwrap_or_default(), Machine::this())
}

/// Whether readers neither beep nor show lights.
#[tauri::command]
pub(crate) fn quiet_readers(shell: SharedShell<'_>) -> bool {
    shell.has_quiet_readers()
}

/// Makes readers quiet, or lets them beep and show lights. Takes effect with the next inlay.
#[tauri::command]
pub(crate) fn set_quiet_readers(
    shell: SharedShell<'_>,
    readers: State<'_, Option<Monitor>>,
    quiet: bool,
) {
    shell.set_quiet_readers(quiet);
    if let Some(readers) = &*readers {
        readers.board().be_quiet(quiet);
    }
}
