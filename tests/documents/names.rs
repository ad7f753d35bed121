//! Names in the documents are those of the program. Commands and options are
//! looked at where they are defined: `service/src/cli/documents.rs`.

use std::fs;

use super::{documents, files, root};

/// What reads variables.
const SOURCES: [&str; 3] = ["rs", "mjs", "sh"];

#[test]
fn every_variable_in_the_documents_is_read_somewhere() {
    let mut sources = String::new();
    for folder in ["service/src", "src-tauri/src", "tests", "ui/tests"] {
        for path in files(folder, &SOURCES) {
            sources += &fs::read_to_string(root().join(path)).expect("text");
        }
    }
    for document in documents() {
        for at in document.text.match_indices("TAPDESK_").map(|(at, _)| at) {
            let rest = &document.text[at..];
            let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_'));
            let name = &rest[..end.unwrap_or(rest.len())];
            assert!(
                sources.contains(&format!("\"{name}\""))
                    || sources.contains(&format!("env.{name}")),
                "{}: nothing reads {name}",
                document.path.display()
            );
        }
    }
}

#[test]
fn every_target_of_make_in_the_documents_exists() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("text");
    let mut seen = 0;
    for document in documents() {
        for code in document.content().code {
            for line in code.lines() {
                let Some(target) = line.strip_prefix("make ") else {
                    continue;
                };
                seen += 1;
                let target = target.split_whitespace().next().unwrap_or_default();
                assert!(
                    makefile.contains(&format!("\n{target}:")),
                    "{}: make knows no {target}",
                    document.path.display()
                );
            }
        }
    }
    assert!(seen >= 6, "only {seen} targets were found");
}
