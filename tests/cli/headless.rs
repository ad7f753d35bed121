//! The crates in the service's binary.

use std::process::Command;

/// Name prefixes of crates that draw windows or use readers.
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

/// The crates that `package` links, one per line.
fn linked(package: &str) -> String {
    linked_with(package, &[])
}

fn linked_with(package: &str, options: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        // Only for this system: crates of other systems are not present, and a test downloads
        // nothing.
        .args(["tree", "--locked", "--offline", "--prefix", "none"])
        .args(["--package", package, "--edges", "normal,build"])
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let tree = String::from_utf8(output.stdout).unwrap();
    assert!(tree.contains("axum v"), "{tree}");
    tree
}

#[track_caller]
fn assert_none(tree: &str, names: &[&str]) {
    for line in tree.lines() {
        let is_one = names.iter().any(|name| line.starts_with(name));
        assert!(!is_one, "{line}");
    }
}

#[test]
fn it_links_neither_a_window_toolkit_nor_a_readers_driver() {
    assert_none(&linked("tapdesk-service"), &WINDOWS_AND_READERS);
}

#[test]
fn neither_it_nor_the_desktop_links_the_export_of_traces_unless_asked() {
    let left_out = ["opentelemetry", "prost", "tracing-opentelemetry"];
    for package in ["tapdesk-service", "tapdesk"] {
        assert_none(&linked(package), &left_out);
    }
    assert!(
        linked_with("tapdesk-service", &["--features", "otlp"]).contains("opentelemetry-otlp v")
    );
}

#[test]
fn the_desktop_links_neither_postgresql_nor_the_command_lines_own() {
    let of_service = linked("tapdesk-service");
    let left_out = ["tokio-postgres", "deadpool", "indicatif", "rlimit"];
    for name in left_out {
        assert!(of_service.lines().any(|line| line.starts_with(name)));
    }
    assert_none(&linked("tapdesk"), &left_out);
}
