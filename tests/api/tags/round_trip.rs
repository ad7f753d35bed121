//! Exporting and importing again gives the same tags.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tapdesk_tests::{TestService, cases};

use super::export::decided;
use super::{all, export, import};

/// The content of a cell: words, formulas, separators, nothing.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "'{0,2} ?\\((none|None|delete|DELETE)\\) ?",
        "['=+@,;\"\t\r\n -]{0,4}[^\0]{0,8}",
    ]
}

fn properties() -> impl Strategy<Value = std::collections::BTreeMap<String, String>> {
    btree_map("[ab.]", text(), 0..3)
}

fn tag() -> impl Strategy<Value = Value> {
    let texts = ("[A-Za-z'(=][^\0]{0,9}", text(), text());
    let properties = (properties(), properties(), properties());
    let choices = (0..4_i64, any::<[bool; 4]>());
    (texts, properties, choices).prop_map(|(texts, properties, (experience, on))| {
        json!({
            "name": texts.0, "title": texts.1, "description": texts.2,
            "attributes": properties.0, "data": properties.1, "variables": properties.2,
            "experience_id": (experience > 0).then_some(experience),
            "status": if on[0] { "active" } else { "archived" }, "verifier_enabled": on[1],
            "has_qr_code": on[2], "track_location": on[3],
        })
    })
}

/// A service with three experiences, one of which has a hostile name.
async fn service() -> TestService {
    let service = TestService::start().await;
    for name in ["Register", "=(delete)", "(none)"] {
        let redirect =
            json!({"name": name, "kind": "redirect", "target_url": "https://owner.example/"});
        service.experience(redirect).await;
    }
    service
}

#[tokio::test]
async fn what_is_exported_and_imported_again_is_the_same() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..cases(12) {
        let tags = vec(tag(), 1..5).new_tree(&mut runner).unwrap().current();
        let there = service().await;
        for tag in &tags {
            there.tag(tag.clone()).await;
        }
        let before = decided(&there).await;
        let file = export(&there, "").await;

        let elsewhere = service().await;
        let result = import(&elsewhere, "?on_error=abort", file.clone()).await;
        assert_eq!(result["refused"], 0, "{result}");
        assert_eq!(decided(&elsewhere).await, before, "{file}");

        // Imported over the same tags, it changes and deletes nothing.
        let result = import(&there, "?mode=upsert", file).await;
        assert_eq!(
            (&result["updated"], &result["deleted"]),
            (&json!(tags.len()), &json!(0))
        );
        assert_eq!(decided(&there).await, before);
        assert_eq!(all(&there, "/tags", 500).await.len(), tags.len());
    }
}
