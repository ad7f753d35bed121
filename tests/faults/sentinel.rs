//! Secrets are placed in every kind of input, with the most verbose log. They must be in no log
//! line, table, metric, error or export.

use std::path::PathBuf;

use reqwest::{Method, RequestBuilder};
use serde_json::json;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::client::base64;
use tapdesk_tests::fixtures::{chip, chip_json};
use tapdesk_tests::{Answering as _, Launch, ServiceProcess, TestDatabase, files_containing};

use crate::faults::launch;

/// Bodies with a secret text in its proper place or in a wrong one.
fn bodies(secret: &str) -> [String; 7] {
    [
        format!(r#"{{"rolling_key": "{secret}", "data": {{"unknown": "x"}}}}"#),
        format!(r#"{{"rolling_key": "{secret}", "data": "{secret}"}}"#),
        format!(r#"{{"rolling_key": {{"{secret}": 1}}, "data": {{"{secret}": 1}}}}"#),
        format!(r#"{{"rolling_key": "{secret}", "data": {{"{secret}": "{secret}"}}}}"#),
        format!(r#"{{"rolling_key": "{secret}""#),
        format!(r#""{secret}""#),
        format!("{secret}{{"),
    ]
}

/// Requests of strangers with a secret text in a path, query, header, cookie or body.
fn by_strangers(service: &ServiceProcess, secret: &str) -> Vec<RequestBuilder> {
    const HEADERS: [&str; 9] = [
        "referer",
        "user-agent",
        "x-forwarded-for",
        "host",
        "origin",
        "sec-purpose",
        "idempotency-key",
        "accept-language",
        "content-type",
    ];
    let update = || service.post("/v2/interactions/data");
    let mut requests: Vec<_> = [
        format!("/t/{secret}"),
        format!("/t/unknown-slug?uid={secret}&token={secret}"),
        format!("/v2/interactions/rk_payload?rk={secret}&rk={secret}"),
        format!("/v2/{secret}?rk={secret}"),
        format!("/{secret}?{secret}={secret}"),
        format!("/admin/v1/{secret}"),
        format!("/admin/v1/tags/{secret}?limit={secret}&after={secret}&q={secret}"),
    ]
    .iter()
    .map(|path| service.get(path))
    .collect();
    for path in [
        "/t/unknown-slug",
        "/admin/v1/tags",
        "/v2/interactions/rk_payload",
    ] {
        requests.extend(HEADERS.map(|header| service.get(path).header(header, secret)));
        let cookie = format!("tapdesk_tap={secret}");
        requests.push(service.get(path).header("cookie", cookie));
        let invalid = format!("Bearer x{secret}");
        requests.push(service.get(path).header("authorization", invalid));
    }
    requests.extend(HEADERS.map(|header| update().header(header, secret).body("{}")));
    for body in [bodies(secret), bodies(&base64(secret))].concat() {
        let request = update().header("content-type", "application/json");
        requests.push(request.header("idempotency-key", secret).body(body));
    }
    requests
}

/// Requests of an administrator, whose response may repeat the request's values.
fn by_an_administrator(service: &ServiceProcess, secret: &str) -> Vec<RequestBuilder> {
    let mut requests = Vec::new();
    for path in [
        "/tags",
        "/inlays",
        "/experiences",
        "/tokens",
        "/verification",
    ] {
        for body in bodies(secret) {
            let request = service.admin_request(Method::POST, path);
            requests.push(
                request
                    .header("content-type", "application/json")
                    .body(body),
            );
        }
    }
    requests
}

/// All output of the service: every list, resource and export of its document, the metrics, and a
/// backup.
async fn shown(service: &ServiceProcess) -> String {
    let document = service.get("/openapi.json").answer().await.json();
    let mut all = service.metrics().await;
    for (path, operations) in document["paths"].as_object().expect("paths") {
        // The event stream does not end, and no events happen now.
        if operations.get("get").is_none() || path.ends_with("/events") {
            continue;
        }
        let parts = path.split('/').map(|part| match part {
            "{key}" => "registered",
            part if part.starts_with('{') => "1",
            part => part,
        });
        let path = parts.collect::<Vec<_>>().join("/");
        let request = service.get(&path).bearer_auth(service.admin_token());
        let answer = request.answer().await;
        assert!(answer.status < 500, "{path}: {}", answer.body);
        all.push_str(&answer.body);
    }
    let backup = service.admin_request(Method::POST, "/backup");
    let backup = backup.json(&json!({"passphrase": "a passphrase of the tests"}));
    all + &backup.answer().await.body
}

/// The tables of a PostgreSQL database with a row that has `secret` in it, as text or as bytes.
async fn tables_containing(database: &TestDatabase, secret: &[u8]) -> Vec<PathBuf> {
    let client = database.look_into().await;
    let tables = "SELECT relname::TEXT FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::REGNAMESPACE";
    let tables = client.query(tables, &[]).await.expect("there are tables");
    assert!(!tables.is_empty());
    let mut found = Vec::new();
    for table in &tables {
        let table: &str = table.get(0);
        // An inlay's key is 16 arbitrary bytes, and the database's texts cannot contain a zero
        // byte.
        let rows = format!(
            "SELECT count(*) FROM \"{table}\" t
             WHERE position($1 IN convert_to(t::TEXT, 'UTF8')) > 0 OR strpos(t::TEXT, encode($1, 'hex')) > 0"
        );
        let rows = client.query_one(&rows, &[&secret]).await;
        if rows.expect("tables are text").get::<_, i64>(0) > 0 {
            found.push(PathBuf::from(table));
        }
    }
    found
}

/// The files and tables of a service that contain `secret`.
async fn places_of(launch: &Launch, secret: &[u8]) -> Vec<PathBuf> {
    let mut found = files_containing(launch.folder.path(), secret);
    if let Some(database) = launch.postgres.as_ref().and_then(|database| database.get()) {
        found.extend(tables_containing(database, secret).await);
    }
    found
}

#[tokio::test]
async fn secrets_are_found_in_no_log_table_metric_error_or_export() {
    let launch = launch().env("TAPDESK_LOG", "trace");
    let service = launch.start().await;
    let tag = service.redirecting_tag(json!({})).await;
    let chip = chip(Mirror::Encrypted, MacFrom::None);
    let keys = chip_json(&chip);
    let mut inlay = service.register(chip, &tag).await;

    let read = service.tap(&inlay.url(&tag)).await;
    let used = service.tap(&inlay.url(&tag)).await;
    assert!(service.payload(read.key()).await.is_object());
    let data = json!({"registered": "true"});
    service.update(used.key(), data).await.expect(200);
    // It was never issued, but has the form of a key, so that no filter for malformed values hides
    // it.
    let invented = "Sentinel0123456789abcdefghijklmnopqrstuvwxyz";

    let file_key = keys["file_key"].as_str().expect("a key");
    let meta_key = keys["meta_key"].as_str().expect("a key");
    let token = service.admin_token().to_owned();
    let mut secrets = Vec::new();
    for text in [read.key(), used.key(), invented, file_key, meta_key, &token] {
        for request in by_strangers(&service, text) {
            let answer = request.answer().await;
            assert!(answer.status < 500, "{}", answer.body);
            assert!(!answer.body.contains(text), "{}", answer.body);
        }
        for request in by_an_administrator(&service, text) {
            let answer = request.answer().await;
            assert!((400..500).contains(&answer.status), "{}", answer.body);
        }
        secrets.extend([text.to_owned(), base64(text), text.to_lowercase()]);
    }
    let bytes = [
        &inlay.chip.keys.file,
        inlay.chip.keys.meta.as_ref().expect("a meta key"),
    ];

    let shown = shown(&service).await;
    for secret in &secrets {
        assert!(!shown.contains(secret), "shown: {secret}");
    }
    assert!(service.terminate().await.success());
    let log = launch.log();
    assert!(
        log.contains("DEBUG") || log.contains("TRACE"),
        "the log is talkative"
    );
    let stored = places_of(&launch, tag.slug.as_bytes()).await;
    assert!(!stored.is_empty(), "what is no secret is found");
    for secret in secrets
        .iter()
        .map(String::as_bytes)
        .chain(bytes.map(|key| &key.expose()[..]))
    {
        let found = places_of(&launch, secret).await;
        assert!(
            found.is_empty(),
            "{} in {found:?}",
            String::from_utf8_lossy(secret)
        );
    }
}
