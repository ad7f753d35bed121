//! The desktop's build-time policy: the content that the page may load, and the commands that it
//! may call.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json_of(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

/// The text between `open` and `close` after `start`.
fn between(text: &str, start: &str, close: &str) -> String {
    let from = text.find(start).unwrap_or_else(|| panic!("no {start}")) + start.len();
    let to = text[from..]
        .find(close)
        .unwrap_or_else(|| panic!("no {close}"));
    text[from..from + to].to_owned()
}

#[test]
fn the_page_loads_nothing_but_itself_and_speaks_to_nobody_but_us() {
    let csp = &json_of("tauri.conf.json")["app"]["security"]["csp"];
    let ours = "'self' ipc: http://ipc.localhost tapdesk: http://tapdesk.localhost tapdesk-picture: http://tapdesk-picture.localhost";
    assert_eq!(
        *csp,
        json!({
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "font-src": "'self'",
            "img-src": "'self' data: blob: tapdesk: http://tapdesk.localhost tapdesk-picture: http://tapdesk-picture.localhost",
            "media-src": "blob:",
            "connect-src": ours,
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
            "object-src": "'none'"
        })
    );
}

#[test]
fn the_configuration_gives_the_page_no_way_around() {
    let config = json_of("tauri.conf.json");
    assert_eq!(
        config["build"]["devUrl"],
        Value::Null,
        "there is no second origin"
    );
    let app = &config["app"];
    assert_eq!(
        app["windows"],
        json!([]),
        "the window is made in code, with its locks"
    );
    assert_eq!(app["withGlobalTauri"], Value::Null);
    let security = app["security"].as_object().unwrap();
    let members: BTreeSet<_> = security.keys().map(String::as_str).collect();
    assert_eq!(members, BTreeSet::from(["capabilities", "csp"]));
}

/// The commands that a capability allows its window.
fn allowed(name: &str) -> BTreeSet<String> {
    let capability = json_of(&format!("src-tauri/capabilities/{name}.json"));
    assert_eq!(capability["windows"], json!([name]));
    assert_eq!(capability["remote"], Value::Null);
    let permissions = capability["permissions"].as_array().unwrap();
    let command = |permission: &Value| {
        let name = permission.as_str().unwrap().strip_prefix("allow-");
        name.expect("a command of ours").replace('-', "_")
    };
    permissions.iter().map(command).collect()
}

#[test]
fn each_page_may_ask_for_its_own_commands_and_nothing_of_the_systems() {
    let capabilities = fs::read_dir(root().join("src-tauri/capabilities")).unwrap();
    let names: BTreeSet<_> = capabilities.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["kiosk.json", "main.json"].map(Into::into).into());

    let (owner, kiosk) = (allowed("main"), allowed("kiosk"));
    let visitors = [
        "alive", "attract", "close", "done", "language", "unlock", "watch",
    ]
    .map(|name| format!("kiosk_{name}"));
    assert_eq!(kiosk, visitors.into(), "none of the administration");
    assert!(owner.is_disjoint(&kiosk));

    let handled = between(&text("src-tauri/src/lib.rs"), "generate_handler![", "]");
    let handled: BTreeSet<_> = handled
        .split(',')
        .filter_map(|path| Some(path.trim().split_once("commands::")?.1.to_owned()))
        .collect();
    assert_eq!(&owner | &kiosk, handled);
    assert!(handled.contains("save_file") && handled.contains("kiosk_done"));
    let built = between(
        &text("src-tauri/build.rs"),
        "const COMMANDS: &[&str] = &[",
        "];",
    );
    let built: BTreeSet<_> = built
        .split(',')
        .map(|name| name.trim().trim_matches('"').to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(built, handled);

    for (page, commands) in [("lib/shell", owner), ("kiosk", kiosk)] {
        let asked = text(&format!("ui/src/{page}/desktop.ts"));
        for name in commands {
            let called = asked.contains(&format!("\"{name}\""));
            assert!(called, "nobody asks for {name}");
        }
    }
}

#[test]
fn no_page_has_inline_styles_or_scripts_that_the_policy_would_drop() {
    for page in ["ui/index.html", "ui/kiosk.html"].map(text) {
        assert!(
            !page.contains("<style") && !page.contains("style="),
            "{page}"
        );
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert_eq!(
            page.matches("<script type=\"module\" src=").count(),
            1,
            "{page}"
        );
    }
    assert!(is_literal_style(r#"<p style="color: red">"#));
    assert!(is_literal_style("<p style='color: red'>"));
    assert!(!is_literal_style(r#"<p style="width: {wide}px">"#));
    assert!(!is_literal_style("<div style:--detail={wide}>"));
    let sources = collect(&root().join("ui/src"), "svelte");
    assert!(sources.len() > 50, "{} sources", sources.len());
    for path in sources {
        let source = fs::read_to_string(&path).unwrap();
        for (number, line) in source.lines().enumerate() {
            assert!(!is_literal_style(line), "{}:{}", path.display(), number + 1);
        }
    }
}

/// Whether a line has a style attribute with a literal value. Expressions are set through the
/// CSSOM, which the policy allows.
fn is_literal_style(line: &str) -> bool {
    let styles = [(" style=\"", '"'), (" style='", '\'')];
    styles.iter().any(|(begin, end)| {
        let found = line.split_once(begin).map(|(_, rest)| rest);
        let value = found.map(|rest| rest.split(*end).next().unwrap_or_default());
        value.is_some_and(|value| !value.contains('{'))
    })
}

/// The files in `folder` with this extension.
fn collect(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources.append(&mut collect(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            sources.push(path);
        }
    }
    sources
}

/// The crates that exist only on Linux: those in the manifest's Linux section, and GTK's.
fn crates_of_linux() -> BTreeSet<String> {
    let manifest = text("Cargo.toml");
    let start = "[target.'cfg(target_os = \"linux\")'.dependencies]";
    let named = between(&manifest, start, "\n[");
    let named = named.lines().filter(|line| !line.starts_with('#'));
    let named = named.filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()));
    let brought = ["cairo", "gdk", "gdk_pixbuf", "gio", "glib", "pango"].map(str::to_owned);
    named.chain(brought).collect()
}

/// Those of `crates` that a line of Rust uses.
fn named<'a>(line: &str, crates: &'a BTreeSet<String>) -> Vec<&'a String> {
    let code = line.split("//").next().unwrap_or_default();
    let is_path = |part: &str| part.starts_with("::") || part.starts_with(';');
    let in_path = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            let before = code[..at].chars().next_back();
            before.is_none_or(|before| !before.is_alphanumeric() && !"_:".contains(before))
                && is_path(&code[at + name.len()..])
        })
    };
    crates.iter().filter(|name| in_path(name)).collect()
}

#[test]
fn what_linux_alone_has_is_named_only_in_modules_that_are_built_there_alone() {
    let crates = crates_of_linux();
    assert!(["gtk", "webkit2gtk", "zbus"].map(|name| crates.contains(name)) == [true; 3]);
    assert_eq!(named("    gtk::init().is_ok()", &crates), ["gtk"]);
    assert_eq!(named("use webkit2gtk::{WebView};", &crates), ["webkit2gtk"]);
    assert_eq!(named("use zbus;", &crates), ["zbus"]);
    assert!(named("let gtk = 1; // gtk::init()", &crates).is_empty());

    let (mut modules, mut declared) = (0, 0);
    let sources = root().join("src-tauri/src");
    for path in collect(&sources, "rs") {
        let source = fs::read_to_string(&path).unwrap();
        let mut parts = path.strip_prefix(&sources).unwrap().iter();
        if parts.any(|part| part == "linux" || part == "linux.rs") {
            modules += usize::from(path.ends_with("linux.rs"));
            continue;
        }
        let mut before = "";
        for (number, line) in source.lines().enumerate() {
            let place = format!("{}:{}", path.display(), number + 1);
            assert!(named(line, &crates).is_empty(), "{place}: {line}");
            if line.trim_end().ends_with("mod linux;") {
                assert_eq!(before, "#[cfg(target_os = \"linux\")]", "{place}");
                declared += 1;
            }
            before = line;
        }
    }
    assert_eq!(modules, declared, "each module `linux` is declared once");
    assert!(modules > 0);
}

#[test]
fn the_package_carries_what_the_program_needs() {
    let bundle = &json_of("tauri.conf.json")["bundle"];
    let depends = bundle["linux"]["deb"]["depends"].as_array().unwrap();
    // The bundler adds the libraries of the window.
    for library in ["libdbus-1-3", "libpcsclite1"] {
        assert!(depends.contains(&json!(library)), "{library}");
    }
    let icons = bundle["icon"].as_array().unwrap().iter();
    let icons: Vec<_> = icons.map(|icon| icon.as_str().unwrap()).collect();
    for icon in &icons {
        assert!(root().join(icon).exists(), "{icon}");
    }
    // The icon formats that a window, a disk image and a Windows program need.
    for (extension, begins) in [
        (".png", &b"\x89PNG"[..]),
        (".icns", b"icns"),
        (".ico", b"\0\0\x01\0"),
    ] {
        let icon = icons.iter().find(|icon| icon.ends_with(extension)).unwrap();
        let bytes = fs::read(root().join(icon)).unwrap();
        assert!(bytes.starts_with(begins), "{icon}");
    }
}
