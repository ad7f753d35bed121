//! Chips of pages with settings of a previous owner: a mirror, a password, locked settings.

use serde_json::{Value, json};
use tapdesk_tests::TestService;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};

use super::bench::uid;
use super::http::lay;

/// Configuration pages of an NTAG213.
const CFG0: usize = 41;
const CFG1: usize = 42;

fn ntag213(number: u32, cfg0: [u8; 4], access: u8) -> VirtualType2 {
    VirtualType2::factory(Type2Chip::Ntag213, uid(number).bytes())
        .with_page(CFG0, cfg0)
        .with_page(CFG1, [access, 0x05, 0x00, 0x00])
}

async fn template(service: &TestService, name: &str, template: &str) -> Value {
    let body = json!({"name": name, "technology": "ntag213", "template": template});
    service.admin_create("/url-templates", body).await["id"].clone()
}

#[tokio::test]
async fn a_mirror_that_was_left_on_is_switched_off_before_the_url_is_written() {
    let service = TestService::start().await;
    for (number, (cfg0, access)) in (1..).zip([
        // The UID, from page 11 on.
        ([0x44, 0x00, 0x0B, 0xFF], 0x00),
        // The counter; both, from another byte on; both with a counter that only the password can
        // read.
        ([0x94, 0x00, 0x08, 0xFF], 0x10),
        ([0xF4, 0x00, 0x06, 0xFF], 0x10),
        ([0xC4, 0x00, 0x0B, 0xFF], 0x18),
        // Over the block of the message, and over the record of the lock bytes.
        ([0x44, 0x00, 0x05, 0xFF], 0x00),
        ([0xC4, 0x00, 0x04, 0xFF], 0x10),
    ]) {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let mut chip = ntag213(number, cfg0, access);
        let wish =
            json!({"uid": uid(number).to_string(), "tag_id": tag.id, "technology": "ntag213"});
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{cfg0:02X?}: {turn}");
        let url = turn["result"]["url"].as_str().unwrap();
        assert!(url.ends_with(&tag.path()), "{url}");
        chip.power_on();
        assert_eq!(chip.read_url(), url, "{cfg0:02X?}");
        assert_eq!((chip.page(CFG0)[0], chip.page(CFG0)[3]), (0x04, 0xFF));
        assert_eq!(chip.page(CFG1)[0], 0x00);
    }
}

#[tokio::test]
async fn a_message_under_a_mirror_is_not_written_over_unless_that_is_asked_for() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let url = "https://shop.example/p?u=00000000000000&x=1";
    // In place of the zeros, and over the first bytes of the message.
    for (number, cfg0) in (1..).zip([[0x44, 0x00, 0x0B, 0xFF], [0x44, 0x00, 0x05, 0xFF]]) {
        let chip = VirtualType2::with_url(Type2Chip::Ntag213, uid(number).bytes(), url);
        let mut chip = chip.with_page(CFG0, cfg0);
        let mut wish = json!({"uid": uid(number).to_string(), "tag_id": tag.id, "technology": "ntag213", "additional": true});
        let refused = lay(&service, &mut chip, &wish).await;
        assert_eq!(
            refused["reason"], "already_encoded",
            "{cfg0:02X?}: {refused}"
        );
        assert_eq!(chip.writes(), 0);
        wish["replace"] = true.into();
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{cfg0:02X?}: {turn}");
        chip.power_on();
        assert!(chip.read_url().ends_with(&tag.path()));
    }
}

/// Settings that protect the configuration and leave the data open.
fn protections() -> [(&'static str, [u8; 4], u8); 3] {
    [
        ("a password from CFG0 on", [0x04, 0x00, 0x00, 0x29], 0x00),
        ("a password from CFG1 on", [0x04, 0x00, 0x00, 0x2A], 0x00),
        ("locked settings", [0x04, 0x00, 0x00, 0xFF], 0x40),
    ]
}

#[tokio::test]
async fn a_password_for_the_settings_keeps_no_static_url_from_being_written() {
    let service = TestService::start().await;
    for (number, (what, cfg0, access)) in (1..).zip(protections()) {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let mut chip = ntag213(number, cfg0, access);
        let wish =
            json!({"uid": uid(number).to_string(), "tag_id": tag.id, "technology": "ntag213"});
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{what}: {turn}");
        chip.power_on();
        assert!(chip.read_url().ends_with(&tag.path()));
        assert_eq!(chip.page(CFG0), cfg0, "{what}");
        let writes = chip.writes();
        let again = lay(&service, &mut chip, &wish).await;
        assert_eq!(
            (&again["state"], chip.writes()),
            (&json!("verified"), writes)
        );
        // Its lock bytes come before the settings.
        let mut locked = wish.clone();
        locked["lock"] = true.into();
        let turn = lay(&service, &mut chip, &locked).await;
        assert_eq!(turn["state"], "verified", "{what}: {turn}");
        assert_eq!(chip.page(3)[3] & 0x0F, 0x0F);
    }
    // The password of the next chip protects the lock bytes, too: it gets a URL, but no lock.
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = ntag213(9, [0x04, 0x00, 0x00, 0x28], 0x00);
    let mut wish =
        json!({"uid": uid(9).to_string(), "tag_id": tag.id, "technology": "ntag213", "lock": true});
    let refused = lay(&service, &mut chip, &wish).await;
    assert_eq!(refused["reason"], "read_only", "{refused}");
    assert_eq!(chip.writes(), 0);
    wish["lock"] = false.into();
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    // It was written, but still cannot be locked.
    wish["lock"] = true.into();
    let refused = lay(&service, &mut chip, &wish).await;
    assert_eq!(refused["reason"], "read_only", "{refused}");
}

#[tokio::test]
async fn what_needs_other_settings_than_the_protected_ones_is_refused_and_nothing_is_written() {
    let service = TestService::start().await;
    let mirror = template(
        &service,
        "Mirror",
        "https://m.example/m/{slug}?m={uid}x{counter}",
    )
    .await;
    for (number, (what, cfg0, access)) in (1..).zip(protections()) {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let uid = uid(number).to_string();
        for (cfg0, wish) in [
            (
                cfg0,
                json!({"uid": uid, "tag_id": tag.id, "url_template_id": mirror}),
            ),
            // With an enabled mirror.
            (
                [0x44, 0x00, 0x0B, cfg0[3]],
                json!({"uid": uid, "tag_id": tag.id, "technology": "ntag213"}),
            ),
        ] {
            let mut chip = ntag213(number, cfg0, access);
            let refused = lay(&service, &mut chip, &wish).await;
            assert_eq!(refused["reason"], "read_only", "{what}: {refused}");
            assert_eq!(chip.writes(), 0, "{what}");
        }
    }
    // Settings that cannot be read do not identify the chip.
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = ntag213(9, [0x04, 0x00, 0x00, 0x29], 0x80);
    let wish = json!({"uid": uid(9).to_string(), "tag_id": tag.id, "technology": "ntag213"});
    let refused = lay(&service, &mut chip, &wish).await;
    assert_eq!(refused["state"], "rejected", "{refused}");
    assert_eq!(chip.writes(), 0);
}
