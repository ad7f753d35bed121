//! Services on other computers: added, shown, and removed.

use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::{Value, json};
use tapdesk::shell::Shell;
use tapdesk::state::ShellState;
use tapdesk_tests::{PATIENCE, TestService, eventually};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use crate::backend::{file, tap};
use crate::elsewhere::Elsewhere;
use crate::installation::{Installation, call, make_tag, ready, tag_names};

fn token(text: &str) -> Zeroizing<String> {
    Zeroizing::new(text.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_service_is_shown_in_place_of_the_embedded_one_until_another_is() {
    let shop = TestService::start().await;
    shop.tag(json!({"name": "In the shop"})).await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    make_tag(&shell, "Here").await;

    let secret = token(shop.admin_token());
    let added = shell
        .add_connection("Shop", shop.base(), secret)
        .await
        .unwrap();
    assert_eq!(
        ready(&shell).connection.id,
        "embedded",
        "nothing changes by itself"
    );
    shell.connect(&added.id).await.unwrap();
    assert_eq!(ready(&shell).connection, added);
    assert_eq!(tag_names(&shell).await, ["In the shop"]);
    let (status, tag) = call(&shell, Method::POST, "/admin/v1/tags", json!({"name": ""})).await;
    assert_eq!(status, 422, "refusals arrive as they are: {tag}");
    let (status, _) = call(&shell, Method::DELETE, "/admin/v1/tags/999", Value::Null).await;
    assert_eq!(status, 404);
    let backend = shell.backend().await.unwrap();
    let (_, text) = file(&backend, "/admin/v1/tags/export", None).await.unwrap();
    assert!(text.contains("In the shop"), "{text}");
    let refused = file(&backend, "/admin/v1/tags/export?simulated=true", None).await;
    assert_eq!(refused.unwrap_err(), "Simulated tags are not exported.");

    shell.connect("embedded").await.unwrap();
    assert_eq!(tag_names(&shell).await, ["Here"]);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_limited_to_a_product_makes_a_connection_that_sees_only_its_tags() {
    let shop = TestService::start().await;
    let wine = json!({"kind": "product", "name": "Wine"});
    let wine = shop.admin_create("/groups", wine).await["id"].clone();
    shop.tag(json!({"name": "Bottle", "group_id": wine})).await;
    shop.tag(json!({"name": "Lamp"})).await;
    let limited = json!({"name": "Colleague", "scopes": ["read"], "group_ids": [wine]});
    let limited = shop.admin_create("/tokens", limited).await;
    let limited = token(limited["token"].as_str().unwrap());
    let installation = Installation::new();
    let shell = installation.ready().await;
    let added = shell.add_connection("Shop", shop.base(), limited).await;
    shell.connect(&added.unwrap().id).await.unwrap();
    assert_eq!(tag_names(&shell).await, ["Bottle"]);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_was_sent_before_a_switch_does_not_act_on_the_other_service() {
    let shop = TestService::start().await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    let added = shell
        .add_connection("Shop", shop.base(), token(shop.admin_token()))
        .await
        .unwrap();
    let (_, address) = shell.backend_at("embedded").await.unwrap();
    assert_eq!(address, ready(&shell).connection.url);
    assert!(shell.backend_of(&added.id).await.is_err());

    shell.connect(&added.id).await.unwrap();
    let why = "The connection changed. Nothing was sent.";
    assert_eq!(shell.backend_of("embedded").await.err().unwrap(), why);
    assert_eq!(shell.backend_at("embedded").await.err().unwrap(), why);
    let (_, address) = shell.backend_at(&added.id).await.unwrap();
    assert_eq!(address, added.url);

    shell.connect("embedded").await.unwrap();
    assert!(shell.backend_of("embedded").await.is_ok());
    shell.stop().await;
}

/// Waits until the remote service is lost, or found again, as `wanted`. Returns the reason, and the
/// time that it took.
async fn once_lost(shell: &Shell, wanted: bool) -> (Option<String>, Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "two seconds are a promise of the product"
    )]
    let asked = Instant::now();
    let mut states = shell.watch();
    loop {
        if let ShellState::Ready(ready) = &*states.borrow_and_update()
            && ready.lost.is_some() == wanted
        {
            return (ready.lost.clone(), asked.elapsed());
        }
        let changed = tokio::time::timeout(PATIENCE, states.changed());
        changed.await.expect("it is noticed").unwrap();
    }
}

/// The product notices an outage, and its end, within this time.
const NOTICED: Duration = Duration::from_secs(2);
/// How often an outage is repeated at most: a busy machine delays some of them.
const OUTAGES: usize = 5;

/// An outage, as the screens learn of it.
#[derive(Debug)]
struct Outage {
    why: Option<String>,
    /// How long it takes until the beginning and the end are noticed.
    noticed: [Duration; 2],
}

/// Asserts that one of several outages is noticed in time for this reason, and the end of one. If
/// `hangs`, the service accepts connections and does not answer; otherwise it is killed.
async fn are_noticed(shell: &Shell, shop: &mut Elsewhere, hangs: bool, reason: &str) {
    let tags = async || call(shell, Method::GET, "/admin/v1/tags", Value::Null).await;
    let mut outages: Vec<Outage> = Vec::new();
    let is_noticed = |outages: &[Outage]| {
        let lost =
            |outage: &Outage| outage.noticed[0] < NOTICED && outage.why.as_deref() == Some(reason);
        outages.iter().any(lost) && outages.iter().any(|outage| outage.noticed[1] < NOTICED)
    };
    while !is_noticed(&outages) {
        assert!(outages.len() < OUTAGES, "{outages:?}");
        once_lost(shell, false).await;
        if hangs {
            shop.signal("STOP");
        } else {
            shop.kill();
        }
        let (why, lost) = once_lost(shell, true).await;
        if hangs {
            shop.signal("CONT");
        } else {
            let (status, answer) = tags().await;
            assert_eq!((status, &answer["code"]), (502, &json!("unreachable")));
            shop.start_again();
        }
        let (_, found) = once_lost(shell, false).await;
        assert_eq!(tags().await.0, 200);
        let noticed = [lost, found];
        outages.push(Outage { why, noticed });
    }
    println!("{outages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_service_that_dies_is_noticed_within_two_seconds_and_so_is_its_return() {
    let mut shop = Elsewhere::start();
    let installation = Installation::new();
    let shell = installation.ready().await;
    let added = shell
        .add_connection("Shop", &shop.base, token(&shop.token()))
        .await
        .unwrap();
    shell.connect(&added.id).await.unwrap();
    are_noticed(&shell, &mut shop, false, "The connection was refused.").await;
    are_noticed(&shell, &mut shop, true, "No answer came in time.").await;

    // A service that is no longer shown is not checked.
    shell.connect("embedded").await.unwrap();
    shop.kill();
    assert_eq!(ready(&shell).lost, None);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_survives_a_restart_with_its_token_in_no_preference() {
    let shop = TestService::start().await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    let secret = token(shop.admin_token());
    let added = shell
        .add_connection("Shop", shop.base(), secret)
        .await
        .unwrap();
    shell.stop().await;
    let preferences = std::fs::read_to_string(installation.folders().preferences).unwrap();
    assert!(preferences.contains(shop.base()));
    assert!(!preferences.contains(shop.admin_token()));

    let shell = installation.ready().await;
    assert_eq!(
        ready(&shell).connection.id,
        "embedded",
        "each start begins here"
    );
    shell.connect(&added.id).await.unwrap();
    assert_eq!(tag_names(&shell).await, [""; 0]);
    shell.remove_connection(&added.id).await.unwrap();
    assert_eq!(ready(&shell).connection.id, "embedded");
    assert_eq!(ready(&shell).connections.len(), 1);
    assert!(shell.connect(&added.id).await.is_err());
    let secrets = installation
        .folders()
        .secret_file(&format!("connection-{}", added.id));
    assert!(!secrets.exists());
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_cannot_be_spoken_to_is_not_added() {
    let shop = TestService::start().await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    let nobody = format!("http://127.0.0.1:{}", tapdesk_tests::free_port());
    let right = shop.admin_token();
    let wrong = "another-token-that-nobody-has-ever-given-out";
    for (url, secret, field, said) in [
        (shop.base(), wrong, "token", "does not accept this token"),
        (shop.base(), "short", "token", "32 characters"),
        (&nobody, right, "url", "does not answer"),
        ("http://tags.example.com", right, "url", "https"),
    ] {
        let refused = shell.add_connection("Shop", url, token(secret)).await;
        let refused = refused.unwrap_err();
        assert_eq!(refused.field.as_deref(), Some(field), "{refused}");
        let refused = refused.message;
        assert!(refused.contains(said), "{refused}");
        assert!(!refused.contains(secret) || secret == "short", "{refused}");
    }
    assert_eq!(ready(&shell).connections.len(), 1);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_service_that_goes_away_is_said_and_the_embedded_one_is_not_touched() {
    let shop = TestService::start().await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    let secret = token(shop.admin_token());
    let added = shell
        .add_connection("Shop", shop.base(), secret)
        .await
        .unwrap();
    shell.connect(&added.id).await.unwrap();
    drop(shop);
    let gone = eventually("the remote service is gone", async || {
        let (status, problem) = call(&shell, Method::GET, "/admin/v1/tags", Value::Null).await;
        (status == 502).then_some(problem)
    })
    .await;
    assert!(gone["detail"].as_str().unwrap().contains("does not answer"));
    shell.connect("embedded").await.unwrap();
    assert_eq!(tag_names(&shell).await, [""; 0]);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn taps_of_a_remote_service_are_heard_as_they_happen() {
    let shop = TestService::start().await;
    let tag = shop.tag(json!({"name": "In the shop"})).await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    let secret = token(shop.admin_token());
    let added = shell
        .add_connection("Shop", shop.base(), secret)
        .await
        .unwrap();
    shell.connect(&added.id).await.unwrap();
    let backend = shell.backend().await.unwrap();
    let events = Mutex::new(backend.events(false));
    // The stream is opened in the background, so tap until an event arrives.
    let event = eventually("a tap is heard", async || {
        tap(&backend, tag.id).await;
        events.lock().await.try_recv().ok()
    })
    .await;
    assert_eq!(event["event"], "interaction");
    assert_eq!(event["tag_id"], json!(tag.id));
    shell.stop().await;
}
