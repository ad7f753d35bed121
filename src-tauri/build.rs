//! Checks the capabilities and the configuration when the desktop is built.

use tauri_build::{AppManifest, Attributes};

/// What the page may ask of the shell. Each needs a permission in a capability.
const COMMANDS: &[&str] = &[
    "shell_state",
    "watch_shell",
    "live_events",
    "restart_service",
    "start_afresh",
    "restore_backup",
    "fix_port",
    "allow_phones",
    "connect",
    "add_connection",
    "remove_connection",
    "set_unsaved",
    "open_external",
    "save_file",
];

fn main() {
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=ui/dist");
    let attributes = Attributes::new()
        .capabilities_path_pattern("src-tauri/capabilities/**/*.json")
        .app_manifest(AppManifest::new().commands(COMMANDS));
    tauri_build::try_build(attributes).expect("tauri.conf.json and the capabilities are valid");
}
