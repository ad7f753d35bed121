//! Events during an export whose reader is slow.

use std::sync::Arc;

use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::{Exposure, housekeeping, router};
use tapdesk_tests::service::ADMIN_TOKEN;
use tapdesk_tests::{TestService, TestTag};
use tower::ServiceExt as _;

use super::read_jsonl;

/// More rows than the service reads ahead. A read has 500 rows, and four reads are made before the
/// first row is taken and the reader stops.
const TAPS: usize = 2_600;

/// An export that proceeds only as far as it is read.
pub(in crate::api) struct Slow {
    body: BodyDataStream,
    cursor: String,
    text: String,
}

impl Slow {
    /// Starts an export within the process, so that no socket buffer takes the rest of it.
    pub(in crate::api) async fn begin(
        service: &TestService,
        of: &str,
        token: &str,
        columns: &str,
    ) -> Self {
        let path = format!("/admin/v1/{of}/export?format=jsonl&columns={columns}");
        let request = Request::get(path)
            .header("host", service.authority())
            .header("authorization", format!("Bearer {token}"))
            .body(Body::empty())
            .expect("a request");
        let router = router(service.state().clone(), Exposure::WithAdmin);
        let answer = router.oneshot(request).await.expect("an answer");
        assert_eq!(answer.status(), 200);
        let cursor = answer.headers()["tapdesk-cursor"].to_str().expect("text");
        let mut begun = Self {
            cursor: cursor.to_owned(),
            body: answer.into_body().into_data_stream(),
            text: String::new(),
        };
        assert!(begun.more().await.expect("it is whole so far"));
        begun
    }

    /// Reads one more part; `false` at the end, and an error if the export broke off.
    pub(in crate::api) async fn more(&mut self) -> Result<bool, axum::Error> {
        let Some(chunk) = self.body.next().await.transpose()? else {
            return Ok(false);
        };
        self.text += std::str::from_utf8(&chunk).expect("whole rows");
        Ok(true)
    }

    pub(in crate::api) fn rows(&self) -> Vec<Value> {
        read_jsonl(&self.text)
    }

    pub(in crate::api) fn ids(&self) -> Vec<i64> {
        let rows = self.rows();
        rows.iter().map(|row| row["id"].as_i64().unwrap()).collect()
    }
}

/// Taps of a tag by a phone whose system is recognized.
async fn taps(service: &TestService, many: usize) -> TestTag {
    let tag = service.redirecting_tag(Value::Null).await;
    let path = Arc::new(tag.path());
    stream::iter(0..many)
        .for_each_concurrent(16, async |_| {
            let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)";
            let tap = service.get(&path).header("user-agent", phone);
            assert_eq!(tap.send().await.expect("an answer").status(), 302);
        })
        .await;
    tag
}

fn is_newest_first(ids: &[i64]) -> bool {
    ids.is_sorted_by(|before, after| before > after)
}

#[tokio::test]
async fn an_export_breaks_off_where_its_token_ends_and_goes_on_with_another() {
    let service = TestService::start().await;
    taps(&service, TAPS).await;
    let token = json!({"name": "Export", "scopes": ["read", "export"], "expires_at": "2026-01-01T13:00:00Z"});
    let token = service.admin_create("/tokens", token).await;
    let token = token["token"].as_str().expect("a token");
    let mut export = Slow::begin(&service, "interactions", token, "id").await;
    // This stream began after the export, so when it has ended, the export must have ended, too.
    let feed = service.get("/admin/v1/events").bearer_auth(token).send();
    let mut feed = feed.await.expect("a feed");
    service.advance(3_600_000);
    while feed.chunk().await.expect("it ends well").is_some() {}
    let broken = loop {
        match export.more().await {
            Ok(true) => {}
            ended => break ended,
        }
    };
    assert!(broken.is_err(), "a part does not look like the whole");
    let had = export.ids();
    assert!(!had.is_empty() && had.len() < TAPS, "{}", had.len());
    let (cursor, last) = (&export.cursor, had[had.len() - 1]);
    let path = format!("/interactions/export?format=jsonl&columns=id&cursor={cursor}.{last}");
    let rest = service.admin(Method::GET, &path, Value::Null).await;
    let rest = read_jsonl(&rest.body);
    let all: Vec<i64> = had
        .into_iter()
        .chain(rest.iter().map(|row| row["id"].as_i64().unwrap()))
        .collect();
    assert!(is_newest_first(&all));
    assert_eq!(all.len(), TAPS);
}

#[tokio::test]
async fn an_export_has_nothing_of_what_is_erased_while_it_is_on_its_way() {
    let service = TestService::start().await;
    let tag = taps(&service, TAPS).await;
    let mut export = Slow::begin(&service, "interactions", ADMIN_TOKEN, "id,system").await;
    let path = format!("{}/traces", tag.admin_path());
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    while export.more().await.expect("it stays whole") {}
    // All taps are there, each once. Those that were read after the erasure lack the visitor's
    // system.
    let (ids, rows) = (export.ids(), export.rows());
    assert!(is_newest_first(&ids));
    assert_eq!(ids.len(), TAPS);
    let (newest, oldest) = (&rows[0], &rows[TAPS - 1]);
    assert_eq!(newest["system"], "ios");
    assert_eq!(oldest["system"], Value::Null, "{oldest}");
}

#[tokio::test]
async fn rows_that_grow_too_old_while_an_export_is_on_its_way_are_left_out() {
    let service = TestService::start_with(|options| options.settings.retention_months = 1).await;
    taps(&service, TAPS).await;
    let mut export = Slow::begin(&service, "interactions", ADMIN_TOKEN, "id").await;
    service.advance(90 * 24 * 60 * 60 * 1_000);
    let swept = housekeeping::sweep(service.service()).await;
    swept.expect("they are removed");
    assert_eq!(service.admin_get("/interactions").await["items"], json!([]));
    while export.more().await.expect("it ends well") {}
    let ids = export.ids();
    assert!(is_newest_first(&ids));
    assert!(ids.len() < TAPS, "{}", ids.len());
}
