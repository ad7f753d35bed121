//! What the binary is built of.

use std::process::Command;

/// The beginnings of crates that draw windows or speak to readers.
const WINDOWS_AND_READERS: [&str; 8] = [
    "gdk",
    "gtk",
    "pcsc",
    "tao",
    "tauri",
    "webkit2gtk",
    "winit",
    "wry",
];

#[test]
fn it_links_neither_a_window_toolkit_nor_a_readers_driver() {
    let output = Command::new(env!("CARGO"))
        // For this system alone: of others' crates nothing is here, and nothing is
        // downloaded by a test.
        .args(["tree", "--locked", "--offline", "--prefix", "none"])
        .args(["--package", "tapdesk-service", "--edges", "normal,build"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let tree = String::from_utf8(output.stdout).unwrap();
    assert!(tree.contains("axum v"), "{tree}");
    for line in tree.lines() {
        let is_one = WINDOWS_AND_READERS
            .iter()
            .any(|name| line.starts_with(name));
        assert!(!is_one, "{line}");
    }
}
