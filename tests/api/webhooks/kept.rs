//! Stored events are deleted with the data that they describe.

use serde_json::{Value, json};
use tapdesk_service::housekeeping;
use tapdesk_tests::{Reaction, Receiver, TestService, eventually};

use super::webhook;
use crate::api::submissions::{Form, send};

const MONTH: i64 = 31 * 24 * 60 * 60 * 1000;

async fn log(service: &TestService, id: i64) -> Vec<Value> {
    let log = service.admin_get(&format!("/webhooks/{id}/attempts")).await;
    let types = log["items"].as_array().expect("attempts").iter();
    let mut types: Vec<_> = types.map(|one| one["type"].clone()).collect();
    types.sort_by_key(Value::to_string);
    types
}

async fn sweep(service: &TestService) {
    let swept = housekeeping::sweep(service.service()).await;
    swept.expect("what is old is removed");
}

#[tokio::test]
async fn what_is_kept_and_what_waits_goes_as_soon_as_what_it_tells_of_is_too_old() {
    let service = TestService::start_with(|options| {
        options.settings.private_webhooks = true;
        options.settings.retention_months = 2;
        options.settings.submission_months = 4;
    })
    .await;
    let house = service.keep_house();
    let (taken, down) = (Receiver::start().await, Receiver::start().await);
    down.react(Reaction::status(500));
    let events = json!({"events": ["tap.not_checked", "tag.updated", "submission.created"]});
    let (kept, _) = webhook(&service, &taken, events.clone()).await;
    let (waits, _) = webhook(&service, &down, events).await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let all = ["submission.created", "tag.updated", "tap.not_checked"];
    for id in [kept, waits] {
        eventually("an attempt of each", async || {
            let mut types = log(&service, id).await;
            types.dedup();
            (types == all).then_some(())
        })
        .await;
    }
    // No delivery runs from here on.
    drop(house);
    service.advance(MONTH);
    sweep(&service).await;
    assert_eq!(log(&service, kept).await, all);
    service.advance(2 * MONTH);
    sweep(&service).await;
    let waiting =
        async |id: i64| service.admin_get(&format!("/webhooks/{id}")).await["waiting"].clone();
    assert_eq!(log(&service, kept).await, ["submission.created"]);
    assert_eq!(
        (waiting(kept).await, waiting(waits).await),
        (json!(0), json!(1))
    );
    service.advance(2 * MONTH);
    sweep(&service).await;
    for id in [kept, waits] {
        assert_eq!(log(&service, id).await, Vec::<Value>::new());
        assert_eq!(waiting(id).await, 0);
    }
}

#[tokio::test]
async fn a_form_that_is_too_old_is_not_told_any_more() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let service = TestService::start_with(|options| {
        options.settings.private_webhooks = true;
        options.settings.submission_months = 1;
    })
    .await;
    let receiver = Receiver::start().await;
    let events = json!({"events": ["submission.created"], "include": ["variables"]});
    webhook(&service, &receiver, events).await;
    let form = Form::new(&service).await;
    // February is shorter than the time for which events are kept.
    service.advance(31 * DAY);
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    service.advance(28 * DAY + 1);
    sweep(&service).await;
    assert_eq!(service.admin_get("/submissions").await["items"], json!([]));
    send(&service, &form.tag, "Eve", "eve@example.com", true).await;
    let _house = service.keep_house();
    let arrived = receiver.wait_for(1).await;
    let fields = &arrived[0].json()["data"]["fields"];
    assert_eq!(fields[0]["value"], "Eve", "{fields}");
}
