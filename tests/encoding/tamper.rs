//! Chips with a tamper loop: the loop is enabled permanently, and every tap reports it from then
//! on.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::encoding::Reason;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{Answering as _, TestService};

use super::bench::{Bench, tamper_form, uid};
use super::http::lay;

/// Creates a template whose file data begins with the state of the loop, and returns its id.
async fn template(service: &TestService, mode: &str) -> Value {
    let template = json!({
        "name": mode, "technology": "ntag424dna_tt", "mode": mode, "mac_from": "enc",
        "enc_length": 32, "tamper_at": 0,
        "template": format!("https://{mode}.example/v/{{slug}}?p={{picc}}&e={{enc}}&m={{mac}}"),
    });
    service.admin_create("/url-templates", template).await["id"].clone()
}

/// The loop state in a verified read of the chip.
async fn tamper(service: &TestService, chip: &mut VirtualNtag424) -> Value {
    let url = chip.read_url();
    let asked = json!({"url": url});
    let verdict = service.admin(Method::POST, "/verification", asked).await;
    let verdict = verdict.expect(200);
    assert_eq!(verdict["tag_verified"], true, "{verdict}");
    let (_, rest) = url.split_once("://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let tapped = service.get(&format!("/{path}")).header("host", host);
    assert_eq!(tapped.answer().await.status, 302);
    let newest = service.admin_get("/interactions?limit=1").await["items"][0].clone();
    assert_eq!(newest["tag_verified"], true, "{newest}");
    newest["tamper"].clone()
}

#[tokio::test]
async fn its_loop_is_measured_from_its_encoding_on_and_each_tap_tells_it() {
    let service = TestService::start().await;
    for (number, mode) in [(1, "aes"), (2, "lrp")] {
        let tag = service.redirecting_tag(Value::Null).await;
        let template = template(&service, mode).await;
        let wish = json!({
            "uid": uid(number).to_string(), "tag_id": tag.id, "url_template_id": template, "lrp": mode == "lrp",
        });
        let mut chip = VirtualNtag424::tag_tamper(uid(number));
        assert!(!chip.measures_loop());
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        assert!(chip.measures_loop());
        assert_eq!(tamper(&service, &mut chip).await, "sealed");
        chip.cut_loop(true);
        assert_eq!(tamper(&service, &mut chip).await, "open");
        chip.cut_loop(false);
        assert_eq!(tamper(&service, &mut chip).await, "reclosed");
    }
}

#[test]
fn a_chip_without_a_loop_is_refused_before_a_key_is_asked_for() {
    let mut bench = Bench::of(uid(1), 1, tamper_form);
    let mut chip = VirtualNtag424::new(uid(1));
    bench.lay(&mut chip, |_| None);
    assert_eq!(bench.encoding.state.reason(), Some(Reason::NotEncodable));
    assert_eq!((chip.tally().writes, chip.failures(0).total), (0, 0));
}

#[test]
fn without_a_place_for_it_in_the_url_the_loop_stays_as_it_is() {
    let mut bench = Bench::new(uid(1), 1);
    let mut chip = VirtualNtag424::tag_tamper(uid(1));
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
    assert!(!chip.measures_loop());
}
