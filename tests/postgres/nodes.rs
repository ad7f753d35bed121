//! One node continues the work of another; if many requests race over both nodes, one wins.

use std::collections::HashSet;

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tapdesk_tests::{
    Answering as _, Client, MailServer, PATIENCE, Receiver, TestDatabase, at_once, eventually,
};

use tapdesk_tests::fixtures::{TEMPLATE_HOST, unlisted_template, unlisted_url};

use crate::postgres::{node, two};

const INVALID: &str = r#"{"error": true, "message": "Invalid rolling key"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_1000_racers_over_both_nodes_with_one_key_exactly_one_succeeds() {
    let nodes = two(&TestDatabase::create_migrated().await).await;
    let tag = nodes[0].redirecting_tag(Value::Null).await;
    let tap = nodes[1].tap(&tag.path()).await;
    let clients = [nodes[0].another(), nodes[1].another()];
    let answers = at_once(1_000, |i| {
        let (client, rk) = (clients[i % 2].clone(), tap.key().to_owned());
        async move {
            let data = json!({"registered": i.to_string()});
            client.update_in_crowd(&rk, &data).await
        }
    })
    .await;
    let winners: Vec<_> = (0..1_000).filter(|i| answers[*i].status == 200).collect();
    let [winner] = winners[..] else {
        panic!("{} updates succeeded", winners.len());
    };
    let losers = answers.iter();
    let losers = losers.filter(|answer| answer.status == 400 && answer.body == INVALID);
    assert_eq!(losers.count(), 999);
    for node in &nodes {
        let value = node.variable(&tag, "registered").await;
        assert_eq!(value, Some(winner.to_string()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_1000_racers_over_both_nodes_with_one_url_exactly_one_is_verified() {
    let nodes = two(&TestDatabase::create_migrated().await).await;
    let (tag, mut inlay) = nodes[0].bottle().await;
    let url = inlay.url(&tag);
    let clients = [nodes[0].another(), nodes[1].another()];
    let payloads = at_once(1_000, |i| {
        let (here, there) = (clients[i % 2].clone(), clients[(i + 1) % 2].clone());
        let url = url.clone();
        async move {
            let tap = here.tap_in_crowd(&url).await;
            there.payload_in_crowd(tap.key()).await
        }
    })
    .await;
    let with = |verdict: bool| {
        let verdict = json!(verdict);
        let payloads = payloads.iter();
        payloads
            .filter(|payload| payload["tag_verified"] == verdict)
            .count()
    };
    assert_eq!((with(true), with(false)), (1, 999));
    let ids: HashSet<_> = payloads
        .iter()
        .map(|payload| payload["interaction_ids"][0].as_i64().expect("an id"))
        .collect();
    assert_eq!(ids.len(), 1_000);
    assert_eq!(nodes[1].scan_count(&tag).await, 1_000);
}

#[tokio::test]
async fn a_tap_on_one_node_has_its_payload_on_the_other_and_its_update_on_the_first() {
    let [one, other] = two(&TestDatabase::create_migrated().await).await;
    let (tag, mut inlay) = one.bottle().await;
    let tap = other.tap(&inlay.url(&tag)).await;
    let payload = one.payload(tap.key()).await;
    assert_eq!(payload["tag_verified"], true);
    let data = json!({"registered": "yes"});
    one.update(tap.key(), data.clone()).await.expect(200);
    assert_eq!(other.update(tap.key(), data).await.body, INVALID);
    let value = other.variable(&tag, "registered").await;
    assert_eq!(value.as_deref(), Some("yes"));
    // Any node can end: the others continue to answer.
    assert!(one.terminate().await.success());
    assert_eq!(other.tap(&inlay.url(&tag)).await.status, 302);
}

/// A client of a node's event stream.
struct Listener(Response, String);

impl Listener {
    async fn at(node: &Client) -> Self {
        Self::of(node.admin_request(Method::GET, "/events")).await
    }

    /// Opens the stream after this interaction.
    async fn behind(node: &Client, last: i64) -> Self {
        let request = node.admin_request(Method::GET, "/events");
        Self::of(request.header("last-event-id", last)).await
    }

    async fn of(request: RequestBuilder) -> Self {
        let stream = request.send().await.expect("the node answers");
        Self(stream, String::new())
    }

    /// Waits for `word`, and returns the stream up to then.
    async fn hears(&mut self, word: &str) -> &str {
        // The stream has a sign of life now and then, so a limit for each piece would never end.
        let heard = async {
            while !self.1.contains(word) {
                let chunk = self.0.chunk().await.expect("it lasts");
                let chunk = chunk.expect("the stream goes on");
                self.1 += &String::from_utf8_lossy(&chunk);
            }
        };
        let heard = tokio::time::timeout(PATIENCE, heard).await;
        heard.unwrap_or_else(|_| panic!("{word} is not told"));
        &self.1
    }
}

#[tokio::test]
async fn what_happens_on_any_node_is_told_live_on_both() {
    let nodes = two(&TestDatabase::create_migrated().await).await;
    let tag = nodes[0].redirecting_tag(Value::Null).await;
    let mut listeners = [Listener::at(&nodes[0]).await, Listener::at(&nodes[1]).await];
    for (number, node) in nodes.iter().enumerate() {
        let tap = node.tap(&tag.path()).await;
        let data = json!({"registered": format!("by {number}")});
        node.update(tap.key(), data).await.expect(200);
        let id = node.last_interaction().await;
        for listener in &mut listeners {
            let heard = listener.hears(&format!("by {number}\"")).await;
            let expected = format!("\"event\":\"interaction\",\"interaction_id\":{id}");
            assert_eq!(heard.matches(&expected).count(), 1, "{heard}");
            assert!(!heard.contains(tap.key()));
        }
    }
}

#[tokio::test]
async fn a_change_on_one_node_is_told_on_the_other() {
    let nodes = two(&TestDatabase::create_migrated().await).await;
    let mut listener = Listener::at(&nodes[1]).await;
    let bottle = json!({"name": "Bottle 41"});
    let tag = nodes[0].admin_create("/tags", bottle).await;
    let told = format!(
        "{{\"event\":\"changed\",\"kind\":\"tags\",\"id\":{}}}",
        tag["id"]
    );
    listener.hears(&told).await;
}

/// A commit during an older open transaction may have to wait for webhooks, but not for a client
/// that reopens the stream: nobody would send it the event later.
#[tokio::test]
async fn who_comes_back_is_told_of_taps_behind_a_transaction_that_is_on_its_way() {
    let database = TestDatabase::create_migrated().await;
    let node = node(&database).start().await;
    let tag = node.redirecting_tag(Value::Null).await;
    node.tap(&tag.path()).await;
    let last = node.last_interaction().await;
    let older = database.look_into().await;
    let begin = "BEGIN; SELECT pg_current_xact_id()";
    older.batch_execute(begin).await.expect("it may");
    node.tap(&tag.path()).await;
    let id = node.last_interaction().await;
    let mut listener = Listener::behind(&node, last).await;
    let expected = format!("\"interaction_id\":{id},");
    listener.hears(&expected).await;
    older.batch_execute("ROLLBACK").await.expect("it may");
}

#[tokio::test]
async fn a_token_deleted_on_one_node_ends_its_stream_on_the_other() {
    let [one, other] = two(&TestDatabase::create_migrated().await).await;
    let created = one
        .admin_create("/tokens", json!({"name": "Script", "scopes": ["admin"]}))
        .await;
    let token = created["token"].as_str().expect("a token");
    let script = Client::new(other.base(), token);
    let Listener(mut stream, _) = Listener::at(&script).await;
    assert_eq!(stream.status(), 200);
    let path = format!("/tokens/{}", created["id"]);
    let deleted = one.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(deleted.status, 204);
    let ended = async { while stream.chunk().await.expect("it ends well").is_some() {} };
    tokio::time::timeout(PATIENCE, ended)
        .await
        .expect("the stream ends on the other node");
}

#[tokio::test]
async fn nodes_that_start_together_on_an_empty_database_are_one_service() {
    let database = TestDatabase::create().await;
    let starts = (0..4).map(|_| {
        let launch = node(&database);
        tokio::spawn(async move { launch.start().await })
    });
    let mut nodes = Vec::new();
    for start in starts.collect::<Vec<_>>() {
        nodes.push(start.await.expect("it starts"));
    }
    let (tag, mut inlay) = nodes[0].bottle().await;
    for node in &nodes {
        let tap = node.tap(&inlay.url(&tag)).await;
        for other in &nodes {
            assert_eq!(other.payload(tap.key()).await["tag_verified"], true);
        }
        eventually("the node is ready", async || {
            (node.get("/ready").answer().await.status == 200).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn either_node_delivers_webhooks_and_each_event_is_delivered_by_one() {
    let database = TestDatabase::create_migrated().await;
    let [one, other] = [node(&database), node(&database)]
        .map(|launch| launch.env("TAPDESK_PRIVATE_WEBHOOKS", "1"));
    let (one, other) = (one.start().await, other.start().await);
    let receiver = Receiver::start().await;
    let webhook = json!({"url": receiver.url(), "events": ["tap.not_checked"]});
    let created = one.admin_create("/webhooks", webhook).await;
    let secret = created["secret"].as_str().expect("a secret").to_owned();
    let tag = one.redirecting_tag(Value::Null).await;
    let taps = at_once(400, |i| {
        let (client, path) = ([&one, &other][i % 2].another(), tag.path());
        async move { client.tap_in_crowd(&path).await.status }
    });
    assert!(taps.await.iter().all(|status| *status == 302));
    receiver.wait_for(400).await;
    // One node ends, and only the other one delivers.
    assert!(one.terminate().await.success());
    for _ in 0..10 {
        assert_eq!(other.tap(&tag.path()).await.status, 302);
    }
    let arrived = receiver.wait_for(410).await;
    let ids: HashSet<_> = arrived.iter().map(tapdesk_tests::Received::id).collect();
    assert_eq!(
        (arrived.len(), ids.len()),
        (410, 410),
        "none is sent by both"
    );
    for one in &arrived {
        one.verify(&secret);
    }
}

/// A server has many databases, and a transaction in one of them holds back the snapshots of the
/// others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_gets_no_tap_from_before_it_though_a_neighbour_is_writing() {
    let database = TestDatabase::create_migrated().await;
    let service = node(&database).env("TAPDESK_PRIVATE_WEBHOOKS", "1");
    let service = service.start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let neighbour = TestDatabase::create_migrated().await;
    let mut neighbour = neighbour.look_into().await;
    let writing = neighbour.transaction().await.unwrap();
    let number = "SELECT pg_current_xact_id()";
    writing.batch_execute(number).await.unwrap();

    service.tap(&tag.path()).await;
    let receiver = Receiver::start().await;
    let webhook = json!({"url": receiver.url(), "events": ["tap.not_checked"]});
    service.admin_create("/webhooks", webhook).await;
    service.tap(&tag.path()).await;
    let first = service.last_interaction().await;
    writing.rollback().await.unwrap();
    receiver.wait_for(1).await;
    // A second tap shows that nothing else was due.
    service.tap(&tag.path()).await;
    let sent = receiver.wait_for(2).await;
    let sent = sent.iter().map(|one| one.json()["data"]["id"].clone());
    let sent: HashSet<_> = sent.collect();
    let last = service.last_interaction().await;
    assert_eq!(sent, HashSet::from([json!(first), json!(last)]));
}

/// Behind a load balancer, the announcement and its tap may reach different nodes.
#[tokio::test]
async fn a_test_tap_that_is_announced_at_one_node_is_known_at_the_other() {
    let [one, other] = two(&TestDatabase::create_migrated().await).await;
    let path = one.redirecting_tag(Value::Null).await.path();
    // The other node may not listen yet, so each tap is announced separately.
    eventually("a tap is known as a test", async || {
        let body = json!({"path": path, "origin": "kiosk"});
        let announced = one.admin(Method::POST, "/test-taps", body).await;
        assert_eq!(announced.status, 204, "{}", announced.body);
        other.tap(&path).await;
        let page = other.admin_get("/interactions?limit=1").await;
        (page["items"][0]["origin"] == "kiosk").then_some(())
    })
    .await;
}

/// Both nodes look for due mails twice a second.
#[tokio::test]
async fn of_two_nodes_one_sends_each_mail() {
    let [one, _other] = two(&TestDatabase::create_migrated().await).await;
    let server = MailServer::start();
    let settings = json!({
        "host": "127.0.0.1", "port": server.port(), "security": "none", "from": "tapdesk@example.com",
    });
    let set = one.admin(Method::PUT, "/mail", settings).await;
    set.expect(200);
    // A first mail that both nodes took would come before the last one of the second alert, which
    // the first notification keeps for its next message.
    for alert in 1..=2 {
        let addresses: Vec<String> = (0..20)
            .map(|n| format!("a{alert}-{n}@example.com"))
            .collect();
        let notification = json!({
            "kind": "alert", "events": ["alert.copied_url"], "channel": {"mail": addresses},
        });
        one.admin_create("/notifications", notification).await;
        let (tag, mut inlay) = one.bottle().await;
        let url = inlay.url(&tag);
        one.open_as_copied(&url).await;
        eventually("each recipient gets a mail", async || {
            let taken = server.taken();
            let recipients: HashSet<&str> = taken.iter().map(|mail| mail.to.as_str()).collect();
            (recipients.len() == 20 * alert).then_some(())
        })
        .await;
    }
    assert_eq!(server.taken().len(), 40, "none got two");
}

/// Two first taps of one unlisted chip at the same moment: one tag, and both are taps of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_taps_of_one_unlisted_chip_on_both_nodes_create_one_tag() {
    let nodes = two(&TestDatabase::create_migrated().await).await;
    let experience = nodes[0].redirect("https://shop.example/").await;
    let rule = json!({"unlisted": "create", "experience_id": experience});
    nodes[0]
        .admin_create("/url-templates", unlisted_template(&rule))
        .await;
    let clients = [nodes[0].another(), nodes[1].another()];
    eventually("the other node knows the template", async || {
        let other = clients[1].get(&unlisted_url(100, 1));
        let status = other.header("host", TEMPLATE_HOST).answer().await.status;
        (status == 302).then_some(())
    })
    .await;
    for number in 0..20 {
        // The same code on both nodes, or different ones.
        let counters = [5, 5 + u32::from(number % 2)];
        let taps = at_once(2, |i| {
            let request = clients[i].get(&unlisted_url(number, counters[i]));
            let request = request.header("host", TEMPLATE_HOST);
            async move { request.answer().await.status }
        });
        assert_eq!(taps.await, [302, 302]);
    }
    let count = async |list: &str| {
        let page = nodes[1]
            .admin_get(&format!("/{list}?count=true&limit=500"))
            .await;
        (page["count"].clone(), page["items"].clone())
    };
    let (tags, items) = count("tags").await;
    assert_eq!((tags, count("inlays").await.0), (json!(21), json!(21)));
    let counts = items.as_array().unwrap().iter();
    let scans: u64 = counts.map(|tag| tag["scan_count"].as_u64().unwrap()).sum();
    assert_eq!(scans, 41);
    assert_eq!(count("unlisted-chips").await.0, 0);
}

/// Both nodes have the tag in memory, and find it by its slug in capitals. Then another tag gets
/// the slug in another case on one of them.
#[tokio::test]
async fn a_slug_in_capitals_names_nobody_on_any_node_once_another_tag_has_it() {
    let nodes = two(&TestDatabase::create_migrated().await).await;
    let status = async |node: usize, path: &str| nodes[node].tap(path).await.status;
    for (slug, twin) in [("cask-0001", "Cask-0001"), ("Cask-0002", "cask-0002")] {
        let (exact, capitals) = (format!("/t/{slug}"), format!("/t/{}", slug.to_uppercase()));
        nodes[0].redirecting_tag(json!({"slug": slug})).await;
        for node in [0, 1] {
            for path in [&exact, &capitals, &capitals] {
                assert_eq!(status(node, path).await, 302, "{path}");
            }
        }
        nodes[0].redirecting_tag(json!({"slug": twin})).await;
        assert_eq!(status(0, &capitals).await, 404, "{twin}");
        eventually("the other node knows the twin", async || {
            (status(1, &capitals).await == 404).then_some(())
        })
        .await;
        for node in [0, 1] {
            for path in [&exact, &format!("/t/{twin}")] {
                assert_eq!(status(node, path).await, 302, "{path}");
            }
        }
    }
}
