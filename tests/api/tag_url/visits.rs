//! Visits that prove the address, and visits that do not.

use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::{Answering as _, Client, TestService};

use super::{check_of_setting, on_network};

async fn phone_url(service: &TestService, tag_url: &str) -> String {
    let shown = service
        .admin_get(&format!("/tag-url?tag_url={tag_url}"))
        .await;
    shown["phone_url"].as_str().unwrap().to_owned()
}

async fn set(service: &TestService, network: &Client) -> String {
    let tag_url = format!("{}/t", network.base());
    service
        .admin_patch("/settings", json!({"tag_url": tag_url}))
        .await;
    tag_url
}

#[tokio::test]
async fn a_phone_that_opens_the_test_page_by_the_address_proves_it_and_reads_so_in_its_language() {
    let Some((service, network)) = on_network().await else {
        return;
    };
    let tag_url = set(&service, &network).await;
    let url = phone_url(&service, &tag_url).await;
    let page = network
        .get(&url)
        .header("accept-language", "de-AT")
        .answer()
        .await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Es funktioniert"), "{}", page.body);
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let proved = check_of_setting(&service).await;
    assert_eq!(proved["state"], "proved");
    assert!(
        proved["detail"].as_str().unwrap().contains("phone"),
        "{proved}"
    );
    let audit = service.admin_get("/audit?limit=1").await;
    assert_eq!(
        audit["items"][0]["action"], "settings.update",
        "a visit is no change of anybody"
    );
}

#[tokio::test]
async fn a_second_visit_writes_nothing() {
    let Some((service, network)) = on_network().await else {
        return;
    };
    let tag_url = set(&service, &network).await;
    let url = phone_url(&service, &tag_url).await;
    network.get(&url).answer().await;
    let first = check_of_setting(&service).await;
    service.advance(60_000);
    let again = network.get(&url).answer().await;
    assert!(again.body.contains("It works"), "{}", again.body);
    assert_eq!(check_of_setting(&service).await, first);
}

#[tokio::test]
async fn a_visit_from_the_own_computer_by_another_host_or_of_another_address_proves_nothing() {
    let Some((service, network)) = on_network().await else {
        return;
    };
    let tag_url = set(&service, &network).await;
    let url = phone_url(&service, &tag_url).await;
    let path = url.strip_prefix(network.base()).unwrap();
    // Programs on this computer can send any `Host`.
    let forged = service
        .get(path)
        .header("host", network.authority())
        .answer()
        .await;
    assert!(!forged.body.contains("It works"), "{}", forged.body);
    let misled = network
        .get(&url)
        .header("host", "tags.example")
        .answer()
        .await;
    assert!(!misled.body.contains("It works"), "{}", misled.body);
    for made_up in [
        url.replace("!p", "!p1"),
        url.replace("at=http", "at=https"),
        format!("{tag_url}/!p"),
        format!("{tag_url}/!c00-00"),
    ] {
        assert_eq!(
            network.get(&made_up).answer().await.status,
            404,
            "{made_up}"
        );
    }
    network.head(&url).answer().await;
    assert_eq!(check_of_setting(&service).await, Value::Null);
    // A proof is valid for a day.
    service.advance(25 * 60 * 60 * 1000);
    assert_eq!(network.get(&url).answer().await.status, 404);
}

#[tokio::test]
async fn a_verified_tap_by_the_address_proves_it_and_no_other_tap_does() {
    let Some((service, network)) = on_network().await else {
        return;
    };
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    set(&service, &network).await;
    let code = |inlay: &mut tapdesk_tests::TestInlay| {
        let code = inlay.code();
        format!("/t/{}?uid={}&token={}", tag.slug, code.uid, code.token)
    };
    network.tap(&format!("/t/{}", tag.slug)).await;
    let by_loopback = service
        .get(&code(&mut inlay))
        .header("host", network.authority());
    by_loopback.answer().await;
    let by_other_host = network
        .get(&code(&mut inlay))
        .header("host", "tags.example");
    by_other_host.answer().await;
    assert_eq!(check_of_setting(&service).await, Value::Null);
    if tapdesk_tests::fixtures::on_templates() {
        // The chip contains the address of the template.
        return;
    }
    network.tap(&code(&mut inlay)).await;
    let proved = check_of_setting(&service).await;
    assert_eq!(proved["state"], "proved");
    assert!(
        proved["detail"].as_str().unwrap().contains("tapped"),
        "{proved}"
    );
}
