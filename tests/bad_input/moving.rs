//! Hostile slugs and templates in a move from another service.

use reqwest::Method;
use serde_json::json;
use tapdesk_tests::TestService;

#[tokio::test]
async fn a_slug_in_another_script_or_of_a_route_finds_no_tag() {
    let service = TestService::start().await;
    service.redirecting_tag(json!({"slug": "bottle-41"})).await;
    assert_eq!(service.tap("/t/bottle-41").await.status, 302);
    for path in [
        // A Cyrillic o, full-width letters, a Kelvin sign, a dotless i, and a character without width.
        "/t/b%D0%BEttle-41",
        "/t/%EF%BD%82ottle-41",
        "/t/bott%E2%84%AAe-41",
        "/t/bottle%E2%80%8B-41",
        "/t/bottl%C4%B1-41",
        // Escaped, although nothing needs it.
        "/t/bottle%2D41",
        "/t/bottle-41%00",
        "/t/admin",
        "/t/stand-in",
        "/t/staff",
        "/t/..%2Fadmin",
    ] {
        assert_eq!(service.tap(path).await.status, 404, "{path}");
    }
    for slug in [
        "admin",
        "V2",
        "Health",
        "b\u{43e}ttle-41",
        "\u{ff42}ottle-41",
    ] {
        let tag = json!({"name": "Bottle", "slug": slug});
        let refused = service.admin(Method::POST, "/tags", tag).await;
        assert_eq!(refused.status, 422, "{slug}: {}", refused.body);
    }
}

#[tokio::test]
async fn a_template_that_swallows_a_whole_host_is_refused() {
    let service = TestService::start().await;
    let post = async |template: &str| {
        let body = json!({"name": "All", "technology": "ntag424dna", "template": template});
        service.admin(Method::POST, "/url-templates", body).await
    };
    for template in [
        "https://tags.example/{*}?p={picc}&c={mac}",
        "https://tags.example/{*}/{slug}?p={picc}&c={mac}",
        "https://tags.example/heal{slug}?p={picc}&c={mac}",
    ] {
        let refused = post(template).await;
        assert_eq!(refused.status, 422, "{template}: {}", refused.body);
        assert_eq!(
            refused.json()["errors"][0]["field"],
            "template",
            "{}",
            refused.body
        );
    }
    let short = post("https://tags.example/{slug}?p={picc}&c={mac}").await;
    assert_eq!(short.status, 201, "{}", short.body);
}
