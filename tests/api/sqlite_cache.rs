//! The data that a tap needs of its tag is cached, and only changes of this tag invalidate it: the
//! test counts database reads. On PostgreSQL every change invalidates the whole cache within a
//! second.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService, TestTag, fixtures::LANDING};

async fn service() -> TestService {
    TestService::on_sqlite().await
}

/// How many tags were read from the database so far.
async fn misses(service: &TestService) -> u64 {
    let metrics = service.metrics().await;
    let found = metrics
        .lines()
        .find_map(|line| line.strip_prefix("tapdesk_tag_cache_misses_total "));
    found.expect("the metric").trim().parse().expect("a number")
}

/// Taps each tag. Returns the destinations, and how many tags were read for them.
async fn tap(service: &TestService, tags: &[&TestTag]) -> (Vec<String>, u64) {
    let before = misses(service).await;
    let mut places = Vec::new();
    for tag in tags {
        let tapped = service.tap(&tag.path()).await;
        let place = tapped.location.unwrap_or_else(|| tapped.status.to_string());
        places.push(
            place
                .split(['?', '#'])
                .next()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    (places, misses(service).await - before)
}

async fn patch(client: &Client, path: &str, change: Value) {
    let answer = client.admin(Method::PATCH, path, change).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn a_change_voids_what_it_changed_and_nothing_else() {
    let service = service().await;
    let (one, mut inlay) = service.bottle().await;
    let other = service.redirecting_tag(Value::Null).await;
    let both = [&one, &other];
    let landing = || LANDING.to_owned();
    let (places, _) = tap(&service, &both).await;
    assert_eq!(places, [landing(), landing()]);
    assert_eq!(tap(&service, &both).await.1, 0, "both are at hand");

    // Changes of its experience, status, slug and inlay are all visible at the next tap.
    let elsewhere = "https://owner.example/elsewhere";
    let experience = service.redirect(elsewhere).await;
    assert_eq!(tap(&service, &both).await.1, 0, "nobody leads there yet");
    patch(
        &service,
        &one.admin_path(),
        json!({"experience_id": experience}),
    )
    .await;
    assert_eq!(tap(&service, &[&other]).await.1, 0);
    assert_eq!(
        tap(&service, &[&one]).await,
        (vec![elsewhere.to_owned()], 1)
    );
    patch(&service, &one.admin_path(), json!({"status": "archived"})).await;
    assert_eq!(
        tap(&service, &both).await,
        (vec!["410".to_owned(), landing()], 1)
    );
    patch(&service, &one.admin_path(), json!({"status": "active"})).await;
    tap(&service, &both).await;
    let path = format!("/inlays/{}", inlay.id);
    patch(&service, &path, json!({"tag_id": other.id})).await;
    assert_eq!(
        tap(&service, &both).await.1,
        2,
        "it was on one, and is on the other"
    );
    let verified = service.tap(&inlay.url(&other)).await;
    let payload = service.payload(verified.key()).await;
    assert_eq!(payload["tag_verified"], json!(true));
}

#[tokio::test]
async fn a_slug_in_another_case_is_at_hand_until_another_tag_has_it() {
    let service = service().await;
    let small = service.redirecting_tag(json!({"slug": "cask-0001"})).await;
    let mixed = service.redirecting_tag(json!({"slug": "Wine-0001"})).await;
    let named = |tag: &TestTag, slug: &str| TestTag {
        id: tag.id,
        slug: slug.to_owned(),
    };
    tap(&service, &[&small, &mixed]).await;
    let (capitals, others) = (named(&small, "CASK-0001"), named(&mixed, "WINE-0001"));
    let lower = named(&mixed, "wine-0001");
    let (places, read) = tap(&service, &[&capitals, &others, &lower]).await;
    assert_eq!(places, [LANDING, LANDING, LANDING]);
    assert_eq!(read, 0, "no tag is read for another case");
    // A tag without a code of its own gets the slug in small letters.
    let twin = json!({"name": "Wine", "slug": "wine-0001"});
    service.tag(twin).await;
    let (places, read) = tap(&service, &[&capitals]).await;
    assert_eq!((places, read), (vec![LANDING.to_owned()], 0), "of others");
    let (places, _) = tap(&service, &[&others, &mixed, &mixed]).await;
    assert_eq!(places, ["404", LANDING, LANDING]);
    assert_eq!(tap(&service, &[&mixed]).await.1, 0, "as written");
}

#[tokio::test]
async fn what_leads_elsewhere_is_seen_without_a_tag_being_read() {
    let service = service().await;
    let experience = service.redirect(LANDING).await;
    let tag = json!({"name": "Bottle", "experience_id": experience});
    let tag = service.tag(tag).await;
    tap(&service, &[&tag]).await;
    let path = format!("/experiences/{experience}");
    let elsewhere = "https://owner.example/elsewhere";
    patch(&service, &path, json!({"target_url": elsewhere})).await;
    let publish = format!("{path}/publish");
    let published = service.admin(Method::POST, &publish, json!({})).await;
    assert_eq!(published.status, 200, "{}", published.body);
    assert_eq!(
        tap(&service, &[&tag]).await,
        (vec![elsewhere.to_owned()], 0)
    );
}

#[tokio::test]
async fn imports_settings_and_tokens_leave_tags_at_hand() {
    let service = service().await;
    let tag = service.redirecting_tag(Value::Null).await;
    tap(&service, &[&tag]).await;
    patch(&service, "/settings", json!({"app_id": 7})).await;
    let token = service
        .admin_create("/tokens", json!({"name": "script", "scopes": ["admin"]}))
        .await;
    let token = format!("/tokens/{}", token["id"]);
    let deleted = service.admin(Method::DELETE, &token, Value::Null).await;
    assert_eq!(deleted.status, 204);
    service.redirecting_tag(Value::Null).await;
    service.bottle().await;
    assert_eq!(tap(&service, &[&tag]).await.1, 0);
}

#[tokio::test]
async fn a_former_slug_leads_to_its_tag_however_often_the_tag_is_renamed() {
    let service = service().await;
    let tag = service.redirecting_tag(json!({"slug": "first-name"})).await;
    for slug in ["second-name", "third-name", "first-name"] {
        tap(&service, &[&tag]).await;
        patch(&service, &tag.admin_path(), json!({"slug": slug})).await;
        for known in ["first-name", slug] {
            let named = TestTag {
                id: tag.id,
                slug: known.to_owned(),
            };
            let (places, _) = tap(&service, &[&named, &named]).await;
            assert_eq!(places, [LANDING, LANDING], "{known} of {slug}");
        }
    }
}
