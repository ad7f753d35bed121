//! Tags that are assigned to an experience get the variables that its page writes.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestService};

/// A page with a form for a name, and a conditional button that claims the product.
async fn asking(service: &TestService) -> i64 {
    service
        .experience(json!({"name": "Ask", "kind": "studio", "blocks": [
            {"type": "form", "submit_label": "Send",
             "fields": [{"label": "Name", "kind": "text", "variable": "owner"}]},
            {"type": "condition", "when": {"type": "variable_empty", "variable": "read_only"}, "blocks": [
                {"type": "condition", "when": {"type": "scan_count", "at_least": 2}, "blocks": [
                    {"type": "variable_button", "label": "Mine", "variable": "claimed", "value": "true"}]}]},
        ]}))
        .await
}

async fn variables(service: &TestService, tag: &Value) -> Value {
    service.admin_get(&format!("/tags/{tag}")).await["variables"].clone()
}

async fn bulk(service: &TestService, request: Value) -> Value {
    let answer = service.admin(Method::POST, "/tags/bulk", request).await;
    answer.expect(200)
}

async fn import(service: &TestService, query: &str, csv: String) -> Value {
    let request = service.admin_request(Method::POST, &format!("/tags/import?{query}"));
    let request = request.header("content-type", "text/csv").body(csv);
    request.answer().await.expect(200)
}

#[tokio::test]
async fn a_tag_that_is_created_or_changed_gets_them_unless_it_is_told_not_to() {
    let service = TestService::start().await;
    let page = asking(&service).await;
    let new = json!({"name": "Bottle", "experience_id": page, "variables": {"owner": "Ada"}});
    let created = service.admin(Method::POST, "/tags", new).await.expect(201);
    assert_eq!(created["variables"], json!({"claimed": "", "owner": "Ada"}));
    assert_eq!(created["variables_added"], 1);
    let without = json!({"name": "Bottle", "experience_id": page, "add_variables": false});
    let without = service.admin(Method::POST, "/tags", without).await;
    let without = without.expect(201);
    assert_eq!(without["variables"], json!({}));
    assert_eq!(without["variables_added"], Value::Null);

    let tag = service.tag(json!({"name": "Bottle"})).await;
    let path = tag.admin_path();
    let change = async |members: Value| {
        service
            .admin(Method::PATCH, &path, members)
            .await
            .expect(200)
    };
    let assigned = change(json!({"experience_id": page, "add_variables": false})).await;
    assert_eq!(assigned["variables"], json!({}));
    // It is already assigned, so nothing changes.
    let again = change(json!({"experience_id": page})).await;
    assert_eq!(again["variables"], json!({}));
    change(json!({"experience_id": null})).await;
    let assigned = change(json!({"experience_id": page, "variables": {"claimed": "true"}})).await;
    let both = json!({"claimed": "true", "owner": ""});
    assert_eq!(
        (&assigned["variables"], &assigned["variables_added"]),
        (&both, &json!(1))
    );
    let audit = service.admin_get("/audit?limit=1").await;
    assert!(audit["items"][0].to_string().contains("owner"), "{audit}");
    for wrong in [json!("no"), json!(0)] {
        let members = json!({"name": "x", "add_variables": wrong});
        let refused = service
            .admin(Method::PATCH, &path, members)
            .await
            .expect(422);
        assert_eq!(refused["errors"][0]["field"], "add_variables", "{refused}");
        let new = json!({"name": "x", "add_variables": wrong});
        let refused = service.admin(Method::POST, "/tags", new).await.expect(422);
        assert_eq!(refused["errors"][0]["field"], "add_variables", "{refused}");
    }
}

#[tokio::test]
async fn a_bulk_assignment_adds_them_and_its_undo_removes_those_that_are_empty() {
    let service = TestService::start().await;
    let page = asking(&service).await;
    let mut tags = Vec::new();
    for variables in [
        json!({}),
        json!({"owner": ""}),
        json!({"owner": "Ada", "claimed": ""}),
        json!({}),
    ] {
        let tag = service
            .tag(json!({"name": "Bottle", "variables": variables}))
            .await;
        tags.push(json!(tag.id));
    }
    let assign = json!({"action": "assign", "select": {"filter": {}}, "experience_id": page});
    let result = bulk(&service, assign.clone()).await;
    assert_eq!(result["variables_added"], 5, "{result}");
    assert_eq!(result["tags_with_added_variables"], 3, "{result}");
    for tag in &tags {
        let keys = variables(&service, tag).await;
        assert_eq!(keys.as_object().unwrap().len(), 2, "{keys}");
    }
    let audit = service.admin_get("/audit?limit=1").await;
    let asked = audit["items"][0].to_string();
    assert!(asked.contains("adds_variables"), "{asked}");

    // A variable that a visitor wrote in the meantime stays.
    let path = format!("/tags/{}/variables/claimed", tags[3]);
    service
        .admin(Method::PUT, &path, json!({"value": "true"}))
        .await;
    for request in result["undo"].as_array().unwrap() {
        let undone = bulk(&service, request.clone()).await;
        assert_eq!(undone["variables_added"], 0, "{undone}");
    }
    let after = [
        json!({}),
        json!({"owner": ""}),
        json!({"owner": "Ada", "claimed": ""}),
        json!({"claimed": "true"}),
    ];
    for (tag, after) in tags.iter().zip(after) {
        assert_eq!(variables(&service, tag).await, after);
    }

    let mut without = assign;
    without["add_variables"] = json!(false);
    let result = bulk(&service, without).await;
    assert_eq!(result["variables_added"], 0, "{result}");
    assert_eq!(variables(&service, &tags[0]).await, json!({}));
}

#[tokio::test]
async fn a_tag_that_cannot_have_all_of_them_is_assigned_without_and_with_a_warning() {
    let service = TestService::start().await;
    let page = asking(&service).await;
    let full: serde_json::Map<_, _> = (0..255)
        .map(|number| (format!("v{number}"), json!("")))
        .collect();
    let new = json!({"name": "Full", "experience_id": page, "variables": full});
    let created = service.admin(Method::POST, "/tags", new).await;
    let warning = created.header("tapdesk-warning").unwrap_or_default();
    assert!(warning.contains("the tag lacks"), "{warning}");
    assert_eq!(created.expect(201)["variables_added"], Value::Null);
}

#[tokio::test]
async fn an_import_adds_them_whether_its_rows_go_in_each_or_all() {
    let service = TestService::start().await;
    let page = asking(&service).await;
    let present = service
        .tag(json!({"name": "Present", "slug": "present-tag"}))
        .await;
    for (at, mode) in ["on_error=skip", "on_error=abort"].into_iter().enumerate() {
        let csv = format!(
            "slug,name,experience_id,variable:owner\nnew-tag-{at}-a,A,{page},Ada\nnew-tag-{at}-b,B,{page},(none)\n\
             new-tag-{at}-c,C,,(none)\n"
        );
        let result = import(&service, mode, csv).await;
        assert_eq!(result["variables_added"], 3, "{result}");
        assert_eq!(result["tags_with_added_variables"], 2, "{result}");
        assert_eq!(result["results"][0]["variables_added"], 1, "{result}");
        let first = variables(&service, &result["results"][0]["id"]).await;
        assert_eq!(first, json!({"claimed": "", "owner": "Ada"}));

        let assign = json!({"experience_id": null});
        service.admin_patch(&present.admin_path(), assign).await;
        let csv = format!("slug,experience_id\npresent-tag,{page}\n");
        let result = import(&service, &format!("mode=upsert&{mode}"), csv).await;
        let added = if at == 0 { 2 } else { 0 };
        assert_eq!(result["variables_added"], added, "{result}");
        let csv = format!("slug,name,experience_id\nleft-tag-{at},A,{page}\n");
        let result = import(&service, &format!("add_variables=false&{mode}"), csv).await;
        assert_eq!(result["variables_added"], 0, "{result}");
        let left = variables(&service, &result["results"][0]["id"]).await;
        assert_eq!(left, json!({}));
    }
}

#[tokio::test]
async fn an_encoding_run_adds_them_to_the_tags_that_it_creates() {
    let service = TestService::start().await;
    let page = asking(&service).await;
    for (said, added) in [(json!({}), 2), (json!({"add_variables": false}), 0)] {
        let mut plan = json!({"pattern": "Bottle {n}", "experience_id": page});
        plan.as_object_mut()
            .unwrap()
            .extend(said.as_object().cloned().unwrap());
        let run = json!({"name": "Run", "plan": plan});
        let run = service.admin(Method::POST, "/encoding-runs", run).await;
        let run = run.expect(201);
        assert_eq!(run["variables_added"], 0, "{run}");
        let path = format!("/encoding-runs/{}", run["id"]);
        // Skipping a tag of a pattern creates the tag.
        let skip = format!("{path}/skip");
        service
            .admin(Method::POST, &skip, Value::Null)
            .await
            .expect(200);
        assert_eq!(service.admin_get(&path).await["variables_added"], added);
        let newest = service.admin_get("/tags?sort=-created&limit=1").await;
        let keys = newest["items"][0]["variables"].as_object().unwrap().len();
        assert_eq!(keys, added, "{newest}");
    }
}
