//! Endpoints in the documents are in the description of the API.

use std::fs;

use serde_json::Value;

use super::{documents, root};

const ADMIN: &str = "/admin/v1";
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

#[test]
fn every_endpoint_in_the_documents_exists() {
    let text = fs::read_to_string(root().join("service/openapi.json")).expect("text");
    let api: Value = serde_json::from_str(&text).expect("JSON");
    let paths = api["paths"].as_object().expect("paths");
    let exists = |path: &str| paths.keys().any(|known| is_path_of(path, known));
    let mut seen = 0;
    for document in documents() {
        for code in document.content().code {
            let words: Vec<&str> = code.split_whitespace().collect();
            for (at, &word) in words.iter().enumerate() {
                let has_method = at > 0 && METHODS.contains(&words[at - 1]);
                let path = match word.find(ADMIN) {
                    Some(start) => &word[start..],
                    None if has_method && word.starts_with('/') => word,
                    None => continue,
                };
                let end = path.find(|c: char| !(c.is_ascii_alphanumeric() || "/{}_-.".contains(c)));
                let path = path[..end.unwrap_or(path.len())].trim_end_matches(['/', '.']);
                // Scripts of the tour append a path, and some sentences name all of the API.
                if path == ADMIN {
                    continue;
                }
                seen += 1;
                // Documents leave the prefix out where a method says that it is an endpoint.
                assert!(
                    exists(path) || exists(&format!("{ADMIN}{path}")),
                    "{}: there is no {path}",
                    document.path.display()
                );
            }
        }
    }
    assert!(seen > 40, "only {seen} endpoints were found");
}

/// Whether `path` is `known`, whose parameters in braces stand for any segment.
fn is_path_of(path: &str, known: &str) -> bool {
    let (mut path, mut known) = (path.split('/'), known.split('/'));
    loop {
        match (path.next(), known.next()) {
            (None, None) => return true,
            (Some(part), Some(name)) if part == name || name.starts_with('{') => {}
            _ => return false,
        }
    }
}
