//! Tags that are found by the groups above them.

use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService};

use super::group;

async fn names(client: &Client, query: &str) -> Vec<String> {
    let page = client.admin_get(&format!("/tags?{query}")).await;
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|tag| tag["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Two products with the same attribute; a batch and a tag give it another value.
async fn cellar() -> TestService {
    let service = TestService::start().await;
    let red = json!({"name": "Château Rouge", "code": "CR-21", "attributes": {"colour": "red"}});
    let red = group(&service, "product", None, red).await;
    let rose = json!({"name": "Lot rosé", "code": "L03", "attributes": {"colour": "rosé"}});
    let rose = group(&service, "batch", Some(red), rose).await;
    let lot = group(&service, "batch", Some(red), json!({"name": "Lot 4"})).await;
    let white = json!({"name": "Blanc", "attributes": {"note": "\"colour\":\"red\""}});
    let white = group(&service, "product", None, white).await;
    for (name, in_group, attributes) in [
        ("a", Some(red), json!({})),
        ("b", Some(rose), json!({})),
        ("c", Some(lot), json!({})),
        ("d", Some(lot), json!({"colour": "rosé"})),
        ("e", Some(white), json!({})),
        ("f", Some(white), json!({"colour": "red"})),
        ("g", None, json!({"sku": "cr-21"})),
    ] {
        // A generated slug could have the words.
        let tag = json!({
            "name": name, "slug": format!("tag-{name}"), "group_id": in_group,
            "attributes": attributes,
        });
        service.tag(tag).await;
    }
    service
}

#[tokio::test]
async fn words_find_tags_by_the_names_and_codes_of_the_groups_above_them() {
    let service = cellar().await;
    for (query, expected) in [
        ("q=chateau", &["a", "b", "c", "d"][..]),
        ("q=CR-21", &["a", "b", "c", "d", "g"]),
        ("q=l03", &["b"]),
        ("q=rouge+lot", &["b", "c", "d"]),
        ("q=rouge+rose", &["b", "d"]),
        ("q=rouge+nothing", &[]),
        ("q=blanc&attribute.colour=red", &["f"]),
    ] {
        assert_eq!(names(&service, query).await, expected, "{query}");
        let count = service
            .admin_get(&format!("/tags?{query}&count=true"))
            .await;
        assert_eq!(count["count"], expected.len(), "{query}");
        let mut backwards = expected.to_vec();
        backwards.reverse();
        let by_name = format!("{query}&sort=-name");
        assert_eq!(names(&service, &by_name).await, backwards, "{by_name}");
    }
}

#[tokio::test]
async fn attributes_find_and_count_tags_by_the_values_of_the_groups_above_them() {
    let service = cellar().await;
    for (query, expected) in [
        ("attribute.colour=red", &["a", "c", "f"][..]),
        ("attribute.colour=ros%C3%A9", &["b", "d"]),
        (
            "attribute.colour=red&attribute.colour=ros%C3%A9",
            &["a", "b", "c", "d", "f"],
        ),
        ("attribute.colour=white", &[]),
    ] {
        assert_eq!(names(&service, query).await, expected, "{query}");
    }
    let counted = service.admin_get("/tags/values?attribute=colour").await;
    let expected = json!([{"value": "red", "count": 3}, {"value": "rosé", "count": 2}]);
    assert_eq!(counted["items"], expected);
    let counted = service
        .admin_get("/tags/values?attribute=colour&q=lot")
        .await;
    let expected = json!([{"value": "rosé", "count": 2}, {"value": "red", "count": 1}]);
    assert_eq!(counted["items"], expected);
    // A tag with a value of its own under a group with one counts once, and so does one under two.
    for (query, expected) in [
        (
            "",
            json!([{"key": "colour", "count": 5}, {"key": "note", "count": 2}, {"key": "sku", "count": 1}]),
        ),
        (
            "?q=blanc",
            json!([{"key": "note", "count": 2}, {"key": "colour", "count": 1}]),
        ),
        ("?q=l03", json!([{"key": "colour", "count": 1}])),
    ] {
        let counted = service.admin_get(&format!("/tags/attributes{query}")).await;
        assert_eq!(counted["items"], expected, "{query}");
    }
}

#[tokio::test]
async fn a_bulk_action_takes_the_tags_that_are_found_by_their_groups() {
    let service = cellar().await;
    let select = json!({"filter": {"q": "chateau", "attributes": {"colour": ["red"]}}});
    let set = json!({"select": select, "action": "set", "data": {"checked": "yes"}});
    let answer = service
        .admin(reqwest::Method::POST, "/tags/bulk", set)
        .await;
    let answer: Value = answer.expect(200);
    assert_eq!(answer["changed"], 2, "{answer}");
}

#[tokio::test]
async fn a_token_for_some_experiences_finds_no_tag_by_the_name_of_a_group_that_it_does_not_see() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    let secret = json!({"name": "Secret", "experience_id": experience});
    let secret = group(&service, "batch", None, secret).await;
    service.tag(json!({"name": "a", "group_id": secret})).await;
    let token = json!({"name": "Shop", "scopes": ["read"], "experience_ids": [experience]});
    let token = service.admin_create("/tokens", token).await;
    let limited = Client::new(service.base(), token["token"].as_str().unwrap());
    assert_eq!(names(&limited, "").await, ["a"]);
    assert_eq!(names(&limited, "q=secret").await, [""; 0]);
    assert_eq!(names(&service, "q=secret").await, ["a"]);
}
