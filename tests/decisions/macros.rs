//! Macros, from the saved experience to the `Location` of a visitor.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;
use tapdesk_tests::service::START;

/// A tag with a value for every macro.
fn wordy() -> Value {
    json!({
        "name": "Bottle & Söhne", "title": "Red wine",
        "attributes": {"sku": "A-1/2", "shop": "https://shop.example/a?b=1#c"},
        "data": {"colour": "deep red"},
        "variables": {"owner": "Léa"},
        "location": {"lat": 48.5, "lon": -2.25, "venue": {"name": "Chez Léa"}},
    })
}

/// The destination of a tap with this target.
async fn location(target: &str, tag: Value) -> Option<String> {
    let service = TestService::start_with(|options| {
        options.settings.default_country = String::from("CH");
    })
    .await;
    let tag = service.tag_to(target, tag).await;
    service.tap(&tag.path()).await.location
}

/// The parameter `v`, still encoded, of a redirect to `https://owner.example/?v=TEMPLATE`.
async fn expanded(template: &str) -> String {
    let target = format!("https://owner.example/?v={template}&end=1");
    let location = location(&target, wordy()).await.expect("a redirect");
    let (_, rest) = location.split_once("?v=").expect("the parameter");
    let (value, _) = rest.split_once("&end=1").expect("the next parameter");
    value.to_owned()
}

macro_rules! expansions {
    ($($test:ident: $template:literal => $expected:expr;)+) => {$(
        #[tokio::test]
        async fn $test() {
            assert_eq!(expanded($template).await, $expected);
        }
    )+};
}

expansions! {
    interaction_time_is_unix_seconds: "{{interaction:time}}" => (START / 1000).to_string();
    interaction_tech_value: "{{interaction:tech:value}}" => "u";
    interaction_tech_name: "{{interaction:tech:name}}" => "URL";
    interaction_verification_supported: "{{interaction:verification:supported}}" => "false";
    interaction_verification_result_of_an_unchecked_tap_is_empty: "{{interaction:verification:result}}" => "";
    tag_name_is_percent_encoded: "{{tag:name}}" => "Bottle%20%26%20S%C3%B6hne";
    tag_title: "{{tag:title}}" => "Red%20wine";
    tag_attribute: "{{tag:attribute:sku}}" => "A-1%2F2";
    tag_data: "{{tag:data:colour}}" => "deep%20red";
    tag_variable: "{{tag:variable:owner}}" => "L%C3%A9a";
    device_country: "{{device:country}}" => "CH";
    location_lat: "{{location:lat}}" => "48.5";
    location_lon: "{{location:lon}}" => "-2.25";
    location_venue_name: "{{location:venue:name}}" => "Chez%20L%C3%A9a";
    space_inside_the_braces_is_free: "{{   tag:title  }}" => "Red%20wine";
    an_empty_macro_takes_the_fallback: "{{tag:attribute:none || \"nothing\"}}" => "nothing";
    a_macro_with_a_value_takes_no_fallback: "{{tag:title || \"nothing\"}}" => "Red%20wine";
    an_unknown_or_empty_macro_is_empty_text: "{{tag:attribute:none}}" => "";
}

#[tokio::test]
async fn tag_id_and_interaction_id_are_the_numbers_of_the_payload() {
    let service = TestService::start().await;
    let target = "https://owner.example/{{tag:id}}/{{interaction:id}}";
    let tag = service.tag_to(target, Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    let payload = service.payload(tap.key()).await;
    let id = &payload["interaction_ids"][0];
    let expected = format!("https://owner.example/{}/{id}?rk={}", tag.id, tap.key());
    assert_eq!(tap.location, Some(expected));
}

#[tokio::test]
async fn tech_and_verification_tell_of_the_tap() {
    let service = TestService::start().await;
    let target = "https://owner.example/?v={{interaction:tech:value}}-{{interaction:tech:name}}\
                  -{{interaction:verification:supported}}-{{interaction:verification:result}}";
    let tag = service.tag_to(target, Value::Null).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let genuine = inlay.url(&tag);
    let said = async |url: &str| {
        let location = service.tap(url).await.location.expect("a redirect");
        let (_, rest) = location.split_once("?v=").expect("the parameter");
        rest.split_once('&').expect("rk follows").0.to_owned()
    };
    assert_eq!(said(&genuine).await, "n-NFC-true-true");
    assert_eq!(said(&genuine).await, "n-NFC-true-false");
    service
        .admin_patch(&tag.admin_path(), json!({"has_qr_code": true}))
        .await;
    assert_eq!(said(&tag.path()).await, "q-QR-Code-true-");
    service
        .admin_patch(&tag.admin_path(), json!({"verifier_enabled": false}))
        .await;
    assert_eq!(said(&inlay.url(&tag)).await, "n-NFC-false-");
}

#[tokio::test]
async fn an_expansion_can_break_out_of_no_place_in_a_url() {
    for value in [
        "&admin=1",
        "#fragment",
        "?rk=stolen",
        "/../../evil",
        "@evil.example/",
        "\r\nset-cookie: a=b",
        "%0d%0a",
        "{{interaction:rk}}",
        "\u{202E}",
        "a b+c",
    ] {
        let tag = json!({"variables": {"v": value}});
        let target =
            "https://owner.example/p/{{tag:variable:v}}/q?v={{tag:variable:v}}#{{tag:variable:v}}";
        let location = location(target, tag).await.expect("a redirect");
        let url = url::Url::parse(&location).expect("a URL");
        assert_eq!(url.host_str(), Some("owner.example"));
        assert_eq!(
            url.path_segments().map(Iterator::count),
            Some(3),
            "{location}"
        );
        let pairs: Vec<_> = url.query_pairs().collect();
        assert_eq!(pairs.len(), 2, "{location}");
        assert_eq!(pairs[0].1, value);
        assert_eq!(pairs[1].0, "rk");
    }
}

#[tokio::test]
async fn a_macro_in_a_studio_page_is_escaped() {
    let service = TestService::start().await;
    let studio = service
        .experience(json!({
            "name": "Welcome", "kind": "studio",
            "blocks": [{"type": "text", "text": "Owner: {{tag:variable:owner}}!"}],
        }))
        .await;
    let tag = service
        .redirecting_tag(json!({
            "experience_id": studio,
            "variables": {"owner": "<script>alert(1)</script>{{interaction:rk}}"},
        }))
        .await;
    let tap = service.tap(&tag.path()).await;
    assert_eq!(tap.status, 200);
    assert!(!tap.answer.body.contains("<script>"), "{}", tap.answer.body);
    assert!(tap.answer.body.contains("{{interaction:rk}}"), "read once");
}

#[tokio::test]
async fn a_backslash_makes_braces_literal() {
    let location = location(r"https://owner.example/?v=\{{tag:title}}", wordy()).await;
    let url = url::Url::parse(&location.expect("a redirect")).expect("a URL");
    let pairs: Vec<_> = url.query_pairs().collect();
    assert_eq!(pairs[0].1, "{{tag:title}}");
}

#[tokio::test]
async fn a_target_that_is_one_whole_attribute_or_data_macro_leads_where_it_says() {
    let service = TestService::start().await;
    for class in ["attribute", "data"] {
        let properties = if class == "data" {
            "data"
        } else {
            "attributes"
        };
        let tag = json!({properties: {"shop": "https://shop.example/a?b=1#c"}});
        let tag = service
            .tag_to(&format!("{{{{tag:{class}:shop}}}}"), tag)
            .await;
        let tap = service.tap(&tag.path()).await;
        let expected = format!("https://shop.example/a?b=1&rk={}#c", tap.key());
        assert_eq!(tap.location, Some(expected));
    }
}

#[tokio::test]
async fn a_whole_macro_that_is_no_http_url_leads_nowhere() {
    for url in [
        "",
        "javascript:alert(1)",
        "ftp://shop.example/",
        "//shop.example/",
        "shop.example",
        "data:text/html,x",
        "file:///etc/passwd",
    ] {
        let tag = json!({"attributes": {"shop": url}});
        assert_eq!(location("{{tag:attribute:shop}}", tag).await, None, "{url}");
    }
}

#[tokio::test]
async fn a_macro_can_never_supply_a_urls_scheme_or_host() {
    let service = TestService::start().await;
    for target in [
        "{{tag:variable:url}}",
        "{{tag:name}}",
        "{{tag:attribute:scheme}}://owner.example/",
        "https://{{tag:attribute:host}}/",
        "https://{{tag:name}}.example/",
        "https://owner.example{{tag:variable:rest}}/",
        "https://owner.example:{{tag:data:port}}/",
        "https://{{tag:data:user}}@owner.example/",
        "{{tag:attribute:url}}/path",
    ] {
        let experience = json!({"name": "Bad", "kind": "redirect", "target_url": target});
        let answer = service
            .admin(Method::POST, "/experiences", experience)
            .await;
        assert_eq!(answer.status, 422, "{target}");
    }
}

#[tokio::test]
async fn no_target_other_than_http_and_https_can_be_saved() {
    let service = TestService::start().await;
    for target in [
        "",
        "owner.example",
        "/relative",
        "//owner.example/",
        "ftp://owner.example/",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://",
        "https:///",
        "http://owner.example/\r\nset-cookie: a=b",
    ] {
        let experience = json!({"name": "Bad", "kind": "redirect", "target_url": target});
        let answer = service
            .admin(Method::POST, "/experiences", experience)
            .await;
        assert_eq!(answer.status, 422, "{target:?}");
    }
}
