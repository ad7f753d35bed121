//! Webhooks that are narrowed to a group.

use serde_json::{Value, json};
use tapdesk_tests::{Receiver, TestService};

use super::{group, patch};

#[tokio::test]
async fn a_webhook_of_a_group_gets_the_events_of_all_tags_below() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    let wines = group(
        &service,
        "folder",
        None,
        json!({"attributes": {"colour": "red", "sku": "W"}}),
    )
    .await;
    let batch = group(&service, "batch", Some(wines), Value::Null).await;
    let beers = group(&service, "folder", None, Value::Null).await;
    let webhook = json!({
        "url": receiver.url(), "events": ["tap.not_checked"], "include": ["attributes"],
        "filter": {"group_id": wines, "attribute": {"colour": "red"}},
    });
    let created = service.admin_create("/webhooks", webhook).await;
    assert_eq!(created["filter"]["group_id"], wines);
    let tag = async |name: &str, group: Option<i64>, attributes: Value| {
        let tag = json!({"name": name, "group_id": group, "attributes": attributes});
        service.tag(tag).await.path()
    };
    for path in [
        tag("other", Some(beers), json!({"colour": "red"})).await,
        tag("none", None, json!({"colour": "red"})).await,
        tag("white", Some(batch), json!({"colour": "white"})).await,
        tag("mine", Some(batch), json!({"sku": "A-1"})).await,
    ] {
        service.tap(&path).await;
    }
    let event = receiver.wait_for(1).await[0].json();
    assert_eq!(event["data"]["tag_name"], "mine", "{event}");
    assert_eq!(
        event["data"]["attributes"],
        json!({"colour": "red", "sku": "A-1"})
    );
    // A group that moves below it takes its tags along.
    patch(&service, beers, json!({"parent_id": wines}))
        .await
        .expect(200);
    let late = tag("late", Some(beers), json!({})).await;
    service.tap(&late).await;
    let event = receiver.wait_for(2).await[1].json();
    assert_eq!(event["data"]["tag_name"], "late", "{event}");
}
