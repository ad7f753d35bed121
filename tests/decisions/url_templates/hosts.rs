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
