//! `/admin/v1/mail` and `/admin/v1/notifications`, and the messages that people get.

mod alerts;
mod attention;
mod chats;
mod clock;
mod content;
mod edits;
mod failures;
mod outages;
mod reports;
mod restored;
mod settings;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::id::TagId;
use tapdesk_service::webhook::{CommitPosition, OutboxEvent};
use tapdesk_tests::{Answer, MailServer, TakenMail, TestService, eventually};

/// More events than a test here makes.
const EVENTS_MAX: usize = 1_000;
/// An hour, in milliseconds.
const HOUR: i64 = 3_600_000;

/// A service whose mail server is this one. It sends by [`due`] only.
async fn start() -> (TestService, MailServer) {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let server = MailServer::start();
    send_by(&service, &server).await;
    (service, server)
}

/// Sends everything that is due now.
async fn due(service: &TestService) {
    tapdesk_service::notifications::run_due(service.service())
        .await
        .expect("messages are made and sent");
}

/// Sends everything that is due now, and expects this number of mails since the start.
async fn sent(service: &TestService, server: &MailServer, count: usize) -> Vec<TakenMail> {
    due(service).await;
    let taken = server.taken();
    assert_eq!(taken.len(), count, "{taken:?}");
    taken
}

/// Sets the mail server.
async fn send_by(service: &TestService, server: &MailServer) {
    put(service, json!({"port": server.port()}))
        .await
        .expect(200);
}

/// Sets a mail server on this machine; `more` adds or replaces members.
async fn put(service: &TestService, more: Value) -> Answer {
    let mut settings = json!({
        "host": "127.0.0.1", "port": 25, "security": "none", "from": "tapdesk@example.com",
    });
    if let (Some(settings), Value::Object(more)) = (settings.as_object_mut(), more) {
        settings.extend(more);
    }
    service.admin(Method::PUT, "/mail", settings).await
}

/// A notification of copied URLs by mail to Anna; `more` adds or replaces members. Returns its path.
async fn notification(service: &TestService, more: Value) -> String {
    let mut fields = json!({
        "kind": "alert",
        "events": ["alert.copied_url"],
        "channel": {"mail": ["anna@example.com"]},
    });
    if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
        fields.extend(more);
    }
    let created = service.admin_create("/notifications", fields).await;
    format!("/notifications/{}", created["id"])
}

/// Raises `alert.copied_url` for a new tag of a group, or of none, and waits until it can be read.
/// Returns the tag's number.
async fn alert(service: &TestService, group: Option<&Value>) -> i64 {
    let tag = raise(service, group).await;
    // PostgreSQL shows an event when all older transactions of the server have ended.
    let storage = &service.service().storage;
    eventually("the alert can be read", async || {
        let events = storage.outbox_after(CommitPosition::default(), EVENTS_MAX);
        let events = events.await.expect("the outbox can be read");
        let is_here = |event: &OutboxEvent| event.about.tag_id.map(TagId::get) == Some(tag);
        events.iter().any(is_here).then_some(())
    })
    .await;
    tag
}

/// Raises the same alert; the service keeps it only if a notification takes it.
async fn raise(service: &TestService, group: Option<&Value>) -> i64 {
    let (tag, mut inlay) = service.bottle().await;
    if let Some(group) = group {
        let into = json!({"group_id": group});
        service.admin_patch(&tag.admin_path(), into).await;
    }
    let url = inlay.url(&tag);
    service.open_as_copied(&url).await;
    tapdesk_service::housekeeping::raise_alerts(service.service())
        .await
        .expect("the alert is raised");
    tag.id
}
