//! Links and pictures have existing targets, and so has the map of the code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{documents, extension, files, root};

/// Extensions that distinguish the map's paths from other code.
const SOURCES: [&str; 5] = ["rs", "sql", "json", "toml", "md"];

#[test]
fn every_relative_link_and_picture_leads_to_a_file() {
    let documents = documents();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for document in &documents {
        for link in document.content().links {
            let Some((path, anchor)) = document.target(&link) else {
                continue;
            };
            seen += 1;
            let other = documents.iter().find(|other| other.path == path);
            let leads = match other {
                Some(other) if !anchor.is_empty() => other.content().anchors.contains(anchor),
                _ => anchor.is_empty() && root().join(&path).exists(),
            };
            if !leads {
                wrong.push(format!("{}: {link}", document.path.display()));
            }
        }
    }
    assert!(seen > 60, "only {seen} links were found");
    assert!(wrong.is_empty(), "these lead nowhere: {wrong:#?}");
}

#[test]
fn every_picture_is_shown_in_a_document() {
    let shown: BTreeSet<PathBuf> = documents()
        .iter()
        .flat_map(|document| {
            let pictures = document.content().pictures;
            let targets = pictures.iter().filter_map(|link| document.target(link));
            targets.map(|(path, _)| path).collect::<Vec<_>>()
        })
        .collect();
    let kept = files("ui/screenshots", &["webp", "png"]);
    assert!(!kept.is_empty());
    let unused: Vec<_> = kept.iter().filter(|path| !shown.contains(*path)).collect();
    assert!(unused.is_empty(), "no document shows {unused:?}");
}

/// The top folders of the repository with files of its own. `target` and `data` are made by commands.
const FOLDERS: [&str; 7] = [
    ".cargo",
    ".github",
    ".make",
    "service",
    "src-tauri",
    "tests",
    "ui",
];

/// The paths of this repository in a piece of code, such as an argument of a command.
fn paths(code: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "'\"=(),:;".contains(c);
    let words = code.split(is_between).map(|word| {
        let word = word.strip_prefix("./").unwrap_or(word);
        word.trim_end_matches('.')
    });
    words.filter(|word| {
        let folder = word.split_once('/').map(|(folder, _)| folder);
        folder.is_some_and(|folder| FOLDERS.contains(&folder))
    })
}

#[test]
fn every_path_of_the_repository_in_a_document_exists() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for document in documents() {
        let beside = document.path.parent().expect("a folder");
        for code in document.content().code {
            for path in paths(&code) {
                seen += 1;
                // Up to a pattern, or an anchor.
                let kept = path.split(['*', '#']).next().unwrap_or(path);
                // Made by a build of the screens.
                if path == "ui/src/lib/api/schema.d.ts" {
                    continue;
                }
                let exists = [Path::new(""), beside]
                    .iter()
                    .any(|place| root().join(place).join(kept).exists());
                if !exists {
                    wrong.push(format!("{}: {path}", document.path.display()));
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} paths were found");
    assert!(wrong.is_empty(), "these do not exist: {wrong:#?}");
}

#[test]
fn every_path_in_the_map_exists() {
    let documents = documents();
    let map = Path::new("service/docs/explanation/architecture.md");
    let map = documents.iter().find(|one| one.path == map).expect("a map");
    let mut seen = 0;
    for code in map.content().code {
        let is_file = extension(Path::new(&code)).is_some_and(|is| SOURCES.contains(&is));
        let is_path = is_file || (code.contains('/') && !code.starts_with('/'));
        if code.contains(char::is_whitespace) || !is_path {
            continue;
        }
        seen += 1;
        // Each part of the map has its own root.
        let places = ["", "service", "src-tauri"];
        let exists = places
            .iter()
            .any(|place| root().join(place).join(&code).exists());
        assert!(exists, "there is no {code}");
    }
    assert!(seen > 10, "only {seen} paths were found");
}
