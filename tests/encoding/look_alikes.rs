//! Chips with the size of an NTAG 213, 215 or 216 that are another kind: their counters, keys and
//! locks are where those have their settings, so nothing is written to them.

use serde_json::{Value, json};
use tapdesk_tests::TestService;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};

use super::bench::uid;
use super::http::lay;

/// The memory of a real NTAG203.
fn ntag203() -> VirtualType2 {
    VirtualType2::factory(
        Type2Chip::Ntag203,
        [0x04, 0x08, 0x7A, 0x04, 0x04, 0x20, 0x19],
    )
    .with_page(2, [0x39, 0x00, 0x00, 0x00])
}

#[tokio::test]
async fn an_ntag203_is_another_chip_and_its_counter_is_never_written() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = ntag203();
    // After page 41, its memory continues with its first page.
    let tail = chip.apdu(&[0xFF, 0xB0, 0x00, 40, 0x10]);
    assert_eq!(tail[8..12], [0x04, 0x08, 0x7A, 0xFE]);
    assert_eq!(chip.apdu(&[0xFF, 0xB0, 0x00, 42, 0x10]), [0x63, 0x00]);
    let uid = "04087A04042019";
    let template = json!({
        "name": "Mirror", "technology": "ntag213", "template": "https://m.example/m/{slug}?m={uid}x{counter}",
    });
    let template = service.admin_create("/url-templates", template).await["id"].clone();
    for wish in [
        json!({"uid": uid, "tag_id": tag.id, "technology": "ntag213"}),
        json!({"uid": uid, "tag_id": tag.id, "technology": "ntag213", "replace": true}),
        json!({"uid": uid, "tag_id": tag.id, "technology": "ntag213", "lock": true}),
        json!({"uid": uid, "tag_id": tag.id, "url_template_id": template}),
        json!({"uid": uid, "wipe": true}),
        json!({"uid": uid, "wipe": true, "technology": "ntag213"}),
    ] {
        chip.power_on();
        let refused = lay(&service, &mut chip, &wish).await;
        assert_eq!(
            (&refused["state"], &refused["reason"]),
            (&json!("rejected"), &json!("not_encodable")),
            "{wish}: {refused}"
        );
        assert_eq!((chip.writes(), chip.page(41)), (0, &[0; 4][..]));
    }
}

#[tokio::test]
async fn a_chip_is_an_ntag_by_where_its_memory_ends_whatever_size_it_states() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    for (size, technology) in [(0x12, "ntag213"), (0x3E, "ntag215"), (0x6D, "ntag216")] {
        for kind in [
            Type2Chip::Ultralight,
            Type2Chip::UltralightEv1,
            Type2Chip::UltralightEv1Large,
            Type2Chip::UltralightC,
            Type2Chip::Ntag203,
            Type2Chip::Ntag210,
            Type2Chip::Ntag212,
            Type2Chip::Ntag213Tt,
            Type2Chip::Ntag223Dna,
            Type2Chip::Ntag224Dna,
            Type2Chip::Sic43Nt,
        ] {
            let chip = VirtualType2::factory(kind, uid(1).bytes());
            let mut chip = chip.with_page(3, [0xE1, 0x10, size, 0x00]);
            let wish =
                json!({"uid": uid(1).to_string(), "tag_id": tag.id, "technology": technology});
            let refused = lay(&service, &mut chip, &wish).await;
            assert_eq!(refused["reason"], "not_encodable", "{kind:?}: {refused}");
            assert_eq!(chip.writes(), 0, "{kind:?}");
        }
    }
}

#[tokio::test]
async fn a_chip_of_another_maker_is_no_ntag() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let silicon_craft = [0x39, 0x49, 0x30, 0x00, 0x00, 0x00, 0x01];
    for kind in [Type2Chip::Sic43Nt, Type2Chip::Ntag213] {
        let mut chip = VirtualType2::factory(kind, silicon_craft);
        let wish = json!({"uid": "39493000000001", "tag_id": tag.id, "technology": "ntag213"});
        let refused = lay(&service, &mut chip, &wish).await;
        assert_eq!(refused["reason"], "not_encodable", "{refused}");
        assert_eq!(chip.writes(), 0);
    }
    let inlays = service.admin_get("/inlays").await;
    assert_eq!(inlays["items"], Value::Array(Vec::new()));
}
