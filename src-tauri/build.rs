//! Checks the capabilities and the configuration when the desktop is built.

use std::path::Path;
use std::{fs, io};

use tauri_build::{AppManifest, Attributes};

/// What the page may ask of the shell. Each needs a permission in a capability.
const COMMANDS: &[&str] = &[
    "shell_state",
    "watch_shell",
    "live_events",
    "restart_service",
    "start_afresh",
    "restore_backup",
    "bucket_backups",
    "restore_from_bucket",
    "forget_backup",
    "rotate_key",
    "fix_port",
    "keep_port",
    "allow_phones",
    "choose_release_source",
    "look_for_release",
    "connect",
    "add_connection",
    "remove_connection",
    "set_unsaved",
    "set_scale",
    "open_external",
    "save_file",
    "download",
    "continue_download",
    "stop_download",
    "watch_readers",
    "send_tap",
    "encode",
    "reader_doctor",
    "quiet_readers",
    "set_quiet_readers",
    "kiosk_attract",
    "kiosk_watch",
    "kiosk_done",
    "kiosk_unlock",
    "kiosk_close",
    "kiosk_language",
    "kiosk_alive",
    "kiosk_settings",
    "kiosk_choose",
    "kiosk_set_pin",
    "kiosk_add_picture",
    "kiosk_remove_picture",
    "kiosk_set_logo",
    "kiosk_remove_logo",
    "kiosk_start",
];

/// Stands where the screens would be, so that all else can be built without them.
const NO_SCREENS: &str = "<!doctype html><title>Tapdesk</title>\
    <p>The screens are not built. Run <code>npm ci && npm run build</code> in <code>ui/</code>.";

fn main() {
    stand_in(Path::new("ui/dist/index.html")).expect("ui/dist can be written");
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=ui/dist");
    let attributes = Attributes::new()
        .capabilities_path_pattern("src-tauri/capabilities/**/*.json")
        .app_manifest(AppManifest::new().commands(COMMANDS));
    tauri_build::try_build(attributes).expect("tauri.conf.json and the capabilities are valid");
    date_back(Path::new("permissions")).expect("permissions/ can be dated back");
}

/// Gives what tauri-build has just generated the time of the configuration it follows from.
/// Cargo builds the desktop again if a file that it watches is newer than this script's
/// start, and it watches this folder: the first build of a clone would be made twice.
fn date_back(generated: &Path) -> io::Result<()> {
    let configured = fs::metadata("tauri.conf.json")?.modified()?;
    if generated.is_dir() {
        for entry in fs::read_dir(generated)? {
            date_back(&entry?.path())?;
        }
        // Windows opens no folder as a file; there the second build stays.
        if cfg!(windows) {
            return Ok(());
        }
    }
    fs::File::open(generated)?.set_modified(configured)
}

fn stand_in(page: &Path) -> io::Result<()> {
    if page.exists() {
        return Ok(());
    }
    fs::create_dir_all(page.parent().unwrap_or(page))?;
    fs::write(page, NO_SCREENS)
}
