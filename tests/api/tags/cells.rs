//! The meaning of an import's cells: unchanged, absent, to be deleted, and the experience they
//! name.

use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{all, import};

async fn bottle(service: &TestService) -> String {
    let experience = service.redirect("https://owner.example/").await;
    let tag = json!({
        "name": "Bottle", "slug": "bottle-0041", "title": "A title", "experience_id": experience,
        "attributes": {"sku": "A-1"}, "data": {"size": "75"}, "variables": {"registered": "true"},
    });
    service.tag(tag).await.admin_path()
}

const EMPTY: &str = "slug,name,title,experience_id,variable:registered,attribute:sku,data:size\n\
                     bottle-0041,Bottle,,,,,\nbottle-0042,Bottle,,,,,\n";

#[tokio::test]
async fn an_empty_cell_predefines_a_property_of_a_new_tag_and_changes_no_other_tag() {
    let service = TestService::start().await;
    let path = bottle(&service).await;
    let mut before = service.admin_get(&path).await;
    for query in ["?mode=upsert", "?mode=upsert&on_error=abort"] {
        let result = import(&service, query, EMPTY).await;
        assert_eq!(
            (&result["refused"], &result["deleted"]),
            (&json!(0), &json!(0))
        );
        let mut after = service.admin_get(&path).await;
        for tag in [&mut before, &mut after] {
            tag["updated_at"] = Value::Null;
        }
        assert_eq!(after, before);
    }
    let new = &all(&service, "/tags?q=bottle-0042", 50).await[0];
    assert_eq!(new["variables"], json!({"registered": ""}));
    assert_eq!(new["attributes"], json!({"sku": ""}));
    assert_eq!(new["data"], json!({"size": ""}));
    assert_eq!(new["experience_id"], Value::Null);
}

#[tokio::test]
async fn what_is_deleted_is_asked_for_in_words_and_the_dry_run_says_so() {
    let service = TestService::start().await;
    let path = bottle(&service).await;
    let file = "slug,title,experience,variable:registered,attribute:sku,data:other\n\
                bottle-0041,(delete),(delete),(Delete),'(delete),(delete)\n";
    let deleted = json!(["title", "experience_id", "variable:registered"]);
    for on_error in ["skip", "abort"] {
        let query = format!("?mode=upsert&on_error={on_error}&dry_run=true");
        let foreseen = import(&service, &query, file).await;
        assert_eq!(foreseen["results"][0]["deleted"], deleted);
        assert_eq!(foreseen["deleted"], 3);
    }
    assert_eq!(service.admin_get(&path).await["title"], "A title");
    let done = import(&service, "?mode=upsert", file).await;
    assert_eq!(
        (&done["results"][0]["deleted"], &done["deleted"]),
        (&deleted, &json!(3))
    );
    let after = service.admin_get(&path).await;
    assert_eq!(
        (&after["title"], &after["experience_id"]),
        (&json!(""), &Value::Null)
    );
    assert_eq!(after["variables"], json!({}));
    assert_eq!(
        after["attributes"],
        json!({"sku": "(delete)"}),
        "a text that is the word"
    );
    assert_eq!(after["data"], json!({"size": "75"}));

    let refused = import(
        &service,
        "?mode=upsert",
        "slug,name,status\nbottle-0041,(delete),\nbottle-0043,x,(delete)\n",
    )
    .await;
    let reason = |row: usize| {
        refused["results"][row]["reason"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(reason(0), "name cannot be deleted, only changed.");
    assert_eq!(reason(1), "status cannot be deleted, only changed.");
}

#[tokio::test]
async fn what_is_absent_is_no_property_of_a_new_tag_and_takes_none_away() {
    let service = TestService::start().await;
    let path = bottle(&service).await;
    let file =
        "slug,name,variable:registered\nbottle-0041,Bottle,(none)\nbottle-0042,Bottle,(none)\n";
    let result = import(&service, "?mode=upsert", file).await;
    assert_eq!(result["deleted"], 0);
    assert_eq!(
        service.admin_get(&path).await["variables"],
        json!({"registered": "true"})
    );
    let new = &all(&service, "/tags?q=bottle-0042", 50).await[0];
    assert_eq!(new["variables"], json!({}));
}

#[tokio::test]
async fn an_experience_is_named_and_one_that_there_is_not_is_refused_or_ignored() {
    let service = TestService::start().await;
    for name in ["Register", "Welcome", "Twice", "Twice"] {
        let redirect =
            json!({"name": name, "kind": "redirect", "target_url": "https://owner.example/"});
        service.experience(redirect).await;
    }
    let file = "name,experience,experience_id\nby name,Welcome,\nby id,,1\nby both,Register,1\n\
                nowhere,,\ntwo of them,Twice,\none of them,Twice,4\nunknown,Gone,\nunknown id,,9\n\
                disagree,Welcome,1\nno number,,Welcome\nid of another service,Welcome,77\n\
                another id of two,Twice,1\n";
    let expected = [
        ("by name", json!(2)),
        ("by id", json!(1)),
        ("by both", json!(1)),
        ("nowhere", Value::Null),
        ("one of them", json!(4)),
        ("disagree", json!(2)),
        ("id of another service", json!(2)),
    ];
    let result = import(&service, "", file).await;
    let reason = |row: usize| result["results"][row]["reason"].clone();
    assert_eq!(
        reason(4),
        "2 experiences are named \"Twice\". Say which one with experience_id."
    );
    assert_eq!(reason(6), "There is no experience named \"Gone\".");
    assert_eq!(reason(7), "There is no experience 9.");
    let warning = |row: usize| result["results"][row]["warning"].as_str();
    assert_eq!(
        warning(8),
        Some("The experience is found by its name: experience 1 is \"Register\" here.")
    );
    assert_eq!(warning(10), None);
    assert_eq!(reason(11), reason(4));
    assert_eq!(reason(9), "experience_id is the number of an experience.");
    let tags = all(&service, "/tags", 50).await;
    let leads: Vec<_> = tags
        .iter()
        .map(|tag| (tag["name"].as_str().unwrap(), tag["experience_id"].clone()))
        .collect();
    assert_eq!(leads, expected);

    let file = "name,experience\ntwo of them,Twice\n";
    let ignored = import(&service, "?unknown_experience=ignore&dry_run=true", file).await;
    assert_eq!(ignored["created"], 1);
    assert_eq!(ignored["results"][0]["warning"], reason(4));

    // With `ignore`, a new tag leads nowhere, and an existing one stays where it was.
    let file = "slug,name,experience\nbottle-0001,new,Gone\n";
    let result = import(&service, "?unknown_experience=ignore", file).await;
    assert_eq!(result["created"], 1);
    let warning = result["results"][0]["warning"].as_str().unwrap();
    assert!(
        warning.contains("There is no experience named \"Gone\"."),
        "{warning}"
    );
    let back = "slug,experience\nbottle-0001,Welcome\n";
    import(&service, "?mode=upsert", back).await;
    let query = "?mode=upsert&unknown_experience=ignore&on_error=abort";
    let result = import(&service, query, "slug,experience\nbottle-0001,Gone\n").await;
    assert_eq!(result["updated"], 1, "{result}");
    let tag = &all(&service, "/tags?q=bottle-0001", 50).await[0];
    assert_eq!(tag["experience_id"], 2);
}
