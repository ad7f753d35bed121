//! The rules of the decisions name tests that exist.

use std::fs;

use super::{documents, files, root};

/// Folders with tests, and the crates whose modules contain some.
const FOLDERS: [&str; 3] = ["tests", "service", "src-tauri/src"];

#[test]
fn every_test_that_a_rule_names_exists() {
    let mut code = String::new();
    for folder in FOLDERS {
        for path in files(folder, &["rs"]) {
            code += &fs::read_to_string(root().join(path)).expect("text");
        }
    }
    let mut seen = 0;
    for document in documents() {
        if !document
            .path
            .starts_with("service/docs/reference/decisions")
        {
            continue;
        }
        for paragraph in document.text.split("\n\n") {
            if !["Test: ", "Tests: "]
                .iter()
                .any(|start| paragraph.starts_with(start))
            {
                continue;
            }
            for test in paragraph.split('`').skip(1).step_by(2) {
                seen += 1;
                // A test of both databases has one as its parameter.
                assert!(
                    ["(", "<"]
                        .iter()
                        .any(|next| code.contains(&format!("fn {test}{next}"))),
                    "{}: there is no test {test}",
                    document.path.display()
                );
            }
        }
    }
    assert!(seen > 50, "only {seen} tests are named");
}
