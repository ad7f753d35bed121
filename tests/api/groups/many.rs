//! Many tags in groups: bulk changes, tables, and filters.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::fixtures::{unlisted_template, unlisted_uid, unlisted_url};
use tapdesk_tests::{Answering as _, TestService};

use crate::api::submissions::{Form, send};

use super::{delete, group, patch, tag_count};

async fn bulk(service: &TestService, request: Value) -> Value {
    let answer = service.admin(Method::POST, "/tags/bulk", request).await;
    answer.expect(200)
}

async fn import(service: &TestService, query: &str, file: &str) -> Value {
    let path = format!("/tags/import{query}");
    let request = service.admin_request(Method::POST, &path);
    let request = request.header("content-type", "text/csv");
    request.body(file.to_owned()).answer().await.expect(200)
}

async fn names(service: &TestService, path: &str, member: &str) -> Vec<String> {
    let page = service.admin_get(path).await;
    let items = page["items"].as_array().unwrap().iter();
    let mut names: Vec<_> = items
        .map(|item| item[member].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn tags_move_into_a_group_together_and_back_again() {
    let service = TestService::start().await;
    let page = json!({"name": "Page", "kind": "studio", "blocks": [
        {"type": "form", "submit_label": "OK", "fields": [{"label": "Name", "kind": "text", "variable": "note"}]},
    ]});
    let page = service.experience(page).await;
    let former = group(&service, "batch", None, Value::Null).await;
    let new = group(&service, "batch", None, json!({"experience_id": page})).await;
    let mut tags = Vec::new();
    for in_group in [None, Some(former), Some(new)] {
        let tag = json!({"name": "Bottle", "group_id": in_group});
        tags.push(service.tag(tag).await);
    }
    let led = service.redirecting_tag(Value::Null).await;
    let ids: Vec<i64> = tags.iter().chain([&led]).map(|tag| tag.id).collect();
    let moved = json!({"select": {"ids": ids}, "action": "group", "group_id": new});
    let moved = bulk(&service, moved).await;
    assert_eq!(
        (&moved["selected"], &moved["changed"]),
        (&json!(4), &json!(3))
    );
    assert_eq!(
        moved["variables_added"], 2,
        "the last one leads elsewhere itself"
    );
    assert_eq!(tag_count(&service, new).await, 4);
    assert_eq!(tag_count(&service, former).await, 0);
    assert_eq!(
        service.variable(&tags[0], "note").await,
        Some(String::new())
    );
    for request in moved["undo"].as_array().unwrap() {
        bulk(&service, request.clone()).await;
    }
    assert_eq!(tag_count(&service, new).await, 1);
    assert_eq!(tag_count(&service, former).await, 1);
    assert_eq!(service.variable(&tags[0], "note").await, None);
    let missing = json!({"select": {"ids": ids}, "action": "group", "group_id": 999});
    let refused = service.admin(Method::POST, "/tags/bulk", missing).await;
    assert_eq!(refused.expect(409)["errors"][0]["field"], "group_id");
    let out = json!({"select": {"filter": {"group_id": new}}, "action": "group", "group_id": null});
    assert_eq!(bulk(&service, out).await["changed"], 1);
    delete(&service, new).await.expect(204);
}

#[tokio::test]
async fn a_table_names_groups_by_their_path_and_creates_them_if_asked() {
    let service = TestService::start().await;
    let file = "name,group\nOne,Wines / Grand Cru 2021 / L03\nTwo,Wines/Grand Cru 2021/L04\nThree,Wines\nFour,\n";
    let refused = import(&service, "", file).await;
    assert_eq!(
        (&refused["created"], &refused["refused"]),
        (&json!(1), &json!(3))
    );
    let why = refused["results"][0]["reason"].to_string();
    assert!(why.contains("create_groups"), "{refused}");
    let dry = import(&service, "?create_groups=true&dry_run=true", file).await;
    assert_eq!(dry["groups_created"], 4);
    assert_eq!(dry["created_groups"], json!([]));
    assert_eq!(service.admin_get("/groups?count=true").await["count"], 0);
    let made = import(&service, "?create_groups=true", file).await;
    assert_eq!(
        (&made["created"], &made["groups_created"]),
        (&json!(4), &json!(4))
    );
    let groups = service.admin_get("/groups").await;
    let groups: Vec<_> = groups["items"].as_array().unwrap().iter().collect();
    let shown: Vec<_> = groups
        .iter()
        .map(|group| {
            (
                group["name"].as_str().unwrap(),
                group["kind"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("Wines", "folder"),
        ("Grand Cru 2021", "product"),
        ("L03", "batch"),
        ("L04", "batch"),
    ];
    assert_eq!(shown, expected);
    assert_eq!(groups[0]["tag_count"], 3);
    // An export names them in the same way, and its import changes nothing.
    let request = service.admin_request(Method::GET, "/tags/export");
    let exported = request.answer().await.body;
    assert!(
        exported.contains(",,Wines / Grand Cru 2021 / L03,"),
        "{exported}"
    );
    let again = import(&service, "?mode=upsert", &exported).await;
    assert_eq!(
        (&again["refused"], &again["updated"]),
        (&json!(0), &json!(5)),
        "{again}"
    );
    assert_eq!(
        tag_count(&service, groups[0]["id"].as_i64().unwrap()).await,
        3
    );
    // A path that several groups have needs the id, which the export then has, too.
    let l03 = groups[2]["id"].as_i64().unwrap();
    let twin = group(
        &service,
        "batch",
        groups[1]["id"].as_i64(),
        json!({"name": "L03"}),
    )
    .await;
    let ambiguous = import(&service, "", "name,group\nX,Wines / Grand Cru 2021 / L03\n").await;
    assert!(
        ambiguous["results"][0]["reason"]
            .to_string()
            .contains("group_id"),
        "{ambiguous}"
    );
    let said = format!("name,group_id,group\nX,{twin},Wines / Grand Cru 2021 / L03\n");
    assert_eq!(import(&service, "", &said).await["created"], 1);
    assert_eq!(tag_count(&service, twin).await, 1);
    let request = service.admin_request(Method::GET, "/tags/export");
    let exported = request.answer().await.body;
    assert!(
        exported.contains(&format!(",{l03},Wines / Grand Cru 2021 / L03,")),
        "{exported}"
    );
}

#[tokio::test]
async fn a_table_that_is_refused_as_a_whole_leaves_no_groups() {
    let service = TestService::start().await;
    let file = "name,group,status\nOne,Wines / L03,\nTwo,Wines / L04,sold\n";
    let refused = import(&service, "?create_groups=true&on_error=abort", file).await;
    assert_eq!(
        (&refused["created"], &refused["left_out"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(service.admin_get("/groups").await["items"], json!([]));
    let good = file.replace("sold", "archived");
    let made = import(&service, "?create_groups=true&on_error=abort", &good).await;
    assert_eq!(
        (&made["created"], &made["groups_created"]),
        (&json!(2), &json!(3))
    );
}

/// Deletes the tags and the groups that an import created, as an undo does. Returns the status of
/// each group, the last created one first.
async fn undo(service: &TestService, made: &Value) -> Vec<u16> {
    let results = made["results"].as_array().unwrap().iter();
    let ids: Vec<_> = results.map(|row| row["id"].clone()).collect();
    bulk(service, json!({"select": {"ids": ids}, "action": "delete"})).await;
    let mut statuses = Vec::new();
    for group in made["created_groups"].as_array().unwrap().iter().rev() {
        let path = format!("/groups/{}", group["id"]);
        let request = service.admin_request(Method::DELETE, &path);
        let request = request.header("if-match", group["etag"].as_str().unwrap());
        statuses.push(request.answer().await.status);
    }
    statuses
}

#[tokio::test]
async fn the_undo_of_an_import_removes_its_groups_unless_they_are_used_or_changed() {
    let service = TestService::start().await;
    let own = group(&service, "folder", None, json!({"name": "Own"})).await;
    let file = "name,group\nOne,Wines / Grand Cru / L03\nTwo,Wines / Grand Cru / L04\nThree,Own\n";
    let made = import(&service, "?create_groups=true", file).await;
    assert_eq!(made["created_groups"].as_array().unwrap().len(), 4);
    assert_eq!(undo(&service, &made).await, [204; 4]);
    let left = service.admin_get("/groups").await;
    assert_eq!(left["items"][0]["id"], own, "{left}");
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
    // Each deletion has a row of its own.
    let rows = service.admin_get("/audit?limit=4").await;
    for row in rows["items"].as_array().unwrap() {
        assert!(
            row["object"].as_str().unwrap().starts_with("groups/"),
            "{row}"
        );
    }

    let made = import(&service, "?create_groups=true", file).await;
    let created: Vec<i64> = made["created_groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["id"].as_i64().unwrap())
        .collect();
    // L03 is renamed, and another tag comes into L04.
    let [_, _, l03, l04] = created[..] else {
        panic!("{made}");
    };
    patch(&service, l03, json!({"name": "L03b"}))
        .await
        .expect(200);
    service.tag(json!({"name": "Late", "group_id": l04})).await;
    assert_eq!(undo(&service, &made).await, [409, 412, 409, 409]);
    assert_eq!(tag_count(&service, l04).await, 1);
    assert_eq!(tag_count(&service, l03).await, 0);
}

#[tokio::test]
async fn predefined_variables_are_given_to_imported_tags() {
    let service = TestService::start().await;
    group(
        &service,
        "product",
        None,
        json!({"name": "P", "variables": {"owner": "nobody"}}),
    )
    .await;
    import(
        &service,
        "",
        "name,group,variable:owner\nOne,P,(none)\nTwo,P,me\n",
    )
    .await;
    let tags = service.admin_get("/tags").await;
    let owners: Vec<_> = tags["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| &tag["variables"]["owner"])
        .collect();
    assert_eq!(owners, ["nobody", "me"]);
}

#[tokio::test]
async fn chips_that_taps_make_tags_of_come_into_the_group_of_their_template() {
    let service = TestService::start().await;
    let experience = service
        .redirect("https://owner.example/{{inlay:uid}}/{{interaction:counter}}/{{group:name}}")
        .await;
    let id = group(
        &service,
        "batch",
        None,
        json!({
            "name": "L03", "experience_id": experience, "variables": {"registered": "no"},
        }),
    )
    .await;
    let more = json!({"unlisted": "create", "group_id": id});
    let template = service
        .admin_create("/url-templates", unlisted_template(&more))
        .await;
    assert_eq!(template["group_id"], id);
    let tap = |path: String| service.get(&path).header("host", "tags.example").answer();
    let answer = tap(unlisted_url(1, 7)).await;
    let location = answer
        .header("location")
        .unwrap_or_else(|| panic!("{answer:?}"));
    let expected = format!("https://owner.example/{}/7/L03?rk=", unlisted_uid(1));
    assert!(location.starts_with(&expected), "{location}");
    let tag = service.admin_get("/tags").await["items"][0].clone();
    assert_eq!(
        (&tag["group_id"], &tag["experience_id"]),
        (&json!(id), &Value::Null)
    );
    assert_eq!(tag["variables"], json!({"registered": "no"}));
    let refused = delete(&service, id).await.expect(409);
    assert_eq!(refused["code"], "in_use");
    // A chip that was only listed is enrolled into a group.
    let path = format!("/url-templates/{}", template["id"]);
    service
        .admin_patch(&path, json!({"unlisted": "page", "group_id": null}))
        .await;
    tap(unlisted_url(2, 1)).await;
    let enrol = format!("/unlisted-chips/{}/enrol", unlisted_uid(2));
    let both = json!({"tag_id": tag["id"], "group_id": id});
    service.admin(Method::POST, &enrol, both).await.expect(422);
    let enrolled = service.admin_create(&enrol, json!({"group_id": id})).await;
    let path = format!("/tags/{}", enrolled["tag_id"]);
    assert_eq!(service.admin_get(&path).await["group_id"], id);
    assert_eq!(tag_count(&service, id).await, 2);
}

/// `unset_tags` are those that lead nowhere: not those of a recalled group.
#[tokio::test]
async fn a_recalled_tag_is_none_without_a_page() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    let led = json!({"experience_id": experience});
    let wines = group(&service, "product", None, led).await;
    let tag = service.tag(json!({"name": "a", "group_id": wines})).await;
    let other = service.tag(json!({"name": "b"})).await;
    patch(&service, wines, json!({"status": "recalled"}))
        .await
        .expect(200);
    service.tap(&tag.path()).await;
    service.advance(1);
    let unset = async || service.admin_get("/stats").await["attention"]["unset_tags"].clone();
    assert_eq!(unset().await, 0);
    service.tap(&other.path()).await;
    service.advance(1);
    assert_eq!(unset().await, 1);
}

#[tokio::test]
async fn submissions_can_be_narrowed_to_a_group() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    let wines = group(&service, "folder", None, Value::Null).await;
    let batch = group(&service, "batch", Some(wines), Value::Null).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let count = async |group: i64| {
        let path = format!("/submissions?group_id={group}&count=true");
        service.admin_get(&path).await["count"].clone()
    };
    assert_eq!(count(wines).await, 0);
    service
        .admin_patch(&form.tag.admin_path(), json!({"group_id": batch}))
        .await;
    assert_eq!([count(wines).await, count(batch).await], [1, 1]);
    let exported = format!("/submissions/export?group_id={}", batch + 1);
    let exported = service.admin_request(Method::GET, &exported).answer().await;
    assert_eq!(
        exported.body.trim_end().lines().count(),
        1,
        "{}",
        exported.body
    );
}

#[tokio::test]
async fn lists_and_reports_can_be_narrowed_to_a_group_with_all_below() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    let wines = group(
        &service,
        "folder",
        None,
        json!({"experience_id": experience}),
    )
    .await;
    let batch = group(&service, "batch", Some(wines), Value::Null).await;
    let beers = group(&service, "folder", None, Value::Null).await;
    for (name, in_group) in [
        ("a", Some(wines)),
        ("b", Some(batch)),
        ("c", Some(beers)),
        ("d", None),
    ] {
        let tag = service
            .tag(json!({"name": name, "group_id": in_group}))
            .await;
        service.tap(&tag.path()).await;
    }
    service.advance(1);
    for (group, expected) in [
        (wines, &["a", "b"][..]),
        (batch, &["b"]),
        (beers, &["c"]),
        (999, &[]),
    ] {
        let path = format!("/tags?group_id={group}&count=true");
        assert_eq!(names(&service, &path, "name").await, expected, "{path}");
        assert_eq!(service.admin_get(&path).await["count"], expected.len());
        let by_name = format!("/tags?group_id={group}&sort=-name");
        assert_eq!(
            names(&service, &by_name, "name").await,
            expected,
            "{by_name}"
        );
        let path = format!("/interactions?group_id={group}");
        assert_eq!(names(&service, &path, "tag_name").await, expected, "{path}");
    }
    // Tags lead to an experience by themselves or by their group.
    let led = format!("/tags?experience_id={experience}");
    assert_eq!(names(&service, &led, "name").await, ["a", "b"]);
    assert_eq!(
        names(&service, "/tags?assigned=true", "name").await,
        ["a", "b"]
    );
    assert_eq!(
        names(&service, "/tags?assigned=false", "name").await,
        ["c", "d"]
    );
    let exported = service.admin_request(Method::GET, &format!("/tags/export?group_id={batch}"));
    assert_eq!(exported.answer().await.body.trim_end().lines().count(), 2);
    // Counted before and after the counts are stored; a move of a group moves its counts.
    let taps = async |group: i64| {
        let report = service
            .admin_get(&format!("/reports?group_id={group}"))
            .await;
        report["totals"]["taps"].clone()
    };
    for _ in 0..2 {
        assert_eq!(
            [taps(wines).await, taps(batch).await, taps(beers).await],
            [2, 1, 1]
        );
        assert_eq!(service.admin_get("/reports").await["totals"]["taps"], 4);
        while service.service().storage.fold_reports().await.unwrap() {}
    }
    patch(&service, batch, json!({"parent_id": beers}))
        .await
        .expect(200);
    assert_eq!([taps(wines).await, taps(beers).await], [1, 2]);
}
