//! `/admin/v1/events`: events as they happen.

mod changes;

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tapdesk_service::inlay::Uid;
use tapdesk_tests::relay::lay;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{Client, PATIENCE, TestService};

/// A client of the event stream.
pub(in crate::api) struct Listener {
    stream: Response,
    heard: String,
}

impl Listener {
    pub(in crate::api) async fn at(service: &TestService, query: &str) -> Self {
        Self::of(service.admin_request(Method::GET, &format!("/events{query}"))).await
    }

    /// Opens the stream with the last id that a client received.
    pub(in crate::api) async fn behind(client: &Client, last: &str) -> Self {
        let request = client.admin_request(Method::GET, "/events");
        Self::of(request.header("last-event-id", last)).await
    }

    async fn of(request: RequestBuilder) -> Self {
        let stream = request.send().await.expect("the service answers");
        assert_eq!(stream.headers()["content-type"], "text/event-stream");
        Self {
            stream,
            heard: String::new(),
        }
    }

    /// The next event, except changes of resources: its name and data. `None` if the stream ends.
    pub(in crate::api) async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            let event = self.next_of_all().await?;
            if event.0 != "changed" {
                return Some(event);
            }
        }
    }

    /// The next change of resources: its kind and id.
    pub(in crate::api) async fn next_change(&mut self) -> (String, Value) {
        loop {
            let (name, event) = self.next_of_all().await.expect("the stream lasts");
            if name == "changed" {
                let kind = event["kind"].as_str().expect("a kind");
                return (kind.to_owned(), event["id"].clone());
            }
        }
    }

    async fn next_of_all(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.heard.split_once("\n\n") {
                let event = field(event, "event").zip(field(event, "data"));
                self.heard = rest.into();
                if let Some((name, data)) = event {
                    return Some((name, serde_json::from_str(&data).expect("data is JSON")));
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.stream.chunk());
            let chunk = chunk.await.expect("something is heard in time");
            let chunk = chunk.expect("the stream does not break off")?;
            self.heard += str::from_utf8(&chunk).expect("events are text");
        }
    }
}

fn field(event: &str, name: &str) -> Option<String> {
    let value = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned());
    event.lines().find_map(value)
}

#[tokio::test]
async fn a_tap_is_told_to_who_listens() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle 41"})).await;
    service.tap(&tag.path()).await;
    let mut listener = Listener::at(&service, "").await;
    service.tap(&tag.path()).await;
    let id = service.last_interaction().await;
    let expected = json!({
        "event": "interaction", "interaction_id": id, "tag_id": tag.id, "at": "2026-01-01T12:00:00Z",
        "tag_verified": null, "reason": "static", "simulated": false,
        "origin": "visitor",
    });
    assert_eq!(
        listener.next().await,
        Some(("interaction".to_owned(), expected)),
        "and nothing from before"
    );
}

#[tokio::test]
async fn an_update_is_told_with_what_it_changed_and_without_its_key() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let mut listener = Listener::at(&service, "?simulated=false").await;
    let update = service
        .update(tap.key(), json!({"registered": "true"}))
        .await;
    update.expect(200);
    let id = service.last_interaction().await;
    let expected = json!({
        "event": "update", "interaction_id": id, "tag_id": tag.id, "at": "2026-01-01T12:00:00Z",
        "changes": [{"key": "registered", "old": "false", "new": "true"}], "simulated": false,
    });
    assert_eq!(listener.next().await, Some(("update".to_owned(), expected)));
}

#[tokio::test]
async fn a_listener_does_not_hold_up_the_end_of_the_service() {
    let service = TestService::start().await;
    let mut listener = Listener::at(&service, "").await;
    let _again = service.restart(0).await;
    assert_eq!(listener.next().await, None);
}

#[tokio::test]
async fn streams_that_nobody_reads_cost_no_tap_and_no_reader_an_event() {
    const TAPS: u64 = 300;
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle 41"})).await;
    let mut unread = Vec::new();
    for _ in 0..50 {
        unread.push(Listener::at(&service, "").await);
    }
    let mut reader = Listener::at(&service, "").await;
    for _ in 0..TAPS {
        service.tap(&tag.path()).await;
    }
    assert_eq!(service.scan_count(&tag).await, TAPS);
    for listener in [&mut reader, &mut unread[0]] {
        let mut last = 0;
        for _ in 0..TAPS {
            let (name, event) = listener.next().await.expect("all are told");
            assert_eq!(name, "interaction");
            let id = event["interaction_id"].as_i64().expect("an id");
            assert!(id > last, "{id} after {last}");
            last = id;
        }
    }
}

#[tokio::test]
async fn a_misspelt_filter_is_refused_before_anything_is_told() {
    let service = TestService::start().await;
    for path in ["/events?simulate=true", "/events?simulated=maybe"] {
        let answer = service.admin(Method::GET, path, Value::Null).await;
        answer.expect(422);
    }
}

#[tokio::test]
async fn who_comes_back_with_the_last_id_goes_on_where_they_were() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        service.tap(&tag.path()).await;
        service.advance(301_000);
        ids.push(service.last_interaction().await);
    }
    let mut listener = Listener::behind(&service, &ids[1].to_string()).await;
    service.tap(&tag.path()).await;
    ids.push(service.last_interaction().await);
    let mut heard = Vec::new();
    while heard.last() != ids.last() {
        let (_, data) = listener.next().await.expect("an event");
        heard.push(data["interaction_id"].as_i64().expect("an id"));
    }
    // On PostgreSQL an event may come twice.
    heard.retain(|id| *id > ids[1]);
    assert_eq!(heard, ids[2..]);
}

#[tokio::test]
async fn who_comes_back_from_a_place_that_is_not_known_any_more_is_told_so() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle 41"})).await;
    service
        .admin_patch("/settings", json!({"retention_months": 1}))
        .await;
    service.tap(&tag.path()).await;
    let pruned = service.last_interaction().await;
    // PostgreSQL deletes the history by whole weeks.
    service.advance(60 * 24 * 3_600_000);
    tapdesk_service::housekeeping::sweep(service.service())
        .await
        .expect("it is swept");
    for last in [pruned.to_string(), "999999".into(), "no number".into()] {
        let mut listener = Listener::behind(&service, &last).await;
        let missed = ("missed".to_owned(), json!({"missed": null}));
        assert_eq!(listener.next().await, Some(missed), "{last}");
        service.tap(&tag.path()).await;
        let (name, _) = listener.next().await.expect("an event");
        assert_eq!(name, "interaction", "{last}");
    }
    // A client without a last id cannot know of missed events.
    let mut listener = Listener::behind(&service, "").await;
    service.tap(&tag.path()).await;
    let (name, _) = listener.next().await.expect("an event");
    assert_eq!(name, "interaction");
}

/// A missing table stands for a database that cannot be read for a while.
#[tokio::test]
async fn sqlite_a_stream_ends_where_what_was_missed_cannot_be_read() {
    let service = TestService::start_with(|options| options.database = "sqlite".to_owned()).await;
    let tag = service.tag(json!({"name": "Bottle 41"})).await;
    for _ in 0..2 {
        service.tap(&tag.path()).await;
    }
    let last = service.last_interaction().await;
    let before = (last - 1).to_string();
    let file = rusqlite::Connection::open(service.folder().join("tapdesk.db")).unwrap();
    file.busy_timeout(PATIENCE).unwrap();
    file.execute_batch("ALTER TABLE tags RENAME TO away")
        .unwrap();
    let mut listener = Listener::behind(&service, &before).await;
    assert_eq!(listener.next().await, None, "no later event hides the gap");
    file.execute_batch("ALTER TABLE away RENAME TO tags")
        .unwrap();
    let mut listener = Listener::behind(&service, &before).await;
    let (_, event) = listener.next().await.expect("an event");
    assert_eq!(event["interaction_id"], last);
}

#[tokio::test]
async fn an_inlay_that_was_encoded_is_told_once_it_is_verified() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle 41"})).await;
    let mut listener = Listener::at(&service, "").await;
    let uid = Uid::from_bytes([4, 1, 2, 3, 4, 5, 6]);
    let wish = json!({"uid": uid.to_string(), "tag_id": tag.id});
    let turn = lay(&service, &mut VirtualNtag424::new(uid), &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let inlays = service.admin_get("/inlays").await;
    let expected = json!({
        "event": "inlay.encoded", "encoding_id": turn["id"], "run_id": null, "tag_id": tag.id,
        "inlay_id": inlays["items"][0]["id"], "uid": uid.to_string(), "counter": 1,
        "at": "2026-01-01T12:00:00Z",
    });
    let arrived = listener.next().await;
    assert_eq!(arrived, Some(("inlay.encoded".to_owned(), expected)));
}
