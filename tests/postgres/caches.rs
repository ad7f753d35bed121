//! Caches of a node: a change on another node holds within a second.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::clock::{Clock as _, Millis, SystemClock, Timestamp};
use tapdesk_tests::{Answering as _, Client, TapResult, TestDatabase, TestTag};

use super::phones::paired;
use crate::postgres::two;

/// Ends the connections on which the nodes of a database listen. They get no notification then, and
/// have to poll. Nodes of other tests on the same server hear on.
async fn deafen(database: &TestDatabase) {
    let listeners = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE query LIKE 'SELECT epoch, present()%' AND datname = current_database()
            AND pid <> pg_backend_pid()";
    let client = database.look_into().await;
    client.batch_execute(listeners).await.expect("it may");
}

/// Taps until a tap `shows` the change that was just made: one that begins a second later must.
async fn within_a_second(node: &Client, tag: &TestTag, shows: impl Fn(&TapResult) -> bool) {
    taps_within_a_second(async || node.tap(&tag.path()).await, shows).await;
}

/// The same, for taps with a cookie, too.
async fn taps_within_a_second(
    tapped: impl AsyncFn() -> TapResult,
    shows: impl Fn(&TapResult) -> bool,
) {
    let clock = SystemClock::start();
    let since = clock.now();
    loop {
        let asked = clock.now();
        let tap = tapped().await;
        if shows(&tap) {
            return;
        }
        let late = asked.since(since).get();
        assert!(late <= 1_000, "a cache is {late} ms old: {tap:?}");
    }
}

#[tokio::test]
async fn what_is_configured_on_one_node_holds_on_the_other_within_a_second() {
    let database = TestDatabase::create_migrated().await;
    let [one, other] = two(&database).await;
    let tag = one.redirecting_tag(json!({"name": "Bottle"})).await;
    for (number, deaf) in [(1, false), (2, false), (3, true)] {
        // This caches the tag on the other node.
        assert_eq!(other.tap(&tag.path()).await.status, 302);
        if deaf {
            deafen(&database).await;
        }
        let landing = format!("https://owner.example/{number}");
        let experience = one.redirect(&landing).await;
        let changes = json!({"experience_id": experience});
        one.admin_patch(&tag.admin_path(), changes).await;
        within_a_second(&other, &tag, |tap| {
            let location = tap.location.as_deref().expect("a redirect");
            location.starts_with(&landing)
        })
        .await;
    }
}

/// The other node had the phone in its memory, and its clock is ten minutes ahead.
#[tokio::test]
async fn a_phone_that_is_ended_on_one_node_ends_on_the_other_within_a_second() {
    let [one, other] = two(&TestDatabase::create_migrated().await).await;
    let tag = one.redirecting_tag(Value::Null).await;
    let phone = json!({"name": "Bench", "scopes": ["read"]});
    let (id, cookie) = paired(&one, phone).await;
    let reaches = async |status: u16| {
        let tapped = async || other.tap_with_cookie(&tag.path(), &cookie).await;
        taps_within_a_second(tapped, |tap| tap.status == status).await;
    };
    reaches(303).await;
    let path = format!("/phones/{id}");
    let ended = one.admin(Method::DELETE, &path, Value::Null).await;
    ended.expect(204);
    reaches(302).await;
}

/// By the time of the database: the clock of the other node is five minutes ahead of it.
#[tokio::test]
async fn a_phone_that_expires_ends_on_both_nodes_within_a_second() {
    let [one, other] = two(&TestDatabase::create_migrated().await).await;
    let tag = one.redirecting_tag(Value::Null).await;
    let now = one.admin_get("/clock").await["now"].clone();
    let now: Timestamp = serde_json::from_value(now).expect("a time");
    let end = now.plus(Millis::minutes(4));
    let phone = json!({"name": "Bench", "scopes": ["read"], "expires_at": end});
    let (_, cookie) = paired(&one, phone).await;
    let reach = async |status: u16| {
        for node in [&one, &other] {
            let tapped = async || node.tap_with_cookie(&tag.path(), &cookie).await;
            taps_within_a_second(tapped, |tap| tap.status == status).await;
        }
    };
    reach(303).await;
    let later = json!({"advance_ms": 4 * 60_000});
    one.admin(Method::POST, "/clock", later).await.expect(200);
    reach(302).await;
}

/// The logo is beside the other settings.
#[tokio::test]
async fn a_logo_that_is_set_on_one_node_is_on_pages_of_the_other_within_a_second() {
    let database = TestDatabase::create_migrated().await;
    let [one, other] = two(&database).await;
    let tag = one.tag(json!({"name": "Bottle"})).await;
    let picture = include_bytes!("../../src-tauri/icons/32x32.png");
    for (name, deaf) in [("Grand Cru", false), ("Premier Cru", true)] {
        if deaf {
            deafen(&database).await;
        }
        let request = one.admin_request(Method::PUT, "/settings/logo");
        request.body(picture.to_vec()).answer().await.expect(200);
        within_a_second(&other, &tag, |tap| {
            tap.answer.body.contains("src=\"/media/logo-")
        })
        .await;
        let pages = json!({"pages": {"name": name}});
        one.admin_patch("/settings", pages).await;
        within_a_second(&other, &tag, |tap| tap.answer.body.contains(name)).await;
        let removed = one.admin(Method::DELETE, "/settings/logo", Value::Null);
        removed.await.expect(204);
        within_a_second(&other, &tag, |tap| {
            !tap.answer.body.contains("/media/logo-")
        })
        .await;
    }
}

/// Groups have a cache of their own.
#[tokio::test]
async fn a_patch_of_a_group_on_one_node_holds_at_taps_of_the_other_within_a_second() {
    let database = TestDatabase::create_migrated().await;
    let [one, other] = two(&database).await;
    let mut experiences = Vec::new();
    for end in ["red", "white"] {
        let target = format!("https://owner.example/{end}/{{{{tag:title}}}}");
        experiences.push(one.redirect(&target).await);
    }
    let wines = json!({
        "kind": "folder", "name": "Wines", "title": "Old", "experience_id": experiences[0],
    });
    let wines = one.admin_create("/groups", wines).await["id"].clone();
    let lot = json!({"kind": "folder", "name": "Lot", "parent_id": wines});
    let lot = one.admin_create("/groups", lot).await["id"].clone();
    let tag = one.tag(json!({"name": "Bottle", "group_id": lot})).await;
    let is_redirect = |end: &str| {
        let start = format!("https://owner.example/{end}?");
        move |tap: &TapResult| {
            let location = tap.location.as_deref();
            location.is_some_and(|location| location.starts_with(&start))
        }
    };
    let is_recalled = |tap: &TapResult| tap.answer.body.contains("has been recalled");
    // Each tap caches the tag on the other node, as the next patch finds it.
    within_a_second(&other, &tag, is_redirect("red/Old")).await;
    let group = format!("/groups/{wines}");
    for (deaf, before, after, title) in [
        (false, "red", (experiences[1], "white"), "New"),
        (true, "white", (experiences[0], "red"), "Newer"),
    ] {
        let patch = async |changes: Value| {
            if deaf {
                deafen(&database).await;
            }
            one.admin_patch(&group, changes).await;
        };
        patch(json!({"title": title})).await;
        within_a_second(&other, &tag, is_redirect(&format!("{before}/{title}"))).await;
        let (experience, end) = after;
        patch(json!({"experience_id": experience})).await;
        within_a_second(&other, &tag, is_redirect(&format!("{end}/{title}"))).await;
        patch(json!({"status": "recalled"})).await;
        within_a_second(&other, &tag, is_recalled).await;
        patch(json!({"status": "active"})).await;
        within_a_second(&other, &tag, is_redirect(&format!("{end}/{title}"))).await;
    }
}
