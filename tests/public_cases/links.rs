//! Programs that open links, and addresses to which apps append parameters.

use std::sync::LazyLock;

use serde_json::{Value, json};
use tapdesk_tests::raw::statuses;
use tapdesk_tests::{Answering as _, RawClient, TapResult, TestService, TestTag};

/// The cases, each with its `id`.
static CASES: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../vectors/public-links.json")).expect("JSON")
});

/// The input of a case.
pub(super) fn input(id: &str) -> &'static Value {
    let mut cases = CASES.as_array().expect("a list").iter();
    let case = cases.find(|case| case["id"] == id);
    &case.unwrap_or_else(|| panic!("no case {id}"))["input"]
}

/// The texts in a list of a case.
pub(super) fn texts(list: &'static Value) -> impl Iterator<Item = &'static str> {
    let texts = list.as_array().expect("a list").iter();
    texts.map(|text| text.as_str().expect("text"))
}

/// The number of link previews that were answered.
async fn previews(service: &TestService) -> u64 {
    let metrics = service.metrics().await;
    let mut lines = metrics.lines();
    let line = lines.find_map(|line| line.strip_prefix("tapdesk_previews_total "));
    line.expect("it is there from the start").parse().unwrap()
}

/// Asserts that nothing was recorded, and that the code still verifies from a phone.
async fn assert_unspent(service: &TestService, tag: &TestTag, url: &str) {
    const PHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) \
        AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
    assert_eq!(service.scan_count(tag).await, 0);
    let request = service.get(url).header("user-agent", PHONE);
    let tap = TapResult::of(request.answer().await);
    let payload = service.payload(tap.key()).await;
    assert_eq!(payload["tag_verified"], json!(true));
}

#[tokio::test]
async fn l1_programs_that_open_links_use_up_no_code() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let mut opened = 0;
    for group in input("L1")["agents"].as_object().expect("groups").values() {
        for agent in texts(group) {
            let answer = service.get(&url).header("user-agent", agent).answer().await;
            assert_eq!(answer.status, 200, "{agent}");
            assert!(
                answer.body.contains("Bottle 41"),
                "{agent}: {}",
                answer.body
            );
            assert_eq!(answer.header("set-cookie"), None, "{agent}");
            opened += 1;
        }
    }
    assert_eq!(previews(&service).await, opened);
    assert_unspent(&service, &tag, &url).await;
    assert_eq!(previews(&service).await, opened);
}

#[tokio::test]
async fn l2_a_request_that_names_no_program_uses_up_no_code() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    for agent in ["", "user-agent:\r\n", "User-Agent: \r\n"] {
        let mut client = RawClient::connect(service.authority()).await;
        let host = tapdesk_tests::fixtures::TEMPLATE_HOST;
        let head =
            format!("GET {url} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{agent}\r\n");
        client.send(head).await;
        let said = client.read_to_end().await;
        assert_eq!(statuses(&said), [200], "{agent:?}: {said}");
        assert!(!said.contains("rk="), "{said}");
    }
    assert_eq!(previews(&service).await, 3);
    assert_unspent(&service, &tag, &url).await;
}

#[tokio::test]
async fn l2_after_a_scanner_that_says_it_is_a_browser_the_code_is_replayed_and_the_words_say_why() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let scanner = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                   Chrome/97.0.4692.99 Safari/537.36";
    let first = service.get(&url).header("user-agent", scanner);
    assert_eq!(first.answer().await.status, 302);
    service.advance(5_000);
    let tap = service.tap(&url).await;
    let payload = service.payload(tap.key()).await;
    assert_eq!(payload["tag_verified"], json!(false));
    let id = payload["interaction_ids"][0].as_i64().expect("an id");
    let interaction = service.admin_get(&format!("/interactions/{id}")).await;
    assert_eq!(interaction["reason"], json!("replayed"));
    let words = interaction["steps"].to_string();
    assert!(words.contains("may have opened it first"), "{words}");
    assert_eq!(service.scan_count(&tag).await, 2);
}

#[tokio::test]
async fn l3_what_an_app_appends_to_an_address_without_a_query_is_read_as_one() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let forms = texts(&input("L3")["paths"]).map(|path| path.replace("SLUG", &tag.slug));
    let more = ["/", "/?utm_source=poster", "&a=1&b=2?c=3", "&", "&a=b;c"];
    let more = more.map(|more| format!("/t/{}{more}", tag.slug));
    let mut taps = 0;
    for path in forms.chain(more) {
        let tap = service.tap(&path).await;
        let payload = service.payload(tap.key()).await;
        assert_eq!(payload["tag_verified"], Value::Null, "{path}");
        taps += 1;
        assert_eq!(service.scan_count(&tag).await, taps, "{path}");
        let checked = service
            .admin(
                reqwest::Method::POST,
                "/verification",
                json!({"url": format!("{}{path}", service.base())}),
            )
            .await
            .expect(200);
        assert_eq!(checked["tag_id"], json!(tag.id), "{path}");
        assert_eq!(checked["at_tag_url"], json!(true), "{path}");
    }
}

/// A code after an `&`, at both kinds of addresses, and the cookie for its reload.
#[tokio::test]
async fn l3_a_code_behind_an_ampersand_is_a_code_and_its_reload_is_no_second_tap() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let appended = url.replacen('?', "&", 1);
    let first = service.tap(&appended).await;
    let payload = service.payload(first.key()).await;
    assert_eq!(payload["tag_verified"], json!(true), "{appended}");
    let set = first.answer.header("set-cookie").expect("a cookie");
    let path = set.split("; ").find_map(|part| part.strip_prefix("Path="));
    let path = path.expect("a path");
    // A browser sends a cookie to its path, and to paths below it.
    let is_below = |path: &str| appended == path || appended.starts_with(&format!("{path}/"));
    assert!(is_below(path), "{path} of {appended}");
    let cookie = first.cookie.as_deref().expect("a cookie");
    let request = service.get(&appended).header("cookie", cookie);
    let again = TapResult::of(request.answer().await);
    assert_eq!(again.rk, first.rk);
    assert_eq!(service.scan_count(&tag).await, 1);
}
