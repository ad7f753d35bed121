//! The `Host` values that belong to a template.

use super::places::one_address;
use super::*;

/// `tags.example.` is the same name with the root label.
#[tokio::test]
async fn a_template_answers_at_its_host_however_that_is_written() {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let id = template(&service, &settings, &["11"]).await;
    let mut chip = Chip::new(settings, aes("11", "22"));
    let tag = service.redirecting_tag(Value::Null).await;
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    for (host, status) in [
        ("tags.example", 302),
        ("tags.example:8443", 302),
        ("tags.example:", 302),
        ("TAGS.Example", 302),
        ("tags.example.", 302),
        ("tags.example.:8443", 302),
        ("x.tags.example", 404),
        ("tags.example..", 404),
        ("tags.example:x", 404),
        (".tags.example", 404),
    ] {
        let request = service.request(Method::GET, &chip.url(None));
        let answer = request.header("host", host).answer().await;
        assert_eq!(answer.status, status, "{host}");
    }
}

#[tokio::test]
async fn the_admin_api_does_not_answer_at_a_templates_host() {
    let (service, ..) = one_address().await;
    for host in [HOST, "tags.example:8443", "TAGS.Example", "tags.example."] {
        let request = service
            .admin_request(Method::GET, "/tags")
            .header("host", host);
        assert_eq!(request.answer().await.status, 421, "{host}");
    }
}

#[tokio::test]
async fn a_template_answers_at_an_address_and_at_a_name_with_an_underscore() {
    let service = TestService::start().await;
    for (base, hosts) in [
        (
            "http://[2001:DB8:0::1]:8080",
            ["[2001:db8::1]:8080", "[2001:DB8:0:0:0:0:0:1]"],
        ),
        (
            "https://my_tags.example",
            ["my_tags.example", "MY_TAGS.Example.:8443"],
        ),
        ("http://192.0.2.1:5001", ["192.0.2.1:5001", "192.0.2.1"]),
    ] {
        let settings = settings(&format!("{base}/v?picc_data={{picc}}&cmac={{mac}}"));
        let id = template(&service, &settings, &["11"]).await;
        let chip = Chip::new(settings, aes("11", "22"));
        let tag = service.redirecting_tag(Value::Null).await;
        service.inlay(inlay_json(&chip, id, Some(&tag))).await;
        for (counter, host) in (1..).zip(hosts) {
            let url = chip.whole_url_at(counter, None);
            let path = url.strip_prefix(base).unwrap();
            let request = service.request(Method::GET, path).header("host", host);
            assert_eq!(request.answer().await.status, 302, "{host}");
            assert_eq!(last(&service).await.0, json!(true), "{host}");
            let admin = service.admin_request(Method::GET, "/tags");
            let answer = admin.header("host", host).answer().await;
            assert_eq!(answer.status, 421, "{host}");
        }
    }
}
