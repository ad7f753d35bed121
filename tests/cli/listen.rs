//! `listen` and `trigger`: webhooks on a developer's own machine.

use std::process::Stdio;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{
    PATIENCE, Reaction, Received, Receiver, ServiceProcess, free_port, within_attempts,
};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::{BINARY, launch, run_at};

/// A service with the demonstration data, which may deliver to this machine.
async fn with_demo() -> ServiceProcess {
    with_demo_at("127.0.0.1:0").await
}

/// The same at this address.
async fn with_demo_at(address: &str) -> ServiceProcess {
    let mut launch = launch().env("TAPDESK_PRIVATE_WEBHOOKS", "true");
    address.clone_into(&mut launch.listen);
    let service = launch.start().await;
    run_at(&service, &["demo"]).await.good();
    service
}

/// A running `listen`, which is killed when this is dropped.
pub(super) struct Listening {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    pub(super) secret: String,
}

impl Listening {
    pub(super) async fn to(service: &ServiceProcess, url: &str, more: &[&str]) -> Self {
        let mut child = Command::new(BINARY)
            .args(["listen", "--forward-to", url])
            .args(more)
            .env("TAPDESK_URL", service.base())
            .env("TAPDESK_ADMIN_TOKEN", service.admin_token())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the binary can be started");
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let mut listening = Self {
            child,
            lines: BufReader::new(stdout).lines(),
            secret: String::new(),
        };
        let line = listening.line().await;
        let said = line.split_once(", signed with ");
        let (to, secret) = said.unwrap_or_else(|| panic!("another line: {line}"));
        assert_eq!(to, format!("forwarding to {url}"));
        secret.clone_into(&mut listening.secret);
        listening
    }

    /// The next line of its output.
    async fn line(&mut self) -> String {
        self.try_line().await.expect("it goes on")
    }

    /// The same; `None` if it ends.
    async fn try_line(&mut self) -> Option<String> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line());
        let line = line.await.expect("a line comes in time");
        line.expect("it speaks in text")
    }
}

async fn trigger(service: &ServiceProcess, event: &str) -> String {
    let tag = match event {
        "tap.not_checked" => "demo-poster",
        _ => "demo-bottle",
    };
    let arguments = ["trigger", event, "--tag", tag];
    run_at(service, &arguments).await.good()
}

fn kinds(received: &[Received]) -> Vec<String> {
    let kinds = received.iter().map(|one| one.json()["type"].clone());
    kinds
        .map(|kind| kind.as_str().unwrap().to_owned())
        .collect()
}

const EVENTS: [&str; 3] = ["tap.verified", "tap.not_verified", "tap.not_checked"];

#[tokio::test]
async fn what_is_triggered_is_forwarded_as_a_webhook_sends_it() {
    let service = with_demo().await;
    let (mine, theirs) = (Receiver::start().await, Receiver::start().await);
    let hook = json!({"url": theirs.url(), "events": EVENTS, "filter": {"world": "all"}});
    service.admin_create("/webhooks", hook).await;
    let mut listening = Listening::to(&service, &mine.url(), &[]).await;
    for (event, reason) in EVENTS.into_iter().zip(["verified", "wrong_mac", "static"]) {
        let said = trigger(&service, event).await;
        let id = service.last_interaction().await;
        assert_eq!(said, format!("interaction {id}: {reason}\n"));
        let line = listening.line().await;
        let start = format!("{event} tap_{id}_");
        assert!(
            line.starts_with(&start) && line.ends_with(" → 204"),
            "{line}"
        );
    }
    let received = mine.wait_for(3).await;
    assert_eq!(kinds(&received), EVENTS);
    let sent = theirs.wait_for(3).await;
    for one in &received {
        one.verify(&listening.secret);
        assert_eq!(one.header("content-type"), "application/json");
        let same = sent.iter().find(|sent| sent.id() == one.id());
        let same = same.expect("the webhook has the same id");
        assert_eq!(one.json(), same.json());
    }
}

#[tokio::test]
async fn a_tag_that_is_tampered_with_is_forwarded_once_as_a_webhook_sends_it() {
    let service = with_demo().await;
    let (mine, theirs) = (Receiver::start().await, Receiver::start().await);
    let kinds_told = ["tap.verified", "tag.tampered"];
    let hook = json!({"url": theirs.url(), "events": kinds_told, "filter": {"world": "all"}});
    service.admin_create("/webhooks", hook).await;
    let template = json!({
        "name": "Seals", "technology": "ntag424dna_tt", "mac_from": "uid",
        "template": "https://d.example/v?u={uid}&n={counter}&t={tamper}&c={mac}",
    });
    let template = service.admin_create("/url-templates", template).await;
    let chip = json!({"name": "Bottle", "url_template_id": template["id"]});
    let chip = service.admin_create("/simulator/inlays", chip).await;
    let path = format!("/simulator/inlays/{}/tap", chip["id"]);
    let mut listening = Listening::to(&service, &mine.url(), &[]).await;
    let mut expected = Vec::new();
    for (seal, arrived) in [
        ("sealed", &kinds_told[..1]),
        ("open", &kinds_told[..]),
        ("reclosed", &kinds_told[..1]),
    ] {
        let tap = json!({"follow": true, "seal": seal});
        service.admin(Method::POST, &path, tap).await.expect(200);
        for kind in arrived {
            let line = listening.line().await;
            assert!(line.starts_with(&format!("{kind} ")), "{seal}: {line}");
            expected.push(*kind);
        }
    }
    let received = mine.wait_for(expected.len()).await;
    assert_eq!(kinds(&received), expected);
    let sent = theirs.wait_for(expected.len()).await;
    for one in &received {
        let same = sent.iter().find(|sent| sent.id() == one.id());
        let same = same.expect("the webhook has the same id");
        assert_eq!(one.json(), same.json());
    }
}

#[tokio::test]
async fn an_update_is_forwarded_without_its_values_and_a_receiver_that_is_down_ends_nothing() {
    let service = with_demo().await;
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(500));
    let mut listening = Listening::to(&service, &receiver.url(), &["--simulated", "false"]).await;
    // A simulated tap does not match the filter.
    trigger(&service, "tap.verified").await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let line = listening.line().await;
    assert!(
        line.starts_with("tap.not_checked ") && line.ends_with(" → 500"),
        "{line}"
    );
    receiver.react(Reaction::status(204));
    let update = json!({"registered": "by Ada"});
    service.update(tap.key(), update).await.expect(200);
    let line = listening.line().await;
    assert!(
        line.starts_with("tag.updated ") && line.ends_with(" → 204"),
        "{line}"
    );
    let event = receiver.wait_for(2).await[1].json();
    assert_eq!(event["data"]["changes"], json!([{"key": "registered"}]));
    assert_eq!(event["data"]["slug"], tag.slug.as_str());

    drop(receiver);
    service.tap(&tag.path()).await;
    let line = listening.line().await;
    assert!(line.starts_with("tap.not_checked "), "{line}");
    assert!(!line.ends_with(" → 204"), "{line}");

    let launch = service.kill().await;
    let ended = tokio::time::timeout(PATIENCE, listening.child.wait_with_output());
    let output = ended.await.expect("it ends in time").expect("it has ended");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).expect("it speaks in text");
    assert!(said.starts_with("tapdesk-service: The "), "{said}");
    drop(launch);
}

#[tokio::test]
async fn a_form_is_forwarded_and_a_service_that_comes_back_is_listened_to_again() {
    // Each run has the same address.
    let mut service = with_demo_at(&format!("127.0.0.1:{}", free_port())).await;
    let receiver = Receiver::start().await;
    let mut listening = Listening::to(&service, &receiver.url(), &["--simulated", "false"]).await;
    let form = json!({"type": "form", "submit_label": "Send", "fields": [
        {"label": "Name", "kind": "text", "variable": "name"},
    ]});
    let page = json!({"name": "Ask", "kind": "studio", "blocks": [form]});
    let experience = service.experience(page).await;
    let tag = json!({"name": "Bottle", "experience_id": experience, "variables": {"name": ""}});
    let tag = service.tag(tag).await;
    let tap = service.tap(&tag.path()).await;
    let cookie = tap.cookie.expect("a key");
    let (_, key) = cookie.split_once('=').expect("a cookie");
    let update = json!({"name": "Ada"});
    service.update(key, update).await.expect(200);
    for kind in ["tap.not_checked", "tag.updated", "submission.created"] {
        let line = listening.line().await;
        assert!(line.starts_with(&format!("{kind} ")), "{line}");
    }
    let forwarded = receiver.wait_for(3).await;
    let sent = service.admin_get("/submissions").await["items"][0].clone();
    let arrived = forwarded[2].json()["data"].clone();
    assert_eq!(arrived["id"], sent["id"]);
    assert!(!arrived.to_string().contains("Ada"), "{arrived}");
    for one in &forwarded {
        one.verify(&listening.secret);
    }

    let launch = service.launch().clone();
    // It tries for ten seconds, and a start on a busy machine may take longer.
    within_attempts(5, async || {
        service.send_sigterm();
        service.ended().await;
        service = launch.start().await;
        if let Some(line) = listening.try_line().await {
            assert_eq!(line, "connected again");
            return Ok(());
        }
        listening = Listening::to(&service, &receiver.url(), &["--simulated", "false"]).await;
        Err("it does not connect again")
    })
    .await;
    service.tap(&tag.path()).await;
    let line = listening.line().await;
    assert!(line.starts_with("tap.not_checked "), "{line}");
}

#[tokio::test]
async fn an_event_that_a_tag_cannot_have_is_refused_in_words() {
    let service = with_demo().await;
    for (event, slug, words) in [
        ("tap.verified", "demo-poster", "has no virtual inlay"),
        (
            "tap.not_verified",
            "nowhere",
            "nowhere has no virtual inlay",
        ),
        ("tap.not_checked", "nowhere", "no tag with the slug nowhere"),
        ("tap.not_checked", "demo-bottle", "by its reason no_code"),
    ] {
        let arguments = ["trigger", event, "--tag", slug];
        let said = run_at(&service, &arguments).await.refused();
        assert!(said.contains(words), "{event} {slug}: {said}");
    }
}
