//! The documents of this repository: their links, pictures, names and size, and whether the code
//! follows its map.

mod comments;
mod decisions;
mod endpoints;
mod links;
mod modules;
mod names;
mod readers;
mod threats;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A Markdown file of the repository.
struct Document {
    /// Its path from the root of the repository.
    path: PathBuf,
    text: String,
}

/// The parts of a document that can be wrong.
#[derive(Default)]
struct Content {
    /// Targets of links and pictures.
    links: Vec<String>,
    /// Those links that are pictures.
    pictures: Vec<String>,
    /// The anchors of its headings, as common viewers generate them.
    anchors: BTreeSet<String>,
    /// Inline code and code blocks.
    code: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below `folder` with one of these extensions, as a path from the root of the
/// repository. Files that git ignores and hidden folders are left out.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let ignored: Vec<&str> = include_str!("../.gitignore").lines().collect();
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder of the repository") {
            let entry = entry.expect("an entry");
            let path = folder.join(entry.file_name());
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_ignored = ignored.contains(&&*format!("/{}", path.display()));
            if is_hidden || is_ignored {
                continue;
            }
            if entry.file_type().expect("a type").is_dir() {
                folders.push(path);
            } else if extension(&path).is_some_and(|is| extensions.contains(&is)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(OsStr::to_str)
}

fn documents() -> Vec<Document> {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).expect("text");
        Document { path, text }
    };
    // Hosts of repositories look for some documents in this hidden folder.
    let mut paths = files(".github", &["md"]);
    paths.extend(files("", &["md"]));
    paths.into_iter().map(read).collect()
}

impl Document {
    fn content(&self) -> Content {
        let mut content = Content::default();
        let mut heading: Option<String> = None;
        let mut block: Option<String> = None;
        for event in Parser::new_ext(&self.text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) => content.links.push(dest_url.into()),
                Event::Start(Tag::Image { dest_url, .. }) => {
                    content.links.push(dest_url.to_string());
                    content.pictures.push(dest_url.into());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    content
                        .anchors
                        .extend(heading.take().map(|text| anchor(&text)));
                }
                Event::Start(Tag::CodeBlock(_)) => block = Some(String::new()),
                Event::End(TagEnd::CodeBlock) => content.code.extend(block.take()),
                Event::Text(text) => {
                    for open in [&mut heading, &mut block].into_iter().flatten() {
                        open.push_str(&text);
                    }
                }
                Event::Code(code) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&code);
                    }
                    content.code.push(code.into());
                }
                _ => {}
            }
        }
        content
    }

    /// The file and anchor that a link of this document leads to. `None` for a link to another
    /// site.
    fn target<'a>(&self, link: &'a str) -> Option<(PathBuf, &'a str)> {
        if link.contains("://") || link.starts_with("mailto:") {
            return None;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let folder = self.path.parent().expect("a file is in a folder");
        let path = if file.is_empty() {
            self.path.clone()
        } else {
            folder.join(file)
        };
        Some((plain(&path), anchor))
    }
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop(), "{} leads out", path.display()),
            part => plain.push(part),
        }
    }
    plain
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    });
    kept.collect()
}
