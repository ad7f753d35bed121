//! The words of messages.

use serde_json::json;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_service::webhook::{Alert, CommitPosition, EventKind};
use tapdesk_tests::{Answering as _, TakenMail, eventually};

use super::{EVENTS_MAX, HOUR, notification, sent, start};

#[tokio::test]
async fn a_message_has_no_uid_no_value_and_nothing_of_a_visitor() {
    let (service, server) = start().await;
    let events = json!(["alert.copied_url", "alert.inlay_guessed"]);
    notification(&service, json!({"events": events})).await;
    let report = json!({"kind": "report", "events": [], "every": "day"});
    notification(&service, report).await;
    let tag = json!({"name": "Grand Cru", "variables": {"owner": "Clara Muster"}});
    let tag = service.redirecting_tag(tag).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let url = inlay.url(&tag);
    for _ in 0..12 {
        let visitor = service.get(&url).header("user-agent", "Claras phone");
        visitor.answer().await;
    }
    tapdesk_service::housekeeping::raise_alerts(service.service())
        .await
        .expect("the alert is raised");
    // The data of this alert has the UID, as that of the housekeeping.
    let uid = inlay.chip.uid.to_string();
    let guessed = Alert::new(
        EventKind::AlertInlayGuessed,
        "Too many wrong codes came for an inlay.",
        json!({"uid": uid, "inlay_id": inlay.id, "tag_id": tag.id}),
    );
    let storage = &service.service().storage;
    storage.raise_alert(guessed).await.expect("it is stored");
    eventually("both alerts can be read", async || {
        let events = storage.outbox_after(CommitPosition::default(), EVENTS_MAX);
        let events = events.await.expect("the outbox can be read");
        let has = |kind: EventKind| events.iter().any(|event| event.kind == kind);
        let both = has(EventKind::AlertCopiedUrl) && has(EventKind::AlertInlayGuessed);
        both.then_some(())
    })
    .await;
    // A report is sent five minutes after its day.
    service.advance(12 * HOUR + HOUR / 12);
    let mails = sent(&service, &server, 2).await;
    let all: String = mails.iter().map(TakenMail::readable).collect();
    assert!(all.contains("Grand Cru"), "a report names its tags: {all}");
    assert!(
        all.contains("Many wrong codes arrived for an inlay"),
        "{all}"
    );
    let (_, code) = url.split_once("token=").expect("a code");
    for secret in ["Clara", &uid, code] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}
