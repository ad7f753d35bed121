//! The modules of the service depend on each other in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{files, root};

type Names = BTreeSet<String>;

#[test]
fn no_two_modules_of_the_service_depend_on_each_other() {
    let uses = uses();
    let around: Vec<_> = uses
        .keys()
        .filter(|module| reached(module, &uses).contains(*module))
        .collect();
    assert!(uses["tap"].contains("storage"), "imports are not found");
    assert!(around.is_empty(), "these depend on themselves: {around:?}");
}

/// Work that a handler of the admin API starts in the background is limited, and recorded like the
/// request itself: by the one function that passes the caller on.
#[test]
fn what_runs_beside_a_request_runs_for_its_caller() {
    let mut spawned = 0;
    for path in files("service/src/http/admin", &["rs"]) {
        let text = fs::read_to_string(root().join(&path)).expect("text");
        // Tests are at the end of a file.
        let (code, _tests) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
        spawned += code.matches("calling::spawn(").count();
        for word in ["tokio::spawn(", "task::spawn(", "JoinSet", "thread::spawn("] {
            assert!(!code.contains(word), "{}: {word}", path.display());
        }
    }
    assert!(spawned > 3, "only {spawned} were found");
}

/// The top-level modules that each module names after `crate::`, without its tests.
fn uses() -> BTreeMap<String, Names> {
    let mut uses: BTreeMap<String, Names> = BTreeMap::new();
    for path in files("service/src", &["rs"]) {
        let text = fs::read_to_string(root().join(&path)).expect("text");
        let below = path.strip_prefix("service/src").expect("it is there");
        let module = module(below);
        // The binary and the list of modules may use all of them.
        if ["lib", "main", "cli", "config"].contains(&&*module) || below.ends_with("tests.rs") {
            continue;
        }
        let code = text.split("\n#[cfg(test)]\nmod tests {").next();
        let others = code.unwrap_or_default().split("crate::").skip(1);
        let others = others.map(|rest| {
            let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
            rest[..end.unwrap_or(rest.len())].to_owned()
        });
        let others = others.filter(|other| *other != module && !other.is_empty());
        uses.entry(module.clone()).or_default().extend(others);
    }
    uses
}

/// The top-level module of a file: `storage` for `storage/sqlite/tags.rs`.
fn module(path: &Path) -> String {
    let first = path.iter().next().expect("a path has a part");
    let stem = Path::new(first).file_stem().expect("it has a name");
    stem.to_string_lossy().into_owned()
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
