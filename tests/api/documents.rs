//! The documents that a service serves, and their index for programs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag};
use tapdesk_tests::{Answering as _, Client, TestService};
use url::Url;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../service/docs");

/// The paths of the service that a document at `path` links to.
fn linked(path: &str, text: &str) -> Vec<String> {
    let base = format!("http://localhost{path}");
    let base = Url::parse(&base).expect("a URL");
    let links = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url),
        Event::Start(Tag::Image { dest_url, .. }) => panic!("{path} shows {dest_url}"),
        _ => None,
    });
    let links = links.map(|link| base.join(&link).expect("a link is a URL"));
    // Others lead to other sites.
    let own = links.filter(|link| link.host_str() == Some("localhost"));
    own.map(|link| link.path().to_owned()).collect()
}

/// The body of a document that the service has.
async fn read(client: &Client, path: &str) -> String {
    let answer = client.get(path).answer().await;
    assert_eq!(answer.status, 200, "{path}");
    let expected = match path {
        "/openapi.json" => "application/json",
        "/llms.txt" => "text/plain; charset=utf-8",
        _ => "text/markdown; charset=utf-8",
    };
    assert_eq!(answer.header("content-type"), Some(expected), "{path}");
    answer.body
}

/// The paths of the Markdown files of the folder, as they are served.
fn files() -> BTreeSet<String> {
    let mut folders = vec![PathBuf::from(FOLDER)];
    let mut files = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|is| is == "md") {
                let path = path.strip_prefix(Path::new(FOLDER)).expect("below it");
                files.insert(format!("/docs/{}", path.display()));
            }
        }
    }
    files
}

#[tokio::test]
async fn every_link_of_the_served_documents_answers() {
    let service = TestService::start().await;
    let mut found = vec!["/docs/".to_owned()];
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        at += 1;
        let text = read(&service, &path).await;
        if path == "/openapi.json" {
            continue;
        }
        for link in linked(&path, &text) {
            if !found.contains(&link) {
                found.push(link);
            }
        }
    }
    let mut found: BTreeSet<String> = found.into_iter().collect();
    assert!(found.remove("/docs/") && found.remove("/openapi.json"));
    // The list is there by its name, too.
    found.insert("/docs/README.md".to_owned());
    assert_eq!(found, files());
    for path in ["/docs/nowhere.md", "/docs/start/", "/docs/../README.md"] {
        let answer = service.get(path).answer().await;
        assert_eq!(answer.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_index_for_programs_has_each_document_of_the_list() {
    let service = TestService::start().await;
    let index = read(&service, "/llms.txt").await;
    let (title, summary) = (index.lines().next(), index.lines().nth(2));
    assert_eq!(title, Some("# Tapdesk"));
    assert!(summary.is_some_and(|line| line.starts_with("> ")));
    let links = index.lines().filter_map(|line| {
        let (_, rest) = line.strip_prefix("- [")?.split_once("](")?;
        let (path, readers) = rest.split_once("): for ")?;
        assert!(!readers.is_empty(), "{line}");
        Some(path.to_owned())
    });
    let links: Vec<String> = links.collect();
    for path in &links {
        read(&service, path).await;
    }
    let listed = linked("/docs/", &read(&service, "/docs/").await);
    assert_eq!(links, listed);
}
