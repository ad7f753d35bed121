//! A window of Tauri with a page of one line: less than any program has, with or without Svelte. What
//! the desktop costs is told beside it.

/// The argument that makes the benchmark this program.
pub(crate) const BARE: &str = "bare";

/// Shows the window until the program is asked to end.
pub(crate) fn show() {
    tauri::Builder::default()
        .run(tauri::generate_context!(
            "tests/desktop/bare/tauri.conf.json"
        ))
        .expect("a window can be shown");
}
