//! Tokens that are limited to experiences: for them, nothing outside exists.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::entropy::{OsEntropy, bytes};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::{TestTag, chip};
use tapdesk_tests::{Answer, Answering as _, Client, TestService};

use crate::api::events::Listener;

use super::{Operation, call, operations, service, status, token};

/// An experience, a tag and a group that lead there, a tap of the tag, a submission of its form,
/// and a webhook of it.
pub(super) struct Place {
    pub(super) experience: i64,
    pub(super) tag: TestTag,
    pub(super) interaction: i64,
    pub(super) submission: i64,
    pub(super) webhook: i64,
    pub(super) group: i64,
}

pub(super) async fn place(service: &TestService) -> Place {
    let form = json!({"type": "form", "submit_label": "Send", "fields": [
        {"label": "Registered", "kind": "text", "variable": "registered"},
    ]});
    let page = json!({"name": "Page", "kind": "studio", "blocks": [form]});
    let experience = service.experience(page).await;
    let tag = json!({
        "name": "Bottle 41", "experience_id": experience, "variables": {"registered": "false"},
        "data": {"note": "old"}, "attributes": {"sku": "A"},
    });
    let tag = service.tag(tag).await;
    let tap = service.tap(&tag.path()).await;
    let interaction = service.last_interaction().await;
    let cookie = tap.cookie.expect("a key");
    let (_, rk) = cookie.split_once('=').expect("a cookie");
    service
        .update(rk, json!({"registered": "true"}))
        .await
        .expect(200);
    let newest = service.admin_get("/submissions?limit=1").await;
    let maker = limited(service, experience).await;
    // No receiver exists.
    let webhook = json!({"url": "http://127.0.0.1:9/", "events": ["tap.verified"]});
    let webhook = maker.admin_create("/webhooks", webhook).await;
    let group = json!({"kind": "product", "name": "Wine 41", "experience_id": experience});
    let group = service.admin_create("/groups", group).await;
    Place {
        webhook: webhook["id"].as_i64().unwrap(),
        group: group["id"].as_i64().unwrap(),
        experience,
        interaction,
        submission: newest["items"][0]["id"].as_i64().unwrap(),
        tag,
    }
}

pub(super) async fn limited(service: &TestService, experience: i64) -> Client {
    let scopes = json!([
        "read",
        "tags",
        "experiences",
        "publish",
        "export",
        "webhooks"
    ]);
    let limited = json!({"name": "Shop", "scopes": scopes, "experience_ids": [experience]});
    token(service, limited).await
}

/// A request to an operation on a resource in `place`.
async fn request(client: &Client, operation: &Operation, place: &Place) -> Answer {
    let of = if operation.path.starts_with("/admin/v1/experiences/{id}") {
        place.experience
    } else if operation.path.starts_with("/admin/v1/interactions/{id}") {
        place.interaction
    } else if operation.path.starts_with("/admin/v1/submissions/{id}") {
        place.submission
    } else if operation.path.starts_with("/admin/v1/webhooks/{id}") {
        place.webhook
    } else if operation.path.starts_with("/admin/v1/groups/{id}") {
        place.group
    } else {
        place.tag.id
    };
    let key = match operation.path.split('/').nth(5) {
        Some("variables") => "registered",
        Some("data") => "note",
        _ => "sku",
    };
    let image = "1";
    let path = operation.path.replacen("{id}", &of.to_string(), 1);
    let path = path.replace("{key}", key).replace("{image_id}", image);
    let path = path.replace("{slug}", "former-slug");
    let request = client
        .request(operation.method.clone(), &path)
        .bearer_auth(client.admin_token());
    let body = match operation.id.as_str() {
        "post_experiences_id_rollback" => json!({"version": 1}),
        "post_experiences_id_preview" => {
            json!({"tag_id": place.tag.id, "verification": "verified"})
        }
        "put_tags_id_variables_key" | "put_tags_id_data_key" | "put_tags_id_attributes_key" => {
            json!({"value": "new"})
        }
        "post_experiences_id_images" | "put_groups_id_image" => {
            let png = request.header("content-type", "image/png").body(png());
            return png.answer().await;
        }
        "post_webhooks_id_resend" => json!({"since": "2026-01-01T00:00:00Z"}),
        "patch_webhooks_id" => json!({"enabled": false}),
        _ if operation.method == Method::PATCH => json!({"name": "Renamed"}),
        _ => return request.answer().await,
    };
    request.json(&body).answer().await
}

fn png() -> Vec<u8> {
    let mut png = std::io::Cursor::new(Vec::new());
    let image = image::RgbaImage::from_pixel(2, 2, image::Rgba([200, 0, 0, 255]));
    image.write_to(&mut png, image::ImageFormat::Png).unwrap();
    png.into_inner()
}

#[tokio::test]
async fn what_is_outside_does_not_exist() {
    let service = service().await;
    let own = place(&service).await;
    let client = limited(&service, own.experience).await;
    let wide = json!({"name": "All", "scopes": ["admin"], "experience_ids": [own.experience]});
    let wide = token(&service, wide).await;
    for operation in operations() {
        let Operation { method, path, .. } = &operation;
        if !operation.bounded {
            if operation.scope.is_some() {
                let status = status(call(&wide, &operation, own.tag.id)).await;
                assert_eq!(status, 404, "{method} {path}");
            }
            continue;
        }
        if !path.contains("{id}") {
            continue;
        }
        let other = place(&service).await;
        prepare(&service, &operation, &other).await;
        let refused = request(&client, &operation, &other).await;
        assert_eq!(refused.status, 404, "{method} {path}");
        // The resource exists for unlimited tokens.
        let allowed = request(&service, &operation, &other).await;
        let absent = ["{slug}", "{image_id}"]
            .iter()
            .any(|part| path.contains(part));
        // Its submission is already saved.
        let absent = absent || operation.id == "post_submissions_id_save";
        // No staff phone made its interaction.
        let absent = absent || operation.id == "get_interactions_id_photo";
        assert!(
            allowed.status < 300 || absent,
            "{method} {path}: {}",
            allowed.body
        );
    }
}

/// Creates the state that an operation needs.
async fn prepare(service: &TestService, operation: &Operation, place: &Place) {
    if operation.id == "delete_experiences_id" {
        let path = place.tag.admin_path();
        service
            .admin_patch(&path, json!({"experience_id": null}))
            .await;
        let path = format!("/groups/{}", place.group);
        service
            .admin_patch(&path, json!({"experience_id": null}))
            .await;
    }
    if ["get_groups_id_image", "delete_groups_id_image"].contains(&operation.id.as_str()) {
        let path = format!("/groups/{}/image", place.group);
        let request = service.admin_request(Method::PUT, &path).body(png());
        request.answer().await.expect(200);
    }
}

/// The detail of the trace step that says whether a tap's code is authentic.
async fn whose(client: &Client, interaction: i64) -> String {
    let traced = client
        .admin_get(&format!("/interactions/{interaction}"))
        .await;
    let step = traced["steps"].as_array().unwrap()[1].clone();
    assert_eq!(step["name"], "mac", "{traced}");
    step["detail"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_code_tells_of_an_inlay_outside_what_it_tells_of_an_unknown_one() {
    let service = service().await;
    let own = place(&service).await;
    let client = limited(&service, own.experience).await;
    let inlay = async |tag: &TestTag| {
        service
            .rolling_inlay(tag, Mirror::Plain, MacFrom::None)
            .await
    };
    inlay(&own.tag).await;
    let outside = service.redirecting_tag(json!({"name": "Secret"})).await;
    let inside = json!({"name": "Second", "experience_id": own.experience});
    let inside = service.tag(inside).await;
    let mut codes = [inlay(&outside).await, inlay(&inside).await];
    let mut unknown = chip(Mirror::Plain, MacFrom::None);
    let nobody = own.tag.with(&unknown.tap(bytes(&OsEntropy)).unwrap());
    let mut seen = Vec::new();
    for url in [nobody, codes[0].url(&own.tag), codes[1].url(&own.tag)] {
        service.tap(&url).await;
        let tap = service.last_interaction().await;
        seen.push((whose(&client, tap).await, whose(&service, tap).await));
    }
    let [nobody, outside, inside] = &seen[..] else {
        panic!("three taps");
    };
    assert_eq!(outside.0, nobody.0, "{seen:?}");
    assert!(outside.1.contains("Secret"), "{seen:?}");
    // Inlays inside are named to a token that may see them.
    assert!(inside.0.contains("Second"), "{seen:?}");
    assert_eq!(inside.0, inside.1);
    // An inlay without a tag looks the same as an unknown one.
    let path = format!("/inlays?uid={}", codes[0].chip.uid);
    let found = service.admin_get(&path).await["items"][0]["id"].clone();
    let path = format!("/inlays/{found}");
    service.admin_patch(&path, json!({"tag_id": null})).await;
    let tap = service.last_interaction().await - 1;
    assert_eq!(whose(&client, tap).await, nobody.0);
    assert!(whose(&service, tap).await.contains("without a tag"));
}

/// The check of a slug must not reveal which tags exist outside: the answer is the same for all.
#[tokio::test]
async fn slugs_tell_nothing_of_tags_outside() {
    let service = service().await;
    let (own, other) = (place(&service).await, place(&service).await);
    let client = limited(&service, own.experience).await;
    let deleted = service.redirecting_tag(Value::Null).await;
    let path = deleted.admin_path();
    let delete = service.admin(Method::DELETE, &path, Value::Null).await;
    delete.expect(204);
    let former = other.tag.slug.clone();
    let present = json!({"slug": format!("new-{former}")});
    service
        .admin_patch(&other.tag.admin_path(), present.clone())
        .await;
    let present = present["slug"].as_str().unwrap();
    let mut answers = Vec::new();
    for slug in [&former, present, &deleted.slug, "nobody-has-it"] {
        let new = json!({"name": "New", "slug": slug, "experience_id": own.experience});
        let created = client.admin(Method::POST, "/tags", new).await;
        let rename = json!({"slug": slug});
        let path = own.tag.admin_path();
        let renamed = client.admin(Method::PATCH, &path, rename).await;
        for answer in [created, renamed] {
            let problem = answer.expect(422);
            assert_eq!(problem["errors"][0]["field"], "slug", "{problem}");
            answers.push(answer.body);
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    // Without a slug, the tag gets a random one. The tag's own slugs, present and former, reveal
    // nothing new.
    let new = json!({"name": "New", "experience_id": own.experience});
    client.admin_create("/tags", new).await;
    let renamed = json!({"slug": "given-by-the-owner"});
    let path = own.tag.admin_path();
    service.admin_patch(&path, renamed.clone()).await;
    for slug in [renamed, json!({"slug": own.tag.slug})] {
        let patched = client.admin_patch(&path, slug.clone()).await;
        assert_eq!(patched["slug"], slug["slug"]);
    }
}

#[tokio::test]
async fn lists_counts_and_exports_are_of_what_is_inside() {
    let service = service().await;
    let (own, other) = (place(&service).await, place(&service).await);
    service.tag(json!({"name": "Leads nowhere"})).await;
    let client = limited(&service, own.experience).await;
    for (path, id) in [
        ("/tags?count=true", own.tag.id),
        ("/tags?q=bottle&count=true", own.tag.id),
        ("/tags?sort=name&count=true", own.tag.id),
        ("/experiences?count=true", own.experience),
    ] {
        let page = client.admin_get(path).await;
        let ids: Vec<_> = page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].clone())
            .collect();
        assert_eq!(ids, [id], "{path}");
        assert_eq!(page["count"], 1, "{path}");
    }
    let taps = client.admin_get("/interactions").await;
    assert_eq!(taps["items"].as_array().unwrap().len(), 1);
    assert_eq!(taps["items"][0]["id"], own.interaction);
    let none = format!("/interactions?tag_id={}", other.tag.id);
    assert_eq!(client.admin_get(&none).await["items"], json!([]));
    let export = client.admin(Method::GET, "/tags/export", Value::Null).await;
    assert_eq!(export.header("tapdesk-total"), Some("1"));
    assert!(export.body.contains(&own.tag.slug));
    assert!(!export.body.contains(&other.tag.slug));
}

/// Lists, counts, reports and exports that a limited token may call, without those that are the
/// same for everyone, and without the endless stream.
fn lists() -> Vec<Operation> {
    const OTHERS: [&str; 4] = [
        "get_events",
        "get_experiences_templates",
        "get_technologies",
        "get_tokens_current",
    ];
    let lists = operations().into_iter().filter(|one| {
        let whole = one.method == Method::GET && !one.path.contains("{id}");
        one.bounded && whole && !OTHERS.contains(&one.id.as_str())
    });
    lists.collect()
}

/// A token's answers to all of them, by path and query: the number of items, and the body.
async fn look(client: &Client) -> BTreeMap<String, (Option<String>, String)> {
    let mut answers = BTreeMap::new();
    for list in lists() {
        // The test's clock does not move, and by default a report ends before the present hour.
        let day = "since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z";
        for query in ["", "count=true", "simulated=all", "sort=-scans", day] {
            let needed = if list.path.ends_with("/tags/values") {
                "attribute=sku&"
            } else {
                ""
            };
            let path = format!("{}?{needed}{query}", list.path);
            let request = client.request(Method::GET, &path);
            let answer = request.bearer_auth(client.admin_token()).answer().await;
            // Not every list has every filter.
            if answer.status == 422 && !query.is_empty() {
                continue;
            }
            assert_eq!(answer.status, 200, "{path}: {}", answer.body);
            let total = answer.header("tapdesk-total").map(str::to_owned);
            answers.insert(path, (total, answer.body));
        }
    }
    answers
}

#[tokio::test]
async fn what_happens_outside_shows_in_no_answer() {
    let service = service().await;
    let own = place(&service).await;
    let client = limited(&service, own.experience).await;
    let (inside, everywhere) = (look(&client).await, look(&service).await);
    assert!(lists().len() >= 9, "{:?}", inside.keys());
    let other = place(&service).await;
    service.tap(&other.tag.path()).await;
    let after = look(&client).await;
    for (path, answer) in &inside {
        assert_eq!(after[path], *answer, "{path}");
        assert!(!answer.1.is_empty(), "{path}");
    }
    // An unlimited token sees the resource in each list.
    let seen = look(&service).await;
    for list in lists() {
        let of_list = |path: &&String| path.split('?').next() == Some(list.path.as_str());
        let mut paths = seen.keys().filter(of_list);
        let differs = paths.any(|path| seen[path] != everywhere[path]);
        assert!(differs, "{}", list.path);
    }
}

#[tokio::test]
async fn who_comes_back_is_told_of_what_is_inside() {
    let service = service().await;
    let (own, other) = (place(&service).await, place(&service).await);
    let client = limited(&service, own.experience).await;
    service.tap(&other.tag.path()).await;
    service.tap(&own.tag.path()).await;
    let last = service.last_interaction().await;
    let mut listener = Listener::behind(&client, &own.interaction.to_string()).await;
    loop {
        let (name, event) = listener.next().await.expect("an event");
        assert_eq!(
            (name.as_str(), &event["tag_id"]),
            ("interaction", &json!(own.tag.id))
        );
        if event["interaction_id"] == last {
            break;
        }
    }
}

#[tokio::test]
async fn events_are_of_what_is_inside() {
    let service = service().await;
    let (own, other) = (place(&service).await, place(&service).await);
    let client = limited(&service, own.experience).await;
    let mut stream = client
        .admin_request(Method::GET, "/events")
        .send()
        .await
        .unwrap();
    service.tap(&other.tag.path()).await;
    service.tap(&own.tag.path()).await;
    let first = stream.chunk().await.unwrap().expect("an event");
    let first = String::from_utf8_lossy(&first).into_owned();
    assert!(
        first.contains(&format!("\"tag_id\":{},", own.tag.id)),
        "{first}"
    );
    assert!(
        !first.contains(&format!("\"tag_id\":{},", other.tag.id)),
        "{first}"
    );
}

#[tokio::test]
async fn nothing_is_brought_inside_and_nothing_is_put_outside() {
    let service = service().await;
    let (own, other) = (place(&service).await, place(&service).await);
    let client = limited(&service, own.experience).await;
    let outside = json!({"experience_id": other.experience});
    client
        .admin(Method::PATCH, &own.tag.admin_path(), outside)
        .await
        .expect(409);
    let nowhere = json!({"experience_id": null});
    client
        .admin(Method::PATCH, &own.tag.admin_path(), nowhere)
        .await
        .expect(422);
    let new = |experience: Value| json!({"name": "New", "experience_id": experience});
    client
        .admin(Method::POST, "/tags", new(other.experience.into()))
        .await
        .expect(409);
    client
        .admin(Method::POST, "/tags", new(Value::Null))
        .await
        .expect(422);
    client
        .admin_create("/tags", new(own.experience.into()))
        .await;
    // A preview contains nothing of a tag outside.
    let preview = format!("/experiences/{}/preview", own.experience);
    let tap = json!({"tag_id": other.tag.id, "verification": "verified"});
    client.admin(Method::POST, &preview, tap).await.expect(409);
    // A bulk change finds no tags outside, whichever way they are selected.
    for select in [json!({"ids": [[1, 1_000]]}), json!({"filter": {}})] {
        let change = json!({"action": "status", "status": "archived", "select": select});
        let done = client
            .admin(Method::POST, "/tags/bulk", change)
            .await
            .expect(200);
        assert_eq!(done["selected"], 2, "{done}");
    }
    let other_tag = service.admin_get(&other.tag.admin_path()).await;
    assert_eq!(other_tag["status"], "active");
    for to in [json!(other.experience), Value::Null] {
        let change = json!({"action": "assign", "experience_id": to, "select": {"filter": {}}});
        let refused = client.admin(Method::POST, "/tags/bulk", change).await;
        assert!([409, 422].contains(&refused.status), "{}", refused.body);
    }
    client
        .admin(
            Method::POST,
            "/experiences",
            json!({"name": "E", "kind": "redirect", "target_url": "https://owner.example/"}),
        )
        .await
        .expect(404);
}
