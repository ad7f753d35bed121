//! The crates of the service depend on each other in one direction, and so do the modules of a
//! crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{files, root};

type Names = BTreeSet<String>;

/// A crate in `service/crates`, and its limits.
struct Layer {
    name: &'static str,
    /// The other crates of this repository that it depends on.
    crates: &'static [&'static str],
    /// Groups of packages that it must not depend on.
    forbidden: &'static [&'static [&'static str]],
}

const HTTP_CLIENT: &[&str] = &["reqwest", "ureq"];
const HTTP_SERVER: &[&str] = &["axum", "hyper", "hyper-util", "tower", "utoipa-axum"];
const SQL: &[&str] = &["refinery", "rusqlite", "tokio-postgres"];
/// A crate with a runtime can reach sockets, files and timers.
const RUNTIME: &[&str] = &["socket2", "tokio", "tokio-util"];
/// A pure function gets time, randomness and files as arguments.
const WORLD: &[&str] = &["chrono", "getrandom", "tempfile"];

/// From the bottom up.
const LAYERS: [Layer; 8] = [
    Layer {
        name: "inlay",
        crates: &[],
        forbidden: &[HTTP_CLIENT, HTTP_SERVER, SQL, RUNTIME, WORLD],
    },
    Layer {
        name: "domain",
        crates: &["inlay"],
        forbidden: &[HTTP_CLIENT, HTTP_SERVER, SQL, RUNTIME],
    },
    Layer {
        name: "encoding",
        crates: &["domain", "inlay"],
        forbidden: &[HTTP_CLIENT, HTTP_SERVER, SQL, RUNTIME, WORLD],
    },
    Layer {
        name: "storage",
        crates: &["domain", "encoding", "inlay"],
        forbidden: &[HTTP_CLIENT, HTTP_SERVER],
    },
    Layer {
        name: "label",
        crates: &["domain"],
        forbidden: &[HTTP_CLIENT, HTTP_SERVER, SQL, RUNTIME, WORLD],
    },
    Layer {
        name: "app",
        crates: &["domain", "encoding", "inlay", "label", "storage"],
        forbidden: &[HTTP_SERVER, SQL],
    },
    Layer {
        name: "http",
        crates: &["app", "domain", "encoding", "inlay", "label", "storage"],
        forbidden: &[SQL],
    },
    Layer {
        name: "client",
        crates: &["domain"],
        forbidden: &[HTTP_SERVER, SQL, RUNTIME],
    },
];

/// Source folders, and how many of their modules depend on themselves through others. In `inlay` these
/// are two halves of one subject: a chip's technology, and the template of its URLs. Lower a number
/// with each circle that you open.
const IN_CIRCLES: [(&str, usize); 10] = [
    ("service/crates/inlay/src", 2),
    ("service/crates/domain/src", 0),
    ("service/crates/encoding/src", 0),
    ("service/crates/storage/src", 0),
    ("service/crates/label/src", 0),
    ("service/crates/app/src", 0),
    ("service/crates/http/src", 0),
    ("service/crates/client/src", 0),
    ("service/src", 0),
    ("src-tauri/src", 0),
];

#[test]
fn the_crates_of_the_service_depend_on_each_other_in_one_direction() {
    let mut found = crates();
    for layer in LAYERS {
        let name = layer.name;
        let depends = found.remove(name);
        let depends = depends.unwrap_or_else(|| panic!("there is no crate {name}"));
        let crates: Vec<&str> = depends.crates.iter().map(String::as_str).collect();
        assert_eq!(crates, layer.crates, "crates that {name} depends on");
        for package in layer.forbidden.iter().copied().flatten() {
            let has_it = depends.packages.contains(*package);
            assert!(!has_it, "{name} depends on {package}");
        }
    }
    let unknown: Vec<_> = found.into_keys().collect();
    assert!(unknown.is_empty(), "no layer has {unknown:?}");
}

#[test]
fn modules_that_depend_on_themselves_only_become_fewer() {
    for (folder, known) in IN_CIRCLES {
        let uses = uses(folder);
        let around: Vec<_> = uses
            .keys()
            .filter(|module| reached(module, &uses).contains(*module))
            .collect();
        assert_eq!(
            around.len(),
            known,
            "{folder}: these depend on themselves, and the number must not rise: {around:?}"
        );
    }
    let app = uses("service/crates/app/src");
    assert!(app["tap"].contains("service"), "imports are not found");
}

/// A crate that no list has is not examined.
#[test]
fn every_crate_is_examined_for_circles() {
    for name in crates().keys() {
        let folder = format!("service/crates/{name}/src");
        let is_listed = IN_CIRCLES.iter().any(|(listed, _)| *listed == folder);
        assert!(is_listed, "{folder}");
    }
}

/// The crate of routes can make a service that works for itself, for public routes. A handler of the
/// admin API works for its caller, whose reach and audit row it would lose.
#[test]
fn no_handler_of_the_admin_api_works_for_the_service_itself() {
    let handlers = files("service/crates/http/src/admin", &["rs"]);
    assert!(handlers.len() > 100, "handlers are not found");
    for path in handlers {
        let text = fs::read_to_string(root().join(&path)).expect("text");
        let own = ["as_service", "AsService"].map(|way| text.contains(way));
        assert_eq!(own, [false; 2], "{}", path.display());
    }
}

/// The dependencies of a crate, without those of its tests only.
#[derive(Default)]
struct Depends {
    /// Crates of this repository, by folder.
    crates: Names,
    /// Packages from a registry.
    packages: Names,
}

/// The crates in `service/crates`, by folder.
fn crates() -> BTreeMap<String, Depends> {
    let output = Command::new(env!("CARGO"))
        // Without dependencies nothing is resolved, and nothing is downloaded.
        .args(["metadata", "--no-deps", "--locked", "--offline"])
        .args(["--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut crates = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let manifest = package["manifest_path"].as_str().expect("a path");
        let folder = Path::new(manifest).parent().expect("it is in a folder");
        if !folder.parent().is_some_and(|all| all.ends_with("crates")) {
            continue;
        }
        let mut depends = Depends::default();
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            if dependency["kind"] == "dev" {
                continue;
            }
            if let Some(path) = dependency["path"].as_str() {
                depends.crates.insert(last(Path::new(path)));
            } else {
                let name = dependency["name"].as_str().expect("a name");
                depends.packages.insert(name.to_owned());
            }
        }
        crates.insert(last(folder), depends);
    }
    crates
}

/// The last part of a path, without an extension.
fn last(path: &Path) -> String {
    let stem = path.file_stem().expect("it has a name");
    stem.to_string_lossy().into_owned()
}

/// The top-level modules below `folder`, each with the modules beside it that it names, without its
/// tests.
fn uses(folder: &str) -> BTreeMap<String, Names> {
    let mut uses: BTreeMap<String, Names> = BTreeMap::new();
    for path in files(folder, &["rs"]) {
        let text = fs::read_to_string(root().join(&path)).expect("text");
        let below = path.strip_prefix(folder).expect("it is there");
        let module = last(Path::new(below.iter().next().expect("a path has a part")));
        // The list of modules and the binary may use all of them.
        if ["lib", "main"].contains(&&*module) || below.ends_with("tests.rs") {
            continue;
        }
        let code = text.split("\n#[cfg(test)]\nmod tests {").next();
        // A link in a comment is no dependency.
        let code = code.unwrap_or_default().lines();
        let code: Vec<&str> = code
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        let code = code.join("\n");
        // Both lead to the root: `super::super::` in `tap/answer.rs`.
        let from_here = "super::".repeat(below.iter().count());
        for prefix in ["crate::", from_here.as_str()] {
            let others = code.split(prefix).skip(1).map(|rest| {
                let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
                rest[..end.unwrap_or(rest.len())].to_owned()
            });
            let others = others.filter(|other| *other != module && !other.is_empty());
            uses.entry(module.clone()).or_default().extend(others);
        }
    }
    uses
}

/// All modules that `module` depends on, directly or through others.
fn reached(module: &str, uses: &BTreeMap<String, Names>) -> Names {
    let mut reached = Names::new();
    let mut open = vec![module];
    while let Some(module) = open.pop() {
        for other in uses.get(module).into_iter().flatten() {
            if reached.insert(other.clone()) {
                open.push(other);
            }
        }
    }
    reached
}
