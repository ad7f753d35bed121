//! The threat table names tests that exist.

use std::fs;
use std::path::PathBuf;

use super::{documents, root};

/// The file that would contain the test `module::name`, and the test's name.
fn place(test: &str) -> (PathBuf, &str) {
    let (module, name) = test.rsplit_once("::").expect("a module and a name");
    let path = format!("tests/{}.rs", module.replace("::", "/"));
    (root().join(path), name)
}

#[test]
fn every_threat_names_tests_that_exist() {
    let documents = documents();
    let document = documents
        .iter()
        .find(|one| one.path.ends_with("service/docs/explanation/security.md"));
    let text = &document.expect("a document about security").text;
    let (_, threats) = text.split_once("| Threat |").expect("a threat table");
    let rows = threats
        .lines()
        .skip(2)
        .take_while(|row| row.starts_with('|'));
    let mut tests = 0;
    for row in rows {
        let shown_by = row.trim_end_matches('|').rsplit('|').next();
        let named = shown_by.unwrap_or_default().split('`').skip(1).step_by(2);
        let mut named = named.peekable();
        assert!(named.peek().is_some(), "no test shows: {row}");
        for test in named {
            let (path, name) = place(test);
            let code = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                code.contains(&format!("fn {name}(")),
                "there is no test {test} in {}",
                path.display()
            );
            tests += 1;
        }
    }
    assert!(tests > 15, "only {tests} tests are named");
}
