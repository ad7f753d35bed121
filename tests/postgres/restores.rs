//! A database that was restored by PostgreSQL's own programs: chips that were encoded after the
//! copy are not in it, and no key generation is used twice.

use serde_json::json;
use tapdesk_service::inlay::Uid;
use tapdesk_tests::postgres::Cluster;
use tapdesk_tests::relay::lay;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{Launch, TestDatabase};

use crate::postgres;

/// A node whose tag URL is the same at every start, because chips contain it.
fn node(database: &TestDatabase) -> Launch {
    postgres::node(database).env("TAPDESK_TAG_URL", "https://tags.example.com/t")
}

fn chip(number: u8) -> VirtualNtag424 {
    VirtualNtag424::new(Uid::from_bytes([4, 0, 0, 0, 0, 0, number]))
}

async fn restored_into(cluster: &Cluster) {
    let database = TestDatabase::create().await;
    let service = node(&database).start().await;
    let mut wishes = Vec::new();
    for number in 1..=2_u8 {
        let tag = service
            .tag(json!({"name": format!("Bottle {number}")}))
            .await;
        let uid = Uid::from_bytes([4, 0, 0, 0, 0, 0, number]);
        wishes.push(json!({"uid": uid.to_string(), "tag_id": tag.id}));
    }
    let (mut before, mut after) = (chip(1), chip(2));
    let turn = lay(&service, &mut before, &wishes[0]).await;
    assert_eq!(turn["state"], "verified");
    let hook = json!({"url": "https://hooks.example/", "events": ["tap.verified"]});
    service.admin_create("/webhooks", hook).await;
    // A node that restarts finds the same database.
    let launch = service.launch().clone();
    service.terminate().await;
    let service = launch.start().await;
    assert_eq!(service.admin_get("/encoding-root").await["retired"], 0);
    let hooks = service.admin_get("/webhooks").await;
    assert_eq!(hooks["items"][0]["enabled"], true);

    let copy = database.copy_into(cluster).await;
    let turn = lay(&service, &mut after, &wishes[1]).await;
    assert_eq!(turn["state"], "verified");
    let key = after.key(0).clone();
    service.terminate().await;

    let service = node(&copy).start().await;
    let root = service.admin_get("/encoding-root").await;
    assert_eq!(
        (&root["retired"], &root["created_at"]),
        (&json!(1), &json!(null))
    );
    let hooks = service.admin_get("/webhooks").await;
    assert_eq!(hooks["items"][0]["enabled"], false);
    // It opens the unknown chip with the older root, and gives it other keys.
    let turn = lay(&service, &mut after, &wishes[1]).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!((after.key_version(0), after.tally().refusals), (2, 0));
    assert_ne!(*after.key(0), key);
    // A known chip is not changed.
    let writes = before.tally().writes;
    let turn = lay(&service, &mut before, &wishes[0]).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(before.tally().writes, writes);
    let root = service.admin_get("/encoding-root").await;
    assert_eq!(root["retired"], 1);
    // The next start changes nothing either.
    let launch = service.launch().clone();
    service.terminate().await;
    let service = launch.start().await;
    assert_eq!(service.admin_get("/encoding-root").await["retired"], 1);
}

#[tokio::test]
async fn a_copy_on_the_same_server_repeats_no_generation_of_keys() {
    restored_into(Cluster::shared()).await;
}

#[tokio::test]
async fn a_copy_on_another_server_repeats_no_generation_of_keys() {
    restored_into(&Cluster::start(&["fsync=off"])).await;
}
