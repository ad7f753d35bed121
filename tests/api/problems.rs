//! Problems: a code for programs, and the wrong field.
//!
//! In addition, the harness compares every problem in any test with the document.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, TestService};

/// A service without a limit on refused requests.
async fn unlimited() -> TestService {
    TestService::start_with(|options| options.settings.rate_limit = None).await
}

#[track_caller]
fn assert_problem(answer: &Answer, status: u16, code: &str, field: Option<&str>) {
    let problem = answer.expect(status);
    assert_eq!(problem["code"], code, "{problem}");
    let named = problem["errors"].as_array().map(|errors| &errors[0]);
    let named = named.map(|error| {
        assert_eq!(error["message"], problem["detail"]);
        error["field"].as_str().expect("a name").to_owned()
    });
    assert_eq!(named.as_deref(), field, "{problem}");
}

/// Path, body, and the wrong field.
type Invalid = (&'static str, Value, Option<&'static str>);

const KEY: &str = "00112233445566778899AABBCCDDEEFF";

fn invalid_tags() -> Vec<Invalid> {
    let long = "x".repeat(2_001);
    vec![
        ("/tags", json!({}), Some("name")),
        ("/tags", json!([]), None),
        ("/tags", json!({"name": ""}), Some("name")),
        ("/tags", json!({"name": 5}), Some("name")),
        ("/tags", json!({"name": "x", "nmae": "y"}), Some("nmae")),
        ("/tags", json!({"name": "x", "slug": "a b"}), Some("slug")),
        ("/tags", json!({"name": "x", "title": long}), Some("title")),
        (
            "/tags",
            json!({"name": "x", "language_code": "e n"}),
            Some("language_code"),
        ),
        (
            "/tags",
            json!({"name": "x", "status": "lost"}),
            Some("status"),
        ),
        (
            "/tags",
            json!({"name": "x", "data": {"a": "\0"}}),
            Some("data"),
        ),
        (
            "/tags",
            json!({"name": "x", "data": {"a": 5}}),
            Some("data.a"),
        ),
        (
            "/tags",
            json!({"name": "x", "location": {"lat": 91}}),
            Some("location"),
        ),
        (
            "/tags",
            json!({"name": "x", "location": {"lat": "N"}}),
            Some("location.lat"),
        ),
    ]
}

fn invalid_inlays() -> Vec<Invalid> {
    let uid = "04112233445566";
    let inlay = |more: Value| {
        let mut inlay = json!({"uid": uid, "technology": "ntag424dna", "mirror": "plain"});
        let more = more.as_object().expect("members").clone();
        inlay.as_object_mut().expect("members").extend(more);
        inlay
    };
    vec![
        ("/inlays", json!({"uid": uid}), Some("technology")),
        (
            "/inlays",
            json!({"uid": "04", "technology": "ntag213"}),
            Some("uid"),
        ),
        (
            "/inlays",
            json!({"uid": uid, "technology": "ntag424dna"}),
            Some("mirror"),
        ),
        ("/inlays", inlay(json!({})), Some("file_key")),
        ("/inlays", inlay(json!({"meta_key": KEY})), Some("file_key")),
        (
            "/inlays",
            inlay(json!({"mirror": "encrypted", "file_key": KEY})),
            Some("meta_key"),
        ),
        (
            "/inlays",
            inlay(json!({"file_key": "0".repeat(32)})),
            Some("allow_factory_keys"),
        ),
        (
            "/master-keys",
            json!({"name": " ", "key": KEY, "derivation": {"scheme": "plain_cmac", "input": "01{uid}"}}),
            Some("name"),
        ),
        (
            "/master-keys",
            json!({"name": "a", "key": KEY, "derivation": {"scheme": "plain_cmac", "input": "01"}}),
            Some("derivation"),
        ),
    ]
}

fn invalid_others() -> Vec<Invalid> {
    let page = |blocks: Value| json!({"name": "Page", "kind": "studio", "blocks": blocks});
    let leads = |target: &str| json!({"name": "Go", "kind": "redirect", "target_url": target});
    vec![
        (
            "/experiences",
            json!({"kind": "redirect", "target_url": "https://a.example/"}),
            Some("name"),
        ),
        (
            "/experiences",
            json!({"name": "Go", "kind": "redirect"}),
            Some("target_url"),
        ),
        ("/experiences", leads("a.example"), Some("target_url")),
        (
            "/experiences",
            page(json!([{"type": "divider"}, {"type": "banner"}])),
            Some("blocks[1]"),
        ),
        (
            "/experiences",
            json!({"name": "Page", "kind": "studio"}),
            Some("blocks"),
        ),
        ("/sheets", json!({"name": ""}), Some("name")),
        (
            "/sheets",
            json!({"name": "a", "planned": 0}),
            Some("planned"),
        ),
        (
            "/sheets",
            json!({"name": "a", "expected": {"tag_url": "a"}}),
            Some("expected.tag_url"),
        ),
        (
            "/tokens",
            json!({"name": "", "scopes": ["read"]}),
            Some("name"),
        ),
        ("/tokens", json!({"name": "Script"}), Some("scopes")),
        ("/simulator/inlays", json!({}), Some("tag_id")),
        (
            "/simulator/inlays",
            json!({"tag": {"name": ""}}),
            Some("tag.name"),
        ),
        ("/simulator/inlays", json!({"name": ""}), Some("name")),
        (
            "/verification",
            json!({"url": "x".repeat(100_000)}),
            Some("url"),
        ),
        (
            "/verification",
            json!({"url": "http://a.example/t/abcdef", "tag_url": "a"}),
            Some("tag_url"),
        ),
        (
            "/verification",
            json!({"url": "http://a.example/t/abcdef", "chip": {"uid": "0"}}),
            Some("chip.uid"),
        ),
        (
            "/tags/bulk",
            json!({"action": "delete", "select": {"ids": []}, "limit": 1}),
            Some("limit"),
        ),
        (
            "/clock",
            json!({"advance_ms": u64::MAX}),
            Some("advance_ms"),
        ),
    ]
}

#[tokio::test]
async fn a_form_that_is_invalid_names_its_field() {
    let service = unlimited().await;
    let others = invalid_inlays().into_iter().chain(invalid_others());
    for (path, body, field) in invalid_tags().into_iter().chain(others) {
        let answer = service.admin(Method::POST, path, body).await;
        assert_problem(&answer, 422, "invalid", field);
    }
}

#[tokio::test]
async fn a_change_that_is_invalid_names_its_field() {
    let service = unlimited().await;
    let tag = service.tag(json!({"name": "Tag"})).await;
    let sheet = service
        .admin_create("/sheets", json!({"name": "Sheet"}))
        .await;
    let sheet = format!("/sheets/{}", sheet["id"]);
    let experience = service.redirect("https://owner.example/").await;
    let experience = format!("/experiences/{experience}");
    let key = format!("{}/variables/a", tag.admin_path());
    for (method, path, body, field) in [
        (Method::PATCH, tag.admin_path(), json!({"name": ""}), "name"),
        (
            Method::PATCH,
            tag.admin_path(),
            json!({"name": null}),
            "name",
        ),
        (
            Method::PATCH,
            tag.admin_path(),
            json!({"slug": null}),
            "slug",
        ),
        (
            Method::PATCH,
            tag.admin_path(),
            json!({"location": {"lat": "N"}}),
            "location.lat",
        ),
        (Method::PATCH, sheet, json!({"planned": 0}), "planned"),
        (
            Method::PATCH,
            experience.clone(),
            json!({"kind": "studio", "target_url": null, "blocks": []}),
            "kind",
        ),
        (
            Method::PATCH,
            experience,
            json!({"target_url": "a"}),
            "target_url",
        ),
        (
            Method::PATCH,
            "/settings".to_owned(),
            json!({"retention_months": 0}),
            "retention_months",
        ),
        (Method::PUT, key, json!({"value": "\0"}), "value"),
        (
            Method::PUT,
            format!("{}/variables/a%20b", tag.admin_path()),
            json!({"value": ""}),
            "key",
        ),
        (
            Method::GET,
            "/tags?limit=0".to_owned(),
            Value::Null,
            "limit",
        ),
        (
            Method::GET,
            "/tags?after=x".to_owned(),
            Value::Null,
            "after",
        ),
        (Method::GET, "/tags?lmit=1".to_owned(), Value::Null, "lmit"),
        (
            Method::GET,
            "/stats?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z".to_owned(),
            Value::Null,
            "since",
        ),
        (
            Method::GET,
            "/tags/export?simulated=true".to_owned(),
            Value::Null,
            "simulated",
        ),
    ] {
        let answer = service.admin(method, &path, body).await;
        assert_problem(&answer, 422, "invalid", Some(field));
    }
}

#[tokio::test]
async fn a_taken_slug_or_uid_has_a_code_and_names_its_field() {
    let service = unlimited().await;
    let tag = service
        .tag(json!({"name": "Tag", "slug": "first-tag"}))
        .await;
    service
        .tag(json!({"name": "Tag", "slug": "other-tag"}))
        .await;
    let uid = "04112233445566";
    let inlay = json!({"uid": uid, "technology": "ntag213", "tag_id": tag.id});
    service.inlay(inlay.clone()).await;
    let renamed = service.tag(json!({"name": "Tag"})).await;
    service
        .admin_patch(&renamed.admin_path(), json!({"slug": "new-slug"}))
        .await;
    for (method, path, body, code, field) in [
        (
            Method::POST,
            "/tags",
            json!({"name": "x", "slug": "other-tag"}),
            "slug_taken",
            Some("slug"),
        ),
        (
            Method::PATCH,
            &*tag.admin_path(),
            json!({"slug": "other-tag"}),
            "slug_taken",
            Some("slug"),
        ),
        (
            Method::PATCH,
            &*tag.admin_path(),
            json!({"slug": renamed.slug}),
            "slug_reserved",
            Some("slug"),
        ),
        (
            Method::POST,
            "/tags",
            json!({"name": "x", "experience_id": 999}),
            "missing",
            Some("experience_id"),
        ),
        (Method::POST, "/inlays", inlay, "uid_taken", Some("uid")),
        (
            Method::POST,
            "/inlays",
            json!({"uid": "04112233445577", "technology": "ntag213", "tag_id": 999}),
            "missing",
            Some("tag_id"),
        ),
    ] {
        let answer = service.admin(method, path, body).await;
        assert_problem(&answer, 409, code, field);
    }
}

#[tokio::test]
async fn what_the_present_state_does_not_allow_has_a_code_and_names_its_field() {
    let service = unlimited().await;
    let experience = service.redirect("https://owner.example/").await;
    let tag = service
        .tag(json!({"name": "Tag", "experience_id": experience}))
        .await;
    let sheet = service
        .admin_create("/sheets", json!({"name": "Sheet"}))
        .await;
    let sheet = format!("/sheets/{}", sheet["id"]);
    service.admin_patch(&sheet, json!({"closed": true})).await;
    let chip = service
        .admin_create("/simulator/inlays", json!({"name": "Virtual"}))
        .await;
    let (chip, simulated) = (chip["id"].clone(), chip["inlay_id"].clone());
    let tap = format!("/simulator/inlays/{chip}/tap");
    let experience_path = format!("/experiences/{experience}");
    let rollback = format!("{experience_path}/rollback");
    let difference = format!("{experience_path}/difference?from=9");
    let simulated = format!("/inlays/{simulated}");
    for (method, path, body, code, field) in [
        (
            Method::PATCH,
            &simulated,
            json!({"tag_id": tag.id}),
            "other_world",
            Some("tag_id"),
        ),
        (
            Method::DELETE,
            &experience_path,
            Value::Null,
            "in_use",
            None,
        ),
        (
            Method::POST,
            &rollback,
            json!({"version": 9}),
            "missing",
            Some("version"),
        ),
        (
            Method::GET,
            &difference,
            Value::Null,
            "missing",
            Some("from"),
        ),
        (
            Method::POST,
            &format!("{sheet}/rows"),
            json!({"verdict": "ok"}),
            "sheet_closed",
            None,
        ),
        (
            Method::POST,
            &tap,
            json!({"at_tag_id": 999}),
            "missing",
            Some("at_tag_id"),
        ),
    ] {
        let answer = service.admin(method, path, body).await;
        assert_problem(&answer, 409, code, field);
    }
}

#[tokio::test]
async fn a_list_with_an_object_that_does_not_exist_is_named_as_the_request_names_it() {
    let service = unlimited().await;
    let tag = service.tag(json!({"name": "Tag"})).await;
    let template = json!({
        "name": "Batch", "technology": "ntag424dna", "master_key_ids": [999],
        "template": "https://tags.example/v?p={picc}&c={mac}",
    });
    for (path, body, field) in [
        (
            "/phones",
            json!({"name": "Bench", "scopes": ["read"], "group_ids": [999]}),
            "group_ids",
        ),
        (
            "/tokens",
            json!({"name": "Shop", "scopes": ["read"], "group_ids": [999]}),
            "group_ids",
        ),
        (
            "/tokens",
            json!({"name": "Shop", "scopes": ["read"], "experience_ids": [999]}),
            "experience_ids",
        ),
        (
            "/encoding-runs",
            json!({"name": "Roll", "tag_ids": [tag.id, 999], "allow_unproved_address": true}),
            "tag_ids[1]",
        ),
        ("/url-templates", template, "master_key_ids[0]"),
    ] {
        let answer = service.admin(Method::POST, path, body).await;
        assert_problem(&answer, 409, "missing", Some(field));
    }
}

/// Calls each operation in each way that it has to refuse.
#[tokio::test]
async fn every_operation_answers_problems_that_it_declares() {
    let service = unlimited().await;
    let document = tapdesk_service::openapi().to_json().expect("JSON");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let mut operations = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        let Some(path) = path.strip_prefix("/admin/v1") else {
            continue;
        };
        let address = path.replace(['{', '}'], "").replace("id", "999999");
        for (method, operation) in item.as_object().expect("operations") {
            operations += 1;
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            let request = || service.admin_request(method.clone(), &address);
            let unnamed = service.request(method.clone(), &format!("/admin/v1{address}"));
            assert_problem(&unnamed.answer().await, 401, "unauthorized", None);
            let foreign = request().header("host", "foreign.example").answer().await;
            assert_problem(&foreign, 421, "misdirected", None);
            let body = &operation["requestBody"]["content"];
            if body.is_null() || body["application/octet-stream"].is_object() {
                continue;
            }
            let untyped = request().header("content-type", "text/plain").body("x");
            let status = untyped.answer().await.status;
            assert!(
                [404, 415, 422].contains(&status),
                "{method} {path}: {status}"
            );
            let broken = request()
                .header("content-type", "application/json")
                .body("{");
            let status = broken.answer().await.status;
            assert!(
                [404, 415, 422].contains(&status),
                "{method} {path}: {status}"
            );
        }
    }
    assert!(operations > 60, "{operations}");
}
