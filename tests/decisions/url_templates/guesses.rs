//! Guesses of short codes: SIC43NT.

use tapdesk_tests::Receiver;

use super::chips::{on_tag, sic43nt};
use super::*;

#[tokio::test]
async fn short_codes_are_not_checked_after_a_hundred_wrong_ones() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let receiver = Receiver::start().await;
    let alerts =
        json!({"url": receiver.url(), "events": ["alert.inlay_guessed"], "include": ["uid"]});
    service.admin_create("/webhooks", alerts).await;
    let chip = sic43nt("https://tags.example/b/{slug}?d={uid}{tamper}{counter}{mac}");
    let tag = on_tag(&service, &chip, &[]).await;
    let slug = Some(tag.slug.as_str());
    let good = chip.url_at(9, slug);
    let wrong = format!("{}00000000", &good[..good.len() - 8]);
    for _ in 0..100 {
        tap(&service, &wrong).await;
    }
    assert_eq!(last(&service).await, (json!(false), json!("wrong_mac")));
    tap(&service, &good).await;
    assert_eq!(last(&service).await, (json!(false), json!("guessed")));
    let _house = service.keep_house();
    let arrived = receiver.wait_for(1).await[0].json();
    assert_eq!(arrived["data"]["uid"], json!(chip.uid));
    assert_eq!(arrived["data"]["tag_id"], json!(tag.id));
    assert!(arrived["data"]["inlay_id"].is_i64(), "{arrived}");
    service.advance(60 * 60 * 1000);
    tap(&service, &good).await;
    assert_eq!(last(&service).await.0, json!(true));
}

#[tokio::test]
async fn what_an_owner_asks_about_counts_as_no_guess() {
    let service = TestService::start().await;
    let chip = sic43nt("https://tags.example/v?d={uid}{tamper}{counter}{mac}");
    on_tag(&service, &chip, &[]).await;
    let good = chip.url_at(9, None);
    let wrong = format!("https://{HOST}{}11111111", &good[..good.len() - 8]);
    let unknown = async || {
        let metrics = service.metrics().await;
        let mut lines = metrics.lines();
        lines
            .find(|line| line.starts_with("tapdesk_unknown_codes_total "))
            .map(str::to_owned)
    };
    let before = unknown().await;
    for _ in 0..110 {
        let body = json!({"url": wrong});
        let asked = service.admin(Method::POST, "/verification", body).await;
        let asked = asked.expect(200);
        assert_eq!(asked["findings"][0]["kind"], "mac_fits_nothing", "{asked}");
    }
    assert_eq!(unknown().await, before);
    assert_eq!(tap(&service, &good).await.status, 302);
    assert_eq!(last(&service).await.0, json!(true));
}

/// Without a slug, an unchecked code identifies no inlay: the page is the same as for an unknown
/// UID, and nothing is recorded. The owner gets an alert.
#[tokio::test]
async fn a_sic43nt_url_without_a_slug_names_nobody_after_a_hundred_wrong_codes() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let receiver = Receiver::start().await;
    let alerts =
        json!({"url": receiver.url(), "events": ["alert.inlay_guessed"], "include": ["uid"]});
    service.admin_create("/webhooks", alerts).await;
    let one_address = "https://tags.example/v?d={uid}{tamper}{counter}{mac}";
    let (chip, stranger) = (sic43nt(one_address), sic43nt(one_address));
    let tag = on_tag(&service, &chip, &[]).await;
    let nobody = open(&service, &stranger.url_at(9, None)).await;
    assert_eq!(nobody.status, 404);
    let good = chip.url_at(9, None);
    let wrong = format!("{}00000000", &good[..good.len() - 8]);
    for url in std::iter::repeat_n(&wrong, 100).chain([&good]) {
        let answer = open(&service, url).await;
        assert_eq!((answer.status, &answer.body), (404, &nobody.body));
        assert!(answer.header("set-cookie").is_none());
    }
    assert_eq!(service.admin_get("/interactions").await["items"], json!([]));
    let _house = service.keep_house();
    let arrived = receiver.wait_for(1).await[0].json();
    assert_eq!(arrived["data"]["uid"], json!(chip.uid));
    service.advance(60 * 60 * 1000);
    assert_eq!(tap(&service, &good).await.status, 302);
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
    assert_eq!(service.scan_count(&tag).await, 1);
}
