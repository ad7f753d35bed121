//! Malicious query strings in tag URLs.

use tapdesk_service::entropy::{self, SeededEntropy};
use tapdesk_tests::raw::statuses;
use tapdesk_tests::{Answering as _, RawClient, TestService, cases};

use crate::bad_input::unchanged::Unchanged;

#[tokio::test]
async fn a_path_that_is_no_tags_is_404_and_writes_nothing() {
    let service = Unchanged::start().await;
    let slug = &service.tag.slug;
    for path in [
        "/t/".to_owned(),
        "/t//".to_owned(),
        "/t".to_owned(),
        format!("/t/{slug}//"),
        format!("/t//{slug}"),
        format!("/t/{slug}/&utm_source=poster/x"),
        format!("/t/{slug}%26utm_source=poster"),
        format!("/t/{slug}//&utm_source=poster"),
        format!("/t/{slug}%2F"),
        format!("/t/{slug}%2f..%2f{slug}"),
        "/t/&&&".to_owned(),
        "/t/.".to_owned(),
        // A Cyrillic a before a slug.
        format!("/t/%D0%B0{slug}"),
        format!("/t/{slug}&a/b"),
        "/t/&utm_source=poster".to_owned(),
        format!("/t/{slug}/more"),
        format!("/t/{slug}%00"),
        format!("/t/%{:02x}{}", slug.as_bytes()[0], &slug[1..]),
        format!("//t/{slug}"),
        format!("/T/{slug}/more"),
        format!("//T/{slug}"),
        "/t/%ff%fe".to_owned(),
        "/t/%2e%2e%2fadmin".to_owned(),
        "/t/..;/admin".to_owned(),
        format!("/t/{}", "a".repeat(10_000)),
        format!("/t/{}&{}", "a".repeat(5_000), "b".repeat(5_000)),
        format!("/t/{}", "A".repeat(64)),
        "/t/' OR '1'='1".to_owned(),
        "/t/{slug}".to_owned(),
    ] {
        let request = format!(
            "GET {} HTTP/1.1\r\nhost: localhost\r\nuser-agent: a\r\nconnection: close\r\n\r\n",
            path.replace(' ', "%20")
        );
        let mut client = RawClient::connect(service.authority()).await;
        client.send(request).await;
        let said = client.read_to_end().await;
        assert_eq!(statuses(&said), [404], "{path}: {said}");
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_url_that_no_server_takes_is_refused_by_its_head() {
    let service = Unchanged::start().await;
    let path = service.tag.path();
    for (target, expected) in [
        (format!("{path}?uid={}", "0".repeat(70_000)), vec![414]),
        (format!("{path} ?uid=1"), vec![400]),
        (format!("{path}?uid=\u{1}"), vec![400]),
        ("no-slash".to_owned(), vec![404]),
    ] {
        let mut client = RawClient::connect(service.authority()).await;
        client
            .send(format!(
                "GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
            ))
            .await;
        let said = client.read_to_end().await;
        assert_eq!(
            statuses(&said),
            expected,
            "{}",
            &target[..target.len().min(80)]
        );
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_method_that_opens_nothing_is_405_and_writes_nothing() {
    let service = Unchanged::start().await;
    let url = service.tag.path();
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
        let answer = service.request(method, &url).answer().await;
        assert_eq!(answer.status, 405);
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
    service.assert_unchanged().await;
}

/// Whatever the query contains, the tap is answered, and it never verifies.
#[tokio::test]
async fn no_query_made_at_random_verifies_or_fails_the_service() {
    const PARTS: [&str; 24] = [
        "uid=",
        "token=",
        "&",
        "=",
        "%",
        "%00",
        "%ff",
        "%F0%9F%8D%B7",
        "+",
        "?",
        "/",
        "\"",
        "'",
        "0",
        "04DE5F1EACC040",
        "00003D",
        "EF963FF7828658A599F3041510671E88",
        "94EED9EE65337086",
        "uid[]=",
        "UID=",
        ";",
        "{{interaction:rk}}",
        "a",
        "é",
    ];
    let service = TestService::start().await;
    let (tag, _) = service.bottle().await;
    let entropy = SeededEntropy::new(1);
    for case in 0..cases(300) {
        let [length, picks @ ..] = entropy::bytes::<33>(&entropy);
        let query: String = picks[..usize::from(length % 33)]
            .iter()
            .map(|pick| PARTS[usize::from(*pick) % PARTS.len()])
            .collect();
        let url = format!("{}?{query}", tag.path());
        let tap = service.tap(&url).await;
        assert_eq!(tap.status, 302, "case {case}: {url}");
        let payload = service.payload(tap.key()).await;
        assert_ne!(payload["tag_verified"], true, "case {case}: {url}");
    }
}
