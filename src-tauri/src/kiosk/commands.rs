//! Commands of the kiosk that pages can call. Those up to `kiosk_close` are for the kiosk's own
//! window, the others for the owner's; the capabilities keep them apart.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a command takes what it is handed"
)]

use std::sync::Arc;

use serde::Serialize;
use tapdesk_service::clock::{Clock as _, SystemClock, Timestamp};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::field_error::FieldError;
use tauri::ipc::{Channel, InvokeBody};
use tauri::{AppHandle, State};

use super::fonts::{self, MissingFont};
use super::system::autostart::Autostart;
use super::tally::Day;
use super::{Event, Report, SharedKiosk, View, WHY_NOT, lock, pictures, window};
use crate::kiosk_settings::language::is_language;
use crate::kiosk_settings::{Chosen, KioskSettings, PinHash};
use crate::refused_form::RefusedForm;
use crate::shell::Shell;
use crate::state::ShellState;
use crate::window::Unsaved;

type SharedShell<'a> = State<'a, Arc<Shell>>;

/// Content of the attract page, as the owner chose it.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Attract {
    heading: String,
    text: String,
    name: String,
    colour: Option<String>,
    logo: Option<String>,
    pictures: Vec<String>,
    picture_seconds: u16,
    code: Option<String>,
    /// The languages that visitors can choose, in their order; empty for all.
    languages: Vec<String>,
    sound: bool,
    light: bool,
}

/// The result of entering a PIN.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum Unlocked {
    /// The PIN is right: the kiosk closes.
    Right,
    /// The PIN is wrong.
    Wrong,
    /// Too many wrong PINs in a row.
    Wait {
        /// Seconds for which no PIN is checked.
        seconds: u64,
    },
}

/// Content of the owner's kiosk settings.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "KioskOverview"))]
pub(crate) struct Overview {
    chosen: Chosen,
    has_pin: bool,
    pictures: Vec<Picture>,
    logo: Option<Picture>,
    displays: Vec<String>,
    today: Day,
    /// When the last visit began; `None` before the first one.
    #[cfg_attr(test, ts(type = "string | null"))]
    last_visit_at: Option<Timestamp>,
    /// Languages whose letters this machine cannot show.
    missing_fonts: Vec<MissingFont>,
    /// The folder that contains all of this.
    folder: String,
    /// Whether autostart applies to every user of this computer, and not only to this one.
    autostart_for_all: bool,
    /// The reason why this system has no kiosk; `None` if it has one.
    why_not: Option<&'static str>,
}

/// A picture of the attract page.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "KioskPicture"))]
pub(crate) struct Picture {
    name: String,
    url: Option<String>,
}

/// Content of the attract page, as the owner chose it.
#[tauri::command]
pub(crate) async fn kiosk_attract(
    shell: SharedShell<'_>,
    kiosk: State<'_, SharedKiosk>,
) -> Result<Attract, ()> {
    let settings = shell.kiosk();
    let folder = &kiosk.folders.kiosk;
    let urls = settings.pictures.iter();
    let KioskSettings { chosen, logo, .. } = settings.clone();
    let lan = match shell.state() {
        ShellState::Ready(ready) => ready.lan,
        ShellState::Starting | ShellState::Rotating { .. } | ShellState::Failed { .. } => {
            Vec::new()
        }
    };
    Ok(Attract {
        code: chosen.code_at(&lan),
        pictures: urls
            .filter_map(|name| pictures::address(folder, name))
            .collect(),
        logo: logo.and_then(|name| pictures::address(folder, &name)),
        heading: chosen.heading,
        text: chosen.text,
        name: chosen.name,
        colour: chosen.colour,
        picture_seconds: chosen.picture_seconds,
        languages: chosen.languages,
        sound: chosen.sound,
        light: chosen.light,
    })
}

/// Sends the kiosk's state to the page, now and after every change.
#[tauri::command]
pub(crate) fn kiosk_watch(kiosk: State<'_, SharedKiosk>, channel: Channel<View>) {
    let mut views = kiosk.view.subscribe();
    tauri::async_runtime::spawn(async move {
        loop {
            let view = views.borrow_and_update().clone();
            if channel.send(view).is_err() || views.changed().await.is_err() {
                return;
            }
        }
    });
}

/// Ends a visit, because the visitor is done. The next visit, which may have begun in the meantime,
/// continues.
#[tauri::command]
pub(crate) fn kiosk_done(kiosk: State<'_, SharedKiosk>, visit: u64) {
    kiosk.tell(Report {
        visit: Some(visit),
        event: Event::Done,
    });
}

/// Stores the language of the visitor, in which the next page opens.
#[tauri::command]
pub(crate) fn kiosk_language(kiosk: State<'_, SharedKiosk>, language: String) {
    if is_language(&language) {
        *lock(&kiosk.language) = Some(language);
    }
}

/// Notes that the page works.
#[tauri::command]
pub(crate) fn kiosk_alive(kiosk: State<'_, SharedKiosk>) {
    lock(&kiosk.heartbeat).called();
}

/// Closes the kiosk if the PIN is right.
#[tauri::command]
pub(crate) async fn kiosk_unlock(
    app: AppHandle,
    shell: SharedShell<'_>,
    kiosk: State<'_, SharedKiosk>,
    pin: String,
) -> Result<Unlocked, String> {
    let now = SystemClock::start().now();
    if let Err(seconds) = lock(&kiosk.tries).begin(now) {
        return Ok(Unlocked::Wait { seconds });
    }
    let known = shell.kiosk().pin;
    let is_right = tokio::task::spawn_blocking(move || known.is_some_and(|known| known.is(&pin)));
    if !is_right.await.map_err(|error| error.to_string())? {
        return Ok(match lock(&kiosk.tries).wait(now) {
            Some(seconds) => Unlocked::Wait { seconds },
            None => Unlocked::Wrong,
        });
    }
    lock(&kiosk.tries).was_right();
    super::leave(&app)
        .await
        .map_err(|error| error.to_string())?;
    Ok(Unlocked::Right)
}

/// Ends the program if the kiosk allows it: it could not start, and has no PIN.
#[tauri::command]
pub(crate) fn kiosk_close(app: AppHandle, kiosk: State<'_, SharedKiosk>) {
    let view = kiosk.view.borrow().clone();
    if view.problem.is_some_and(|problem| problem.can_close) {
        app.exit(0);
    }
}

/// Content of the owner's kiosk settings.
#[tauri::command]
pub(crate) async fn kiosk_settings(
    app: AppHandle,
    shell: SharedShell<'_>,
    kiosk: State<'_, SharedKiosk>,
) -> Result<Overview, ()> {
    let mut settings = shell.kiosk();
    let folder = &kiosk.folders.kiosk;
    let autostart = autostart_of(&kiosk);
    // Another user of the machine can share the settings, but not this user's session.
    settings.chosen.autostart = autostart.is_set();
    let picture = |name: &String| Picture {
        url: pictures::address(folder, name),
        name: name.clone(),
    };
    let (today, last_visit_at) = {
        let mut tally = lock(&kiosk.tally);
        let today = tally.today(SystemClock::start().now()).clone();
        (today, tally.last_visit_at())
    };
    // Without an answer, nothing is known to be missing.
    let missing_fonts = tokio::task::spawn_blocking(fonts::missing_here).await;
    Ok(Overview {
        has_pin: settings.pin.is_some(),
        pictures: settings.pictures.iter().map(picture).collect(),
        logo: settings.logo.as_ref().map(picture),
        last_visit_at,
        missing_fonts: missing_fonts.unwrap_or_default(),
        folder: folder.display().to_string(),
        chosen: settings.chosen,
        displays: window::displays(&app),
        today,
        autostart_for_all: autostart.is_for_all(),
        why_not: WHY_NOT,
    })
}

/// The entry that starts this kiosk with a session.
fn autostart_of(kiosk: &SharedKiosk) -> Autostart {
    Autostart::of(kiosk.folders.is_kiosk_of_machine())
}

/// Stores the owner's choices, and returns them as stored.
#[tauri::command]
pub(crate) async fn kiosk_choose(
    shell: SharedShell<'_>,
    kiosk: State<'_, SharedKiosk>,
    chosen: Chosen,
) -> Result<Chosen, RefusedForm> {
    let chosen = chosen.checked()?;
    let autostart = autostart_of(&kiosk);
    if chosen.autostart != autostart.is_set() {
        let set = autostart.set(chosen.autostart);
        set.map_err(|why| FieldError::of("autostart", why))?;
    }
    shell.choose_kiosk(|kiosk| kiosk.chosen = chosen.clone())?;
    Ok(chosen)
}

/// Sets the PIN of the kiosk.
#[tauri::command]
pub(crate) async fn kiosk_set_pin(shell: SharedShell<'_>, pin: String) -> Result<(), RefusedForm> {
    let hash = tokio::task::spawn_blocking(move || PinHash::of(&pin, &OsEntropy)).await;
    let hash = hash.map_err(|error| error.to_string())?;
    let hash = hash.map_err(|why| FieldError::of("pin", why))?;
    shell.choose_kiosk(|kiosk| kiosk.pin = Some(hash))?;
    Ok(())
}

/// Adds a picture or a video: the request's body.
#[tauri::command]
pub(crate) async fn kiosk_add_picture(
    shell: SharedShell<'_>,
    kiosk: State<'_, SharedKiosk>,
    request: tauri::ipc::Request<'_>,
) -> Result<(), String> {
    let bytes = raw(&request)?;
    let count = shell.kiosk().pictures.len();
    let name = pictures::add(&kiosk.folders.kiosk, bytes, count, &OsEntropy)?;
    let mut listed = Ok(());
    let stored = shell.choose_kiosk(|kiosk| {
        listed = pictures::list(&mut kiosk.pictures, name.clone());
    });
    // A file that no settings name would stay for ever.
    stored
        .and(listed)
        .inspect_err(|_| pictures::remove(&kiosk.folders.kiosk, &name))
}

/// Removes a picture of the attract page.
#[tauri::command]
pub(crate) async fn kiosk_remove_picture(
    shell: SharedShell<'_>,
    kiosk: State<'_, SharedKiosk>,
    name: String,
) -> Result<(), String> {
    shell.choose_kiosk(|kiosk| kiosk.pictures.retain(|known| *known != name))?;
    pictures::remove(&kiosk.folders.kiosk, &name);
    Ok(())
}

/// Replaces the owner's logo: the request's body.
#[tauri::command]
pub(crate) async fn kiosk_set_logo(
    shell: SharedShell<'_>,
    kiosk: State<'_, SharedKiosk>,
    request: tauri::ipc::Request<'_>,
) -> Result<(), String> {
    let name = pictures::add_logo(&kiosk.folders.kiosk, raw(&request)?, &OsEntropy)?;
    let mut unused = None;
    let stored = shell.choose_kiosk(|kiosk| unused = kiosk.logo.replace(name.clone()));
    if stored.is_err() {
        unused = Some(name);
    }
    if let Some(unused) = unused {
        pictures::remove(&kiosk.folders.kiosk, &unused);
    }
    stored
}

/// Removes the owner's logo.
#[tauri::command]
pub(crate) async fn kiosk_remove_logo(
    shell: SharedShell<'_>,
    kiosk: State<'_, SharedKiosk>,
) -> Result<(), String> {
    let mut unused = None;
    shell.choose_kiosk(|kiosk| unused = kiosk.logo.take())?;
    if let Some(unused) = unused {
        pictures::remove(&kiosk.folders.kiosk, &unused);
    }
    Ok(())
}

/// The body of a request that sends a file.
fn raw<'a>(request: &'a tauri::ipc::Request<'_>) -> Result<&'a [u8], String> {
    match request.body() {
        InvokeBody::Raw(bytes) => Ok(bytes),
        InvokeBody::Json(_) => Err("A picture must be sent as bytes.".to_owned()),
    }
}

/// Shows the kiosk in place of the owner's window. Unsaved forms are lost with that window, so the
/// caller must allow it with `discard`.
#[tauri::command]
pub(crate) async fn kiosk_start(
    app: AppHandle,
    unsaved: State<'_, Unsaved>,
    discard: bool,
) -> Result<(), String> {
    if unsaved.get() && !discard {
        return Err(
            "The kiosk replaces this window, which has unsaved changes. Save or discard them first."
                .to_owned(),
        );
    }
    let started = super::start(&app).await;
    started.map_err(|why| format!("{} {}", why.title, why.text))
}
