//! Readers that return one page when four were requested.

use serde_json::{Value, json};
use tapdesk_tests::TestService;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{ByPage, Tear, TornOut, VirtualCard as _};

use super::bench::uid;
use super::http::lay;

/// Responses of readers to a read of four pages: the first page only, a wrong length, the right
/// length, fewer bytes.
const WAYS: [Option<[u8; 2]>; 4] = [
    None,
    Some([0x67, 0x00]),
    Some([0x6C, 0x04]),
    Some([0x62, 0x82]),
];

fn on_reader(card: VirtualType2, refusal: Option<[u8; 2]>) -> ByPage<VirtualType2> {
    ByPage { card, refusal }
}

#[tokio::test]
async fn a_chip_of_pages_is_encoded_on_a_reader_that_answers_a_page_at_a_time() {
    let service = TestService::start().await;
    let mut number = 0;
    for (kind, technology) in [
        (Type2Chip::Ntag213, "ntag213"),
        (Type2Chip::Ntag215, "ntag215"),
        (Type2Chip::Ntag216, "ntag216"),
    ] {
        let url = format!("https://{technology}.example/m/{{slug}}?m={{uid}}x{{counter}}");
        let template = json!({"name": technology, "technology": technology, "template": url});
        let template = service.admin_create("/url-templates", template).await["id"].clone();
        for refusal in WAYS {
            number += 1;
            let tag = service.tag(json!({"name": "Bottle"})).await;
            let chip = VirtualType2::factory(kind, uid(number).bytes());
            let mut chip = on_reader(chip, refusal);
            let wish = json!({
                "uid": uid(number).to_string(), "tag_id": tag.id, "url_template_id": template, "lock": true,
            });
            let turn = lay(&service, &mut chip, &wish).await;
            assert_eq!(turn["state"], "verified", "{kind:?} {refusal:?}: {turn}");
            chip.card.power_on();
            let url = chip.card.read_url();
            assert!(url.ends_with(&format!("m={}x000002", uid(number))), "{url}");
            assert_eq!(chip.card.page(3)[3] & 0x0F, 0x0F);
            // When the chip is placed again, nothing is written.
            let writes = chip.card.writes();
            let again = lay(&service, &mut chip, &wish).await;
            assert_eq!(
                (&again["state"], chip.card.writes()),
                (&json!("verified"), writes)
            );
        }
    }
}

/// The memory of a real NTAG213, on a reader that answers a read of 16 bytes with one page.
#[tokio::test]
async fn an_ntag213_of_the_field_is_encoded_and_wiped_page_by_page() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let card = VirtualType2::blank(
        Type2Chip::Ntag213,
        [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80],
    )
    .with_page(4, [0x01, 0x03, 0xA0, 0x0C])
    .with_page(5, [0x34, 0x03, 0x00, 0xFE])
    .with_page(40, [0x00, 0x00, 0x00, 0xBD]);
    let mut chip = ByPage::new(card);
    for (page, bytes) in [
        (0, [0x04, 0xA1, 0xB2]),
        (3, [0xE1, 0x10, 0x12]),
        (4, [0x01, 0x03, 0xA0]),
    ] {
        let answer = chip.transmit(&[0xFF, 0xB0, 0x00, page, 0x10]).unwrap();
        assert_eq!((&answer[..3], answer.len()), (&bytes[..], 6));
    }
    let wish = json!({"uid": "04A1B2C3D4E580", "tag_id": tag.id, "technology": "ntag213"});
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert!(chip.card.read_url().ends_with(&tag.path()));
    let wipe = json!({"uid": "04A1B2C3D4E580", "wipe": true});
    let turn = lay(&service, &mut chip, &wipe).await;
    assert_eq!(turn["state"], "reset", "{turn}");
    assert_eq!(chip.card.page(5), [0x34, 0x03, 0x00, 0xFE]);
}

#[tokio::test]
async fn another_reader_finishes_what_one_of_them_began() {
    let service = TestService::start().await;
    for (number, at) in (1..).zip([0, 3, 30, 40, 60]) {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let wish =
            json!({"uid": uid(number).to_string(), "tag_id": tag.id, "technology": "ntag213"});
        let chip = VirtualType2::factory(Type2Chip::Ntag213, uid(number).bytes());
        let mut held = ByPage::new(TornOut::new(Tear::after(at), chip));
        lay(&service, &mut held, &wish).await;
        assert!(held.card.is_torn(), "after {at}");
        let mut chip = held.card.into_card();
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "after {at}: {turn}");
    }
}

#[tokio::test]
async fn a_chip_that_is_none_is_refused_page_by_page_as_well() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let wish = json!({"uid": uid(1).to_string(), "tag_id": tag.id, "technology": "ntag213"});
    for kind in [
        Type2Chip::Ntag203,
        Type2Chip::UltralightC,
        Type2Chip::Ntag213Tt,
        Type2Chip::Ntag223Dna,
        Type2Chip::Ntag215,
    ] {
        let mut chip = ByPage::new(VirtualType2::factory(kind, uid(1).bytes()));
        let refused = lay(&service, &mut chip, &wish).await;
        assert_eq!(refused["reason"], "not_encodable", "{kind:?}: {refused}");
        assert_eq!(chip.card.writes(), 0, "{kind:?}");
    }
}
