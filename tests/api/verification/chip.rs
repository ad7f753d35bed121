//! A URL as a reader sees it: complete, together with the chip that contains it.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;
use tapdesk_tests::fixtures::chip;

use super::{tag, url, verify};

async fn answer(service: &TestService, body: Value) -> Value {
    service
        .admin(Method::POST, "/verification", body)
        .await
        .expect(200)
}

fn first_kind(verification: &Value) -> &Value {
    &verification["findings"][0]["kind"]
}

#[tokio::test]
async fn a_url_is_judged_whole_against_the_tag_url_or_the_expected_one() {
    let service = TestService::start().await;
    let (tag, inlay) = service.bottle().await;
    let own = format!("{}/t", service.base());
    let query = tag.with(&inlay.code_at(1));
    let query = query.split_once('?').unwrap().1;
    let elsewhere = [
        format!("{}/{}?{query}", own.replace("http:", "https:"), tag.slug),
        format!("https://staging.example/t/{}?{query}", tag.slug),
        format!("{}/nfc/{}?{query}", service.base(), tag.slug),
        format!("{own}/more/{}?{query}", tag.slug),
    ];
    for url in &elsewhere {
        let verification = verify(&service, url).await;
        // The code itself is valid, which is not the question.
        assert_eq!(verification["tag_verified"], json!(true), "{url}");
        assert_eq!(verification["at_tag_url"], json!(false), "{url}");
        let detail = verification["steps"][0]["detail"].as_str().unwrap();
        assert!(detail.contains("tags of this service are at"), "{detail}");
    }
    let url = format!("{own}/{}?{query}", tag.slug);
    assert_eq!(verify(&service, &url).await["at_tag_url"], json!(true));
    // One trailing slash is accepted.
    let closed = format!("{own}/{}/?{query}", tag.slug);
    assert_eq!(verify(&service, &closed).await["at_tag_url"], json!(true));
    let expected = json!({"url": url, "tag_url": "https://tags.example/t"});
    assert_eq!(answer(&service, expected).await["at_tag_url"], json!(false));
    let expected = json!({"url": elsewhere[1], "tag_url": "https://staging.example/t/"});
    assert_eq!(answer(&service, expected).await["at_tag_url"], json!(true));
    for tag_url in ["staging.example/t", "https://staging.example/t?a=1", ""] {
        let body = json!({"url": url, "tag_url": tag_url});
        let refused = service.admin(Method::POST, "/verification", body).await;
        refused.expect(422);
    }
}

#[tokio::test]
async fn a_url_that_was_copied_to_another_chip_is_told_by_uid_make_and_settings() {
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let service = TestService::start().await;
        let tag = tag(&service).await;
        let inlay = service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        let uid = inlay.chip.uid.to_string();
        let url = url(&service, &tag, &inlay.code_at(1));
        for (chip, carrier, kind) in [
            (
                json!({"uid": uid, "technology": "ntag424dna", "makes_codes": true}),
                "same",
                None,
            ),
            (json!({"uid": uid.to_lowercase()}), "same", None),
            (
                json!({"uid": "04112233445566", "technology": "ntag424dna", "makes_codes": true}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": uid, "technology": "ntag215", "makes_codes": false}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": uid, "technology": "other_type4", "makes_codes": null}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": uid, "technology": "ntag424dna", "makes_codes": false}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": "08112233", "technology": "ntag215"}),
                "copied",
                Some("copied_url"),
            ),
            (
                json!({"uid": "08112233", "technology": "ntag424dna", "makes_codes": true}),
                "not_comparable",
                Some("not_comparable"),
            ),
            (
                json!({"uid": null, "technology": "ntag424dna"}),
                "not_comparable",
                Some("not_comparable"),
            ),
        ] {
            let verification = answer(&service, json!({"url": url, "chip": chip})).await;
            assert_eq!(verification["chip"], json!(carrier), "{chip}");
            assert_eq!(first_kind(&verification), &json!(kind), "{chip}");
            // A copied code is as authentic as the original: only the reader can tell the
            // difference.
            assert_eq!(verification["tag_verified"], json!(true));
            assert_eq!(verification["uid"], json!(uid));
        }
        assert_eq!(service.scan_count(&tag).await, 0, "a dry run");
    }
}

#[tokio::test]
async fn the_uid_of_a_code_is_told_wherever_it_can_be_known() {
    let service = TestService::start().await;
    let (here, there) = (tag(&service).await, tag(&service).await);
    let other = service
        .rolling_inlay(&there, Mirror::Encrypted, MacFrom::None)
        .await;
    // At another tag's URL, the code is checked with the keys of the inlay that made it.
    let misplaced = verify(&service, &url(&service, &here, &other.code_at(1))).await;
    assert_eq!(misplaced["uid"], json!(other.chip.uid.to_string()));
    // A code of an unknown inlay: the plain mirror shows the UID, the encrypted one hides it.
    let plain = chip(Mirror::Plain, MacFrom::None);
    let stated = verify(&service, &url(&service, &here, &plain.code_at(1, [0; 5]))).await;
    assert_eq!(stated["uid"], json!(plain.uid.to_string()));
    let hidden = chip(Mirror::Encrypted, MacFrom::None).code_at(1, [0; 5]);
    let body = json!({"url": url(&service, &here, &hidden), "chip": {"uid": "04112233445566"}});
    let hidden = answer(&service, body).await;
    assert_eq!(
        (&hidden["uid"], &hidden["chip"]),
        (&Value::Null, &json!("not_comparable"))
    );
}

#[tokio::test]
async fn a_chip_is_compared_with_a_code_alone_and_refused_in_words_if_it_is_none() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let plain = format!("{}{}", service.base(), tag.path());
    for query in ["", "?uid=1&token=2", "?uid=04DE5F1EACC040"] {
        let body = json!({"url": format!("{plain}{query}"), "chip": {"uid": "04112233445566", "technology": "ntag215"}});
        assert_eq!(answer(&service, body).await["chip"], Value::Null, "{query}");
    }
    for chip in [
        json!([]),
        json!({"uid": "04"}),
        json!({"uid": "ZZ112233445566"}),
        json!({"technology": ""}),
        json!({"technology": "x".repeat(33)}),
        json!({"makes_codes": "yes"}),
        json!({"key": "00"}),
    ] {
        let body = json!({"url": plain, "chip": chip});
        let refused = service.admin(Method::POST, "/verification", body).await;
        refused.expect(422);
    }
}
