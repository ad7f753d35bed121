//! Payload retrieval: cases that the specification leaves open.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::settings::parse_network;
use tapdesk_tests::client::base64;
use tapdesk_tests::{Answering as _, Options, TapResult, TestService, TestTag};

#[tokio::test]
async fn app_id_is_a_setting() {
    let service = TestService::start_with(|options| options.settings.app_id = 77).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(service.payload(tap.key()).await["app_id"], json!(77));
}

#[tokio::test]
async fn interaction_ids_is_this_interactions_id_alone_and_ids_rise() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let tap = service.tap(&tag.path()).await;
        let payload = service.payload(tap.key()).await;
        let [id] = &payload["interaction_ids"].as_array().expect("an array")[..] else {
            panic!("one id: {payload}");
        };
        ids.push(id.as_i64().expect("an integer"));
    }
    assert!(ids.is_sorted() && ids[0] < ids[2], "{ids:?}");
}

#[tokio::test]
async fn a_missing_or_repeated_rk_parameter_is_like_any_invalid_key() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let rk = base64(service.tap(&tag.path()).await.key());
    for query in [
        String::new(),
        "?".to_owned(),
        "?rk".to_owned(),
        "?rk=".to_owned(),
        format!("?RK={rk}"),
        format!("?rk={rk}&rk={rk}"),
        format!("?rk={rk}&r%6b=x"),
    ] {
        for method in [Method::GET, Method::POST] {
            let path = format!("/v2/interactions/rk_payload{query}");
            let answer = service.request(method, &path).answer().await;
            assert_eq!(
                (answer.status, answer.body.as_str()),
                (200, "[]"),
                "{query}"
            );
        }
    }
}

#[tokio::test]
async fn url_is_the_tags_url_without_its_one_time_part() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let tap = service.tap(&inlay.url(&tag)).await;
    let payload = service.payload(tap.key()).await;
    let expected = format!("{}{}", service.base(), tag.path());
    assert_eq!(payload["metadata"]["url"], json!(expected));
}

#[tokio::test]
async fn device_id_is_the_inlays_id_and_0_for_a_code_of_no_inlay() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let genuine = service.tap(&inlay.url(&tag)).await;
    let forged = service.tap(&format!("{}?uid=1&token=2", tag.path())).await;
    for (tap, id) in [(genuine, inlay.id), (forged, 0)] {
        let payload = service.payload(tap.key()).await;
        assert_eq!(payload["metadata"]["device_id"], json!(id));
    }
}

/// A tap by a browser with this user agent; returns `device.r` and `device.rd` of its payload.
async fn returning(service: &TestService, tag: &TestTag, agent: &str) -> [bool; 2] {
    let request = service.get(&tag.path()).header("user-agent", agent);
    let tap = TapResult::of(request.answer().await);
    let device = &service.payload(tap.key()).await["device"];
    [&device["r"], &device["rd"]].map(|value| value.as_bool().expect("a boolean"))
}

#[tokio::test]
async fn r_and_rd_tell_of_this_clients_interactions_in_30_days_and_in_24_hours() {
    const HOUR: i64 = 3_600_000;
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let other = service.redirecting_tag(Value::Null).await;
    assert_eq!(returning(&service, &tag, "A").await, [false, false]);
    assert_eq!(returning(&service, &tag, "A").await, [true, true]);
    assert_eq!(returning(&service, &tag, "B").await, [false, false]);
    assert_eq!(returning(&service, &other, "A").await, [false, false]);
    service.advance(24 * HOUR - 1);
    assert_eq!(returning(&service, &tag, "A").await, [true, true]);
    service.advance(24 * HOUR);
    assert_eq!(returning(&service, &tag, "A").await, [true, false]);
    service.advance(30 * 24 * HOUR - 1);
    assert_eq!(returning(&service, &tag, "A").await, [true, false]);
    service.advance(30 * 24 * HOUR);
    assert_eq!(returning(&service, &tag, "A").await, [false, false]);
}

/// The country in the payload of a tap with these headers.
async fn country(options: impl FnOnce(&mut Options), headers: &[(&str, &str)]) -> Value {
    let service = TestService::start_with(options).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut request = service.get(&tag.path());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let tap = TapResult::of(request.answer().await);
    service.payload(tap.key()).await["device"]["country"].clone()
}

fn behind_a_proxy(options: &mut Options) {
    let settings = &mut options.settings;
    settings.trusted_proxies = vec![parse_network("127.0.0.0/8").expect("a network")];
    settings.country_header = Some("cf-ipcountry".to_owned());
    settings.default_country = String::from("CH");
}

#[tokio::test]
async fn country_is_the_configured_default_where_nothing_tells() {
    assert_eq!(country(|_| {}, &[]).await, "");
    assert_eq!(country(behind_a_proxy, &[]).await, "CH");
}

#[tokio::test]
async fn country_comes_from_the_country_header_of_a_trusted_proxy() {
    let headers = [("cf-ipcountry", "fr")];
    assert_eq!(country(behind_a_proxy, &headers).await, "FR");
    for no_country in ["", "F", "France", "F!"] {
        let headers = [("cf-ipcountry", no_country)];
        assert_eq!(country(behind_a_proxy, &headers).await, "CH");
    }
}

#[tokio::test]
async fn a_country_header_of_anybody_else_says_nothing() {
    let untrusting = |options: &mut Options| {
        behind_a_proxy(options);
        options.settings.trusted_proxies.clear();
    };
    assert_eq!(country(untrusting, &[("cf-ipcountry", "FR")]).await, "CH");
}

#[tokio::test]
async fn country_comes_from_the_mmdb_file_where_no_proxy_tells() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("country.mmdb");
    std::fs::write(&file, everywhere_is("IT")).expect("the file is written");
    let with_file = |options: &mut Options| {
        behind_a_proxy(options);
        options.countries = Some(file.clone());
    };
    assert_eq!(country(with_file, &[]).await, "IT");
    assert_eq!(country(with_file, &[("cf-ipcountry", "FR")]).await, "FR");
}

/// A `MaxMind` DB (format 2.0) whose tree is one node that leads every IPv4
/// address to `{"country": {"iso_code": code}}`.
fn everywhere_is(code: &str) -> Vec<u8> {
    fn text(text: &str) -> Vec<u8> {
        let length = u8::try_from(text.len()).expect("a short text");
        [&[0x40 | length], text.as_bytes()].concat()
    }
    fn map(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let length = u8::try_from(members.len()).expect("a short map");
        let mut bytes = vec![0xE0 | length];
        for (name, value) in members {
            bytes.extend(text(name));
            bytes.extend(value);
        }
        bytes
    }
    let number = |value: u8| vec![0xA1, value];
    // A record past the node count (1) points into the data, 16 bytes behind the tree.
    let record = [0, 0, 1 + 16];
    let mut file = [record, record].concat();
    file.extend([0; 16]);
    file.extend(map(&[("country", map(&[("iso_code", text(code))]))]));
    file.extend(b"\xAB\xCD\xEFMaxMind.com");
    file.extend(map(&[
        ("node_count", vec![0xC1, 1]),
        ("record_size", number(24)),
        ("ip_version", number(4)),
        ("database_type", text("Test")),
        ("languages", vec![0x00, 0x04]),
        ("binary_format_major_version", number(2)),
        ("binary_format_minor_version", number(0)),
        ("build_epoch", vec![0x01, 0x02, 1]),
        ("description", map(&[])),
    ]));
    file
}

#[tokio::test]
async fn addresses_are_not_stored() {
    let service = TestService::start_with(behind_a_proxy).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let request = service
        .get(&tag.path())
        .header("x-forwarded-for", "203.0.113.77");
    request.answer().await;
    let service = service.restart(0).await;
    for needle in [&b"203.0.113.77"[..], &[203, 0, 113, 77]] {
        let found = tapdesk_tests::files_containing(service.folder(), needle);
        assert_eq!(found, Vec::<std::path::PathBuf>::new());
    }
}

#[tokio::test]
async fn a_payload_says_how_many_seconds_its_key_is_valid() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let rk = base64(service.tap(&tag.path()).await.key());
    let mut left = Vec::new();
    for millis in [0, 1_500, 298_499, 1] {
        service.advance(millis);
        let answer = service.payload_answer(&rk).await;
        let seconds = answer.header("tapdesk-expires-in");
        left.push(seconds.map(|seconds| seconds.parse::<i64>().expect("seconds")));
        let exposed = answer.header("access-control-expose-headers");
        assert!(exposed.is_some_and(|exposed| exposed.contains("tapdesk-expires-in")));
    }
    assert_eq!(left, [Some(300), Some(298), Some(0), None]);
}

#[tokio::test]
async fn answers_are_no_store_and_readable_from_any_origin() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let rk = base64(service.tap(&tag.path()).await.key());
    for rk in [rk.as_str(), "invalid"] {
        let answer = service.payload_answer(rk).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
}
