//! A change of the document that breaks clients needs a version that says so.

mod cases;
mod comparison;
mod schema;
mod shape;

use std::path::Path;

use serde_json::Value;

use comparison::Comparison;

/// The document of the last release without its prose. Before the first release, the last one whose
/// breaks were accepted.
const RELEASED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/api/openapi/released.json"
);

/// The changes of `new` that break clients of `old`, in words.
fn breaks(old: &Value, new: &Value) -> Vec<String> {
    let mut comparison = Comparison::new(old, new);
    comparison.documents();
    comparison.found
}

/// The major and the minor number of a document's version.
fn version(document: &Value) -> (u32, u32) {
    let version = document["info"]["version"].as_str().expect("a version");
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    let mut next = || numbers.next().flatten().expect("a number");
    (next(), next())
}

/// Whether Semantic Versioning lets `new` break clients of `old`.
fn may_break(old: &Value, new: &Value) -> bool {
    let (old, new) = (version(old), version(new));
    new.0 > old.0 || (old.0 == 0 && new > old)
}

/// A document without its prose. A member of that name has no text, but a schema.
fn essential(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(name, member)| {
                !(member.is_string() && ["description", "summary"].contains(&name.as_str()))
            });
            members
                .map(|(name, member)| (name.clone(), essential(member)))
                .collect()
        }
        Value::Array(items) => items.iter().map(essential).collect(),
        other => other.clone(),
    }
}

#[test]
fn a_change_that_breaks_clients_needs_another_version() {
    let present = super::parsed();
    let path = Path::new(RELEASED);
    if std::env::var_os("UPDATE_RELEASED").is_some() {
        let text = serde_json::to_string_pretty(&essential(&present)).expect("JSON");
        std::fs::write(path, text + "\n").expect("the document can be written");
    }
    let released = std::fs::read_to_string(path).expect("the released document is committed");
    let released: Value = serde_json::from_str(&released).expect("JSON");
    if may_break(&released, &present) {
        return;
    }
    let found = breaks(&released, &present);
    assert!(
        found.is_empty(),
        "these changes break clients of version {}: {found:#?}\n\
         Raise the version, or undo them. Before the first release, and with a release, accept the document by running \
         this test once with UPDATE_RELEASED=1.",
        released["info"]["version"]
    );
}
