//! Groups: products, batches and folders.

mod narrowed;
mod traces;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::{TestService, TestTag};

async fn group(service: &TestService, parent: Option<i64>, more: Value) -> i64 {
    let mut group = json!({"kind": "folder", "name": "A folder", "parent_id": parent});
    if let (Some(group), Value::Object(more)) = (group.as_object_mut(), more) {
        group.extend(more);
    }
    service.admin_create("/groups", group).await["id"]
        .as_i64()
        .unwrap()
}

async fn set(service: &TestService, group: i64, changes: Value) {
    service
        .admin_patch(&format!("/groups/{group}"), changes)
        .await;
}

async fn bottle(service: &TestService, group: i64, more: Value) -> TestTag {
    let mut tag = json!({"name": "Bottle 41", "group_id": group});
    if let (Some(tag), Value::Object(more)) = (tag.as_object_mut(), more) {
        tag.extend(more);
    }
    service.tag(tag).await
}

/// The texts of the payload of a tap.
async fn texts(service: &TestService, tag: &TestTag) -> [String; 3] {
    let tap = service.tap(&tag.path()).await;
    let payload = service.payload(tap.key()).await;
    ["title", "description", "language_code"]
        .map(|member| payload["metadata"][member].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_value_is_the_tags_own_or_that_of_the_nearest_group_which_has_one() {
    let service = TestService::start().await;
    let target = "https://owner.example/{{tag:attribute:colour}}/{{tag:data:size || \"none\"}}";
    let experience = service.redirect(target).await;
    let top = group(
        &service,
        None,
        json!({
            "experience_id": experience, "title": "Wines", "description": "From the top",
            "attributes": {"colour": "red"}, "data": {"size": "75"},
        }),
    )
    .await;
    let below = group(
        &service,
        Some(top),
        json!({"title": "Grand Cru", "language_code": "fr_FR"}),
    )
    .await;
    let tag = bottle(&service, below, Value::Null).await;
    let location = async |tag: &TestTag| {
        let location = service.tap(&tag.path()).await.location.unwrap();
        location.split('?').next().unwrap().to_owned()
    };
    assert_eq!(
        texts(&service, &tag).await,
        ["Grand Cru", "From the top", "fr_FR"]
    );
    assert_eq!(location(&tag).await, "https://owner.example/red/75");
    // The tag's own values, one by one; an empty property is a value.
    service
        .admin_patch(
            &tag.admin_path(),
            json!({"title": "Mine", "attributes": {"colour": "white"}, "data": {"size": ""}}),
        )
        .await;
    assert_eq!(
        texts(&service, &tag).await,
        ["Mine", "From the top", "fr_FR"]
    );
    assert_eq!(location(&tag).await, "https://owner.example/white/none");
    let own = service.redirect("https://owner.example/own").await;
    let changes = json!({"experience_id": own, "language_code": "de_DE"});
    service.admin_patch(&tag.admin_path(), changes).await;
    assert_eq!(texts(&service, &tag).await[2], "de_DE");
    assert_eq!(location(&tag).await, "https://owner.example/own");
    // A tag in no group has the default language.
    service
        .admin_patch(
            &tag.admin_path(),
            json!({"group_id": null, "title": "", "language_code": null}),
        )
        .await;
    assert_eq!(texts(&service, &tag).await, ["", "", "en_US"]);
}

#[tokio::test]
async fn a_change_at_a_group_is_in_the_next_tap_of_every_tag_below() {
    let service = TestService::start().await;
    let (one, other) = (
        service.redirect("https://owner.example/one").await,
        service.redirect("https://owner.example/other").await,
    );
    let top = group(&service, None, json!({"experience_id": one})).await;
    let middle = group(&service, Some(top), Value::Null).await;
    let elsewhere = group(
        &service,
        None,
        json!({"experience_id": other, "title": "Elsewhere"}),
    )
    .await;
    let mut tags = Vec::new();
    for parent in [top, middle] {
        tags.push(bottle(&service, parent, Value::Null).await);
    }
    let lead = async |ends: [&str; 2]| {
        for (tag, end) in tags.iter().zip(ends) {
            let location = service.tap(&tag.path()).await.location.unwrap();
            let expected = format!("https://owner.example/{end}?");
            assert!(location.starts_with(&expected), "{location}, not {end}");
        }
    };
    lead(["one", "one"]).await;
    set(&service, top, json!({"experience_id": other})).await;
    lead(["other", "other"]).await;
    set(&service, middle, json!({"experience_id": one})).await;
    lead(["other", "one"]).await;
    set(
        &service,
        middle,
        json!({"experience_id": null, "parent_id": elsewhere}),
    )
    .await;
    set(&service, top, json!({"experience_id": one})).await;
    lead(["one", "other"]).await;
    assert_eq!(texts(&service, &tags[1]).await[0], "Elsewhere");
    let before = service.admin_get("/audit?limit=1").await["items"][0]["id"]
        .as_i64()
        .unwrap();
    set(&service, elsewhere, json!({"title": "Renamed"})).await;
    let after = service.admin_get("/audit?limit=1").await["items"][0].clone();
    assert_eq!(after["id"], before + 1, "one row in the audit log");
    assert_eq!(texts(&service, &tags[1]).await[0], "Renamed");
}

#[tokio::test]
async fn variables_are_given_once_when_a_tag_is_created_and_never_inherited() {
    let service = TestService::start().await;
    let top = group(
        &service,
        None,
        json!({"variables": {"registered": "false", "owner": "", "level": "top"}}),
    )
    .await;
    let below = group(
        &service,
        Some(top),
        json!({"variables": {"level": "below"}}),
    )
    .await;
    let tag = bottle(&service, below, json!({"variables": {"owner": "mine"}})).await;
    let variables =
        async |tag: &TestTag| service.admin_get(&tag.admin_path()).await["variables"].clone();
    let given = json!({"registered": "false", "owner": "mine", "level": "below"});
    assert_eq!(variables(&tag).await, given);
    set(
        &service,
        below,
        json!({"variables": {"level": "new", "more": "x"}}),
    )
    .await;
    assert_eq!(variables(&tag).await, given);
    let moved = bottle(&service, top, Value::Null).await;
    service
        .admin_patch(&moved.admin_path(), json!({"group_id": below}))
        .await;
    assert_eq!(
        variables(&moved).await,
        json!({"registered": "false", "owner": "", "level": "top"})
    );
}

#[tokio::test]
async fn a_key_of_a_tag_that_a_group_leads_updates_its_variables() {
    let service = TestService::start().await;
    let page = json!({"name": "Page", "kind": "studio", "blocks": [
        {"type": "form", "submit_label": "OK", "fields": [{"label": "Name", "kind": "text", "variable": "note"}]},
    ]});
    let page = service.experience(page).await;
    let redirect = service.redirect("https://owner.example/").await;
    let led = group(&service, None, json!({"experience_id": redirect})).await;
    let tag = bottle(&service, led, json!({"variables": {"registered": "false"}})).await;
    let tap = service.tap(&tag.path()).await;
    let answer = service
        .update(tap.key(), json!({"registered": "true"}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let key = service.tap(&tag.path()).await.key().to_owned();
    set(&service, led, json!({"experience_id": null})).await;
    let refused = service.update(&key, json!({"registered": "no"})).await;
    assert_eq!(refused.status, 400, "no experience leads the tag any more");
    // A tag that comes under a page gets the variables of its form.
    set(&service, led, json!({"experience_id": page})).await;
    let new = bottle(&service, led, Value::Null).await;
    assert_eq!(service.variable(&new, "note").await, Some(String::new()));
}

async fn recall_of_last_tap(service: &TestService) -> Value {
    let taps = service.admin_get("/interactions?limit=1").await;
    taps["items"][0]["recall_group_id"].clone()
}

#[tokio::test]
async fn taps_of_a_recalled_group_are_verified_and_recorded_and_get_the_page_of_the_recall() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    let recall = service.redirect("https://owner.example/recall").await;
    let top = group(&service, None, json!({"experience_id": experience})).await;
    let batch = group(&service, Some(top), json!({"kind": "batch"})).await;
    let tag = bottle(
        &service,
        batch,
        json!({"variables": {"registered": "false"}}),
    )
    .await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    assert_eq!(service.tap(&inlay.url(&tag)).await.status, 302);
    assert_eq!(recall_of_last_tap(&service).await, Value::Null);
    set(&service, top, json!({"status": "recalled"})).await;
    let tap = service.tap(&inlay.url(&tag)).await;
    assert_eq!((tap.status, tap.rk), (200, None));
    assert!(
        tap.answer.body.contains("has been recalled"),
        "{}",
        tap.answer.body
    );
    assert_eq!(recall_of_last_tap(&service).await, top);
    let german = service
        .get(&inlay.url(&tag))
        .header("accept-language", "de")
        .send()
        .await
        .unwrap();
    assert!(german.text().await.unwrap().contains("zurückgerufen"));
    assert_eq!(service.taps("verified").await, 3);
    assert_eq!(service.scan_count(&tag).await, 3);
    // The nearest recalled group with an experience for recalls decides.
    set(&service, top, json!({"recall_experience_id": recall})).await;
    let tap = service.tap(&inlay.url(&tag)).await;
    assert!(
        tap.location
            .as_deref()
            .unwrap()
            .starts_with("https://owner.example/recall?rk=")
    );
    assert_eq!(service.payload(tap.key()).await["tag_verified"], true);
    let updated = service
        .update(tap.key(), json!({"registered": "true"}))
        .await;
    assert_eq!(updated.status, 200, "{}", updated.body);
    let interaction = service.admin_get("/interactions?limit=1").await["items"][0].clone();
    assert_eq!(interaction["experience_id"], recall);
    assert_eq!(interaction["recall_group_id"], top);
    // Also for a tag that is no longer in use.
    service
        .admin_patch(&tag.admin_path(), json!({"status": "archived"}))
        .await;
    assert_eq!(service.tap(&inlay.url(&tag)).await.status, 302);
    service
        .admin_patch(&tag.admin_path(), json!({"status": "active"}))
        .await;
    set(&service, top, json!({"status": "active"})).await;
    let tap = service.tap(&inlay.url(&tag)).await;
    assert!(
        tap.location
            .as_deref()
            .unwrap()
            .starts_with("https://owner.example/?rk=")
    );
}

#[tokio::test]
async fn effective_values_say_which_group_gives_them() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    let top = group(&service, None, json!({
        "experience_id": experience, "title": "Top", "attributes": {"colour": "red", "year": "2021"},
        "status": "recalled",
    }))
    .await;
    let below = group(
        &service,
        Some(top),
        json!({"description": "Below", "attributes": {"year": ""}}),
    )
    .await;
    let tag = bottle(
        &service,
        below,
        json!({"attributes": {"sku": "A-1"}, "title": "Mine"}),
    )
    .await;
    let path = format!("{}/effective", tag.admin_path());
    let effective = service.admin_get(&path).await;
    let expected = json!({
        "experience_id": {"value": experience, "group_id": top},
        "title": {"value": "Mine", "group_id": null},
        "description": {"value": "Below", "group_id": below},
        "language_code": {"value": "en_US", "group_id": null},
        "attributes": {
            "colour": {"value": "red", "group_id": top},
            "sku": {"value": "A-1", "group_id": null},
            "year": {"value": "", "group_id": below},
        },
        "data": {},
        "recall": {"group_id": top, "experience_id": null},
    });
    assert_eq!(effective, expected);
    let alone = service.tag(json!({"name": "Alone"})).await;
    let path = format!("{}/effective", alone.admin_path());
    let effective = service.admin_get(&path).await;
    assert_eq!(
        effective["experience_id"],
        json!({"value": null, "group_id": null})
    );
    assert_eq!(effective["recall"], Value::Null);
    let missing = service
        .admin(Method::GET, "/tags/9999/effective", Value::Null)
        .await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn macros_name_the_group_the_product_and_the_batch_of_a_tag() {
    let service = TestService::start().await;
    let target = "https://owner.example/{{group:name}}/{{product:name}}/{{product:code}}/{{product:gtin}}/{{batch:name}}/{{batch:code || \"none\"}}";
    let experience = service.redirect(target).await;
    let top = group(
        &service,
        None,
        json!({"name": "Wines", "experience_id": experience}),
    )
    .await;
    let product =
        json!({"kind": "product", "name": "Grand Cru", "code": "GC-21", "gtin": "9520123456788"});
    let product = group(&service, Some(top), product).await;
    let batch = group(
        &service,
        Some(product),
        json!({"kind": "batch", "name": "L 3", "code": "L03"}),
    )
    .await;
    let inner = group(
        &service,
        Some(batch),
        json!({"kind": "folder", "name": "Crate"}),
    )
    .await;
    for (parent, path) in [
        (inner, "Crate/Grand%20Cru/GC-21/09520123456788/L%203/L03"),
        (
            product,
            "Grand%20Cru/Grand%20Cru/GC-21/09520123456788//none",
        ),
        (top, "Wines/////none"),
    ] {
        let tag = bottle(&service, parent, Value::Null).await;
        let location = service.tap(&tag.path()).await.location.unwrap();
        let location = location.split('?').next().unwrap();
        assert_eq!(location, format!("https://owner.example/{path}"));
    }
}

#[tokio::test]
async fn a_redirect_has_the_uid_and_the_counter_of_the_code_and_the_visitors_parameters() {
    let service = TestService::start().await;
    let target = "https://owner.example/{{inlay:uid}}/{{interaction:counter}}?from={{query:utm}}&token={{query:token}}#{{query:rk}}";
    let refused = json!({"name": "R", "kind": "redirect", "target_url": target});
    let refused = service
        .admin(Method::POST, "/experiences", refused)
        .await
        .expect(422);
    assert_eq!(
        refused["errors"][0]["field"], "target_url",
        "a key is never passed on"
    );
    let target = target.trim_end_matches("#{{query:rk}}");
    let tag = service.tag_to(target, Value::Null).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    let url = format!("{}&utm=a%26b&utm=second&rk=mine", inlay.url(&tag));
    let tap = service.tap(&url).await;
    let location = tap.location.clone().unwrap();
    let uid = &url[url.find("uid=").unwrap() + 4..][..14];
    let expected = format!(
        "https://owner.example/{uid}/1?from=a%26b&token=&rk={}",
        tap.key()
    );
    assert_eq!(location, expected);
    let again = service
        .tap_with_cookie(&url, tap.cookie.as_deref().unwrap())
        .await;
    assert_eq!(
        again.location,
        Some(location),
        "a reload has the same values"
    );
    let plain = service
        .tap(&format!("{}?utm=x", tag.path()))
        .await
        .location
        .unwrap();
    assert!(
        plain.starts_with("https://owner.example//?from=x&token=&rk="),
        "{plain}"
    );
}

#[tokio::test]
async fn pass_query_appends_the_visitors_other_parameters() {
    let service = TestService::start().await;
    let experience = json!({
        "name": "R", "kind": "redirect", "target_url": "https://owner.example/?own=1#top", "pass_query": true,
    });
    let experience = service.experience(experience).await;
    let stored = service
        .admin_get(&format!("/experiences/{experience}"))
        .await;
    assert_eq!(stored["pass_query"], true);
    let tag = service
        .tag(json!({"name": "Bottle", "experience_id": experience}))
        .await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let sent = "&utm=a+b&own=2&rk=mine&flag&x=%3Chttps%3A%2F%2Fevil.example%3E";
    let tap = service.tap(&format!("{}{sent}", inlay.url(&tag))).await;
    let expected = format!(
        "https://owner.example/?own=1&rk={}&utm=a%20b&flag=&x=%3Chttps%3A%2F%2Fevil.example%3E#top",
        tap.key()
    );
    assert_eq!(tap.location, Some(expected));
    // A location stays short, whatever a visitor sends; the trace says that something was left out.
    let long = format!("{}&a={}&b=1", inlay.url(&tag), "x".repeat(4_000));
    let tap = service.tap(&long).await;
    assert_eq!(
        tap.location,
        Some(format!("https://owner.example/?own=1&rk={}#top", tap.key()))
    );
    let id = service.last_interaction().await;
    let traced = service.admin_get(&format!("/interactions/{id}")).await;
    assert!(traced.to_string().contains("query:a"), "{traced}");
    let page = json!({"name": "P", "kind": "studio", "blocks": [], "pass_query": true});
    service
        .admin(Method::POST, "/experiences", page)
        .await
        .expect(422);
}
