//! Comments say a meaning or a reason. How many do not is counted for each crate, and may only fall.

use std::fs;

use super::{files, root};

/// A crate's folder, and how many poor comments it has. Lower the number with each that you
/// rewrite. Those that are left describe fields of the API and options of the command line.
const POOR: [(&str, usize); 11] = [
    ("service/crates/inlay", 0),
    ("service/crates/domain", 13),
    ("service/crates/encoding", 0),
    ("service/crates/storage", 0),
    ("service/crates/label", 4),
    ("service/crates/app", 0),
    ("service/crates/http", 16),
    ("service/crates/client", 0),
    ("service/src", 6),
    ("src-tauri/src", 0),
    ("tests", 0),
];

/// Beginnings that hide the subject of a sentence.
const HEADLESS: [&str; 4] = ["What ", "That of ", "As far as ", "Whether a person who "];
/// A doc comment of so few words repeats the name of its item or module. It does not if it begins
/// with code: the route of a handler, or a name in a data sheet.
const FEW_WORDS: usize = 3;

#[test]
fn poor_comments_only_become_fewer() {
    for (folder, known) in POOR {
        let poor: Vec<String> = files(folder, &["rs"])
            .iter()
            .flat_map(|path| {
                let text = fs::read_to_string(root().join(path)).expect("text");
                let poor = poor(&text).into_iter();
                poor.map(move |comment| format!("{}: {comment}", path.display()))
            })
            .collect();
        let list = poor.join("\n");
        assert!(
            poor.len() <= known,
            "{folder} has {} poor comments:\n{list}",
            poor.len()
        );
        assert_eq!(
            poor.len(),
            known,
            "fewer than before: lower the number of {folder}"
        );
    }
}

/// The poor comments of a file, each as one line.
fn poor(text: &str) -> Vec<String> {
    let mut poor = Vec::new();
    let mut comment = String::new();
    let mut is_doc = false;
    for line in text.lines().map(str::trim_start) {
        if let Some(more) = line.strip_prefix("//") {
            is_doc = more.starts_with(['/', '!']);
            comment.push_str(more.trim_start_matches(['/', '!']));
            continue;
        }
        // An attribute stands between a comment and its item.
        if line.starts_with("#[") {
            continue;
        }
        let said = std::mem::take(&mut comment);
        let said = said.trim();
        let is_headless = HEADLESS.iter().any(|beginning| said.starts_with(beginning));
        let is_short = said.split_whitespace().count() <= FEW_WORDS;
        let repeats = is_doc && is_short && !said.starts_with('`');
        if !said.is_empty() && (is_headless || repeats) {
            poor.push(said.to_owned());
        }
    }
    poor
}

#[test]
fn a_comment_is_poor_if_it_is_headless_or_repeats_a_name() {
    let text = [
        "//! Rows of groups.",
        "",
        "//! `GET /tags`.",
        "",
        "/// What is kept.",
        "struct A;",
        "/// Its id.",
        "#[serde]",
        "pub id: u8,",
        "/// Its id.",
        "id: u8,",
        "// That of the",
        "// caller.",
        "let a = 1;",
        "/// The id of the tag, as the database has it.",
        "pub fn id() {}",
    ];
    let text = text.join("\n");
    assert_eq!(
        poor(&text),
        [
            "Rows of groups.",
            "What is kept.",
            "Its id.",
            "Its id.",
            "That of the caller."
        ]
    );
}
