//! Names in the documents exist in the program. Commands and options are checked where they are
//! defined: `service/src/cli/documents.rs`.

use std::collections::BTreeMap;
use std::fs;

use memchr::memmem;

use super::{documents, files, root};

/// Extensions of files that read environment variables.
const SOURCES: [&str; 3] = ["rs", "mjs", "sh"];

#[test]
fn every_variable_in_the_documents_is_read_somewhere() {
    let mut sources = String::new();
    let folders = [
        "service/crates",
        "service/src",
        "src-tauri/src",
        "tests",
        "ui/tests",
    ];
    for folder in folders {
        for path in files(folder, &SOURCES) {
            sources += &fs::read_to_string(root().join(path)).expect("text");
        }
    }
    // Each name with a document that has it.
    let mut names = BTreeMap::new();
    for document in documents() {
        let places = ["TAPDESK_", "UPDATE_"].map(|prefix| document.text.match_indices(prefix));
        for (at, _) in places.into_iter().flatten() {
            let rest = &document.text[at..];
            let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_'));
            let name = rest[..end.unwrap_or(rest.len())].to_owned();
            names.insert(name, document.path.clone());
        }
    }
    let is_read_as = |text: String| memmem::find(sources.as_bytes(), text.as_bytes()).is_some();
    for (name, document) in names {
        assert!(
            is_read_as(format!("\"{name}\"")) || is_read_as(format!("env.{name}")),
            "{}: nothing reads {name}",
            document.display()
        );
    }
}

#[test]
fn every_command_of_make_npm_and_cargo_in_the_documents_exists() {
    let read = |path| fs::read_to_string(root().join(path)).expect("text");
    let makefile = read("Makefile");
    let scripts: serde_json::Value =
        serde_json::from_str(&read("ui/package.json")).expect("a package");
    let targets = ["Cargo.toml", "service/Cargo.toml", "tests/Cargo.toml"].map(read);
    let mut seen = 0;
    for document in documents() {
        let code = document.content().code;
        for line in code.iter().flat_map(|code| code.lines()) {
            let (command, _comment) = line.split_once('#').unwrap_or((line, ""));
            let words: Vec<&str> = command.split_whitespace().collect();
            for pair in words.windows(2) {
                let exists = match *pair {
                    ["make", target] => makefile.contains(&format!("\n{target}:")),
                    ["npm", "test"] => scripts["scripts"]["test"].is_string(),
                    ["run", script] if words.contains(&"npm") => {
                        scripts["scripts"][script].is_string()
                    }
                    ["--test", name] => targets
                        .iter()
                        .any(|targets| targets.contains(&format!("[[test]]\nname = \"{name}\""))),
                    _ => continue,
                };
                seen += 1;
                let name = document.path.display();
                assert!(exists, "{name}: there is no {}", pair.join(" "));
            }
        }
    }
    assert!(seen > 15, "only {seen} commands were found");
}
