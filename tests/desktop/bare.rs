//! A Tauri window with a page of one line: the minimum of any program, with or without Svelte. The
//! desktop's costs are reported relative to it.

/// The argument that turns the benchmark into this program.
pub(crate) const BARE: &str = "bare";

/// Shows the window until the program is asked to end.
pub(crate) fn show() {
    tauri::Builder::default()
        .run(tauri::generate_context!(
            "tests/desktop/bare/tauri.conf.json"
        ))
        .expect("a window can be shown");
}
