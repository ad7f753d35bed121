//! The README is short, and a reader finds every document.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::documents;

#[test]
fn the_readme_has_at_most_900_words_and_three_pictures() {
    let documents = documents();
    let readme = documents
        .iter()
        .find(|one| one.path == Path::new("README.md"));
    let readme = readme.expect("a README");
    let words = readme.text.split_whitespace().count();
    assert!(words <= 900, "the README has {words} words");
    let pictures = readme.content().pictures.len();
    assert!((1..=3).contains(&pictures), "{pictures} pictures");
}

#[test]
fn every_document_names_its_reader_and_can_be_found_from_the_readme() {
    let documents = documents();
    let mut found = vec![PathBuf::from("README.md")];
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        at += 1;
        let document = documents.iter().find(|one| one.path == path);
        let Some(document) = document else { continue };
        for link in document.content().links {
            let target = document.target(&link).map(|(path, _)| path);
            found.extend(target.filter(|path| !found.contains(path)));
        }
    }
    // These are for all readers; the last one is a form.
    let for_all = [
        "README.md",
        "service/docs/reference/specification.md",
        ".github/pull_request_template.md",
    ];
    for document in &documents {
        let name = document.path.display();
        assert!(found.contains(&document.path), "no link leads to {name}");
        if !for_all.iter().any(|path| Path::new(path) == document.path) {
            let reader = document.text.lines().nth(2).unwrap_or_default();
            assert!(
                reader.starts_with("*For "),
                "{name} does not say for whom it is"
            );
        }
    }
}

/// A link to one of two equal headings leads to the first, so nobody finds the second.
#[test]
fn no_document_has_two_equal_headings() {
    for document in documents() {
        let mut seen = BTreeSet::new();
        let mut is_code = false;
        for line in document.text.lines() {
            if line.starts_with("```") {
                is_code = !is_code;
            }
            let is_heading = !is_code && line.starts_with('#');
            let name = line.trim_start_matches('#').trim();
            assert!(
                !is_heading || seen.insert(name),
                "{}: \"{name}\" is there twice",
                document.path.display()
            );
        }
    }
}

/// People search for the error message with which the program ends.
#[test]
fn the_table_of_symptoms_knows_the_error_of_wayland_with_nvidia() {
    let found = documents()
        .into_iter()
        .find(|document| document.path.ends_with("guides/desktop.md"));
    let text = found.expect("the desktop has a document").text;
    let row = text
        .lines()
        .find(|line| line.contains("Error 71 (Protocol error)"));
    let row = row.expect("the symptom is in the table");
    for way_out in [
        "__NV_DISABLE_EXPLICIT_SYNC=1",
        "WEBKIT_DISABLE_DMABUF_RENDERER=1",
    ] {
        assert!(row.contains(way_out), "{row}");
    }
}
