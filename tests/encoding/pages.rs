//! Chips with pages instead of files: NTAG 213, 215 and 216.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::Uid;
use tapdesk_tests::client::Answering as _;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut, VirtualCard};
use tapdesk_tests::{TestService, TestTag};

use super::bench::uid;
use super::http::lay;

const CHIPS: [(Type2Chip, &str, usize); 3] = [
    (Type2Chip::Ntag213, "ntag213", 0x28),
    (Type2Chip::Ntag215, "ntag215", 0x82),
    (Type2Chip::Ntag216, "ntag216", 0xE2),
];

fn new(chip: Type2Chip, number: u32) -> VirtualType2 {
    VirtualType2::factory(chip, uid(number).bytes())
}

fn wish(uid: Uid, tag: &TestTag, technology: &str) -> Value {
    json!({"uid": uid.to_string(), "tag_id": tag.id, "technology": technology})
}

/// Creates a template with UID and counter, for one kind of chip.
async fn mirror(service: &TestService, technology: &str) -> Value {
    let template = format!("https://{technology}.example/m/{{slug}}?m={{uid}}x{{counter}}");
    let template = json!({"name": technology, "technology": technology, "template": template});
    service.admin_create("/url-templates", template).await["id"].clone()
}

/// The data that decides who may write: static locks, capability container, dynamic locks.
fn locks(chip: &VirtualType2, dynamic: usize) -> (Vec<u8>, u8, Vec<u8>) {
    let (page, container) = (chip.page(2), chip.page(3)[3]);
    (
        page[2..].to_vec(),
        container,
        chip.page(dynamic)[..3].to_vec(),
    )
}

#[tokio::test]
async fn a_chip_without_keys_gets_the_tags_url_and_is_left_unlocked() {
    let service = TestService::start().await;
    for (number, (kind, technology, dynamic)) in (1..).zip(CHIPS) {
        let tag = service.redirecting_tag(Value::Null).await;
        let mut chip = new(kind, number);
        let wish = wish(uid(number), &tag, technology);
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        let url = turn["result"]["url"].as_str().unwrap();
        assert!(url.ends_with(&tag.path()), "{url}");
        assert_eq!(chip.read_url(), url);
        assert_eq!(locks(&chip, dynamic), (vec![0, 0], 0, vec![0, 0, 0]));
        let inlays = service
            .admin_get(&format!("/inlays?tag_id={}", tag.id))
            .await;
        let inlay = &inlays["items"][0];
        assert_eq!(
            (&inlay["technology"], &inlay["mirror"]),
            (&json!(technology), &Value::Null)
        );
        assert_eq!(service.tap(&tag.path()).await.status, 302);
        // Placed again, nothing is written.
        let writes = chip.writes();
        let again = lay(&service, &mut chip, &wish).await;
        assert_eq!(again["state"], "verified", "{again}");
        assert_eq!(chip.writes(), writes);
    }
    let root = service.admin_get("/encoding-root").await;
    assert_eq!(root["created_at"], Value::Null, "no key was made");
}

#[tokio::test]
async fn uid_and_counter_are_mirrored_and_counted() {
    let service = TestService::start().await;
    for (number, (kind, technology, _)) in (1..).zip(CHIPS) {
        let tag = service.redirecting_tag(Value::Null).await;
        let template = mirror(&service, technology).await;
        let mut chip = new(kind, number);
        let wish =
            json!({"uid": uid(number).to_string(), "tag_id": tag.id, "url_template_id": template});
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        assert_eq!(turn["result"]["counter"], 1);
        let inlays = service
            .admin_get(&format!("/inlays?tag_id={}", tag.id))
            .await;
        assert_eq!(inlays["items"][0]["last_counter"], 1);
        assert_eq!(inlays["items"][0]["url_template_id"], template);
        chip.power_on();
        let next = chip.read_url();
        assert!(next.ends_with(&format!("{}x000002", uid(number))), "{next}");
        // As a static URL of another tag, it loses its mirror.
        let other = service.tag(json!({"name": "Other"})).await;
        let mut replaced = self::wish(uid(number), &other, technology);
        let refused = lay(&service, &mut chip, &replaced).await;
        assert_eq!(refused["reason"], "already_encoded");
        replaced["replace"] = true.into();
        let turn = lay(&service, &mut chip, &replaced).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        chip.power_on();
        assert!(chip.read_url().ends_with(&other.path()));
    }
}

#[tokio::test]
async fn a_chip_that_is_found_by_its_uid_is_encoded_without_a_slug() {
    let service = TestService::start().await;
    let template = json!({
        "name": "Reel", "technology": "ntag213", "lookup": "unverified",
        "template": "https://reel.example/r?m={uid}x{counter}",
    });
    let template = service.admin_create("/url-templates", template).await["id"].clone();
    let tag = service.redirecting_tag(Value::Null).await;
    let mut chip = VirtualType2::factory(Type2Chip::Ntag213, uid(1).bytes());
    let mut wish = json!({"uid": uid(1).to_string(), "tag_id": tag.id});
    wish["url_template_id"] = template;
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    chip.power_on();
    let url = chip.read_url();
    let path = url
        .strip_prefix("https://reel.example")
        .expect("its own URL");
    let tap = service
        .request(Method::GET, path)
        .header("host", "reel.example");
    assert_eq!(tap.answer().await.status, 302, "{url}");
    let newest = service.admin_get("/interactions?limit=1").await["items"][0].clone();
    assert_eq!(
        (&newest["tag_id"], &newest["reason"]),
        (&json!(tag.id), &json!("no_mac"))
    );
}

#[tokio::test]
async fn a_lock_is_for_ever_and_only_what_was_asked_for() {
    let service = TestService::start().await;
    for (number, (kind, technology, dynamic)) in (1..).zip(CHIPS) {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let mut chip = new(kind, number);
        let mut wish = wish(uid(number), &tag, technology);
        wish["lock"] = true.into();
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        let (first, container, others) = locks(&chip, dynamic);
        assert_eq!((first, container & 0x0F), (vec![0xFF, 0xFF], 0x0F));
        assert!(others.iter().any(|bits| *bits != 0), "{others:?}");
        let writes = chip.writes();
        assert_eq!(lay(&service, &mut chip, &wish).await["state"], "verified");
        let other = service.tag(json!({"name": "Other"})).await;
        let mut replaced = self::wish(uid(number), &other, technology);
        replaced["replace"] = true.into();
        let refused = lay(&service, &mut chip, &replaced).await;
        assert_eq!(refused["reason"], "read_only", "{refused}");
        let wipe = json!({"uid": uid(number).to_string(), "wipe": true});
        let refused = lay(&service, &mut chip, &wipe).await;
        assert_eq!(refused["reason"], "read_only", "{refused}");
        assert_eq!(chip.writes(), writes);
    }
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut wish = wish(uid(9), &tag, "ntag424dna");
    wish["lock"] = true.into();
    let refused = service.admin(Method::POST, "/encodings", wish).await;
    assert_eq!(refused.expect(422)["errors"][0]["field"], "lock");
}

#[tokio::test]
async fn wiped_a_chip_is_as_it_left_the_factory() {
    let service = TestService::start().await;
    for (number, (kind, technology, dynamic)) in (1..).zip(CHIPS) {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let template = mirror(&service, technology).await;
        let (mut chip, factory) = (new(kind, number), new(kind, number));
        let wish =
            json!({"uid": uid(number).to_string(), "tag_id": tag.id, "url_template_id": template});
        lay(&service, &mut chip, &wish).await;
        let wipe = json!({"uid": uid(number).to_string(), "wipe": true});
        let turn = lay(&service, &mut chip, &wipe).await;
        assert_eq!(turn["state"], "reset", "{turn}");
        for page in 0..=dynamic + 2 {
            assert_eq!(
                chip.page(page),
                factory.page(page),
                "page {page} of {technology}"
            );
        }
        let inlays = service
            .admin_get(&format!("/inlays?tag_id={}", tag.id))
            .await;
        assert_eq!(inlays["items"], json!([]));
    }
}

#[tokio::test]
async fn a_chip_that_is_known_to_have_pages_is_asked_for_no_application_to_be_wiped() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let first = async |wish: Value| {
        let turn = service.admin(Method::POST, "/encodings", wish).await.json();
        turn["commands"][0]["name"].as_str().unwrap().to_owned()
    };
    let wipe = |number| json!({"uid": uid(number).to_string(), "wipe": true});
    // The kind of chip is known from the reader, from its inlay, or not at all.
    let mut read = wipe(1);
    read["technology"] = "ntag216".into();
    assert_eq!(first(read).await, "Read pages 0 to 3");
    let mut chip = new(Type2Chip::Ntag213, 2);
    lay(&service, &mut chip, &wish(uid(2), &tag, "ntag213")).await;
    assert_eq!(first(wipe(2)).await, "Read pages 0 to 3");
    assert_eq!(first(wipe(3)).await, "Select application");
    let mut unknown = new(Type2Chip::Ntag215, 4);
    assert_eq!(
        lay(&service, &mut unknown, &wipe(4)).await["state"],
        "reset"
    );
}

#[tokio::test]
async fn torn_at_any_step_it_is_finished_when_it_is_laid_down_again() {
    let service = TestService::start().await;
    let template = mirror(&service, "ntag213").await;
    let mut number = 0;
    let mut ended = false;
    for at in 0.. {
        for tear in [Tear::before(at), Tear::after(at), Tear::within(at, 7)] {
            number += 1;
            let tag = service.tag(json!({"name": "Bottle"})).await;
            let wish = json!({
                "uid": uid(number).to_string(), "tag_id": tag.id, "url_template_id": template, "lock": true,
            });
            let mut held = TornOut::new(tear, new(Type2Chip::Ntag213, number));
            let turn = lay(&service, &mut held, &wish).await;
            ended = !held.is_torn();
            let mut chip = held.into_card();
            if !ended {
                assert_eq!(turn["state"], "interrupted", "{tear:?}: {turn}");
                chip.power_on();
                // At every moment a phone sees a complete URL, or none.
                let seen = chip.read_url();
                let whole = seen.contains(&format!("/m/{}?m=", tag.slug));
                assert!(
                    seen.is_empty() || whole || seen.starts_with('?'),
                    "{tear:?}: {seen}"
                );
                let turn = lay(&service, &mut chip, &wish).await;
                assert_eq!(turn["state"], "verified", "{tear:?}: {turn}");
            }
            let (first, container, _) = locks(&chip, 0x28);
            assert_eq!(
                (first, container & 0x0F),
                (vec![0xFF, 0xFF], 0x0F),
                "{tear:?}"
            );
        }
        if ended {
            assert!(at > 30, "only {at} commands");
            return;
        }
    }
}

#[tokio::test]
async fn what_is_another_chip_or_locked_or_too_small_is_refused_and_untouched() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let of_213 = |number| wish(uid(number), &tag, "ntag213");
    let foreign = |number| new(Type2Chip::Ntag213, number);
    for (mut chip, reason) in [
        (new(Type2Chip::Ntag215, 1), "not_encodable"),
        (new(Type2Chip::Ultralight, 1), "not_encodable"),
        (foreign(1).lock(), "read_only"),
        (foreign(1).lock_first_pages(), "read_only"),
        (foreign(1).mark_read_only(), "read_only"),
        (foreign(1).password_from(4), "read_only"),
        (foreign(1).protect_from(4), "read_only"),
        (foreign(1).with_memory_of([4; 7]), "uid_mismatch"),
    ] {
        let turn = lay(&service, &mut chip, &of_213(1)).await;
        assert_eq!(turn["reason"], reason, "{turn}");
        assert_eq!(chip.writes(), 0);
    }
    let mut of_424 = VirtualNtag424::new(uid(2));
    let turn = lay(&service, &mut of_424, &of_213(2)).await;
    assert_eq!(turn["reason"], "not_encodable");
    let mut chip = new(Type2Chip::Ntag213, 3);
    let turn = lay(&service, &mut chip, &wish(uid(3), &tag, "ntag424dna")).await;
    assert_eq!(
        (&turn["reason"], chip.writes()),
        (&json!("not_encodable"), 0)
    );

    let long = format!("https://long.example/{}/{{slug}}", "x".repeat(130));
    let long = json!({"name": "Long", "technology": "ntag213", "template": long});
    let long = service.admin_create("/url-templates", long).await;
    let wish = json!({"uid": uid(4).to_string(), "tag_id": tag.id, "url_template_id": long["id"]});
    let refused = service.admin(Method::POST, "/encodings", wish).await;
    assert_eq!(refused.expect(201)["reason"], "url_too_long");
}

#[tokio::test]
async fn a_run_makes_static_chips_and_locks_them_as_it_says() {
    let service = TestService::start().await;
    let plan = json!({"pattern": "Poster {n:03}", "technology": "ntag215", "lock": true});
    let run = json!({"name": "Posters", "planned": 2, "plan": plan});
    let run = service.admin_create("/encoding-runs", run).await["id"].clone();
    for number in 1..=2 {
        let mut chip = new(Type2Chip::Ntag215, number);
        let wish = json!({"uid": uid(number).to_string(), "run_id": run});
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        assert_eq!(chip.page(3)[3] & 0x0F, 0x0F);
    }
    let whole = service.admin_get(&format!("/encoding-runs/{run}")).await;
    assert_eq!(whole["verified_count"], 2);
}

#[tokio::test]
async fn what_something_else_wrote_is_written_over_only_if_that_is_asked_for() {
    let service = TestService::start().await;
    for (number, (kind, technology, dynamic)) in (1..).zip(CHIPS) {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let other = "https://other.example/menu";
        let mut chip = VirtualType2::with_url(kind, uid(number).bytes(), other);
        let mut wish = wish(uid(number), &tag, technology);
        wish["lock"] = true.into();
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["reason"], "already_encoded", "{turn}");
        assert_eq!((chip.writes(), &*chip.read_url()), (0, other));
        assert_eq!(locks(&chip, dynamic), (vec![0, 0], 0, vec![0, 0, 0]));
        wish["replace"] = true.into();
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        assert!(chip.read_url().ends_with(&tag.path()));
    }
    // An app has erased it: one empty record is left.
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = VirtualType2::blank(Type2Chip::Ntag215, uid(9).bytes());
    chip.write(&[0x03, 0x03, 0xD0, 0x00, 0x00, 0xFE]);
    let turn = lay(&service, &mut chip, &wish(uid(9), &tag, "ntag215")).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    // The former URL of the chip's own tag does not count as another tag's URL.
    let template = mirror(&service, "ntag215").await;
    let renewed = json!({"uid": uid(9).to_string(), "tag_id": tag.id, "url_template_id": template});
    let turn = lay(&service, &mut chip, &renewed).await;
    assert_eq!(turn["state"], "verified", "{turn}");
}

/// Two chips on one reader: the second one answers from the next activation on.
struct Two {
    chips: [VirtualType2; 2],
    activations: usize,
}

impl Two {
    fn present(&mut self) -> &mut VirtualType2 {
        &mut self.chips[usize::from(self.activations > 1)]
    }
}

impl VirtualCard for Two {
    fn atr(&self) -> Vec<u8> {
        self.chips[0].atr()
    }

    fn power_on(&mut self) {
        self.activations += 1;
        self.present().power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        self.present().transmit(command)
    }
}

#[tokio::test]
async fn after_a_new_activation_nothing_is_written_before_the_chip_is_asked_for_its_uid() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let template = mirror(&service, "ntag213").await;
    let mut chip = new(Type2Chip::Ntag213, 1);
    let mirrored =
        json!({"uid": uid(1).to_string(), "tag_id": tag.id, "url_template_id": template});
    let turn = lay(&service, &mut chip, &mirrored).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let other = service.tag(json!({"name": "Other"})).await;
    let mut wish = wish(uid(1), &other, "ntag213");
    wish["replace"] = true.into();
    let mut two = Two {
        chips: [chip, new(Type2Chip::Ntag213, 2)],
        activations: 0,
    };
    let turn = lay(&service, &mut two, &wish).await;
    assert_eq!(
        (&turn["state"], &turn["reason"]),
        (&json!("interrupted"), &json!("uid_mismatch"))
    );
    let [mut chip, beside] = two.chips;
    assert_eq!(beside.writes(), 0);
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
}
