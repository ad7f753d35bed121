//! `/admin/v1/verification`: explains why a URL verifies or not.

mod chip;
mod pasted;
mod settings;
mod unwritten;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::virtual_inlay::OneTimeCode;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::{TestService, TestTag};

async fn verify(service: &TestService, url: &str) -> Value {
    let body = json!({"url": url});
    service
        .admin(Method::POST, "/verification", body)
        .await
        .expect(200)
}

async fn tag(service: &TestService) -> TestTag {
    service.tag(json!({"name": "Bottle 41"})).await
}

fn url(service: &TestService, tag: &TestTag, code: &OneTimeCode) -> String {
    format!("{}{}", service.base(), tag.with(code))
}

fn verdicts(verification: &Value) -> Vec<(&str, &str)> {
    let steps = verification["steps"].as_array().unwrap().iter();
    steps
        .map(|step| {
            (
                step["name"].as_str().unwrap(),
                step["verdict"].as_str().unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn a_dry_run_says_what_a_tap_would_be_and_changes_nothing() {
    let service = TestService::start().await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let tag = tag(&service).await;
        let mut inlay = service.rolling_inlay(&tag, mirror, MacFrom::Uid).await;
        inlay.chip.counter = 3;
        let code = inlay.code();
        let url = url(&service, &tag, &code);
        let uid = inlay.chip.uid;
        for _ in 0..2 {
            let verification = verify(&service, &url).await;
            assert_eq!(
                verification,
                json!({
                    "tag_id": tag.id, "group_ids": [], "inlay_id": inlay.id, "uid": uid.to_string(), "at_tag_url": true, "url_template_id": null, "chip": null,
                    "counter": 4, "tag_verified": true, "reason": "verified",
                    "steps": [
                        {"name": "url", "verdict": "ok", "detail": format!("{} · uid {uid} · counter 4", tag.slug)},
                        {"name": "mac", "verdict": "ok", "detail": "authentic (MAC input: from uid)"},
                        {"name": "counter", "verdict": "gap", "detail": "4, the first seen: 3 reads never reached the service"},
                    ],
                    "findings": [],
                })
            );
        }
        assert_eq!(service.scan_count(&tag).await, 0);
        service.tap(&url).await;
        let replayed = verify(&service, &url).await;
        assert_eq!(replayed["reason"], json!("replayed"));
        assert_eq!(
            verdicts(&replayed),
            [("url", "ok"), ("mac", "ok"), ("counter", "failed")]
        );
        let earlier = inlay.code_at(2);
        let earlier = format!("{}{}", service.base(), tag.with(&earlier));
        assert_eq!(
            verify(&service, &earlier).await["reason"],
            json!("out_of_order")
        );
        assert_eq!(service.scan_count(&tag).await, 1);
    }
}

#[tokio::test]
async fn what_is_not_checked_is_said_not_to_be() {
    let service = TestService::start().await;
    let off = service
        .tag(json!({"name": "Off", "verifier_enabled": false}))
        .await;
    let verification = verify(&service, &format!("{}{}", service.base(), off.path())).await;
    assert_eq!(
        (&verification["tag_verified"], &verification["reason"]),
        (&Value::Null, &json!("verifier_off"))
    );
    let printed = tag(&service).await;
    let verification = verify(&service, &format!("{}{}", service.base(), printed.path())).await;
    assert_eq!(
        (&verification["tag_verified"], &verification["reason"]),
        (&Value::Null, &json!("static"))
    );
    assert_eq!(
        verdicts(&verification),
        [
            ("url", "ok"),
            ("mac", "not_checked"),
            ("counter", "not_checked")
        ]
    );
}

#[tokio::test]
async fn urls_that_carry_no_code_say_why() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    for (query, reason, says) in [
        ("", "no_code", "no code"),
        ("?uid=04DE5F1EACC040", "malformed", "token is missing"),
        ("?token=1&uid=1&token=2", "malformed", "token is repeated"),
        ("?uid=04DE&token=00", "malformed", "uid has 4 characters"),
        (
            "?uid=04DE5F1EACC040&token=00",
            "malformed",
            "token has 2 characters",
        ),
        (
            "?uid=ZZDE5F1EACC040&token=0000000000000000000000",
            "malformed",
            "not all hex",
        ),
    ] {
        let verification = verify(
            &service,
            &format!("{}{}{query}", service.base(), tag.path()),
        )
        .await;
        assert_eq!(verification["reason"], json!(reason), "{query}");
        let detail = verification["steps"][0]["detail"].as_str().unwrap();
        assert!(detail.contains(says), "{query}: {detail}");
        assert_eq!(verdicts(&verification)[0], ("url", "failed"));
    }
}

#[tokio::test]
async fn a_url_at_another_host_is_read_and_said_to_be_there() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    let OneTimeCode { uid, token } = inlay.code_at(1);
    for host in [
        "https://tags.example",
        "tags.example",
        " http://tags.example:80",
    ] {
        let url = format!("{host}/nfc/{}?uid={uid}&token={token}", tag.slug);
        let verification = verify(&service, &url).await;
        assert_eq!(verification["tag_verified"], json!(true));
        let detail = verification["steps"][0]["detail"].as_str().unwrap();
        assert!(
            detail.contains("at tags.example; tags of this service are at"),
            "{detail}"
        );
    }
    let unknown = format!(
        "{}/t/nobody-has-this?uid={uid}&token={token}",
        service.base()
    );
    let verification = verify(&service, &unknown).await;
    assert_eq!(
        (
            &verification["tag_id"],
            &verification["tag_verified"],
            &verification["reason"]
        ),
        (&Value::Null, &Value::Null, &json!("no_such_tag"))
    );
    assert_eq!(verification["inlay_id"], json!(inlay.id));
    assert_eq!(verification["findings"][0]["kind"], json!("other_inlay"));
    for text in [
        "",
        "/t/",
        "not a url",
        "mailto:a@b.example",
        &"x".repeat(5000),
    ] {
        let body = json!({"url": text});
        service
            .admin(Method::POST, "/verification", body)
            .await
            .expect(422);
    }
}
