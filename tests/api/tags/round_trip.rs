//! Exporting and importing again gives the same tags.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestService, cases};

use super::export::decided;
use super::spreadsheets::workbook;
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

/// Names of experiences, two of which are hostile.
const EXPERIENCES: [&str; 3] = ["Register", "=(delete)", "(none)"];

/// A service with experiences of these names.
async fn service(names: &[&str]) -> TestService {
    let service = TestService::start().await;
    for name in names {
        let redirect =
            json!({"name": name, "kind": "redirect", "target_url": "https://owner.example/"});
        service.experience(redirect).await;
    }
    service
}

/// The owner's choices for each tag, with the name of its experience instead of the id.
async fn by_name(service: &TestService) -> Vec<Value> {
    let experiences = all(service, "/experiences", 500).await;
    let mut tags = decided(service).await;
    for tag in &mut tags {
        let mut named = experiences.iter();
        let found = named.find(|experience| experience["id"] == tag["experience_id"]);
        tag["experience_id"] = found.map_or(Value::Null, |found| found["name"].clone());
    }
    tags
}

/// Two experiences of one name: the export says which one, for an import into the same service.
#[tokio::test]
async fn experiences_of_one_name_stay_apart_in_an_export() {
    let there = service(&["Twice", "Twice", "Once"]).await;
    for (name, experience) in [("A", 1), ("B", 2), ("C", 3)] {
        let tag = json!({"name": name, "slug": format!("tag-{experience}-abcd"), "experience_id": experience});
        there.tag(tag).await;
    }
    let before = decided(&there).await;
    let file = export(&there, "").await;
    let cells = |row: usize| {
        let line = file.lines().nth(row).unwrap();
        line.split(',')
            .skip(7)
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (cells(1), cells(3)),
        (
            vec!["1".to_owned(), "Twice".to_owned()],
            vec![String::new(), "Once".to_owned()]
        )
    );
    there
        .admin_patch("/tags/1", json!({"experience_id": 3}))
        .await;
    import(&there, "?mode=upsert", file.clone()).await;
    assert_eq!(decided(&there).await, before);

    // Where only one experience has the name, it is the one; where none has it, the row is refused.
    let other = service(&["Once", "Twice"]).await;
    let result = import(&other, "", file.clone()).await;
    assert_eq!(result["created"], 3, "{result}");
    let other = service(&["Once"]).await;
    let result = import(&other, "", file).await;
    assert_eq!(
        (&result["created"], &result["refused"]),
        (&json!(1), &json!(2)),
        "{result}"
    );
}

#[tokio::test]
async fn what_is_exported_and_imported_again_is_the_same() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..cases(12) {
        let tags = vec(tag(), 1..5).new_tree(&mut runner).unwrap().current();
        let there = service(&EXPERIENCES).await;
        for tag in &tags {
            there.tag(tag.clone()).await;
        }
        let before = decided(&there).await;
        let file = export(&there, "").await;

        // The other service has the same experiences, under other ids.
        let other = service(&["Other", "(none)", "=(delete)", "Register"]).await;
        let result = import(&other, "?on_error=abort", file.clone()).await;
        assert_eq!(result["refused"], 0, "{result}");
        assert!(
            !result.to_string().contains("found by its name"),
            "{result}"
        );
        assert_eq!(by_name(&other).await, by_name(&there).await, "{file}");

        // Imported over the same tags, it changes and deletes nothing, and neither does a workbook.
        let workbook = workbook(&there, "/tags/export?format=xlsx").await;
        for file in [file.into_bytes(), workbook] {
            let result = import(&there, "?mode=upsert", file).await;
            assert_eq!(
                (&result["updated"], &result["deleted"]),
                (&json!(tags.len()), &json!(0))
            );
            assert_eq!(decided(&there).await, before);
        }
        assert_eq!(all(&there, "/tags", 500).await.len(), tags.len());
    }
}

/// The screen "Move in" reads a list with the preset `csv`. In an own export `url` is the tag's URL,
/// and no attribute.
#[tokio::test]
async fn an_own_export_that_is_imported_with_the_preset_csv_changes_nothing() {
    let there = service(&EXPERIENCES).await;
    for (slug, attributes) in [
        ("bottle-0001", json!({})),
        (
            "bottle-0002",
            json!({"url": "https://shop.example/2", "colour": "red"}),
        ),
    ] {
        let tag = json!({
            "name": slug, "slug": slug, "attributes": attributes, "experience_id": 1,
            "data": {"url": "x"}, "variables": {"owner": ""}, "has_qr_code": true,
        });
        there.tag(tag).await;
    }
    let before = decided(&there).await;
    let file = export(&there, "").await;
    for query in ["", "&preset=csv", "&preset=csv&map=url:url"] {
        let query = format!("?mode=upsert{query}");
        let result = import(&there, &query, file.clone()).await;
        assert_eq!(
            (&result["refused"], &result["ignored_columns"]),
            (&json!(0), &json!([])),
            "{query}: {result}"
        );
        assert_eq!(decided(&there).await, before, "{query}");
    }
    // Columns that a person removed in a spreadsheet do not change the meaning of the others.
    let mut lines = Vec::new();
    for line in file.trim_start_matches('\u{feff}').lines() {
        let cells: Vec<_> = line.split(',').collect();
        lines.push([&cells[..3], &cells[10..12]].concat().join(","));
    }
    assert!(lines[0].starts_with("slug,url,name,"), "{}", lines[0]);
    let result = import(&there, "?mode=upsert&preset=csv", lines.join("\n")).await;
    assert_eq!(result["refused"], 0, "{result}");
    assert_eq!(decided(&there).await, before, "{}", lines[0]);

    let other = service(&EXPERIENCES).await;
    let result = import(&other, "?preset=csv&on_error=abort", file.clone()).await;
    assert_eq!(result["created"], 2, "{result}");
    assert_eq!(by_name(&other).await, by_name(&there).await);
    let shown = other
        .admin_request(reqwest::Method::POST, "/tags/import/table?preset=csv")
        .header("content-type", "text/csv")
        .body(file)
        .answer()
        .await
        .expect(200);
    assert_eq!(shown["columns"][1]["column"], "url", "{shown}");

    // In a list of an owner it is the address that the tag leads to.
    let list = "slug,name,url\nbottle-0003,Bottle 3,https://shop.example/3\n";
    import(&other, "?preset=csv", list.to_owned()).await;
    let tags = all(&other, "/tags", 500).await;
    let tag = tags
        .iter()
        .find(|tag| tag["slug"] == "bottle-0003")
        .unwrap();
    assert_eq!(tag["attributes"], json!({"url": "https://shop.example/3"}));
}
