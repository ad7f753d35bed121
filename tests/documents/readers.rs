//! The README is short, and every document has a reader who can find it.

use std::path::{Path, PathBuf};

use super::documents;

#[test]
fn the_readme_has_at_most_900_words_and_one_picture() {
    let documents = documents();
    let readme = documents
        .iter()
        .find(|one| one.path == Path::new("README.md"));
    let readme = readme.expect("a README");
    let words = readme.text.split_whitespace().count();
    assert!(words <= 900, "the README has {words} words");
    assert_eq!(readme.content().pictures.len(), 1);
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
    // The contract and what follows from it are for everybody.
    let for_all = [
        "README.md",
        "service/docs/specification.md",
        "service/docs/decisions.md",
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
